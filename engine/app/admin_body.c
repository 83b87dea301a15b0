#include "app/admin_body.h"

#include "base/json_write.h"

#include <stdio.h>

const char *admin_body_words(const struct json_node *value, struct text *words)
{
    if (value->kind != JSON_STRING || value->text.length > ADMIN_WORDS_MAX) {
        return "expected a text of at most 400 bytes";
    }
    *words = value->text;
    return NULL;
}

enum { FIELDS_MOST = 16 };

static const struct admin_field *find_field(struct text name, const struct admin_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equals_c(name, fields[i].name)) {
            return &fields[i];
        }
    }
    return NULL;
}

static void refuse_unknown(struct problem *problem, const char *pointer, struct text name,
                           const struct admin_field *fields, size_t count)
{
    const char *names[FIELDS_MOST];

    require(count <= FIELDS_MOST);
    for (size_t i = 0; i < count; i++) {
        names[i] = fields[i].name;
    }
    const char *nearest = text_nearest(name, names, count);
    problem_add(problem, pointer, "unknown_field", "there is no such field%s%s%s",
                nearest != NULL ? "; did you mean `" : "", nearest != NULL ? nearest : "", nearest != NULL ? "`?" : "");
}

static bool is_repeated(const struct json_node *member)
{
    return json_tree_member_text(member->parent, member->key) != member;
}

static void read_fields(const struct json_node *root, const struct admin_field *fields, size_t count, void *context,
                        struct problem *problem)
{
    for (const struct json_node *member = root->first; member != NULL; member = member->next) {
        struct buffer pointer;
        char place[sizeof(problem->errors[0].pointer)];

        buffer_init(&pointer, sizeof(place) - 1);
        json_pointer_append(&pointer, member->key);
        (void)snprintf(place, sizeof(place), "%.*s", TEXT_ARGS(buffer_text(&pointer)));
        buffer_fini(&pointer);
        const struct admin_field *field = find_field(member->key, fields, count);
        if (field == NULL) {
            refuse_unknown(problem, place, member->key, fields, count);
        } else if (is_repeated(member)) {
            problem_add(problem, place, "duplicate", "the field is given twice");
        } else {
            const char *expected = field->read(context, member);
            if (expected != NULL) {
                problem_add(problem, place, "wrong_type", "%s", expected);
            }
        }
    }
}

static bool is_json(const struct http_call *call)
{
    struct text rest;
    struct text type = text_trim(text_split(http_call_header(call, "content-type"), ';', &rest));
    return text_equals_nocase(type, TEXT("application/json"));
}

bool admin_body_read(struct http_call *call, struct arena *arena, const struct admin_field *fields, size_t count,
                     void *context, struct problem *problem)
{
    struct text body = text_trim(block_text(http_call_body(call)));
    struct json_node *root = NULL;
    const char *sentence = NULL;
    size_t offset = 0;

    problem_init(problem, 422, "bad_request", "The request was not understood");
    if (body.length == 0) {
        return true;
    }
    if (!is_json(call)) {
        problem_init(problem, 415, "unsupported_media_type", "The body must be application/json");
        return false;
    }
    // Texts of the tree point into the body, which is gone before the answer comes.
    struct text kept = arena_copy(arena, body);
    enum status status = json_tree_read(arena, kept, &root, &offset, &sentence);
    if (status != STATUS_OK || root->kind != JSON_BEGIN_OBJECT) {
        problem_init(problem, 400, "not_json", "The body is not a JSON object");
        if (status == STATUS_OK) {
            problem_add(problem, "", "not_json", "expected an object, not %s", json_tree_kind(root));
        } else {
            problem_add(problem, "", "not_json", "%s, at byte %zu",
                        status == STATUS_INVALID ? sentence : "it takes too much memory", offset);
        }
        return false;
    }
    read_fields(root, fields, count, context, problem);
    return problem->error_count == 0;
}

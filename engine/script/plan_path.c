// Paths become steps of places, and what they name becomes the declared tree.

#include "script/bind_support.h"
#include "script/plan_compiler.h"
#include "script/plan_source.h"
#include "script/trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Pushes "suppliers/acme.lua:58: ": where the leaf is written, or else the plan.
static void push_where(struct plan_compiler *compiler)
{
    const struct trouble *trouble = sandbox_trouble(compiler->L);
    const struct plan *plan = compiler->plan;
    struct text path, source;

    if (plan->file.data == NULL || trouble == NULL || trouble->find_source == NULL ||
        !trouble->find_source(trouble->context, plan->file, &path, &source)) {
        luaL_where(compiler->L, 1);
        return;
    }
    lua_pushfstring(
        compiler->L, "%s:%d: ", plan->file.data,
        (int)plan_source_line(source, plan->line,
                              compiler->place[0] == '\0' && compiler->key != NULL ? compiler->key : compiler->place));
}

void plan_failed(struct plan_compiler *compiler, const char *format, const char *word)
{
    lua_State *L = compiler->L;

    push_where(compiler);
    lua_pushfstring(L, compiler->place[0] != '\0' ? "plan: %s: " : "plan: ", compiler->place);
    lua_pushfstring(L, format, word);
    lua_concat(L, 3);
    trouble_code(L, CODE_PLAN);
    lua_error(L);
    abort();
}

void plan_enter(struct plan_compiler *compiler, const char *name)
{
    size_t length = strlen(compiler->place);

    (void)snprintf(compiler->place + length, sizeof compiler->place - length, length > 0 ? ".%s" : "%s", name);
}

void *plan_alloc(struct plan_compiler *compiler, size_t count, size_t size)
{
    void *made = arena_alloc_array(&compiler->plan->arena, count, size);

    if (made == NULL) {
        plan_failed(compiler, "the plan is too large%s", "");
    }
    return made;
}

struct text plan_copy(struct plan_compiler *compiler, struct text text)
{
    char *made = plan_alloc(compiler, text.length + 1, 1);

    memcpy(made, text.data, text.length);
    return (struct text){ made, text.length };
}

static void check_declared(struct plan_compiler *compiler, enum declared_result result, const char *path)
{
    if (result == DECLARED_CONFLICT) {
        plan_failed(compiler, "`%s` is a list, map or object here and another one elsewhere", path);
    }
    if (result != DECLARED_OK) {
        plan_failed(compiler, "`%s`: too many names, or one of more than 128 bytes", path);
    }
}

/// The steps of a path while it is read.
struct path_reader {
    struct plan_compiler *compiler;
    const char *whole; // for errors
    struct declared *node;
    struct plan_step steps[PLAN_STEPS_MAX];
    uint32_t count;
};

static void add_step(struct path_reader *reader, struct plan_step step)
{
    if (reader->count == PLAN_STEPS_MAX) {
        plan_failed(reader->compiler, "`%s`: too many steps", reader->whole);
    }
    reader->steps[reader->count++] = step;
}

/// What goes on behind `node` must not, when it is an attribute or a text of XML.
static void check_goes_on(struct plan_compiler *compiler, const struct declared *node, const char *path)
{
    if (compiler->plan->is_xml && xml_names_is_leaf(node->name)) {
        plan_failed(compiler, "`%s`: nothing stands within an attribute or #text", path);
    }
}

static void step_to_member(struct path_reader *reader, struct text name)
{
    struct arena *arena = &reader->compiler->plan->arena;
    const struct plan *plan = reader->compiler->plan;
    struct declared *member = NULL;

    check_goes_on(reader->compiler, reader->node, reader->whole);
    if (name.length == 0) {
        plan_failed(reader->compiler, "`%s`: a name is missing", reader->whole);
    }
    if (plan->is_xml && xml_names_check(&plan->names, name) != NULL) {
        lua_pushfstring(reader->compiler->L, "`%s`: %s", reader->whole, xml_names_check(&plan->names, name));
        plan_failed(reader->compiler, "%s", lua_tostring(reader->compiler->L, -1));
    }
    check_declared(reader->compiler, declared_member(arena, reader->node, name, &member), reader->whole);
    require(member != NULL);
    reader->node = member;
    add_step(reader, (struct plan_step){ .place = (uint16_t)member->place });
}

static void step_to_element(struct path_reader *reader, struct text number)
{
    struct arena *arena = &reader->compiler->plan->arena;
    struct declared *element = NULL;
    bool is_from_end = number.length > 0 && number.data[0] == '-';
    uint64_t value = 0;

    if (is_from_end) {
        number = (struct text){ number.data + 1, number.length - 1 };
    }
    if (!text_to_u64(number, &value) || value == 0 || value > 1000) {
        plan_failed(reader->compiler, "`%s`: in brackets stands a number from 1 on, or from the end: -1",
                    reader->whole);
    }
    check_goes_on(reader->compiler, reader->node, reader->whole);
    check_declared(reader->compiler, declared_element(arena, reader->node, DECLARED_LIST, &element), reader->whole);
    reader->node = element;
    add_step(reader, (struct plan_step){ .index = (int16_t)(is_from_end ? -(int)value : (int)value) });
}

static void reader_begin(struct path_reader *reader, struct plan_compiler *compiler, struct text whole,
                         struct declared *from)
{
    *reader = (struct path_reader){ .compiler = compiler, .whole = whole.data, .node = from };
}

static void reader_end(struct path_reader *reader, struct text text, uint32_t level, struct plan_path *path)
{
    *path = (struct plan_path){
        .level = level, .count = reader->count, .declared = reader->node, .text = plan_copy(reader->compiler, text)
    };
    path->steps = plan_alloc(reader->compiler, reader->count + 1, sizeof(struct plan_step));
    memcpy(path->steps, reader->steps, reader->count * sizeof(struct plan_step));
    path->is_member = reader->count == 1 && path->steps[0].index == 0;
    path->place = path->steps[0].place;
}

/// Does it begin with `[]` or `{}`?
static bool is_all(struct text text)
{
    return text_starts_with(text, TEXT("[]")) || text_starts_with(text, TEXT("{}"));
}

static struct text text_behind(struct text text, size_t count)
{
    return (struct text){ text.data + count, text.length - count };
}

/// Reads up to the first `[]` or `{}`, or the end. What is left.
static struct text read_steps(struct path_reader *reader, struct text text)
{
    bool is_first = true;

    while (text.length > 0) {
        if (is_all(text)) {
            return text;
        }
        if (text.data[0] == '[') {
            struct text rest;
            struct text number = text_split((struct text){ text.data + 1, text.length - 1 }, ']', &rest);
            if (rest.data == NULL) {
                plan_failed(reader->compiler, "`%s`: a ] is missing", reader->whole);
            }
            step_to_element(reader, number);
            text = rest;
        } else {
            if (!is_first && text.data[0] != '.') {
                plan_failed(reader->compiler, "`%s`: a point is missing", reader->whole);
            }
            size_t start = text.data[0] == '.' ? 1 : 0;
            size_t end = start;
            while (end < text.length && text.data[end] != '.' && text.data[end] != '[' &&
                   !is_all(text_behind(text, end))) {
                end++;
            }
            step_to_member(reader, (struct text){ text.data + start, end - start });
            text = text_behind(text, end);
        }
        is_first = false;
    }
    return text;
}

void plan_compile_path(struct plan_compiler *compiler, struct text text, uint32_t level, struct plan_path *path)
{
    struct path_reader reader;

    if (text.length == 0) {
        plan_failed(compiler, "an empty path: the element itself is `.`%s", "");
    }
    bool is_key = text.length == 2 && is_all(text);
    bool is_of_map = compiler->plan->levels[level].is_map;
    if (is_key && (level == 0 || is_of_map != (text.data[0] == '{'))) {
        plan_failed(compiler, "`{}` is the key of an element of a map, `[]` the number of one of a list; this is no %s",
                    text.data[0] == '{' ? "map's" : "list's");
    }
    if (is_key && !is_of_map && compiler->plan->levels[level].keys != NULL) {
        plan_failed(compiler, "`[]` is no number of what this ref(…) names%s", "");
    }
    reader_begin(&reader, compiler, text, compiler->plan->levels[level].element);
    if (!is_key && !text_equals_c(text, ".") && read_steps(&reader, text).length > 0) {
        lua_pushfstring(
            compiler->L,
            "`%s` is a list, and one value is wanted here: [1] or [-1] in place of [] names one; a function "
            "takes all, { \"%s\", function(list) … end }",
            text.data, text.data);
        plan_failed(compiler, "%s", lua_tostring(compiler->L, -1));
    }
    reader_end(&reader, text, level, path);
    path->is_key = is_key;
}

void plan_compile_member(struct plan_compiler *compiler, const struct plan_path *path, const char *name,
                         struct plan_path *made)
{
    struct path_reader reader;

    reader_begin(&reader, compiler, path->text, path->declared);
    for (uint32_t i = 0; i < path->count; i++) {
        add_step(&reader, path->steps[i]);
    }
    step_to_member(&reader, text_of(name));
    reader_end(&reader, path->text, path->level, made);
}

struct declared *plan_declare_elements(struct plan_compiler *compiler, struct declared *node, struct text brackets,
                                       const char *path)
{
    struct declared *element = NULL;
    enum declared_kind kind = brackets.data[0] == '{' ? DECLARED_MAP : DECLARED_LIST;

    check_goes_on(compiler, node, path);
    check_declared(compiler, declared_element(&compiler->plan->arena, node, kind, &element), path);
    require(element != NULL);
    return element;
}

/// The element in hand as the only one of a list.
static uint32_t compile_self(struct plan_compiler *compiler, struct text text, uint32_t level)
{
    struct plan *plan = compiler->plan;
    struct path_reader reader;

    if (plan->level_count == PLAN_LEVELS_MAX) {
        plan_failed(compiler, "`each = \"%s\"`: too many levels", text.data);
    }
    struct plan_level *made = &plan->levels[plan->level_count];
    reader_begin(&reader, compiler, text, plan->levels[level].element);
    reader_end(&reader, text, level, &made->list);
    made->outer = level;
    made->element = plan->levels[level].element;
    made->is_self = true;
    return plan->level_count++;
}

uint32_t plan_compile_each(struct plan_compiler *compiler, struct text text, uint32_t level)
{
    struct plan *plan = compiler->plan;
    struct text rest = text;

    if (text_equals_c(text, ".")) {
        return compile_self(compiler, text, level);
    }
    if (text.length < 2 || !is_all(text_behind(text, text.length - 2))) {
        plan_failed(compiler, "`each = \"%s\"` must end with [] or {}, or be \".\", the element itself", text.data);
    }
    while (rest.length > 0) {
        struct path_reader reader;
        reader_begin(&reader, compiler, text, plan->levels[level].element);
        if (rest.data[0] == '.' && rest.data != text.data) {
            rest = text_behind(rest, 1);
        } else if (rest.data[0] != '[' && rest.data[0] != '{' && rest.data != text.data) {
            plan_failed(compiler, "`each = \"%s\"`: a point is missing", text.data);
        }
        struct text behind = read_steps(&reader, rest);
        if (behind.length < 2 || plan->level_count == PLAN_LEVELS_MAX) {
            plan_failed(compiler, "`each = \"%s\"`: too many levels, or something behind the last []", text.data);
        }
        struct plan_level *made = &plan->levels[plan->level_count];
        made->outer = level;
        made->element = plan_declare_elements(compiler, reader.node, behind, text.data);
        made->is_map = behind.data[0] == '{';
        reader_end(&reader, text, level, &made->list);
        level = plan->level_count++;
        rest = text_behind(behind, 2);
    }
    return level;
}

bool plan_is_values(struct text text)
{
    for (size_t i = 0; i + 1 < text.length; i++) {
        if (is_all(text_behind(text, i))) {
            return text.length > 2; // alone they are the key or number of the element
        }
    }
    return false;
}

/// Behind the brackets of a list stand a point and names, more brackets, or nothing.
static struct text read_behind(struct path_reader *reader, struct text behind)
{
    if (behind.length == 0 || is_all(behind)) {
        return behind;
    }
    if (behind.data[0] != '.') {
        plan_failed(reader->compiler, "`%s`: behind [] a point is missing", reader->whole);
    }
    return read_steps(reader, text_behind(behind, 1));
}

void plan_compile_values(struct plan_compiler *compiler, struct text text, uint32_t level, struct plan_node *node)
{
    struct path_reader reader;

    reader_begin(&reader, compiler, text, compiler->plan->levels[level].element);
    struct text brackets = read_steps(&reader, text);
    reader_end(&reader, text, level, &node->path);
    for (;;) {
        struct text behind = text_behind(brackets, 2);
        bool is_map = brackets.data[0] == '{';
        reader_begin(&reader, compiler, text, plan_declare_elements(compiler, reader.node, brackets, text.data));
        brackets = read_behind(&reader, behind);
        if (brackets.length == 0) {
            break;
        }
        if (is_map || brackets.data[0] == '{') {
            plan_failed(compiler, "`%s`: where several lists stand in a path, all are []; a map is read alone",
                        text.data);
        }
        if (node->between_count == PLAN_LISTS_MAX) {
            plan_failed(compiler, "`%s`: more than four lists in a path", text.data);
        }
        reader_end(&reader, text, level, &node->between[node->between_count++]);
    }
    reader_end(&reader, text, level, &node->inner);
}

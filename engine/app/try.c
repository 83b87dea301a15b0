#include "app/try.h"

#include "app/envelope.h"
#include "app/try_clock.h"
#include "base/clock.h"
#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

enum { ARENA_MAX = 256 << 20, NAMES_MAX = 256 };

// ------------------------------------------------------------------------------------------------------------ subjects

/// "suppliers/acme.lua" is acme.
static struct text name_of(const char *written)
{
    struct text name = text_of(written);
    const char *slash = strrchr(written, '/');
    static const char END[] = ".lua";

    if (name.length > strlen(END) && strcmp(written + name.length - strlen(END), END) == 0) {
        name = text_of(slash == NULL ? written : slash + 1);
        name.length -= strlen(END);
    }
    return name;
}

bool try_find(struct try_subject *subject, struct settings *settings, struct generation *generation, const char *name,
              struct failure *why)
{
    const struct catalogue *catalogue = generation_catalogue(generation);
    struct text wanted = name_of(name);
    const char *names[NAMES_MAX];
    char kept[NAMES_MAX][64];
    size_t count = 0;

    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        if (text_equals(supplier->name, wanted)) {
            ptrdiff_t index = script_set_find_supplier(catalogue->set, wanted);
            require(index >= 0);
            *subject = (struct try_subject){ .settings = settings,
                                             .generation = generation,
                                             .catalogue = catalogue,
                                             .supplier = supplier,
                                             .script = script_set_supplier(catalogue->set, (size_t)index),
                                             .script_index = (size_t)index };
            return true;
        }
        if (count < NAMES_MAX) {
            (void)snprintf(kept[count], sizeof(kept[count]), "%.*s", TEXT_ARGS(supplier->name));
            names[count] = kept[count];
            count++;
        }
    }
    const char *nearest = text_nearest(wanted, names, count);
    failure_code(why, CODE_SUPPLIER_NAME);
    failure_set(why, "there is no supplier `%.*s`", TEXT_ARGS(wanted));
    if (nearest != NULL) {
        failure_help(why, "did you mean `%s`?", nearest);
    } else {
        failure_help(why, "it is the name of a file in the settings' suppliers_dir, or the file");
    }
    return false;
}

// ---------------------------------------------------------------------------------------------------------------- runs

void try_run_init(struct try_run *run)
{
    *run = (struct try_run){ .root = NULL };
    arena_init(&run->arena, ARENA_MAX);
    tap_init(&run->tap);
    buffer_init(&run->reply, TRY_REPLY_MAX);
}

void try_run_fini(struct try_run *run)
{
    tap_fini(&run->tap);
    buffer_fini(&run->reply);
    arena_fini(&run->arena);
}

const struct json_node *try_report(const struct try_run *run)
{
    return json_tree_element(json_tree_member(run->root, "suppliers"), 0);
}

struct text try_outcome(const struct try_run *run)
{
    return json_tree_text(try_report(run), "outcome");
}

/// The search with its product, and without what would leave the supplier out.
static void write_search(const struct json_node *root, struct text product, struct buffer *out)
{
    static const char *const passed_over[] = { "product", "suppliers", "mode", "partial" };
    struct json_writer json;

    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_text(&json, "product", product);
    for (const struct json_node *at = root->first; at != NULL; at = at->next) {
        bool is_kept = true;
        for (size_t i = 0; i < COUNT_OF(passed_over); i++) {
            is_kept = is_kept && !text_equals_c(at->key, passed_over[i]);
        }
        if (is_kept) {
            json_key_text(&json, at->key);
            json_raw(&json, at->source);
        }
    }
    json_end_object(&json);
}

/// What a caller may say around the query, and no more.
static bool take_envelope(struct try_run *run, const struct try_subject *subject, struct failure *why)
{
    const struct settings *settings = subject->settings;
    struct envelope envelope;
    struct problem problem;

    problem_init(&problem, 422, "", "");
    envelope_init(&envelope);
    bool is_read = envelope_read(&envelope, run->search, &problem) && problem.error_count == 0;
    if (is_read) {
        uint64_t asked_us = envelope.budget_ms > 0 ? envelope.budget_ms * 1000 : settings->deadline_default_us;
        run->budget = budget_clamp(asked_us, settings->deadline_min_us, settings->deadline_max_us);
    } else if (problem.error_count > 0) {
        failure_set(why, "the search's %s: %s", problem.errors[0].pointer, problem.errors[0].detail);
    } else {
        failure_set(why, "the search could not be read");
    }
    envelope_fini(&envelope);
    return is_read;
}

bool try_take_search(struct try_run *run, const struct try_subject *subject, struct text json, struct failure *why)
{
    const char *sentence = "there is no memory for it";
    struct json_node *root = NULL;
    struct buffer out;
    size_t offset = 0;

    failure_code(why, CODE_SEARCH_INVALID);
    failure_help(why, "it is what a caller posts: { \"query\": { … } }");
    if (json_tree_read(&run->arena, json, &root, &offset, &sentence) != STATUS_OK) {
        struct json_place place = json_place_of(json, offset);
        failure_set(why, "the search is no JSON, line %u, column %u: %s", place.line, place.column, sentence);
        return false;
    }
    if (root->kind != JSON_BEGIN_OBJECT) {
        failure_set(why, "the search is %s, not an object", json_tree_kind(root));
        return false;
    }
    const struct json_node *whole = root, *inner = json_tree_member(root, "search");
    root = inner != NULL && inner->kind == JSON_BEGIN_OBJECT ? (struct json_node *)(uintptr_t)inner : root; // a fixture
    try_clock_choose(run, whole, root, clock_wall_us());
    const struct json_node *product = json_tree_member(root, "product");
    if (product != NULL && !text_equals(product->text, subject->script->product)) {
        failure_set(why, "the search is for %.*s, but `%.*s` sells %.*s", TEXT_ARGS(product->text),
                    TEXT_ARGS(subject->supplier->name), TEXT_ARGS(subject->script->product));
        return false;
    }
    buffer_init(&out, TRY_SEARCH_MAX * 2);
    write_search(root, subject->script->product, &out);
    run->search = arena_copy(&run->arena, buffer_text(&out));
    buffer_fini(&out);
    return take_envelope(run, subject, why);
}

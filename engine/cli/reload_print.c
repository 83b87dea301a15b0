#include "cli/reload_print.h"

#include "cli/admin_ask.h"
#include "model/exchange.h"

#include <stdio.h>

enum { RELOAD_OUTPUT_CAP = 4 << 20, RELOAD_ARENA = 32 << 20, FATE_COLUMNS = 10, KIND_COLUMNS = 9, NAME_COLUMNS = 20 };

static struct text text_member(const struct json_node *object, const char *key)
{
    return json_tree_text(object, key);
}

static const struct json_node *list_member(const struct json_node *object, const char *key)
{
    const struct json_node *member = json_tree_member(object, key);
    return member != NULL && member->kind == JSON_BEGIN_ARRAY ? member->first : NULL;
}

/// A line below a row, for as much as it says; it is never cut, for one has to act on it.
static void print_below(struct paint *paint, const char *label, struct text words)
{
    if (words.length > 0) {
        paint_spaces(paint, FATE_COLUMNS + 4);
        buffer_append_c(paint->out, label);
        paint_text(paint, words, words.length);
        buffer_append_byte(paint->out, '\n');
    }
}

static enum paint_colour colour_of(struct text fate)
{
    static const char *const bad[] = { "kept", "left_out", "went_back", "refused", "waits", "removed", "failing" };
    bool is_bad = false;

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        is_bad = is_bad || text_equals_c(fate, bad[i]);
    }
    return is_bad ? PAINT_YELLOW : PAINT_GREEN;
}

/// "acme@3f9a -> acme@77aa", "bravo@1111 runs, bravo@2222 is on the disk".
static void print_labels(struct paint *paint, const struct json_node *row, struct text fate)
{
    struct text before = text_member(row, "before");
    struct text running = text_member(row, "running");
    struct text on_disk = text_member(row, "on_disk");
    bool is_settings = text_equals_c(text_member(row, "kind"), "settings");
    bool is_kept = text_equals_c(fate, "kept") || text_equals_c(fate, "left_out") || text_equals_c(fate, "waits");

    if (is_settings && running.length > 0) {
        buffer_append_c(paint->out, "those of ");
        paint_text(paint, running, 40);
        struct text file = text_member(row, "file");
        buffer_append_c(paint->out, " run, and ");
        paint_text(paint, file.length > 0 ? file : TEXT("what is on the disk"), 200);
        buffer_append_c(paint->out, " differs");
        return;
    }
    if (is_kept) {
        // Tables, rates and settings have no labels.
        struct text unnamed = text_equals_c(fate, "left_out") ? TEXT("nothing") : TEXT("the one before");
        paint_text(paint, running.length > 0 ? running : unnamed, 80);
        buffer_append_c(paint->out, " runs");
        if (on_disk.length > 0) {
            buffer_append_c(paint->out, ", ");
            paint_text(paint, on_disk, 80);
            buffer_append_c(paint->out, " is on the disk");
        }
        return;
    }
    paint_text(paint, before, 80);
    buffer_append_c(paint->out, before.length > 0 && running.length > 0 ? " -> " : "");
    paint_text(paint, running, 80);
}

static void print_row(struct paint *paint, const struct json_node *row)
{
    struct text fate = text_member(row, "fate");

    buffer_append_c(paint->out, "  ");
    paint_on(paint, colour_of(fate));
    paint_cell(paint, fate, FATE_COLUMNS, PAINT_LEFT);
    paint_off(paint, colour_of(fate));
    paint_spaces(paint, 2);
    paint_cell(paint, text_member(row, "kind"), KIND_COLUMNS, PAINT_LEFT);
    paint_spaces(paint, 1);
    paint_cell(paint, text_member(row, "name"), NAME_COLUMNS, PAINT_LEFT);
    paint_spaces(paint, 1);
    print_labels(paint, row, fate);
    struct text since = text_member(row, "since");
    if (since.length > 0) {
        buffer_append_c(paint->out, ", since ");
        paint_text(paint, since, 40);
    }
    buffer_append_byte(paint->out, '\n');
    print_below(paint, "", text_member(row, "because"));
    print_below(paint, "help: ", text_member(row, "help"));
}

/// Is the row there only for what an earlier one of the list says, with the same words?
static const struct json_node *leader_of(const struct json_node *first, const struct json_node *row)
{
    struct text because = text_member(row, "because");
    const struct json_node *leader = row;

    for (const struct json_node *other = first; other != NULL && because.length > 0; other = other->next) {
        bool is_module = text_equals_c(text_member(other, "kind"), "scripts");
        if (is_module && text_equals(text_member(other, "because"), because)) {
            leader = other;
            break;
        }
    }
    return leader;
}

/// "keeps back alpha, bravo": what needs the module that is broken.
static void print_followers(struct paint *paint, const struct json_node *first, const struct json_node *leader)
{
    size_t count = 0;

    for (const struct json_node *row = first; row != NULL; row = row->next) {
        if (row != leader && leader_of(first, row) == leader) {
            if (count++ == 0) {
                paint_spaces(paint, FATE_COLUMNS + 4);
            }
            buffer_append_c(paint->out, count == 1 ? "keeps back " : ", ");
            paint_text(paint, text_member(row, "name"), 80);
        }
    }
    if (count > 0) {
        buffer_append_byte(paint->out, '\n');
    }
}

static size_t print_rows(struct paint *paint, const struct json_node *answer, const char *key)
{
    const struct json_node *first = list_member(answer, key);
    bool has_findings = list_member(answer, "findings") != NULL; // which say why the settings were refused
    size_t count = 0;

    for (const struct json_node *row = first; row != NULL; row = row->next) {
        bool is_said = has_findings && text_equals_c(text_member(row, "fate"), "refused");
        if (leader_of(first, row) == row && !is_said) {
            print_row(paint, row);
            print_followers(paint, first, row);
        }
        count++;
    }
    return count;
}

static size_t print_restarts(struct paint *paint, const struct json_node *answer)
{
    size_t count = 0;
    const struct json_node *settings = json_tree_member(answer, "settings");

    for (const struct json_node *row = list_member(settings, "needs_restart"); row != NULL; row = row->next) {
        struct text line = text_member(row, "line");
        buffer_append_c(paint->out, "  ");
        paint_on(paint, PAINT_YELLOW);
        paint_cell(paint, TEXT("restart"), FATE_COLUMNS, PAINT_LEFT);
        paint_off(paint, PAINT_YELLOW);
        buffer_append_c(paint->out, "  setting   ");
        paint_cell(paint, text_member(row, "setting"), NAME_COLUMNS, PAINT_LEFT);
        paint_spaces(paint, 1);
        paint_text(paint, text_member(row, "file"), 200);
        buffer_printf(paint->out, "%s%.*s: takes effect after a restart only\n", line.length > 0 ? ":" : "",
                      TEXT_ARGS(line));
        count++;
    }
    return count;
}

/// What was asked for in vain.
static size_t print_remarks(struct paint *paint, const struct json_node *answer)
{
    size_t count = 0;

    for (const struct json_node *row = list_member(answer, "remarks"); row != NULL; row = row->next) {
        print_below(paint, "", text_member(row, "remark"));
        print_below(paint, "help: ", text_member(row, "help"));
        count++;
    }
    return count;
}

static void print_findings(struct paint *paint, const struct json_node *answer)
{
    for (const struct json_node *row = list_member(answer, "findings"); row != NULL; row = row->next) {
        print_below(paint, "", text_member(row, "finding"));
        print_below(paint, "help: ", text_member(row, "help"));
    }
    struct text more = text_member(answer, "findings_left_out");
    if (more.length > 0) {
        buffer_printf(paint->out, "  and %.*s more\n", TEXT_ARGS(more));
    }
}

/// "acme@77aa beside acme@3f9a: 120 answers, 117 same, 3 different, 0 skipped, 0 errors", and what differs.
static void print_shadow(struct paint *paint, const struct json_node *shadow)
{
    static const char *const counts[] = { "answers", "same", "different", "skipped", "errors" };
    struct text label = text_member(shadow, "shadow");

    buffer_append_c(paint->out, "  shadow ");
    paint_text(paint, label.length > 0 ? label : text_member(shadow, "supplier"), 80);
    buffer_append_c(paint->out, text_equals_c(text_member(shadow, "state"), "runs")     ? " beside "
                                : text_equals_c(text_member(shadow, "state"), "broken") ? " could not be loaded beside "
                                                                                        : ": its file is what runs, ");
    paint_text(paint, text_member(shadow, "running"), 80);
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct text count = text_member(shadow, counts[i]);
        buffer_printf(paint->out, "%s%.*s %s", i == 0 ? ": " : ", ", TEXT_ARGS(count), counts[i]);
    }
    buffer_append_byte(paint->out, '\n');
    print_below(paint, "", text_member(shadow, "because"));
    print_below(paint, "first error: ", text_member(shadow, "first_error"));
}

static void print_difference(struct paint *paint, const struct json_node *difference)
{
    static const char *const sides[] = { "live", "shadow" };
    struct text offer = text_member(difference, "offer");

    paint_spaces(paint, 4);
    paint_text(paint, text_member(difference, "search_id"), 40);
    paint_spaces(paint, 1);
    paint_text(paint, offer.length > 0 ? offer : TEXT("answer"), 80);
    paint_spaces(paint, 1);
    paint_text(paint, text_member(difference, "pointer"), 120);
    for (size_t i = 0; i < COUNT_OF(sides); i++) {
        const struct json_node *value = json_tree_member(difference, sides[i]);
        buffer_append_c(paint->out, i == 0 ? ": " : " -> ");
        if (value != NULL && value->kind == JSON_STRING) {
            paint_text(paint, value->text, 120);
        } else {
            buffer_append_c(paint->out, "nothing");
        }
    }
    buffer_append_byte(paint->out, '\n');
}

static void print_shadows(struct paint *paint, const struct json_node *object)
{
    for (const struct json_node *shadow = list_member(object, "shadows"); shadow != NULL; shadow = shadow->next) {
        print_shadow(paint, shadow);
        for (const struct json_node *each = list_member(shadow, "differences"); each != NULL; each = each->next) {
            print_difference(paint, each);
        }
    }
}

/// The sentence of what became of it.
static void print_head(struct paint *paint, const struct json_node *answer)
{
    struct text outcome = text_member(answer, "outcome");
    struct text generation = text_member(answer, "generation");
    struct text took = text_member(answer, "took_ms");

    if (text_equals_c(outcome, "published")) {
        struct text previous = text_member(answer, "previous");
        buffer_printf(paint->out, "Generation %.*s runs, before it %.*s (%.*s ms)", TEXT_ARGS(generation),
                      TEXT_ARGS(previous), TEXT_ARGS(took));
    } else if (text_equals_c(outcome, "unchanged")) {
        buffer_printf(paint->out, "Nothing changed: generation %.*s runs on (%.*s ms)", TEXT_ARGS(generation),
                      TEXT_ARGS(took));
    } else {
        buffer_printf(paint->out, "Refused: generation %.*s runs on, unchanged (%.*s ms)", TEXT_ARGS(generation),
                      TEXT_ARGS(took));
    }
}

static void print_asker(struct paint *paint, const struct json_node *answer)
{
    struct text who = text_member(answer, "who");
    struct text why = text_member(answer, "why");

    buffer_append_c(paint->out, ", asked for by ");
    paint_text(paint, who.length > 0 ? who : text_member(answer, "source"), 80);
    if (why.length > 0) {
        buffer_append_c(paint->out, ": ");
        paint_text(paint, why, why.length);
    }
}

static int print_answer(const struct cli_options *options, const struct json_node *answer)
{
    struct text outcome = text_member(answer, "outcome");
    bool is_refused = text_equals_c(outcome, "refused");
    struct buffer out;
    struct paint paint;

    buffer_init(&out, RELOAD_OUTPUT_CAP);
    cli_paint_init(&paint, options, &out);
    print_head(&paint, answer);
    buffer_append_byte(&out, '\n');
    (void)print_rows(&paint, answer, "changed");
    const struct json_node *changed = json_tree_member(json_tree_member(answer, "settings"), "changed");
    if (changed != NULL && changed->kind == JSON_TRUE) {
        buffer_append_c(&out, "  changed     settings\n");
    }
    size_t kept = print_rows(&paint, answer, "kept");
    kept += print_restarts(&paint, answer);
    print_shadows(&paint, answer);
    kept += print_remarks(&paint, answer);
    print_findings(&paint, answer);
    cli_flush(is_refused ? stderr : stdout, &out);
    buffer_fini(&out);
    return is_refused ? CLI_REFUSED : kept > 0 ? CLI_FINDINGS : CLI_OK;
}

/// What the exit code says, without the page.
static int code_of(const struct json_node *answer)
{
    const struct json_node *settings = json_tree_member(answer, "settings");
    bool is_stale = list_member(answer, "kept") != NULL || list_member(settings, "needs_restart") != NULL ||
                    list_member(answer, "remarks") != NULL;

    return text_equals_c(text_member(answer, "outcome"), "refused") ? CLI_REFUSED : is_stale ? CLI_FINDINGS : CLI_OK;
}

/// A problem of the engine: it did not understand what was asked.
static int print_problem(const struct cli_options *options, const struct json_node *problem)
{
    struct failure why = { 0 };
    const struct json_node *error = list_member(problem, "errors");
    struct text title = text_member(problem, "title");
    struct text detail = text_member(error, "detail");

    failure_set(&why, "%.*s%s%.*s", TEXT_ARGS(title), detail.length > 0 ? ": " : "", TEXT_ARGS(detail));
    cli_print_failure(stderr, &why, options->is_colourless);
    return CLI_REFUSED;
}

int reload_print(const struct cli_options *options, const struct http_response *response)
{
    struct text body = block_text(response->body);
    struct arena arena;
    struct json_node *answer = NULL;
    const char *sentence;
    size_t offset;
    int code = CLI_OK;

    arena_init(&arena, RELOAD_ARENA);
    if (json_tree_read(&arena, body, &answer, &offset, &sentence) != STATUS_OK) {
        answer = NULL;
    }
    if (text_member(answer, "outcome").length > 0) {
        if (options->is_json) {
            cli_put(stdout, body);
            (void)fputc('\n', stdout);
            code = code_of(answer);
        } else {
            code = print_answer(options, answer);
        }
    } else if (text_member(answer, "title").length > 0) {
        code = print_problem(options, answer);
    } else {
        code = admin_is_not_ours(options);
    }
    arena_fini(&arena);
    return code;
}

static void print_last(struct paint *paint, const char *what, const struct json_node *answer)
{
    buffer_append_c(paint->out, what);
    paint_text(paint, text_member(answer, "at"), 40);
    buffer_append_c(paint->out, ": ");
    print_head(paint, answer);
    print_asker(paint, answer);
    buffer_append_byte(paint->out, '\n');
}

static void print_names(struct paint *paint, const char *label, const struct json_node *first)
{
    for (const struct json_node *name = first; name != NULL; name = name->next) {
        buffer_append_c(paint->out, name == first ? label : ", ");
        paint_text(paint, name->text, 80);
    }
}

/// A restart reads the disk, and nothing is held back from it.
static void print_restart(struct paint *paint, const struct json_node *restart)
{
    const struct json_node *starts = json_tree_member(restart, "starts");

    if (starts != NULL && starts->kind == JSON_FALSE) {
        paint_on(paint, PAINT_YELLOW);
        buffer_append_c(paint->out, "a restart now would not start: ");
        paint_off(paint, PAINT_YELLOW);
        struct text because = text_member(restart, "because");
        paint_text(paint, because, because.length);
        buffer_append_byte(paint->out, '\n');
    } else if (list_member(restart, "runs") != NULL || list_member(restart, "off") != NULL) {
        bool has_runs = list_member(restart, "runs") != NULL;
        buffer_append_c(paint->out, "a restart now would ");
        print_names(paint, "run what is held back: ", list_member(restart, "runs"));
        print_names(paint, has_runs ? "; and switch off " : "switch off ", list_member(restart, "off"));
        buffer_append_byte(paint->out, '\n');
    }
}

size_t reload_print_status(struct paint *paint, const struct json_node *reload)
{
    const struct json_node *last = json_tree_member(reload, "last");
    const struct json_node *published = json_tree_member(reload, "published");
    size_t stale = 0;

    buffer_append_byte(paint->out, '\n');
    if (text_member(published, "outcome").length > 0) {
        print_last(paint, "last change ", published);
    }
    if (text_member(last, "outcome").length > 0 &&
        !text_equals(text_member(last, "at"), text_member(published, "at"))) {
        print_last(paint, "last reload ", last);
        print_findings(paint, last);
    }
    if (list_member(reload, "kept") != NULL) {
        buffer_append_c(paint->out, "stale, for what runs is not what is on the disk:\n");
        stale += print_rows(paint, reload, "kept");
    }
    stale += print_restarts(paint, reload);
    print_restart(paint, json_tree_member(reload, "restart"));
    print_shadows(paint, reload);
    return stale;
}

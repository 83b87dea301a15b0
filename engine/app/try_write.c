#include "app/try_write.h"

#include "app/fixture_secret.h"
#include "app/hide.h"
#include "app/try_fit.h"
#include "base/clock.h"
#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

enum { CONTEXT_ARENA = 4 << 20 };

static void write_node(struct hide *hide, const struct json_node *node, struct json_writer *json);

static void write_clean_text(struct hide *hide, struct text text, struct json_writer *json)
{
    struct buffer out;

    buffer_init(&out, TRY_REPLY_MAX);
    hide_text(hide, text, &out);
    json_text(json, out.length > 0 ? buffer_text(&out) : TEXT(""));
    buffer_fini(&out);
}

static void write_number(struct hide *hide, const struct json_node *node, struct json_writer *json)
{
    struct buffer out;

    buffer_init(&out, TRY_REPLY_MAX);
    hide_text(hide, node->text, &out);
    if (text_equals(buffer_text(&out), node->text)) {
        json_raw(json, node->source);
    } else {
        json_text(json, buffer_text(&out));
    }
    buffer_fini(&out);
}

/// A document of our own, whose texts are a supplier's.
static void write_node(struct hide *hide, const struct json_node *node, struct json_writer *json)
{
    bool is_object = node->kind == JSON_BEGIN_OBJECT, is_list = node->kind == JSON_BEGIN_ARRAY;

    if (node->kind == JSON_STRING) {
        write_clean_text(hide, node->text, json);
    } else if (node->kind == JSON_NUMBER) {
        write_number(hide, node, json);
    } else if (!is_object && !is_list) {
        json_raw(json, node->source);
    } else if (is_object) {
        json_begin_object(json);
        for (const struct json_node *at = node->first; at != NULL; at = at->next) {
            json_key_text(json, at->key);
            write_node(hide, at, json);
        }
        json_end_object(json);
    } else {
        json_begin_array(json);
        for (const struct json_node *at = node->first; at != NULL; at = at->next) {
            write_node(hide, at, json);
        }
        json_end_array(json);
    }
}

static void write_sentence(void *context, const char *sentence)
{
    json_c(context, sentence);
}

/// How many offers do not answer what was asked, and in words.
static void write_fit(const struct try_run *run, struct json_writer *json)
{
    struct try_fit fit;

    try_fit_read(&fit, run);
    const struct {
        const char *name;
        size_t count;
    } FIELDS[] = { { "offers_of_other_slices", fit.other_counts },
                   { "offers_of_other_days", fit.other_days },
                   { "offers_of_other_orders", fit.other_orders },
                   { "offers_of_other_places", fit.other_places } };
    size_t all = 0;
    for (size_t i = 0; i < COUNT_OF(FIELDS); i++) {
        all += FIELDS[i].count;
        if (FIELDS[i].count > 0) {
            json_field_u64(json, FIELDS[i].name, FIELDS[i].count);
        }
    }
    if (all > 0) {
        json_key(json, "fit");
        json_begin_array(json);
        try_fit_say(&fit, write_sentence, json);
        json_end_array(json);
    }
}

static void write_ceiling(const struct try_run *run, struct json_writer *json)
{
    const struct json_node *report = try_report(run);
    uint64_t ceiling_ms = 0, began_ms = 0, took_ms = 0, allocated_ms = 0;

    if (!json_tree_to_u64(json_tree_member(report, "took_ms"), &took_ms)) {
        return;
    }
    (void)!json_tree_to_u64(json_tree_member(report, "began_ms"), &began_ms);
    bool has_ceiling = json_tree_to_u64(json_tree_member(report, "ceiling_ms"), &ceiling_ms);
    bool has_end = json_tree_to_u64(json_tree_member(report, "allocated_ms"), &allocated_ms);
    uint64_t most_ms = has_ceiling ? ceiling_ms : began_ms + allocated_ms;
    json_key(json, "ceiling");
    json_begin_object(json);
    json_field_u64(json, "used_ms", began_ms + took_ms);
    if (has_ceiling || has_end) {
        json_field_u64(json, "of_ms", most_ms);
        json_field_u64(json, "percent", most_ms == 0 ? 0 : (began_ms + took_ms) * 100 / most_ms);
        json_field_text(json, "from", has_ceiling ? json_tree_text(report, "ceiling_from") : TEXT("budget"));
    }
    json_end_object(json);
}

static void write_reply(const struct try_run *run, struct hide *hide, struct json_writer *json)
{
    static const char *const MEMBERS[] = { "title", "code", "detail", "errors", "offers", "items" };
    const struct json_node *report = try_report(run);

    if (report != NULL) {
        json_key(json, "report");
        write_node(hide, report, json);
    }
    for (size_t i = 0; i < COUNT_OF(MEMBERS); i++) {
        const struct json_node *member = json_tree_member(run->root, MEMBERS[i]);
        bool is_of_problem = i < 4;
        if (member != NULL && !(is_of_problem && report != NULL)) {
            json_key(json, MEMBERS[i]);
            write_node(hide, member, json);
        }
    }
}

/// What stands under the names of secrets in any answer is hidden wherever it is repeated.
static void learn_secrets(const struct try_run *run, struct hide *hide)
{
    for (size_t i = 0; i < run->tap.count; i++) {
        const struct http_response *response = tap_at(&run->tap, i)->response;
        struct buffer scratch, out;
        struct text plain;
        if (response == NULL) {
            continue;
        }
        buffer_init(&scratch, TRY_REPLY_MAX);
        buffer_init(&out, TRY_REPLY_MAX);
        (void)!try_inflate(response, &scratch, &plain);
        hide_body(hide, plain, false, &out);
        for (size_t j = 0; j < response->header_count; j++) {
            hide_header(hide, response->headers[j].name, response->headers[j].value, &out);
        }
        buffer_fini(&scratch);
        buffer_fini(&out);
    }
}

/// The secrets of an account: as the process has them, and as they are made up for saved answers.
static void learn_account(const struct try_subject *subject, const struct script_account *account, struct hide *hide)
{
    struct json_node *context = NULL;
    struct arena arena;
    const char *sentence;
    size_t offset;

    arena_init(&arena, CONTEXT_ARENA);
    (void)!json_tree_read(&arena, account->context, &context, &offset, &sentence);
    for (size_t i = 0; i < subject->script->secret_count; i++) {
        struct text name = subject->script->secrets[i];
        struct text value = json_tree_text(json_tree_member(context, "secret"), name.data);
        struct buffer made;
        buffer_init(&made, CONTEXT_ARENA);
        fixture_test_secret(name, value, &made);
        hide_add(hide, buffer_text(&made), TEXT("***"));
        if (value.length > 0) {
            hide_add(hide, value, TEXT("***"));
        }
        buffer_fini(&made);
    }
    arena_fini(&arena);
}

/// One or none, as in the other commands' lists.
static void write_findings(const struct try_view *view, struct json_writer *json)
{
    struct failure failure;

    json_key(json, "findings");
    json_begin_array(json);
    if (try_failure(view->run, view->subject, &failure)) {
        view->tell(json, &failure, true);
    }
    json_end_array(json);
}

/// Of saved answers that are not played at the time it is.
static void write_clock(const struct try_run *run, struct json_writer *json)
{
    char now[CLOCK_UTC_SIZE];

    if (!run->is_live && run->clock_from != NULL) {
        clock_print_utc(run->wall_us, now);
        json_field_c(json, "now", now);
        json_field_c(json, "now_from", run->clock_from);
    }
}

bool try_write(const struct try_view *view, struct buffer *out, struct failure *why)
{
    const struct try_run *run = view->run;
    struct json_writer json;
    struct hide hide;
    bool is_fine = true;

    hide_init(&hide, false);
    try_hide_signed(run, &hide);
    learn_secrets(run, &hide);
    for (size_t i = 0; i < catalogue_account_count(view->subject->supplier); i++) {
        learn_account(view->subject, &view->subject->supplier->account[i], &hide);
    }
    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_text(&json, "supplier", view->subject->supplier->name);
    json_field_text(&json, "file", view->subject->script->file);
    json_field_text(&json, "product", view->subject->script->product);
    json_field_bool(&json, "live", run->is_live);
    json_field_u64(&json, "budget_ms", run->budget.effective_us / 1000);
    write_clock(run, &json);
    if (!view->subject->supplier->is_enabled) {
        try_field(&hide, &json, "off", view->subject->supplier->because);
    }
    if (run->is_interrupted) {
        json_field_bool(&json, "interrupted", true);
    }
    if (run->unused > 0) {
        json_field_u64(&json, "unused_answers", run->unused);
    }
    json_field_u64(&json, "start_script_us", run->tap.start_script_us);
    json_key(&json, "exchanges");
    json_begin_array(&json);
    for (size_t i = 0; i < run->tap.count; i++) {
        is_fine = try_write_exchange(view, tap_at(&run->tap, i), &hide, &json, why) && is_fine;
    }
    json_end_array(&json);
    write_findings(view, &json);
    write_fit(run, &json);
    write_ceiling(run, &json);
    write_reply(run, &hide, &json);
    json_end_object(&json);
    hide_fini(&hide);
    return is_fine;
}

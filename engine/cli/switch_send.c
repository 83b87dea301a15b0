#include "cli/switch_send.h"

#include "app/switches.h"
#include "base/clock.h"
#include "base/json_tree.h"
#include "cli/admin_ask.h"
#include "cli/change_send.h"
#include "cli/switch_print.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SEND_BODY_CAP = 64 << 10, SEND_ARENA = 16 << 20, SEND_OUTPUT_CAP = 1 << 20, SEND_POLL_MS = 200 };

int switch_misused(const struct cli_options *options, const char *sentence, const char *help)
{
    struct failure why = { 0 };

    failure_set(&why, "%s", sentence);
    failure_help(&why, "%s", help);
    return cli_fail(options, &why, CLI_USAGE);
}

/// What is no name is no path either. CLI_OK: all is well.
static int check_words(const struct cli_options *options)
{
    struct value_problem problem = { "", "" };
    struct failure why = { 0 };
    uint64_t us = 0;
    const char *wrong = NULL;

    if (!value_name(text_of(options->arguments[0]), &problem)) {
        wrong = options->arguments[0];
    } else if (options->account != NULL && !value_name(text_of(options->account), &problem)) {
        wrong = options->account;
    } else if (options->lasts != NULL && !switch_read_for(text_of(options->lasts), &us, &problem)) {
        wrong = options->lasts;
    } else if (options->waits != NULL && !switch_read_for(text_of(options->waits), &us, &problem)) {
        wrong = options->waits;
    }
    if (wrong == NULL) {
        return CLI_OK;
    }
    failure_set(&why, "`%.80s` %s", wrong, problem.sentence);
    failure_help(&why, "%s", problem.help);
    return cli_fail(options, &why, CLI_USAGE);
}

static void write_body(const struct cli_options *options, const char *action, const char *value, struct buffer *body)
{
    struct json_writer json;

    json_writer_init(&json, body);
    json_begin_object(&json);
    change_write_asker(options, &json);
    if (options->account != NULL) {
        json_field_c(&json, "account", options->account);
    }
    if (options->lasts != NULL) {
        json_field_c(&json, "for", options->lasts);
    }
    if (value != NULL) {
        json_field_c(&json, strcmp(action, "ceiling") == 0 ? "ceiling" : "state", value);
    }
    json_end_object(&json);
}

/// The first error of a problem: its sentence, and the remedy behind the semicolon.
static int refused(const struct cli_options *options, const struct http_response *response,
                   const struct json_node *root)
{
    const struct json_node *first = json_tree_element(json_tree_member(root, "errors"), 0);
    struct text detail = json_tree_text(first, "detail");
    struct text title = json_tree_text(root, "title");
    struct failure why = { 0 };
    struct text words = detail.length > 0 ? detail : title;
    const char *remedy = words.length > 0 ? memmem(words.data, words.length, "; ", 2) : NULL;

    if (words.length == 0) {
        return admin_is_not_ours(options);
    }
    if (remedy != NULL) {
        failure_help(&why, "%.*s", (int)(words.data + words.length - remedy - 2), remedy + 2);
        words.length = (size_t)(remedy - words.data);
    }
    failure_set(&why, "%.*s", TEXT_ARGS(words));
    if (response->status == 409) {
        failure_code(&why, CODE_ENGINE_REFUSED);
    }
    return cli_fail(options, &why, response->status == 409 ? CLI_REFUSED : CLI_USAGE);
}

// --------------------------------------------------------------------------------------------------------------- a
// page

static void print_line(struct paint *paint, const char *before, struct text words, const char *after)
{
    buffer_append_c(paint->out, before);
    paint_text(paint, words, words.length);
    buffer_append_c(paint->out, after);
}

/// "ceiling of 900 ms ", "disabled ".
static void print_switch(struct paint *paint, const struct json_node *item)
{
    struct text ceiling_ms = json_tree_text(item, "ceiling_ms");

    print_line(paint, "", json_tree_text(item, "state"), " ");
    if (ceiling_ms.length > 0) {
        print_line(paint, "of ", ceiling_ms, " ms ");
    }
    switch_print_words(paint, item);
    buffer_append_byte(paint->out, '\n');
}

/// "acme, account uk, is disabled by …": what is in force now, and what was before.
static void print_state(struct paint *paint, const struct json_node *root)
{
    const struct json_node *now = json_tree_member(root, "switch");
    const struct json_node *was = json_tree_member(root, "was");
    struct text account = json_tree_text(root, "account");

    print_line(paint, "", json_tree_text(root, "supplier"), "");
    if (account.length > 0) {
        print_line(paint, ", account ", account, "");
    }
    if (now != NULL) {
        buffer_append_c(paint->out, ": ");
        print_switch(paint, now);
    } else {
        print_line(paint, ": ", json_tree_text(root, "action"),
                   json_tree_member(root, "changed")->kind == JSON_TRUE ? ", done\n" : ", nothing to do\n");
    }
    if (was != NULL) {
        buffer_append_c(paint->out, "before: ");
        print_switch(paint, was);
    }
}

static void print_page(struct paint *paint, const struct json_node *root)
{
    struct text remark = json_tree_text(root, "remark");
    struct text help = json_tree_text(root, "help");
    struct text out = json_tree_text(root, "out");
    struct text purged = json_tree_text(root, "purged");

    print_state(paint, root);
    if (!text_equals_c(out, "0")) {
        print_line(paint, "still out: ", out, " attempts\n");
    }
    if (purged.length > 0) {
        print_line(paint, "forgotten: ", purged, text_equals_c(purged, "1") ? " answer\n" : " answers\n");
    }
    if (remark.length > 0) {
        print_line(paint, "", remark, "\n");
    }
    if (help.length > 0) {
        print_line(paint, "help: ", help, "\n");
    }
    switch_print_kept(paint, json_tree_member(root, "kept"));
}

// ------------------------------------------------------------------------------------------------------------- waiting

static uint64_t sum_out(const struct json_node *supplier, const char *account)
{
    const struct json_node *accounts = json_tree_member(supplier, "accounts");
    uint64_t sum = 0;

    for (const struct json_node *one = accounts != NULL ? accounts->first : NULL; one != NULL; one = one->next) {
        uint64_t out = 0;
        bool is_meant = account == NULL || text_equals_c(json_tree_text(one, "name"), account);
        if (is_meant && json_tree_to_u64(json_tree_member(one, "out"), &out)) {
            sum += out;
        }
    }
    return sum;
}

bool switch_count_out(const struct cli_options *options, uint64_t *out, int *code)
{
    struct http_response *response = NULL;
    struct json_node *root = NULL;
    struct arena arena;
    const char *sentence;
    size_t offset;

    *code = admin_fetch(options, "/admin/v1/suppliers", &response);
    if (*code != CLI_OK) {
        return false;
    }
    arena_init(&arena, SEND_ARENA);
    *out = 0;
    if (json_tree_read(&arena, block_text(response->body), &root, &offset, &sentence) != STATUS_OK) {
        *code = admin_is_not_ours(options);
    }
    const struct json_node *list = json_tree_member(root, "suppliers");
    for (const struct json_node *one = list != NULL ? list->first : NULL; one != NULL; one = one->next) {
        if (text_equals_c(json_tree_text(one, "name"), options->arguments[0])) {
            *out = sum_out(one, options->account);
        }
    }
    arena_fini(&arena);
    http_response_destroy(&response);
    return *code == CLI_OK;
}

/// Until nothing is out, or the time is over.
static int wait_for_none(const struct cli_options *options, uint64_t *out, uint64_t *waited_us)
{
    const struct timespec nap = { .tv_nsec = SEND_POLL_MS * 1000000L };
    struct value_problem problem;
    uint64_t most_us = 0, began_us = clock_now_us();
    int code = CLI_OK;

    (void)!switch_read_for(text_of(options->waits), &most_us, &problem); // it was checked
    while (switch_count_out(options, out, &code) && *out > 0 && clock_now_us() - began_us < most_us) {
        if (isatty(STDERR_FILENO) && !options->is_json) {
            (void)fprintf(stderr, "\r%llu still out ", (unsigned long long)*out);
        }
        (void)nanosleep(&nap, NULL);
    }
    if (isatty(STDERR_FILENO) && !options->is_json) {
        (void)fputs("\r\033[K", stderr);
    }
    *waited_us = clock_now_us() - began_us;
    return code == CLI_OK && *out > 0 ? CLI_THRESHOLD : code;
}

static int tell_waited(const struct cli_options *options, struct text answer)
{
    uint64_t out = 0, waited_us = 0;
    struct buffer text;
    struct json_writer json;
    int code = wait_for_none(options, &out, &waited_us);

    if (code != CLI_OK && code != CLI_THRESHOLD) {
        return code;
    }
    buffer_init(&text, SEND_OUTPUT_CAP);
    if (options->is_json) {
        json_writer_init(&json, &text);
        json_begin_object(&json);
        json_key(&json, "drain");
        json_raw(&json, answer);
        json_field_u64(&json, "waited_ms", waited_us / 1000);
        json_field_u64(&json, "out", out);
        json_end_object(&json);
        buffer_append_byte(&text, '\n');
    } else if (out > 0) {
        buffer_printf(&text, "%llu are still out after %s\n", (unsigned long long)out, options->waits);
    } else {
        buffer_append_c(&text, "nothing is out\n");
    }
    cli_flush(stdout, &text);
    buffer_fini(&text);
    return code;
}

// ------------------------------------------------------------------------------------------------------------- sending

static int print_answer(const struct cli_options *options, const struct http_response *response)
{
    struct text body = block_text(response->body);
    struct json_node *root = NULL;
    struct arena arena;
    struct buffer page;
    struct paint paint;
    const char *sentence;
    size_t offset;
    int code = CLI_OK;

    arena_init(&arena, SEND_ARENA);
    buffer_init(&page, SEND_OUTPUT_CAP);
    cli_paint_init(&paint, options, &page);
    bool is_ours = json_tree_read(&arena, body, &root, &offset, &sentence) == STATUS_OK &&
                   (response->status != 200 || json_tree_member(root, "changed") != NULL);
    if (!is_ours) {
        code = admin_is_not_ours(options);
    } else if (response->status != 200) {
        code = refused(options, response, root);
    } else if (!options->is_json) {
        print_page(&paint, root);
        cli_flush(stdout, &page);
    } else if (options->waits == NULL) {
        cli_put(stdout, body);
        (void)fputc('\n', stdout);
    }
    if (code == CLI_OK && options->waits != NULL) {
        code = tell_waited(options, body);
    }
    buffer_fini(&page);
    arena_fini(&arena);
    return code;
}

int switch_send(const struct cli_options *options, const char *action, const char *value)
{
    struct http_response *response = NULL;
    struct buffer body;
    char path[256];
    int code = check_words(options);

    if (code != CLI_OK) {
        return code;
    }
    buffer_init(&body, SEND_BODY_CAP);
    write_body(options, action, value, &body);
    (void)snprintf(path, sizeof(path), "/admin/v1/suppliers/%s/%s", options->arguments[0], action);
    code = admin_switch_ask(options, path, buffer_text(&body), &response);
    if (code == CLI_OK) {
        code = print_answer(options, response);
        http_response_destroy(&response);
    }
    buffer_fini(&body);
    return code;
}

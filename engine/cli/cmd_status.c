#include "cli/admin_ask.h"
#include "cli/reload_print.h"
#include "cli/switch_print.h"

#include "base/json_read.h"

#include <string.h>

enum { STATUS_OUTPUT_CAP = 1024 * 1024, STATUS_NAME_COLUMNS = 20, STATUS_ARENA = 64 << 20 };

/// What the page shows, by its path in the answer.
struct status_view {
    struct text version, because, file;
    struct text generation, uptime_s, searches, workers, lost, quarantined, queued, written, dropped, failed, kept;
    struct text level, refused, most; // of an overload
    bool is_ready, is_draining;
};

/// What is within a supplier's object and has lines of its own.
enum status_part {
    STATUS_SWITCH,
    STATUS_TRIAL,
    STATUS_DRIFT,
    STATUS_ACCOUNTS,
    STATUS_LIMITS,
    STATUS_LOGIN,
    STATUS_AUTH,
    STATUS_PARTS
};

struct status_supplier {
    struct text name, script, because, quarantined, mode;
    struct text path, since;            // of what drifts
    struct text kept_in, blocked_until; // of an account
    struct text state, retry_in_ms;     // of its credentials
    bool is_enabled;
    struct json_reader parts[STATUS_PARTS]; // where each begins that it has
    bool has[STATUS_PARTS];
};

struct place {
    const char *key;
    size_t offset;
    bool is_flag;
};

#define VALUE(type, key, member)                                                                                       \
    {                                                                                                                  \
        key, offsetof(struct type, member), false                                                                      \
    }
#define FLAG(type, key, member)                                                                                        \
    {                                                                                                                  \
        key, offsetof(struct type, member), true                                                                       \
    }

static const struct place view_places[] = {
    VALUE(status_view, "version", version),
    VALUE(status_view, "because", because),
    VALUE(status_view, "generation", generation),
    VALUE(status_view, "uptime_s", uptime_s),
    VALUE(status_view, "searches", searches),
    FLAG(status_view, "ready", is_ready),
    FLAG(status_view, "draining", is_draining),
    VALUE(status_view, "workers", workers),
    VALUE(status_view, "lost", lost),
    VALUE(status_view, "quarantined", quarantined),
    VALUE(status_view, "queued", queued),
    VALUE(status_view, "file", file),
    VALUE(status_view, "written", written),
    VALUE(status_view, "dropped", dropped),
    VALUE(status_view, "failed", failed),
    VALUE(status_view, "kept", kept),
    VALUE(status_view, "level", level),
    VALUE(status_view, "refused", refused),
    VALUE(status_view, "most_at_once", most),
};

static const struct place supplier_places[] = {
    VALUE(status_supplier, "name", name),       VALUE(status_supplier, "script", script),
    VALUE(status_supplier, "because", because), VALUE(status_supplier, "quarantined", quarantined),
    VALUE(status_supplier, "path", path),       VALUE(status_supplier, "since", since),
    VALUE(status_supplier, "mode", mode),       FLAG(status_supplier, "enabled", is_enabled),
    VALUE(status_supplier, "kept_in", kept_in), VALUE(status_supplier, "blocked_until", blocked_until),
    VALUE(status_supplier, "state", state),     VALUE(status_supplier, "retry_in_ms", retry_in_ms),
};

static const struct {
    const char *key;
    enum json_token begins;
} part_places[STATUS_PARTS] = {
    [STATUS_SWITCH] = { "switch", JSON_BEGIN_OBJECT }, [STATUS_TRIAL] = { "trial", JSON_BEGIN_OBJECT },
    [STATUS_DRIFT] = { "drift", JSON_BEGIN_ARRAY },    [STATUS_ACCOUNTS] = { "accounts", JSON_BEGIN_ARRAY },
    [STATUS_LIMITS] = { "limits", JSON_BEGIN_OBJECT }, [STATUS_LOGIN] = { "login", JSON_BEGIN_OBJECT },
    [STATUS_AUTH] = { "auth", JSON_BEGIN_OBJECT },
};

/// Values stay escaped: the page shows them, nothing is decided by them.
static void take_value(const struct json_reader *json, enum json_token token, struct text key,
                       const struct place *places, size_t count, void *record)
{
    for (size_t i = 0; i < count; i++) {
        char *place = (char *)record + places[i].offset;
        if (!text_equals_c(key, places[i].key)) {
            continue;
        }
        if (places[i].is_flag) {
            *(bool *)(void *)place = token == JSON_TRUE;
        } else if (token == JSON_STRING || token == JSON_NUMBER) {
            *(struct text *)(void *)place = json->value;
        }
    }
}

static bool read_list(struct json_reader *json, struct paint *paint,
                      void (*print)(struct paint *paint, const struct status_supplier *item));

/// A path that has stopped appearing in the supplier's answers.
static void print_drift(struct paint *paint, const struct status_supplier *drift)
{
    paint_spaces(paint, STATUS_NAME_COLUMNS + 8);
    paint_on(paint, PAINT_YELLOW);
    buffer_append_c(paint->out, "drift: ");
    paint_text(paint, drift->path, 200);
    paint_off(paint, PAINT_YELLOW);
    buffer_append_c(paint->out, " has stopped appearing, since ");
    paint_text(paint, drift->since, 40);
    buffer_append_byte(paint->out, '\n');
}

/// An account that is left alone because its credentials were refused.
static void print_park(struct paint *paint, const struct status_supplier *account)
{
    struct json_reader auth = account->parts[STATUS_AUTH];
    struct status_supplier park = { 0 };
    uint64_t retry_in_ms = 0;

    while (account->has[STATUS_AUTH] && json_next(&auth) == JSON_KEY) {
        struct text key = auth.value;
        take_value(&auth, json_next(&auth), key, supplier_places, COUNT_OF(supplier_places), &park);
    }
    if (park.state.length == 0 || text_equals_c(park.state, "taken")) {
        return;
    }
    paint_spaces(paint, STATUS_NAME_COLUMNS + 8);
    buffer_append_c(paint->out, "account ");
    paint_text(paint, account->name, STATUS_NAME_COLUMNS);
    paint_on(paint, PAINT_YELLOW);
    if (text_to_u64(park.retry_in_ms, &retry_in_ms)) {
        uint64_t seconds = retry_in_ms / 1000 + 1;
        buffer_printf(paint->out, ": parked, its credentials were refused; tried out in %llu s",
                      (unsigned long long)seconds);
    } else {
        buffer_append_c(paint->out, ": parked, its credentials were refused; they are being tried out");
    }
    paint_off(paint, PAINT_YELLOW);
    buffer_append_byte(paint->out, '\n');
}

/// An account whose requests were kept in by its limits, or by what its supplier said of a quota.
static void print_account(struct paint *paint, const struct status_supplier *account)
{
    uint64_t kept_in = 0;

    print_park(paint, account);

    if (account->blocked_until.length == 0 && (!text_to_u64(account->kept_in, &kept_in) || kept_in == 0)) {
        return;
    }
    paint_spaces(paint, STATUS_NAME_COLUMNS + 8);
    buffer_append_c(paint->out, "account ");
    paint_text(paint, account->name, STATUS_NAME_COLUMNS);
    buffer_append_c(paint->out, ": ");
    paint_text(paint, account->kept_in, 20);
    buffer_append_c(paint->out, " requests kept in");
    if (account->blocked_until.length > 0) {
        paint_on(paint, PAINT_YELLOW);
        buffer_append_c(paint->out, ", blocked until ");
        paint_text(paint, account->blocked_until, 40);
        paint_off(paint, PAINT_YELLOW);
    }
    buffer_append_byte(paint->out, '\n');
}

/// An object of numbers in one line.
static void print_counts(struct paint *paint, const char *what, struct json_reader counts)
{
    bool is_first = true;

    paint_spaces(paint, STATUS_NAME_COLUMNS + 8);
    buffer_append_c(paint->out, what);
    while (json_next(&counts) == JSON_KEY) {
        buffer_append_c(paint->out, is_first ? "" : ", ");
        paint_text(paint, counts.value, 40);
        buffer_append_byte(paint->out, ' ');
        if (json_next(&counts) != JSON_NUMBER) {
            break;
        }
        paint_text(paint, counts.value, 20);
        is_first = false;
    }
    buffer_append_byte(paint->out, '\n');
}

/// A list was skipped before, so it can be read.
static void print_parts(struct paint *paint, const struct status_supplier *supplier)
{
    struct json_reader accounts = supplier->parts[STATUS_ACCOUNTS];
    struct json_reader drift = supplier->parts[STATUS_DRIFT];

    if (supplier->has[STATUS_TRIAL]) {
        print_counts(paint, "on trial: ", supplier->parts[STATUS_TRIAL]);
    }
    if (supplier->has[STATUS_LIMITS]) {
        print_counts(paint, "limits met: ", supplier->parts[STATUS_LIMITS]);
    }
    if (supplier->has[STATUS_LOGIN]) {
        print_counts(paint, "login: ", supplier->parts[STATUS_LOGIN]);
    }
    if (supplier->has[STATUS_ACCOUNTS]) {
        (void)read_list(&accounts, paint, print_account);
    }
    if (supplier->has[STATUS_DRIFT]) {
        (void)read_list(&drift, paint, print_drift);
    }
}

/// on, off, or in quarantine; each with what one wants to know then.
static void print_supplier(struct paint *paint, const struct status_supplier *supplier)
{
    bool is_quarantined = supplier->is_enabled && supplier->quarantined.length > 0;
    bool is_on = supplier->is_enabled && !supplier->has[STATUS_SWITCH];
    struct text about = supplier->is_enabled && !is_on ? TEXT("an operator has switched it off, see below")
                        : is_quarantined               ? supplier->quarantined
                        : supplier->is_enabled         ? supplier->script
                                                       : supplier->because;

    enum paint_colour colour = is_quarantined         ? PAINT_RED
                               : is_on                ? PAINT_GREEN
                               : supplier->is_enabled ? PAINT_YELLOW
                                                      : PAINT_DIM;
    buffer_append_c(paint->out, "  ");
    paint_cell(paint, supplier->name, STATUS_NAME_COLUMNS, PAINT_LEFT);
    paint_spaces(paint, 1);
    paint_on(paint, colour);
    paint_cell(paint, is_on ? TEXT("on") : TEXT("off"), 3, PAINT_LEFT);
    paint_off(paint, colour);
    paint_spaces(paint, 2);
    if (supplier->is_enabled && supplier->mode.length > 0) {
        paint_text(paint, supplier->mode, 60);
        paint_spaces(paint, 2);
    }
    paint_text(paint, about, paint->width > STATUS_NAME_COLUMNS + 8 ? paint->width - STATUS_NAME_COLUMNS - 8 : 40);
    buffer_append_byte(paint->out, '\n');
    print_parts(paint, supplier);
}

/// A product has a line only when its script is in quarantine.
static void print_product(struct paint *paint, const struct status_supplier *product)
{
    if (product->quarantined.length > 0) {
        buffer_append_c(paint->out, "  product ");
        paint_text(paint, product->name, STATUS_NAME_COLUMNS);
        buffer_append_c(paint->out, ": ");
        paint_text(paint, product->quarantined, 200);
        buffer_append_byte(paint->out, '\n');
    }
}

/// A list of suppliers or products, of accounts, or of what drifts, drawn as it is read.
static bool read_list(struct json_reader *json, struct paint *paint,
                      void (*print)(struct paint *paint, const struct status_supplier *item))
{
    enum json_token token = json_next(json);

    while (token == JSON_BEGIN_OBJECT) {
        struct status_supplier supplier = { 0 };
        for (token = json_next(json); token == JSON_KEY; token = json_next(json)) {
            struct text key = json->value;
            token = json_next(json);
            take_value(json, token, key, supplier_places, COUNT_OF(supplier_places), &supplier);
            for (size_t i = 0; i < STATUS_PARTS; i++) {
                if (token == part_places[i].begins && text_equals_c(key, part_places[i].key)) {
                    supplier.has[i] = true;
                    supplier.parts[i] = *json;
                }
            }
            if (!json_skip(json, token)) {
                return false;
            }
        }
        print(paint, &supplier);
        token = json_next(json);
    }
    return token == JSON_END_ARRAY;
}

/// Objects within the answer are read as if they were part of it: their keys differ.
static bool read_status(struct json_reader *json, struct status_view *view, struct paint *suppliers)
{
    uint32_t depth = 1;

    if (json_next(json) != JSON_BEGIN_OBJECT) {
        return false;
    }
    while (depth > 0) {
        enum json_token token = json_next(json);
        if (token == JSON_END_OBJECT) {
            depth--;
            continue;
        }
        struct text key = json->value;
        if (token != JSON_KEY) {
            return false;
        }
        token = json_next(json);
        if (token == JSON_BEGIN_OBJECT && (text_equals_c(key, "reload") || text_equals_c(key, "switches"))) {
            if (!json_skip(json, token)) {
                return false;
            }
        } else if (token == JSON_BEGIN_OBJECT) {
            depth++;
        } else if (token == JSON_BEGIN_ARRAY && (text_equals_c(key, "suppliers") || text_equals_c(key, "products"))) {
            bool is_product = text_equals_c(key, "products");
            if (!read_list(json, suppliers, is_product ? print_product : print_supplier)) {
                return false;
            }
        } else {
            take_value(json, token, key, view_places, COUNT_OF(view_places), view);
            if (!json_skip(json, token)) {
                return false;
            }
        }
    }
    return true;
}

static void print_uptime(struct buffer *out, struct text uptime_s)
{
    uint64_t seconds = 0;

    if (text_to_u64(uptime_s, &seconds)) {
        buffer_printf(out, ", up %llu h %02llu min %02llu s", (unsigned long long)(seconds / 3600),
                      (unsigned long long)(seconds / 60 % 60), (unsigned long long)(seconds % 60));
    }
}

/// Only while there is one, or when searches were refused.
static void print_overload(struct paint *paint, const struct status_view *view)
{
    bool is_calm = view->level.length == 0 || text_equals_c(view->level, "none");
    bool has_refused = view->refused.length > 0 && !text_equals_c(view->refused, "0");
    enum paint_colour colour = is_calm ? PAINT_DIM : PAINT_YELLOW;

    if (is_calm && !has_refused) {
        return;
    }
    buffer_append_c(paint->out, "overload: ");
    paint_on(paint, colour);
    paint_text(paint, view->level, 20);
    paint_off(paint, colour);
    buffer_printf(paint->out, ", %.*s searches refused", TEXT_ARGS(view->refused));
    if (view->most.length > 0) {
        buffer_printf(paint->out, ", at most %.*s at once now", TEXT_ARGS(view->most));
    }
    buffer_append_byte(paint->out, '\n');
}

static void print_view(struct paint *paint, const struct status_view *view)
{
    const char *state = view->is_draining ? "draining" : view->is_ready ? "ready" : "not ready";
    enum paint_colour colour = view->is_ready ? PAINT_GREEN : PAINT_YELLOW;

    buffer_printf(paint->out, "lastcall %.*s", TEXT_ARGS(view->version));
    print_uptime(paint->out, view->uptime_s);
    buffer_append_c(paint->out, ": ");
    paint_on(paint, colour);
    buffer_append_c(paint->out, state);
    paint_off(paint, colour);
    if (view->because.length > 0) {
        buffer_append_c(paint->out, " (");
        paint_text(paint, view->because, 200);
        buffer_append_byte(paint->out, ')');
    }
    buffer_printf(paint->out,
                  "\ngeneration %.*s, %.*s searches\nscript threads: %.*s working, %.*s lost, %.*s scripts in "
                  "quarantine, %.*s calls waiting\nattribution: %.*s kept, ",
                  TEXT_ARGS(view->generation), TEXT_ARGS(view->searches), TEXT_ARGS(view->workers),
                  TEXT_ARGS(view->lost), TEXT_ARGS(view->quarantined), TEXT_ARGS(view->queued), TEXT_ARGS(view->kept));
    if (view->file.length > 0) {
        buffer_printf(paint->out, "%.*s written, %.*s dropped, %.*s failed, file ", TEXT_ARGS(view->written),
                      TEXT_ARGS(view->dropped), TEXT_ARGS(view->failed));
        paint_text(paint, view->file, 200);
    } else {
        buffer_append_c(paint->out, "no file");
    }
    buffer_append_byte(paint->out, '\n');
    print_overload(paint, view);
    buffer_append_byte(paint->out, '\n');
}

/// What runs and what is on the disk; it is read apart, for it has rows within rows.
static size_t print_reload(struct paint *paint, struct text body)
{
    struct arena arena;
    struct json_node *root = NULL;
    const char *sentence;
    size_t offset, stale = 0;

    arena_init(&arena, STATUS_ARENA);
    if (json_tree_read(&arena, body, &root, &offset, &sentence) == STATUS_OK) {
        switch_print_all(paint, root);
        stale = reload_print_status(paint, json_tree_member(root, "reload"));
    }
    arena_fini(&arena);
    return stale;
}

/// As a page, or as it came.
static void print_out(const struct cli_options *options, struct text body, const struct buffer *head,
                      const struct buffer *suppliers)
{
    if (options->is_json) {
        cli_put(stdout, body);
        (void)fputc('\n', stdout);
    } else {
        cli_flush(stdout, head);
        cli_flush(stdout, suppliers);
    }
}

int cmd_status(const struct cli_options *options)
{
    struct http_response *response = NULL;
    struct status_view view = { 0 };
    struct json_reader json;
    struct buffer head, suppliers;
    struct paint paint, supplier_paint;

    // What is stale is to be found in either case.
    int code = admin_fetch(options, "/admin/v1/status", &response);
    if (code != CLI_OK) {
        return code;
    }
    buffer_init(&head, STATUS_OUTPUT_CAP);
    buffer_init(&suppliers, STATUS_OUTPUT_CAP);
    cli_paint_init(&paint, options, &head);
    cli_paint_init(&supplier_paint, options, &suppliers);
    json_reader_init(&json, block_text(response->body));
    if (read_status(&json, &view, &supplier_paint)) {
        print_view(&paint, &view);
        size_t stale = print_reload(&supplier_paint, block_text(response->body));
        print_out(options, block_text(response->body), &head, &suppliers);
        code = options->is_checking && (stale > 0 || !view.is_ready) ? CLI_FINDINGS : CLI_OK;
    } else {
        code = admin_is_not_ours(options);
    }
    buffer_fini(&head);
    buffer_fini(&suppliers);
    http_response_destroy(&response);
    return code;
}

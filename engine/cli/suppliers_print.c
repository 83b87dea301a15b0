#include "cli/suppliers_print.h"

#include "cli/switch_print.h"

#include <stdio.h>

enum {
    NAME_COLUMNS = 16,
    ACCOUNT_COLUMNS = 10,
    MODE_COLUMNS = 5,
    STATE_COLUMNS = 9,
    BREAKER_COLUMNS = 16,
    MS_COLUMNS = 7,
    CALLS_COLUMNS = 9,
    SHARE_COLUMNS = 6,
    OUT_COLUMNS = 5,
    BELOW_COLUMNS = 2 + NAME_COLUMNS + 1,
};

static struct text text_member(const struct json_node *object, const char *key)
{
    return json_tree_text(object, key);
}

static bool is_true(const struct json_node *object, const char *key)
{
    const struct json_node *member = json_tree_member(object, key);

    return member != NULL && member->kind == JSON_TRUE;
}

static uint64_t number(const struct json_node *object, const char *key)
{
    const struct json_node *member = json_tree_member(object, key);
    uint64_t value = 0;

    return member != NULL && json_tree_to_u64(member, &value) ? value : 0;
}

static void put(struct paint *paint, const char *words, size_t columns, enum paint_align align)
{
    paint_cell(paint, text_of(words), columns, align);
    paint_spaces(paint, 1);
}

static void print_head(struct paint *paint)
{
    buffer_append_c(paint->out, "  ");
    paint_on(paint, PAINT_DIM);
    put(paint, "supplier", NAME_COLUMNS, PAINT_LEFT);
    put(paint, "account", ACCOUNT_COLUMNS, PAINT_LEFT);
    put(paint, "mode", MODE_COLUMNS, PAINT_LEFT);
    put(paint, "asked", STATE_COLUMNS, PAINT_LEFT);
    put(paint, "breaker", BREAKER_COLUMNS, PAINT_LEFT);
    put(paint, "p50 ms", MS_COLUMNS, PAINT_RIGHT);
    put(paint, "p95 ms", MS_COLUMNS, PAINT_RIGHT);
    put(paint, "calls", CALLS_COLUMNS, PAINT_RIGHT);
    put(paint, "answ.", SHARE_COLUMNS, PAINT_RIGHT);
    put(paint, "out", OUT_COLUMNS, PAINT_RIGHT);
    buffer_append_c(paint->out, "script");
    paint_off(paint, PAINT_DIM);
    buffer_append_byte(paint->out, '\n');
}

/// on, off (the settings say so), or what an operator says.
static void print_asked(struct paint *paint, const struct json_node *supplier, const struct json_node *account)
{
    const struct json_node *item = json_tree_member(supplier, "switch");
    bool is_on = is_true(supplier, "enabled");

    item = item != NULL ? item : json_tree_member(account, "switch");
    enum paint_colour colour = item != NULL ? PAINT_YELLOW : is_on ? PAINT_GREEN : PAINT_DIM;
    paint_on(paint, colour);
    paint_cell(paint,
               item != NULL ? text_member(item, "state")
               : is_on      ? TEXT("on")
                            : TEXT("off"),
               STATE_COLUMNS, PAINT_LEFT);
    paint_off(paint, colour);
    paint_spaces(paint, 1);
}

/// "closed", "open 3.1s", "ramp 25%", "held open".
static void print_breaker(struct paint *paint, const struct json_node *supplier, const struct json_node *account)
{
    const struct json_node *breaker = json_tree_member(account, "breaker");
    const struct json_node *held = json_tree_member(supplier, "breaker_held");
    struct text state = text_member(breaker, "state");
    uint64_t retry_ms = number(breaker, "retry_in_ms");
    char words[64];

    held = held != NULL ? held : json_tree_member(account, "breaker_held");
    if (held != NULL) {
        bool is_open = text_equals_c(text_member(held, "state"), "breaker_open");
        (void)snprintf(words, sizeof(words), "held %s", is_open ? "open" : "closed");
    } else if (retry_ms > 0) {
        (void)snprintf(words, sizeof(words), "%.*s %llu.%llus", TEXT_ARGS(state), (unsigned long long)(retry_ms / 1000),
                       (unsigned long long)(retry_ms % 1000 / 100));
    } else if (text_equals_c(state, "ramp")) {
        (void)snprintf(words, sizeof(words), "ramp %llu%%", (unsigned long long)number(breaker, "percent"));
    } else {
        (void)snprintf(words, sizeof(words), "%.*s", TEXT_ARGS(state));
    }
    bool is_closed = text_equals_c(text_of(words), "closed");
    paint_on(paint, is_closed ? PAINT_PLAIN : PAINT_RED);
    paint_cell(paint, text_of(words), BREAKER_COLUMNS, PAINT_LEFT);
    paint_off(paint, is_closed ? PAINT_PLAIN : PAINT_RED);
    paint_spaces(paint, 1);
}

/// What is not known is a dash.
static void print_numbers(struct paint *paint, const struct json_node *account)
{
    const struct json_node *latency = json_tree_member(account, "latency");
    uint64_t calls = number(account, "calls"), answered = number(account, "answered");
    struct text p50 = text_member(latency, "p50_ms"), p95 = text_member(latency, "p95_ms");
    char share[16] = "-";

    if (calls > 0) {
        (void)snprintf(share, sizeof(share), "%.1f%%", 100.0 * (double)answered / (double)calls);
    }
    paint_cell(paint, p50.length > 0 ? p50 : TEXT("-"), MS_COLUMNS, PAINT_RIGHT);
    paint_spaces(paint, 1);
    paint_cell(paint, p95.length > 0 ? p95 : TEXT("-"), MS_COLUMNS, PAINT_RIGHT);
    paint_spaces(paint, 1);
    paint_cell(paint, text_member(account, "calls"), CALLS_COLUMNS, PAINT_RIGHT);
    paint_spaces(paint, 1);
    put(paint, share, SHARE_COLUMNS, PAINT_RIGHT);
    paint_cell(paint, text_member(account, "out"), OUT_COLUMNS, PAINT_RIGHT);
    paint_spaces(paint, 1);
}

/// A line below: what was said, or why it is so.
static void print_below(struct paint *paint, const char *label, struct text words, const struct json_node *item)
{
    if (item == NULL && words.length == 0) {
        return;
    }
    paint_spaces(paint, BELOW_COLUMNS);
    buffer_append_c(paint->out, label);
    paint_text(paint, words, words.length);
    switch_print_words(paint, item);
    buffer_append_byte(paint->out, '\n');
}

/// "disabled " and "held open ", to go before who said so.
static void print_switches(struct paint *paint, const struct json_node *of)
{
    const struct json_node *item = json_tree_member(of, "switch");
    const struct json_node *held = json_tree_member(of, "breaker_held");
    bool is_draining = text_equals_c(text_member(item, "state"), "draining");
    bool is_open = text_equals_c(text_member(held, "state"), "breaker_open");

    print_below(paint, is_draining ? "drained " : "disabled ", (struct text){ 0 }, item);
    print_below(paint, is_open ? "breaker held open " : "breaker held closed ", (struct text){ 0 }, held);
}

static void print_account(struct paint *paint, const struct json_node *supplier, const struct json_node *account)
{
    buffer_append_c(paint->out, "  ");
    paint_cell(paint, text_member(supplier, "name"), NAME_COLUMNS, PAINT_LEFT);
    paint_spaces(paint, 1);
    paint_cell(paint, text_member(account, "name"), ACCOUNT_COLUMNS, PAINT_LEFT);
    paint_spaces(paint, 1);
    paint_cell(paint, text_member(account, "mode"), MODE_COLUMNS, PAINT_LEFT);
    paint_spaces(paint, 1);
    print_asked(paint, supplier, account);
    print_breaker(paint, supplier, account);
    print_numbers(paint, account);
    paint_text(paint, text_member(supplier, "script"), 60);
    buffer_append_byte(paint->out, '\n');
    print_switches(paint, account);
    print_below(paint, "parked until ", text_member(account, "parked_until"), NULL);
}

static size_t print_supplier(struct paint *paint, const struct json_node *supplier, const char *account)
{
    const struct json_node *accounts = json_tree_member(supplier, "accounts");
    size_t lines = 0;

    for (const struct json_node *one = accounts != NULL ? accounts->first : NULL; one != NULL; one = one->next) {
        if (account == NULL || text_equals_c(text_member(one, "name"), account)) {
            print_account(paint, supplier, one);
            lines++;
        }
    }
    if (lines > 0) {
        print_switches(paint, supplier);
        print_below(paint, "off: ", text_member(supplier, "because"), NULL);
    }
    return lines;
}

/// What was said of those that there are none of now.
static void print_absent(struct paint *paint, const struct json_node *root)
{
    const struct json_node *list = json_tree_member(root, "absent");

    for (const struct json_node *one = list != NULL ? list->first : NULL; one != NULL; one = one->next) {
        const struct json_node *item = json_tree_member(one, "switch");
        struct text account = text_member(item, "account");
        buffer_append_c(paint->out, "  ");
        paint_cell(paint, text_member(one, "name"), NAME_COLUMNS, PAINT_LEFT);
        paint_spaces(paint, 1);
        paint_cell(paint, account, ACCOUNT_COLUMNS, PAINT_LEFT);
        buffer_append_c(paint->out, " not there now, but ");
        paint_text(paint, text_member(item, "state"), 20);
        paint_spaces(paint, 1);
        switch_print_words(paint, item);
        buffer_append_byte(paint->out, '\n');
    }
}

size_t suppliers_print(struct paint *paint, const struct json_node *root, const char *name, const char *account)
{
    const struct json_node *list = json_tree_member(root, "suppliers");
    size_t lines = 0;

    print_head(paint);
    for (const struct json_node *one = list != NULL ? list->first : NULL; one != NULL; one = one->next) {
        if (name == NULL || text_equals_c(text_member(one, "name"), name)) {
            lines += print_supplier(paint, one, account);
        }
    }
    if (name == NULL) {
        print_absent(paint, root);
        const struct json_node *kept = json_tree_member(root, "kept");
        if (json_tree_member(kept, "file") != NULL) {
            switch_print_kept(paint, kept);
        }
    }
    return lines;
}

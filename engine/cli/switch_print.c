#include "cli/switch_print.h"

static bool is_true(const struct json_node *object, const char *key)
{
    const struct json_node *member = json_tree_member(object, key);

    return member != NULL && member->kind == JSON_TRUE;
}

static void print_all_of(struct paint *paint, struct text words)
{
    paint_text(paint, words, words.length);
}

void switch_print_words(struct paint *paint, const struct json_node *item)
{
    struct text who = json_tree_text(item, "who");
    struct text why = json_tree_text(item, "why");
    struct text until = json_tree_text(item, "until");

    if (item == NULL) {
        return;
    }
    buffer_append_c(paint->out, "by ");
    print_all_of(paint, who.length > 0 ? who : TEXT("an operator"));
    if (until.length > 0) {
        buffer_append_c(paint->out, " until ");
        print_all_of(paint, until);
    }
    if (why.length > 0) {
        buffer_append_c(paint->out, ": ");
        print_all_of(paint, why);
    }
}

static void print_warning(struct paint *paint, const char *label, struct text file, struct text words, struct text help)
{
    paint_on(paint, PAINT_YELLOW);
    buffer_append_c(paint->out, label);
    paint_off(paint, PAINT_YELLOW);
    if (file.length > 0) {
        print_all_of(paint, file);
        buffer_append_c(paint->out, ": ");
    }
    print_all_of(paint, words);
    buffer_append_byte(paint->out, '\n');
    if (help.length > 0) {
        buffer_append_c(paint->out, "help: ");
        print_all_of(paint, help);
        buffer_append_byte(paint->out, '\n');
    }
}

void switch_print_kept(struct paint *paint, const struct json_node *kept)
{
    const struct json_node *lost = json_tree_member(kept, "at_start");

    if (kept != NULL && !is_true(kept, "over_restarts")) {
        print_warning(paint, "not kept over a restart: ", json_tree_text(kept, "file"), json_tree_text(kept, "because"),
                      json_tree_text(kept, "help"));
    }
    if (lost != NULL) {
        print_warning(paint, "lost at the start: ", json_tree_text(lost, "file"), json_tree_text(lost, "message"),
                      json_tree_text(lost, "help"));
    }
}

/// "acme, account uk: disabled by …".
static size_t print_one(struct paint *paint, struct text supplier, struct text account, const struct json_node *item)
{
    if (item == NULL) {
        return 0;
    }
    print_all_of(paint, supplier);
    if (account.length > 0) {
        buffer_append_c(paint->out, ", account ");
        print_all_of(paint, account);
    }
    buffer_append_c(paint->out, ": ");
    paint_on(paint, PAINT_YELLOW);
    print_all_of(paint, json_tree_text(item, "state"));
    paint_off(paint, PAINT_YELLOW);
    buffer_append_byte(paint->out, ' ');
    switch_print_words(paint, item);
    buffer_append_byte(paint->out, '\n');
    return 1;
}

void switch_print_all(struct paint *paint, const struct json_node *status)
{
    const struct json_node *suppliers = json_tree_member(status, "suppliers");
    size_t count = 0;

    for (const struct json_node *one = suppliers != NULL ? suppliers->first : NULL; one != NULL; one = one->next) {
        const struct json_node *accounts = json_tree_member(one, "accounts");
        struct text name = json_tree_text(one, "name");
        struct text none = { 0 };
        count += print_one(paint, name, none, json_tree_member(one, "switch"));
        count += print_one(paint, name, none, json_tree_member(one, "breaker_held"));
        for (const struct json_node *account = accounts != NULL ? accounts->first : NULL; account != NULL;
             account = account->next) {
            struct text account_name = json_tree_text(account, "name");
            count += print_one(paint, name, account_name, json_tree_member(account, "switch"));
            count += print_one(paint, name, account_name, json_tree_member(account, "breaker_held"));
        }
    }
    const struct json_node *kept = json_tree_member(json_tree_member(status, "switches"), "kept");
    if (count > 0 || json_tree_member(kept, "file") != NULL) { // what nobody uses need not be told
        switch_print_kept(paint, kept);
    }
}

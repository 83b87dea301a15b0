// Trouble with a script is told to whoever keeps the log, trouble with a supplier is not.

#include "search/search.h"
#include "support/virtual_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MS = 1000, SUPPLIERS = 6 };

struct told {
    char text[512];
    int replies;
};

static void on_trouble(void *owner, const struct catalogue_supplier *supplier, enum outcome outcome, const char *detail,
                       const struct failure *trouble)
{
    struct told *told = owner;
    size_t length = strlen(told->text);

    assert_non_null(detail);
    (void)trouble;
    assert_int_equal(told->replies, 0);
    snprintf(told->text + length, sizeof(told->text) - length, "%.*s %s\n", TEXT_ARGS(supplier->name),
             outcome_name(outcome));
}

static void on_reply(void *owner, const struct search_reply *reply)
{
    struct told *told = owner;
    assert_non_null(reply->body);
    told->replies++;
}

static void only_what_a_script_spoiled_is_told(void **state)
{
    const struct virtual_supplier suppliers[SUPPLIERS] = {
        { .name = "fine", .after_us = 10 * MS, .offers = 1 },
        { .name = "error", .after_us = 20 * MS, .normalise = SCRIPT_ERROR },
        { .name = "odd", .after_us = 30 * MS, .normalise = SCRIPT_UNPARSABLE },
        { .name = "refused", .after_us = 40 * MS, .result = FETCH_CONNECT_FAILED },
        { .name = "slow", .hangs = true },
        { .name = "start", .start = SCRIPT_TIMEOUT },
    };
    struct catalogue_supplier listed[SUPPLIERS] = { 0 };
    struct script_account accounts[SUPPLIERS] = { 0 };
    struct virtual_world virtual;
    struct search *search = NULL;
    struct told told = { .replies = 0 };
    (void)state;

    for (size_t i = 0; i < SUPPLIERS; i++) {
        accounts[i] = (struct script_account){ .serial = i + 1, .name = text_of(suppliers[i].name) };
        listed[i] = (struct catalogue_supplier){ .name = text_of(suppliers[i].name),
                                                 .product = TEXT("flights"),
                                                 .script = TEXT("x@1"),
                                                 .is_enabled = true,
                                                 .body_cap = 1 << 20,
                                                 .account = &accounts[i] };
    }
    const struct catalogue catalogue = { .generation = 1, .suppliers = listed, .supplier_count = SUPPLIERS };
    virtual_world_init(&virtual, suppliers, SUPPLIERS);
    struct block *body = block_create(TEXT("{}"));
    const struct search_options options = { .world = &virtual.world,
                                            .catalogue = &catalogue,
                                            .search_id = TEXT("id"),
                                            .product = TEXT("flights"),
                                            .body = body,
                                            .arrival_us = virtual.now_us,
                                            .budget = { .requested_us = 500 * MS, .effective_us = 500 * MS },
                                            .reserve_us = 10 * MS,
                                            .max_items = 10,
                                            .max_offers_per_item = 10,
                                            .on_script_trouble = on_trouble,
                                            .on_reply = on_reply,
                                            .owner = &told };
    assert_int_equal(search_start(&options, &search), STATUS_OK);
    block_release(&body);
    while (virtual_world_step(&virtual)) {
    }
    assert_int_equal(told.replies, 1);
    assert_string_equal(told.text, "start script_timeout\nerror script_error\nodd unparsable\n");
    virtual_world_fini(&virtual);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(only_what_a_script_spoiled_is_told) };
    return cmocka_run_group_tests_name("search_trouble", tests, NULL, NULL);
}

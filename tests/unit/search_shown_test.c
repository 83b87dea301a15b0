// How replies name suppliers to strangers, and what stands under those names.
#include "search/shown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct catalogue_supplier sunny = { .name = { "acme_uk", 7 }, .display_name = { "Sunny \"Air\"", 11 } };

#define HEAD(item) "{\"id\":\"acme_uk:o\\\"1\",\"supplier\":\"acme_uk\",\"item\":\"" item "\""

static struct offer offer_of(const char *item, const char *json, const char *head)
{
    return (struct offer){
        .id = TEXT("o\"1"), .item = text_of(item), .json = text_of(json), .head_length = (uint32_t)strlen(head)
    };
}

static void assert_written(struct offer offer, enum reply_detail detail, const char *expected)
{
    struct json_writer json;
    struct buffer out;

    buffer_init(&out, 4096);
    json_writer_init(&json, &out);
    json_begin_array(&json);
    shown_write_offer(&json, &sunny, &offer, (struct text){ NULL, 0 }, detail);
    shown_write_id(&json, &sunny, &offer, detail);
    json_begin_object(&json);
    shown_write_item_key(&json, &sunny, &offer, detail);
    json_u64(&json, 1);
    json_end_object(&json);
    json_end_array(&json);
    buffer_append_byte(&out, '\0');
    assert_string_equal(out.data, expected);
    assert_true(out.length - 1 <= offer.json.length + 100 + shown_room(&sunny, detail));
    buffer_fini(&out);
}

static void an_offer_is_told_as_it_is_where_everything_is_told(void **state)
{
    (void)state;
    assert_written(offer_of("fl_1", HEAD("fl_1") ",\"price\":1}", HEAD("fl_1")), REPLY_FULL,
                   "[" HEAD("fl_1") ",\"price\":1},\"acme_uk:o\\\"1\",{\"fl_1\":1}]");
}

static void a_stranger_reads_the_display_name_only(void **state)
{
    (void)state;
    assert_written(
        offer_of("fl_1", HEAD("fl_1") ",\"price\":1}", HEAD("fl_1")), REPLY_PUBLIC,
        "[{\"id\":\"Sunny \\\"Air\\\":o\\\"1\",\"supplier\":\"Sunny \\\"Air\\\"\",\"item\":\"fl_1\",\"price\":1},"
        "\"Sunny \\\"Air\\\":o\\\"1\",{\"fl_1\":1}]");
    // An item that only this supplier has is known by its name.
    assert_written(offer_of("acme_uk:h7", HEAD("acme_uk:h7") ",\"price\":1}", HEAD("acme_uk:h7")), REPLY_PUBLIC,
                   "[{\"id\":\"Sunny \\\"Air\\\":o\\\"1\",\"supplier\":\"Sunny \\\"Air\\\"\",\"item\":\"Sunny "
                   "\\\"Air\\\":h7\",\"price\":1},\"Sunny \\\"Air\\\":o\\\"1\",{\"Sunny \\\"Air\\\":h7\":1}]");
    assert_written(offer_of("acme_ukx", HEAD("acme_ukx") "}", HEAD("acme_ukx")), REPLY_PUBLIC,
                   "[{\"id\":\"Sunny \\\"Air\\\":o\\\"1\",\"supplier\":\"Sunny \\\"Air\\\"\",\"item\":\"acme_ukx\"},"
                   "\"Sunny \\\"Air\\\":o\\\"1\",{\"acme_ukx\":1}]");
}

// To both kinds of callers it is the last member.
static void a_token_stands_in_its_offer(void **state)
{
    (void)state;
    static const char *const EXPECTED[] = {
        [REPLY_FULL] = HEAD("fl_1") ",\"price\":1,\"token\":\"abc\"}",
        [REPLY_PUBLIC] = "{\"id\":\"Sunny \\\"Air\\\":o\\\"1\",\"supplier\":\"Sunny \\\"Air\\\"\",\"item\":\"fl_1\","
                         "\"price\":1,\"token\":\"abc\"}",
    };
    struct offer offer = offer_of("fl_1", HEAD("fl_1") ",\"price\":1}", HEAD("fl_1"));

    for (int detail = REPLY_FULL; detail <= REPLY_PUBLIC; detail++) {
        struct json_writer json;
        struct buffer out;
        buffer_init(&out, 4096);
        json_writer_init(&json, &out);
        shown_write_offer(&json, &sunny, &offer, TEXT("abc"), (enum reply_detail)detail);
        buffer_append_byte(&out, '\0');
        assert_string_equal(out.data, EXPECTED[detail]);
        buffer_fini(&out);
    }
}

static void display_names_are_told_apart(void **state)
{
    struct catalogue_supplier suppliers[] = {
        { .name = TEXT("a"), .display_name = TEXT("Sol") }, { .name = TEXT("b"), .display_name = TEXT("Sol 2") },
        { .name = TEXT("c"), .display_name = TEXT("Sol") }, { .name = TEXT("d"), .display_name = TEXT("Luna") },
        { .name = TEXT("e"), .display_name = TEXT("Sol") }, { .name = TEXT("f"), .display_name = TEXT("f") },
    };
    static const char *const expected[] = { "Sol", "Sol 2", "Sol 3", "Luna", "Sol 4", "f" };
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 16);
    assert_true(catalogue_tell_apart(suppliers, COUNT_OF(suppliers), &arena));
    for (size_t i = 0; i < COUNT_OF(suppliers); i++) {
        assert_true(text_equals_c(suppliers[i].display_name, expected[i]));
    }
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offer_is_told_as_it_is_where_everything_is_told),
        cmocka_unit_test(a_stranger_reads_the_display_name_only),
        cmocka_unit_test(a_token_stands_in_its_offer),
        cmocka_unit_test(display_names_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "store/store_value.h"

#include "support/some_offers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = STORE_VALUE_HEAD + STORE_VALUE_RAW_MAX, NEVER = 1 << 30 };

static const uint64_t NOW_MS = 1790000000000;
static const struct text NAME = TEXT("acme:main:00ff");

/// The value of so many offers; the press is the test's.
static struct buffer value_of(size_t offers, size_t press_above, struct store_press *press)
{
    struct store_call *call = store_call_create(STORE_KEEP, TEXT("flights"), TEXT("q"), 1, 1);
    struct offer_batch *batch = some_offers(offers, 3, 250);
    struct buffer out;

    buffer_init(&out, ROOM);
    assert_true(call != NULL && store_call_fill(call, 0, batch, NULL));
    call->entries[0].head.observed_ms = NOW_MS;
    call->entries[0].head.until_ms = NOW_MS + 1;
    assert_int_equal(store_value_write(call, NAME, press_above, press, &out), STATUS_OK);
    offer_batch_release(&batch);
    store_call_destroy(&call);
    return out;
}

/// STATUS_OK: it was read, and is what it was.
static enum status read_it(struct text bytes, struct text name, struct store_press *press)
{
    struct last_known_head head;
    struct offer_batch *offers = NULL;
    enum status status = store_value_read(bytes, name, PRICE_LIVE, NOW_MS, press, &head, &offers);

    if (status != STATUS_OK) {
        assert_null(offers);
        return status;
    }
    struct offer_batch *kept = some_offers(head.offers, 3, 250);
    for (size_t i = 0; i < head.offers; i++) {
        assert_true(text_equals(offers->offers[i].json, kept->offers[i].json));
    }
    offer_batch_release(&kept);
    offer_batch_release(&offers);
    return status;
}

static void a_value_is_read_as_it_was_written_pressed_or_not(void **state)
{
    static const size_t ABOVE[] = { NEVER, 1 };
    struct store_press *press = store_press_create();
    (void)state;

    for (size_t i = 0; i < COUNT_OF(ABOVE); i++) {
        struct buffer value = value_of(20, ABOVE[i], press);
        struct offer_batch *kept = some_offers(20, 3, 250), *found = NULL;
        struct last_known_head head, alone;
        assert_int_equal(store_value_read(buffer_text(&value), NAME, PRICE_CACHED, NOW_MS, press, &head, &found),
                         STATUS_OK);
        assert_true(store_value_read_head((struct text){ value.data, STORE_VALUE_HEAD }, NAME, &alone));
        assert_int_equal(alone.observed_ms, head.observed_ms);
        assert_int_equal(alone.bytes, head.bytes);
        assert_int_equal(alone.median_micros, head.median_micros);
        assert_int_equal(head.observed_ms, NOW_MS);
        assert_int_equal(head.until_ms, NOW_MS + 1);
        assert_int_equal(head.offers, 20);
        assert_int_equal(head.bytes, value.length - STORE_VALUE_HEAD);
        assert_true(head.median_micros > 0);
        assert_int_equal(found->count, 20);
        assert_true(text_equals(found->offers[19].id, kept->offers[19].id));
        offer_batch_release(&found);
        offer_batch_release(&kept);
        buffer_fini(&value);
    }
    store_press_destroy(&press);
}

static void what_is_pressed_is_smaller_and_what_is_small_is_not_pressed(void **state)
{
    struct store_press *press = store_press_create();
    struct buffer pressed = value_of(20, 2048, press), plain = value_of(20, NEVER, press);
    struct buffer small = value_of(1, 2048, press), same = value_of(1, NEVER, press);
    (void)state;

    assert_true(pressed.length < plain.length * 3 / 5);
    assert_int_equal(small.length, same.length);
    buffer_fini(&pressed);
    buffer_fini(&plain);
    buffer_fini(&small);
    buffer_fini(&same);
    store_press_destroy(&press);
}

static void no_byte_of_a_value_can_change_unseen(void **state)
{
    static const size_t ABOVE[] = { NEVER, 1 };
    struct store_press *press = store_press_create();
    (void)state;

    for (size_t i = 0; i < COUNT_OF(ABOVE); i++) {
        struct buffer value = value_of(3, ABOVE[i], press);
        for (size_t at = 0; at < value.length; at++) {
            value.data[at] ^= (char)(1 << at % 8);
            // Pressed bytes can say the same in two ways.
            enum status status = read_it(buffer_text(&value), NAME, press);
            assert_true(status == STATUS_INVALID || (i == 1 && at >= STORE_VALUE_HEAD));
            value.data[at] ^= (char)(1 << at % 8);
        }
        for (size_t length = 0; length < value.length; length++) {
            assert_int_equal(read_it((struct text){ value.data, length }, NAME, press), STATUS_INVALID);
        }
        assert_int_equal(read_it(buffer_text(&value), TEXT("acme:mair:00ff"), press), STATUS_INVALID);
        assert_int_equal(read_it(buffer_text(&value), NAME, press), STATUS_OK);
        buffer_append_byte(&value, 'x');
        assert_int_equal(read_it(buffer_text(&value), NAME, press), STATUS_INVALID);
        buffer_fini(&value);
    }
    store_press_destroy(&press);
}

static void an_empty_answer_is_a_head_alone(void **state)
{
    struct store_press *press = store_press_create();
    struct buffer value = value_of(0, 1, press);
    (void)state;

    assert_int_equal(value.length, STORE_VALUE_HEAD);
    assert_int_equal(read_it(buffer_text(&value), NAME, press), STATUS_OK);
    buffer_fini(&value);
    store_press_destroy(&press);
}

static void what_is_pressed_makes_neither_more_nor_less_than_it_says(void **state)
{
    struct store_press *press = store_press_create();
    struct buffer zeros, bomb, out;
    (void)state;

    buffer_init(&zeros, 1 << 20);
    buffer_init(&bomb, 1 << 20);
    buffer_init(&out, 4096);
    assert_true(buffer_reserve(&zeros, 1000000));
    memset(zeros.data, 0, 1000000);
    assert_true(store_press_down(press, (struct text){ zeros.data, 1000000 }, &bomb));
    assert_false(store_press_up(press, buffer_text(&bomb), 4096, &out));
    assert_int_equal(out.length, 0);
    assert_false(store_press_up(press, buffer_text(&bomb), 0, &out));
    buffer_fini(&out);
    buffer_init(&out, 2000000);
    assert_false(store_press_up(press, buffer_text(&bomb), 1000001, &out)); // less than it says
    assert_true(store_press_up(press, buffer_text(&bomb), 1000000, &out));
    buffer_fini(&zeros);
    buffer_fini(&bomb);
    buffer_fini(&out);
    store_press_destroy(&press);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_read_as_it_was_written_pressed_or_not),
        cmocka_unit_test(what_is_pressed_is_smaller_and_what_is_small_is_not_pressed),
        cmocka_unit_test(no_byte_of_a_value_can_change_unseen),
        cmocka_unit_test(an_empty_answer_is_a_head_alone),
        cmocka_unit_test(what_is_pressed_makes_neither_more_nor_less_than_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// What an Accept header asks for.
#include "app/search_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(const char *accept, enum stream_format format)
{
    enum stream_format found = stream_format_of(text_of(accept));

    if (found != format) {
        fail_msg("`%s` is %d, not %d", accept != NULL ? accept : "", (int)found, (int)format);
    }
}

static void a_type_that_is_named_is_a_stream(void **state)
{
    (void)state;
    expect(NULL, STREAM_NONE);
    expect("", STREAM_NONE);
    expect("*/*", STREAM_NONE);
    expect("application/json", STREAM_NONE);
    expect("text/html, image/png", STREAM_NONE);
    expect("text/event-stream", STREAM_SSE);
    expect("Text/Event-Stream; charset=utf-8", STREAM_SSE);
    expect("application/x-ndjson", STREAM_NDJSON);
    expect("text/html, application/x-ndjson", STREAM_NDJSON);
}

static void the_highest_weight_wins(void **state)
{
    (void)state;
    expect("text/event-stream;q=0.5, application/x-ndjson;q=0.9", STREAM_NDJSON);
    expect("text/event-stream; q=0.25, application/json; q=0.249", STREAM_SSE);
    expect("application/json;q=0.5, text/event-stream", STREAM_SSE);
    expect("text/event-stream;q=0.5, application/json", STREAM_NONE);
    expect("text/event-stream;charset=utf-8;Q = 0.1, */*", STREAM_NONE);
    expect("text/event-stream;q=0.9, */*;q=0.8", STREAM_SSE);
}

static void of_equal_weights_the_first_wins(void **state)
{
    (void)state;
    expect("text/event-stream, application/x-ndjson", STREAM_SSE);
    expect("application/x-ndjson;q=0.3, text/event-stream;q=0.300", STREAM_NDJSON);
    expect("application/json, text/event-stream", STREAM_NONE);
    expect("text/event-stream, application/json", STREAM_SSE);
    expect("*/*, text/event-stream", STREAM_SSE);
    expect("text/event-stream, */*", STREAM_SSE);
}

static void a_weight_of_nothing_is_never_wanted(void **state)
{
    static const char *const nothings[] = { "0", "0.0", "0.000", "", "1.5", "2", "10", "0.0001", "-1", "x", "0,5" };
    char accept[96];

    (void)state;
    expect("text/event-stream;q=0, application/json", STREAM_NONE);
    expect("text/event-stream;q", STREAM_NONE);
    expect("text/event-stream;q=0, application/x-ndjson;q=0.001", STREAM_NDJSON);
    expect("*/*;q=0, text/event-stream;q=0", STREAM_NONE);
    for (size_t i = 0; i < COUNT_OF(nothings); i++) {
        snprintf(accept, sizeof accept, "text/event-stream;q=%s", nothings[i]);
        expect(accept, STREAM_NONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_type_that_is_named_is_a_stream),
        cmocka_unit_test(the_highest_weight_wins),
        cmocka_unit_test(of_equal_weights_the_first_wins),
        cmocka_unit_test(a_weight_of_nothing_is_never_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

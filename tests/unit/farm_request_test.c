// Requests as the farm reads them: bodies of a length, bodies in chunks, and those that wait to be wanted.

#include "farm/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "POST /a?b=1 HTTP/1.1\r\nHost: x\r\n"
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"

static char *copy; // of the last one, as long as it is exactly

static enum request_verdict read_text(const char *text, struct request *request)
{
    free(copy);
    copy = malloc(strlen(text) + 1);
    assert_non_null(copy);
    strcpy(copy, text);
    return request_read(request, copy, strlen(text));
}

static void assert_body(const char *text, const char *body, size_t length)
{
    struct request request;

    assert_int_equal(read_text(text, &request), REQUEST_WHOLE);
    assert_true(text_equals_c(request.body, body));
    assert_int_equal(request.length, length);
    assert_true(text_equals_c(request.path, "/a"));
}

static void a_body_has_the_length_that_is_told(void **state)
{
    (void)state;
    struct request request;
    assert_body(HEAD "Content-Length: 3\r\n\r\nabcGET", "abc", strlen(HEAD "Content-Length: 3\r\n\r\nabc"));
    assert_int_equal(read_text(HEAD "Content-Length: 4\r\n\r\nabc", &request), REQUEST_INCOMPLETE);
    assert_int_equal(read_text(HEAD "Content-Length: many\r\n\r\nabc", &request), REQUEST_BROKEN);
}

static void chunks_become_one_body(void **state)
{
    (void)state;
    static const char whole[] = CHUNKED "3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n";
    static const char with_trailer[] = CHUNKED "1\r\nz\r\n000\r\nx-sum: 1\r\n\r\n";
    assert_body(whole, "abc0123456789", strlen(whole));
    assert_body(with_trailer, "z", strlen(with_trailer));
    assert_body(CHUNKED "0\r\n\r\nGET", "", strlen(CHUNKED "0\r\n\r\n"));
}

static void chunks_that_are_cut_anywhere_are_waited_for(void **state)
{
    (void)state;
    static const char whole[] = CHUNKED "3\r\nabc\r\n2\r\nde\r\n0\r\nt: 1\r\n\r\n";
    struct request request;

    for (size_t length = 1; length < strlen(whole); length++) {
        char part[sizeof whole];
        memcpy(part, whole, length);
        part[length] = '\0';
        assert_int_equal(read_text(part, &request), REQUEST_INCOMPLETE);
    }
    assert_body(whole, "abcde", strlen(whole));
}

static void chunks_that_are_none_are_refused(void **state)
{
    (void)state;
    struct request request;
    assert_int_equal(read_text(CHUNKED "x\r\nabc\r\n", &request), REQUEST_BROKEN);
    assert_int_equal(read_text(CHUNKED "2\r\nabc\r\n0\r\n\r\n", &request), REQUEST_BROKEN);
    assert_int_equal(read_text(CHUNKED "fffffffffffffffffffff\r\n", &request), REQUEST_BROKEN);
    assert_int_equal(read_text(CHUNKED "\r\n", &request), REQUEST_BROKEN);
    assert_int_equal(read_text(HEAD "Transfer-Encoding: gzip\r\n\r\n", &request), REQUEST_BROKEN);
}

static void who_waits_for_a_word_is_known_by_the_head(void **state)
{
    (void)state;
    struct request request;
    assert_int_equal(read_text(HEAD "Content-Length: 4\r\nExpect: 100-continue\r\n\r\n", &request), REQUEST_INCOMPLETE);
    assert_true(request.waits);
    assert_int_equal(read_text(HEAD "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n", &request),
                     REQUEST_INCOMPLETE);
    assert_true(request.waits);
    assert_int_equal(read_text(HEAD "Expect: 100-con", &request), REQUEST_INCOMPLETE);
    assert_false(request.waits);
    assert_int_equal(read_text(HEAD "Content-Length: 4\r\n\r\n", &request), REQUEST_INCOMPLETE);
    assert_false(request.waits);
}

static int free_copy(void **state)
{
    (void)state;
    free(copy);
    copy = NULL;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_has_the_length_that_is_told),
        cmocka_unit_test(chunks_become_one_body),
        cmocka_unit_test(chunks_that_are_cut_anywhere_are_waited_for),
        cmocka_unit_test(chunks_that_are_none_are_refused),
        cmocka_unit_test(who_waits_for_a_word_is_known_by_the_head),
    };
    return cmocka_run_group_tests(tests, NULL, free_copy);
}

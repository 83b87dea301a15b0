#include "model/exchange.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void a_request_is_a_deep_copy(void **state)
{
    (void)state;
    char url[] = "https://api.example/x";
    char name[] = "X-Key";
    struct header headers[] = { { { name, 5 }, TEXT("v1") }, { TEXT("accept"), TEXT("") } };
    const struct http_request values = { .method = TEXT("POST"),
                                         .url = { url, sizeof(url) - 1 },
                                         .body = TEXT("a\0b"),
                                         .headers = headers,
                                         .header_count = 2 };
    struct http_request *request = http_request_create(&values);
    assert_non_null(request);
    url[8] = 'X';
    name[0] = 'Y';
    headers[1].name = TEXT("gone");
    assert_string_equal(request->method.data, "POST");
    assert_string_equal(request->url.data, "https://api.example/x");
    assert_true(text_equals(request->body, TEXT("a\0b")));
    assert_int_equal(request->header_count, 2);
    assert_true(text_equals(request->headers[0].name, TEXT("X-Key")));
    assert_true(text_equals(request->headers[0].value, TEXT("v1")));
    assert_true(text_equals(request->headers[1].name, TEXT("accept")));
    assert_non_null(request->headers[1].value.data);
    assert_int_equal(request->headers[1].value.length, 0);
    http_request_destroy(&request);
    assert_null(request);
    http_request_destroy(&request);
}

static void a_request_without_body_or_headers_stays_without(void **state)
{
    (void)state;
    const struct http_request values = { .method = TEXT("GET"), .url = TEXT("http://h/") };
    struct http_request *request = http_request_create(&values);
    assert_null(request->body.data);
    assert_null(request->headers);
    http_request_destroy(&request);
}

static void an_absurd_number_of_headers_is_refused(void **state)
{
    (void)state;
    struct header header = { TEXT("a"), TEXT("b") };
    const struct http_request values = { .method = TEXT("GET"),
                                         .url = TEXT("http://h/"),
                                         .headers = &header,
                                         .header_count = SIZE_MAX / sizeof(header) + 2 };
    assert_null(http_request_create(&values));
}

static void a_response_frees_what_it_owns_and_finds_the_first_header(void **state)
{
    (void)state;
    struct http_response *response = http_response_create();
    assert_non_null(response);
    assert_int_equal(response->status, 0);
    assert_null(http_response_header(response, "etag").data);
    assert_true(buffer_append_c(&response->header_bytes, "etagonetwo"));
    response->headers = calloc(2, sizeof(struct header));
    response->header_count = 2;
    const char *bytes = response->header_bytes.data;
    response->headers[0] = (struct header){ { bytes, 4 }, { bytes + 4, 3 } };
    response->headers[1] = (struct header){ { bytes, 4 }, { bytes + 7, 3 } };
    response->body = block_create(TEXT("body"));
    assert_true(text_equals(http_response_header(response, "etag"), TEXT("one")));
    assert_null(http_response_header(response, "eta").data);
    http_response_destroy(&response);
    assert_null(response);
    http_response_destroy(&response);
}

static void a_good_url_is_split_into_its_parts(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        bool is_https;
        const char *host;
        bool is_literal;
        uint16_t port;
        const char *target; // NULL: absent
    } rows[] = {
        { "http://example.com", false, "example.com", false, 80, NULL },
        { "https://example.com", true, "example.com", false, 443, NULL },
        { "HTTPS://Example.com/", true, "Example.com", false, 443, "/" },
        { "https://a-b_c.example.com:8443/x/y?z=1&u=a:b@c", true, "a-b_c.example.com", false, 8443,
          "/x/y?z=1&u=a:b@c" },
        { "http://h?x=1", false, "h", false, 80, "?x=1" },
        { "http://h/p#frag", false, "h", false, 80, "/p" },
        { "http://h#frag/ment", false, "h", false, 80, NULL },
        { "http://h#a?b", false, "h", false, 80, NULL },
        { "http://127.0.40.1:65535/", false, "127.0.40.1", true, 65535, "/" },
        { "http://[::1]/", false, "::1", true, 80, "/" },
        { "https://[2001:db8::7]:1/q", true, "2001:db8::7", true, 1, "/q" },
        { "https://[::ffff:10.0.0.1]", true, "::ffff:10.0.0.1", true, 443, NULL },
        { "http://1.example/", false, "1.example", false, 80, "/" },
        { "http://h:080/", false, "h", false, 80, "/" },
        { "http://h/a//b/../c", false, "h", false, 80, "/a//b/../c" },
        { "http://h//evil.example/", false, "h", false, 80, "//evil.example/" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct url_parts parts;
        if (!url_split(text_of(rows[i].url), &parts)) {
            fail_msg("%s was refused", rows[i].url);
        }
        assert_int_equal(parts.is_https, rows[i].is_https);
        assert_true(text_equals_c(parts.host, rows[i].host));
        assert_int_equal(parts.is_literal, rows[i].is_literal);
        assert_int_equal(parts.port, rows[i].port);
        assert_int_equal(parts.target.data == NULL, rows[i].target == NULL);
        assert_true(text_equals_c(parts.target, rows[i].target));
    }
}

static const char *const bad_urls[] = {
    "",
    "/path",
    "example.com",
    "//example.com/",
    "ftp://h/",
    "file:///etc/passwd",
    "httpx://h/",
    "http:/h/",
    "http:h",
    "http://",
    "http:///x",
    "http://?x",
    "http://#x",
    "http://:80/",
    "http://user@h/",
    "http://user:pass@h/",
    "http://@h/",
    "http://h:80@evil/",
    "http://evil\\@h/",
    "http://h:/",
    "http://h:0/",
    "http://h:65536/",
    "http://h:99999999/",
    "http://h:8o/",
    "http://h:+80/",
    "http://h:80:80/",
    "http://a..b/",
    "http://.a/",
    "http://a./",
    "http://h%2e/",
    "http://h\xC3\xA9/",
    "http://h/\xC3\xA9",
    " http://h/",
    "http://h/ ",
    "http://h/a b",
    "http://h/a\tb",
    "http://h/a\r\nX: y",
    "http://h/a\nb",
    "http://h/\x7F",
    "http://ho st/",
    "http://[::1/",
    "http://[]/",
    "http://[::1]x/",
    "http://[::1]:/",
    "http://[fe80::1%25eth0]/",
    "http://[127.0.0.1]/",
    "http://[example.com]/",
    "http://::1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://127.0.0.0x1/",
    "http://1.2.3.4.5/",
    "http://256.0.0.1/",
    "http://01.02.03.04/",
    "http://99999999999999999999999/",
    "http://h(x)/",
    "http://h;x/",
    "http://*.example/",
};

static void a_bad_url_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_urls); i++) {
        struct url_parts parts;
        if (url_split(text_of(bad_urls[i]), &parts)) {
            fail_msg("%s was accepted", bad_urls[i]);
        }
    }
    struct url_parts parts;
    assert_false(url_split(TEXT("http://h/\0x"), &parts));
    assert_false(url_split(text_of(NULL), &parts));
}

static void a_host_of_absurd_length_is_refused(void **state)
{
    (void)state;
    char url[600] = "http://";
    struct url_parts parts;
    memset(url + 7, 'a', 64);
    assert_false(url_split((struct text){ url, 7 + 64 }, &parts)); // a label of 64
    assert_true(url_split((struct text){ url, 7 + 63 }, &parts));
    for (size_t i = 7; i < sizeof(url); i++) {
        url[i] = i % 2 == 0 ? '.' : 'a';
    }
    assert_true(url_split((struct text){ url, 7 + 253 }, &parts));
    assert_false(url_split((struct text){ url, 7 + 255 }, &parts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_a_deep_copy),
        cmocka_unit_test(a_request_without_body_or_headers_stays_without),
        cmocka_unit_test(an_absurd_number_of_headers_is_refused),
        cmocka_unit_test(a_response_frees_what_it_owns_and_finds_the_first_header),
        cmocka_unit_test(a_good_url_is_split_into_its_parts),
        cmocka_unit_test(a_bad_url_is_refused),
        cmocka_unit_test(a_host_of_absurd_length_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "app/store_url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void what_a_url_says_is_where_the_store_is(void **state)
{
    static const struct {
        const char *url, *place;
        uint32_t database;
    } CASES[] = {
        { "redis://store.example:6380/7", "store.example:6380", 7 },
        { "redis://store.example", "store.example:6379", 0 },
        { "redis://store.example/", "store.example:6379", 0 },
        { "redis://10.0.0.7:1/15", "10.0.0.7:1", 15 },
        { "redis://[::1]:7000/2", "[::1]:7000", 2 },
        { "redis://[fe80::1]", "[fe80::1]:6379", 0 },
        { "unix:///run/redis/redis.sock", "/run/redis/redis.sock", 0 },
        { "unix:///run/redis/redis.sock?db=9", "/run/redis/redis.sock", 9 },
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct failure why = { 0 };
        struct store_url url;
        char place[STORE_PLACE_MAX];
        assert_int_equal(store_url_read(text_of(CASES[i].url), &url, &why), STATUS_OK);
        store_url_print(&url, place);
        assert_string_equal(place, CASES[i].place);
        assert_int_equal(url.database, CASES[i].database);
    }
}

static void what_is_no_url_is_refused_with_a_remedy_and_without_its_secret(void **state)
{
    static const struct {
        const char *url, *word;
    } CASES[] = {
        { "", "neither" },
        { "store:6379", "neither" },
        { "http://store:6379", "neither" },
        { "rediss://store:6379", "TLS" },
        { "redis://", "no host" },
        { "redis://:6379", "no host" },
        { "redis://user:sesame@store:6379/0", "user or a password" },
        { "redis://:sesame@store/0", "user or a password" },
        { "redis://store/0?password=sesame@", "user or a password" },
        { "redis://store:0", "port" },
        { "redis://store:65536", "port" },
        { "redis://store:", "port" },
        { "redis://store:sesame", "port" },
        { "redis://::1:6379", "no host" },
        { "redis://[::1", "bracket" },
        { "redis://[::1]6379", "bracket" },
        { "redis://[]:6379", "no host" },
        { "redis://store/one", "database" },
        { "redis://store/-1", "database" },
        { "redis://store/65536", "database" },
        { "unix://run/redis.sock", "no path" },
        { "unix://", "no path" },
        { "unix:///run/redis.sock?password=sesame", "db=" },
        { "unix:///run/redis.sock?db=", "database" },
    };
    static char long_path[200] = "unix:///";
    struct failure why = { 0 };
    struct store_url url;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        why = (struct failure){ 0 };
        assert_int_equal(store_url_read(text_of(CASES[i].url), &url, &why), STATUS_INVALID);
        assert_non_null(strstr(why.message, CASES[i].word));
        assert_true(why.help[0] != '\0');
        assert_null(strstr(why.message, "sesame"));
        assert_null(strstr(why.help, "sesame"));
    }
    memset(long_path + strlen(long_path), 'x', sizeof long_path - 1 - strlen(long_path));
    assert_int_equal(store_url_read(text_of(long_path), &url, &why), STATUS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_url_says_is_where_the_store_is),
        cmocka_unit_test(what_is_no_url_is_refused_with_a_remedy_and_without_its_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

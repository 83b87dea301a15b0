#include "app/settings_compare.h"
#include "app/settings_table.h"

#include "unit/app_settings_support.h"

enum { NAMES_MAX = 40 };

struct named {
    struct settings_difference items[NAMES_MAX];
    size_t count;
};

static void on_difference(void *context, const struct settings_difference *difference)
{
    struct named *named = context;
    if (named->count < NAMES_MAX) {
        named->items[named->count] = *difference;
    }
    named->count++;
}

static struct settings *read_one(const char *document)
{
    struct findings findings;
    struct settings *settings = NULL;
    enum status status = read_documents(&document, 1, &findings, &settings);
    for (size_t i = 0; i < findings.count && i < FINDINGS_MAX; i++) {
        print_message("%u: %s (%s)\n", findings.items[i].line, findings.items[i].message, findings.items[i].help);
    }
    assert_int_equal(status, STATUS_OK);
    return settings;
}

static bool is_same(const char *a, const char *b)
{
    struct settings *left = read_one(a);
    struct settings *right = read_one(b);
    bool there = settings_is_same(left, right);
    assert_int_equal(settings_is_same(right, left), there);
    settings_release(&left);
    settings_release(&right);
    return there;
}

static void what_says_the_same_is_the_same_wherever_it_stands(void **state)
{
    static const char *const SAME[][2] = {
        { "", "" },
        { "", "deadline: { default: 2s }\n" }, // the built-in value, written down
        { "deadline: { default: 2000ms }\n", "# moved\n\ndeadline:\n  default: 2s\n" },
        { "suppliers: { a: { enabled: false }, b: { uses: a } }\n",
          "suppliers: { b: { uses: a }, a: { enabled: false } }\n" },
        { "data: { x: { file: x, key: [k] }, y: { file: y, key: [k] } }\n",
          "data: { y: { file: y, key: k }, x: { file: x, key: k } }\n" },
        { "rules: [ { when: { market: [GB, IE] }, deadline: 1s } ]\n",
          "rules:\n  - when: { market: [GB, IE] }\n    deadline: 1s\n" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(SAME); i++) {
        if (!is_same(SAME[i][0], SAME[i][1])) {
            fail_msg("not the same: %s / %s", SAME[i][0], SAME[i][1]);
        }
    }
}

// One document for each kind of row and owner; each differs from each.
static const char *const OTHER[] = {
    "",
    "listen: 127.0.0.1:9\n",
    "admin: { listen: \"\" }\n",
    "callers: [web]\n",
    "callers: [web, app]\n",
    "callers: [app, web]\n",
    "cors: { origins: [\"*\"] }\n",
    "cors: { max_age: 1s }\n",
    "honour_deadline_headers: true\n",
    "io_threads: 2\n",
    "script_threads: 2\n",
    "suppliers_dir: [a, b]\n",
    "network: { allow_private: [127.0.40.0/24] }\n",
    "network: { allow_private: [127.0.40.0/25] }\n",
    "network: { allow_private: [127.0.41.0/24] }\n",
    "dns: { servers: [127.0.0.1] }\n",
    "dns: { servers: [127.0.0.2] }\n",
    "max_body: 1MiB\n",
    "reply: { detail: full }\n",
    "reply: { token_env: T }\n",
    "fx: { file: rates.json }\n",
    "data: { x: { file: x, key: [k] } }\n",
    "data: { x: { file: y, key: [k] } }\n",
    "data: { x: { file: x, key: [k, l] } }\n",
    "data: { y: { file: x, key: [k] } }\n",
    "segments: [product]\n",
    "rules: [ { deadline: 1s } ]\n",
    "rules: [ { ceiling: 1s } ]\n",
    "rules: [ { supplier: a, ceiling: 1s } ]\n",
    "rules: [ { supplier: [a, b], ceiling: 1s } ]\n",
    "rules: [ { when: { market: GB }, ceiling: 1s } ]\n",
    "rules: [ { when: { market: IE }, ceiling: 1s } ]\n",
    "rules: [ { when: { device: GB }, ceiling: 1s } ]\n",
    "rules: [ { when: { market: GB }, ceiling: 1s }, { deadline: 1s } ]\n",
    "rules: [ { deadline: 1s }, { when: { market: GB }, ceiling: 1s } ]\n",
    "suppliers: { a: {} }\n",
    "suppliers: { b: {} }\n",
    "suppliers: { a: { enabled: false } }\n",
    "suppliers: { a: { enabled: false, because: x } }\n",
    "suppliers: { a: { uses: b } }\n",
    "suppliers: { a: { mode: dark } }\n",
    "suppliers: { a: { mode: dark, traffic: 7% } }\n",
    "suppliers: { a: { ceiling: 1s } }\n",
    "suppliers: { a: { accounts: { one: {} } } }\n",
    "suppliers: { a: { accounts: { one: { when: { market: GB } }, two: {} } } }\n",
    "suppliers: { a: { accounts: { one: { when: { market: IE } }, two: {} } } }\n",
    "suppliers: { a: { accounts: { one: { options: { p: 1 } } } } }\n",
    "suppliers: { a: { accounts: { one: { options: { p: \"1\" } } } } }\n",
    "suppliers: { a: { accounts: { one: { options: { q: 1 } } } } }\n",
    "suppliers: { a: { accounts: { one: { secrets: { K: V } } } } }\n",
    "suppliers: { a: { accounts: { one: { secrets: { K: W } } } } }\n",
    "suppliers: { a: { accounts: { one: { limits: { rps: 7 } } } } }\n",
    "suppliers: { a: { accounts: { one: { limits: { body: 7KiB } } } } }\n",
    "suppliers: { a: { accounts: { one: { proxy: \"http://127.0.0.1:3128\" } } } }\n",
    "suppliers: { a: { accounts: { one: { tls: { cert: c, key: k } } } } }\n",
};

static void what_says_something_else_differs(void **state)
{
    (void)state;
    struct settings *all[COUNT_OF(OTHER)];
    for (size_t i = 0; i < COUNT_OF(OTHER); i++) {
        all[i] = read_one(OTHER[i]);
    }
    for (size_t i = 0; i < COUNT_OF(OTHER); i++) {
        for (size_t j = 0; j < COUNT_OF(OTHER); j++) {
            if (settings_is_same(all[i], all[j]) != (i == j)) {
                fail_msg("%s / %s", OTHER[i], OTHER[j]);
            }
        }
    }
    for (size_t i = 0; i < COUNT_OF(OTHER); i++) {
        settings_release(&all[i]);
    }
}

static const char EVERYTHING[] =
    "listen: 127.0.0.1:9\nadmin: { listen: \"\", token_env: T }\nattribution: { file: a.ndjson }\n"
    "io_threads: 3\nscript_threads: 4\n"
    "network: { allow_private: [127.0.40.0/24, \"::1/128\"], ca_file: ca.pem }\ndns: { servers: [127.0.0.1, 127.0.0.2] "
    "}\n"
    "reply: { token_env: R }\nscripts: { build_limit: 7ms, normalise_limit: 70ms, memory: 20MiB }\n"
    "max_body: 1MiB\nlog_level: debug\ntiming_file: t\nstate_dir: s\nreload: { watch: false, settle: 400ms, scan: 6s "
    "}\n"
    "store: { backend: lmdb, path: p, max_size: 2GiB, url: \"redis://127.0.0.1\", user: u, password_env: P, prefix: a, "
    "read_slice: 20ms, compress_above: 4KiB }\n"
    "tokens: { enabled: true, offer_keys: [A], booking_keys: [B] }\n"
    "drain: 1s\ncallers: [web]\nsecrets_dir: /run/secrets\n"; // these three do not wait

static void what_waits_for_a_restart_is_named_with_its_line_and_keeps_its_value(void **state)
{
    (void)state;
    struct settings *running = read_one("");
    struct settings *fresh = read_one(EVERYTHING);
    struct named named = { 0 };
    size_t waiting = 0;

    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        waiting += SETTINGS[i].needs_restart ? 1 : 0;
    }
    assert_int_equal(settings_compare(running, fresh, on_difference, &named), waiting); // the document has them all
    assert_int_equal(named.count, waiting);
    bool is_found = false;
    for (size_t i = 0; i < named.count; i++) {
        assert_true(named.items[i].failure.line > 0);
        assert_non_null(strstr(named.items[i].failure.file, "app_settings_test"));
        assert_non_null(strstr(named.items[i].failure.message, named.items[i].setting));
        if (strcmp(named.items[i].setting, "io_threads") == 0) {
            is_found = true;
            assert_int_equal(named.items[i].failure.line, 4);
        }
    }
    assert_true(is_found);
    assert_int_equal(settings_keep_running(fresh, running), STATUS_OK);
    settings_release(&running); // what is kept is a copy
    assert_int_equal(fresh->io_threads, 1);
    assert_string_equal(fresh->listen.data, "127.0.0.1:8080");
    assert_string_equal(fresh->admin_listen.data, "127.0.0.1:8081");
    assert_null(fresh->admin_token_env.data);
    assert_int_equal(fresh->allow_private_count, 0);
    assert_int_equal(fresh->dns_server_count, 0);
    assert_int_equal(fresh->script_build_us, 5000);
    assert_int_equal(fresh->drain_us, 1000000);
    assert_string_equal(fresh->callers[0].data, "web");
    assert_string_equal(fresh->secrets_dir.data, "/run/secrets");
    // Lists come over whole, and what is kept still differs from what is written.
    struct settings *written = read_one("");
    struct settings *full = read_one(EVERYTHING);
    assert_int_equal(settings_keep_running(written, full), STATUS_OK);
    settings_release(&full);
    assert_int_equal(written->allow_private_count, 2);
    assert_int_equal(written->allow_private[1].prefix, 128);
    assert_string_equal(written->dns_servers[1], "127.0.0.2");
    assert_string_equal(written->admin_listen.data, "");
    assert_int_equal(settings_compare(written, fresh, NULL, NULL), waiting);
    assert_int_equal(settings_compare(fresh, fresh, NULL, NULL), 0);
    settings_release(&written);
    settings_release(&fresh);
}

static void a_setting_that_was_taken_out_is_named_with_the_file_that_had_it(void **state)
{
    (void)state;
    struct settings *running = read_one("io_threads: 2\n");
    struct settings *fresh = read_one("drain: 1s\n");
    struct named named = { 0 };
    assert_int_equal(settings_compare(running, fresh, on_difference, &named), 1);
    assert_string_equal(named.items[0].setting, "io_threads");
    assert_non_null(strstr(named.items[0].failure.file, "app_settings_test"));
    assert_int_equal(named.items[0].failure.line, 0);
    settings_release(&running);
    settings_release(&fresh);
}

static void the_files_and_what_they_say_are_remembered(void **state)
{
    (void)state;
    const char *const documents[] = { "io_threads: 2\n", "# nothing yet\n" };
    const char *const others[] = { "io_threads: 2\n", "# nothing yet!\n" };
    struct findings findings;
    struct settings *settings = NULL, *again = NULL, *other = NULL;
    assert_int_equal(read_documents(documents, 2, &findings, &settings), STATUS_OK);
    assert_int_equal(read_documents(documents, 2, &findings, &again), STATUS_OK);
    assert_int_equal(read_documents(others, 2, &findings, &other), STATUS_OK);
    assert_int_equal(settings->file_count, 2);
    assert_non_null(strstr(settings->files[0].path, "app_settings_test"));
    assert_false(settings->files[0].is_empty);
    assert_true(settings->files[1].is_empty);
    assert_true(settings->files_hash == again->files_hash);
    assert_true(settings->files_hash != other->files_hash);
    assert_true(settings_is_same(settings, other));
    settings_release(&settings);
    settings_release(&again);
    settings_release(&other);
}

static void settings_live_as_long_as_somebody_holds_them(void **state)
{
    (void)state;
    struct settings *settings = read_one("io_threads: 2\n");
    struct settings *held = settings_acquire(settings);
    settings_release(&settings);
    assert_null(settings);
    assert_int_equal(held->io_threads, 2);
    settings_release(&held);
    assert_null(settings_acquire(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_says_the_same_is_the_same_wherever_it_stands, clear_environment),
        cmocka_unit_test_setup(what_says_something_else_differs, clear_environment),
        cmocka_unit_test_setup(what_waits_for_a_restart_is_named_with_its_line_and_keeps_its_value, clear_environment),
        cmocka_unit_test_setup(a_setting_that_was_taken_out_is_named_with_the_file_that_had_it, clear_environment),
        cmocka_unit_test_setup(the_files_and_what_they_say_are_remembered, clear_environment),
        cmocka_unit_test_setup(settings_live_as_long_as_somebody_holds_them, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

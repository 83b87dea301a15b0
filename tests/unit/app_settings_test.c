#include "unit/app_settings_support.h"

#include "app/settings_table.h"
#include "app/settings_value.h"
#include "app/settings_yaml.h"

static void on_finding_print(void *context, const struct failure *failure)
{
    on_finding(context, failure);
    print_message("%s:%u:%u: %s\n", failure->file, failure->line, failure->column, failure->message);
}

static struct settings *read_good(const char *document)
{
    struct findings findings;
    struct settings *settings = NULL;
    enum status status = read_documents(&document, 1, &findings, &settings);
    if (findings.count > 0) {
        print_message("%u:%u: %s\n", findings.items[0].line, findings.items[0].column, findings.items[0].message);
    }
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(findings.count, 0);
    assert_non_null(settings);
    return settings;
}

static void assert_text(struct text text, const char *expected)
{
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.data, expected, text.length);
}

static void no_file_gives_the_defaults(void **state)
{
    (void)state;
    struct findings findings = { 0 };
    struct settings *settings = NULL;
    assert_int_equal(settings_read(NULL, 0, on_finding, &findings, &settings), STATUS_OK);
    assert_text(settings->listen, "127.0.0.1:8080");
    assert_text(settings->admin_listen, "127.0.0.1:8081");
    assert_null(settings->admin_token_env.data);
    assert_null(settings->attribution_file.data);
    assert_int_equal(settings->deadline_default_us, 2000000);
    assert_int_equal(settings->deadline_min_us, 100000);
    assert_int_equal(settings->deadline_max_us, 10000000);
    assert_int_equal(settings->io_threads, 1);
    assert_int_equal(settings->script_threads, 0);
    assert_int_equal(settings->suppliers_dir_count, 1);
    assert_text(settings->suppliers_dirs[0], "suppliers");
    assert_text(settings->scripts_dir, "scripts");
    assert_int_equal(settings->allow_private_count, 0);
    assert_text(settings->ca_file, "/etc/ssl/certs/ca-certificates.crt");
    assert_int_equal(settings->dns_server_count, 0);
    assert_int_equal(settings->max_items, 200);
    assert_int_equal(settings->max_offers_per_item, 5);
    assert_int_equal(settings->script_build_us, 5000);
    assert_int_equal(settings->script_normalise_us, 50000);
    assert_int_equal(settings->script_memory, 16 * 1024 * 1024);
    assert_int_equal(settings->drain_us, 10000000);
    assert_true(settings->notice_us == SETTINGS_AUTO);
    assert_int_equal(settings->flush_us, 10000000);
    assert_int_equal(settings->max_body, 256 * 1024);
    assert_text(settings->log_level, "info");
    assert_int_equal(settings->supplier_count, 0);
    settings_release(&settings);
    assert_null(settings);
}

static void an_empty_file_is_fine(void **state)
{
    (void)state;
    const char *documents[] = { "", "# only a comment\n", "---\n", "dns:\n  # nothing yet\nsuppliers:\n" };
    for (size_t i = 0; i < COUNT_OF(documents); i++) {
        struct settings *settings = read_good(documents[i]);
        assert_int_equal(settings->drain_us, 10000000);
        settings_release(&settings);
    }
}

static void every_kind_of_value_is_read(void **state)
{
    (void)state;
    struct settings *settings = read_good("listen: '[::1]:0'\n"
                                          "deadline: { default: 1.5s, min: 40ms, max: 2min }\n"
                                          "script_threads: 4\n"
                                          "suppliers_dir: [one, two]\n"
                                          "network: { allow_private: [127.0.40.0/24, '::1/128'], ca_file: ca.pem }\n"
                                          "dns: { servers: [10.0.0.2, '10.0.0.3:5353', '[fd00::2]:53'] }\n"
                                          "max_body: 1MiB\n");
    assert_text(settings->listen, "[::1]:0");
    assert_int_equal(settings->deadline_default_us, 1500000);
    assert_int_equal(settings->deadline_min_us, 40000);
    assert_int_equal(settings->deadline_max_us, 120000000);
    assert_int_equal(settings->script_threads, 4);
    assert_int_equal(settings->suppliers_dir_count, 2);
    assert_text(settings->suppliers_dirs[1], "two");
    assert_int_equal(settings->allow_private_count, 2);
    assert_int_equal(settings->allow_private[0].prefix, 120);
    assert_int_equal(settings->allow_private[1].prefix, 128);
    assert_text(settings->ca_file, "ca.pem");
    assert_int_equal(settings->dns_server_count, 3);
    assert_string_equal(settings->dns_servers[2], "[fd00::2]:53");
    assert_int_equal(settings->max_body, 1024 * 1024);
    settings_release(&settings);
}

static void a_duration_may_be_a_word_where_its_row_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *document;
        uint64_t notice_us;
    } cases[] = {
        { "shutdown: { notice: auto }\n", SETTINGS_AUTO },
        { "shutdown: { notice: 0s }\n", 0 },
        { "shutdown: { notice: 1.5s }\n", 1500000 },
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct settings *settings = read_good(cases[i].document);
        assert_true(settings->notice_us == cases[i].notice_us);
        settings_release(&settings);
    }
}

static void the_admin_listener_can_be_moved_guarded_and_switched_off(void **state)
{
    (void)state;
    struct settings *settings = read_good("admin: { listen: '[::1]:9', token_env: ADMIN_TOKEN }\n"
                                          "attribution: { file: a.ndjson }\n");
    assert_text(settings->admin_listen, "[::1]:9");
    assert_text(settings->admin_token_env, "ADMIN_TOKEN");
    assert_text(settings->attribution_file, "a.ndjson");
    settings_release(&settings);

    settings = read_good("admin: { listen: '' }\n");
    assert_text(settings->admin_listen, "");
    settings_release(&settings);
}

static void the_public_endpoint_can_be_set(void **state)
{
    (void)state;
    struct settings *settings = read_good("callers: [web, partner_x]\n"
                                          "honour_deadline_headers: true\n"
                                          "cors: { origins: ['https://a.test', 'http://[::1]:3000'], max_age: 1s }\n"
                                          "reply: { detail: public, token_env: T, max_age: 30s }\n");
    assert_int_equal(settings->caller_count, 2);
    assert_text(settings->callers[1], "partner_x");
    assert_true(settings->honours_deadline_headers);
    assert_int_equal(settings->cors_origin_count, 2);
    assert_text(settings->cors_origins[1], "http://[::1]:3000");
    assert_int_equal(settings->cors_max_age_us, 1000000);
    assert_text(settings->reply_detail, "public");
    assert_text(settings->reply_token_env, "T");
    assert_int_equal(settings->reply_max_age_us, 30000000);
    settings_release(&settings);

    settings = read_good("cors: { origins: '*' }\n");
    assert_int_equal(settings->cors_origin_count, 1);
    assert_text(settings->cors_origins[0], "*");
    assert_int_equal(settings->caller_count, 0);
    assert_false(settings->honours_deadline_headers);
    assert_text(settings->reply_detail, "auto");
    assert_null(settings->reply_token_env.data);
    assert_int_equal(settings->reply_max_age_us, 0);
    settings_release(&settings);
}

static void loopback_is_what_only_this_machine_reaches(void **state)
{
    static const char *const inside[] = { "127.0.0.1:0", "127.9.9.9:80", "[::1]:80" };
    static const char *const outside[] = { "0.0.0.0:80", "[::]:80", "10.0.0.1:80", "128.0.0.1:80", "", ":80" };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(inside); i++) {
        assert_true(value_is_loopback(text_of(inside[i])));
    }
    for (size_t i = 0; i < COUNT_OF(outside); i++) {
        assert_false(value_is_loopback(text_of(outside[i])));
    }
}

static void suppliers_are_read_with_their_places(void **state)
{
    (void)state;
    struct settings *settings = read_good("suppliers_dir: one\n"
                                          "suppliers:\n"
                                          "  acme:\n"
                                          "    ceiling: 900ms\n"
                                          "    display_name: Acme Air\n"
                                          "    accounts:\n"
                                          "      uk:\n"
                                          "        secrets: { ACME_KEY: ACME_UK_KEY }\n"
                                          "        options: { base_url: 'https://uk.example', pages: 3, quoted: '3' }\n"
                                          "  white_label: { uses: acme }\n"
                                          "  zulu: { enabled: false, because: contract ended }\n");
    assert_int_equal(settings->supplier_count, 3);
    const struct settings_supplier *acme = &settings->suppliers[0];
    assert_text(acme->name, "acme");
    assert_text(acme->uses, "acme");
    assert_null(acme->uses_file);
    assert_text(acme->display_name, "Acme Air");
    assert_true(acme->is_enabled);
    assert_int_equal(acme->ceiling_us, 900000);
    assert_int_equal(acme->line, 3);
    assert_int_equal(acme->column, 3);
    assert_int_equal(acme->account_count, 1);
    assert_text(acme->accounts[0].name, "uk");
    assert_int_equal(acme->accounts[0].secret_count, 1);
    assert_text(acme->accounts[0].secrets[0].key, "ACME_KEY");
    assert_text(acme->accounts[0].secrets[0].value, "ACME_UK_KEY");
    assert_int_equal(acme->accounts[0].option_count, 3);
    assert_text(acme->accounts[0].options[1].key, "pages");
    assert_true(acme->accounts[0].options[1].is_plain);
    assert_false(acme->accounts[0].options[2].is_plain);
    assert_int_equal(acme->accounts[0].options[1].line, 9);
    const struct settings_supplier *alias = &settings->suppliers[1];
    assert_text(alias->uses, "acme");
    assert_non_null(alias->uses_file);
    assert_int_equal(alias->uses_line, 10);
    assert_int_equal(alias->uses_column, 24);
    assert_null(alias->display_name.data);
    assert_text(alias->accounts[0].name, "main");
    assert_false(settings->suppliers[2].is_enabled);
    assert_text(settings->suppliers[2].because, "contract ended");
    settings_release(&settings);
}

static void a_later_file_wins_setting_by_setting(void **state)
{
    (void)state;
    const char *documents[] = {
        "drain: 5s\ndeadline: { min: 50ms, max: 5s }\ndns: { servers: [10.0.0.1, 10.0.0.2] }\n"
        "suppliers: { acme: { ceiling: 1s, accounts: { main: { options: { a: 1, b: 2 } } } } }\n",
        "deadline: { max: 6s }\ndns: { servers: [10.0.0.3] }\n"
        "suppliers: { acme: { enabled: false, accounts: { main: { options: { b: 3 } } } } }\n"
    };
    struct findings findings;
    struct settings *settings = NULL;
    assert_int_equal(read_documents(documents, 2, &findings, &settings), STATUS_OK);
    assert_int_equal(settings->drain_us, 5000000);
    assert_int_equal(settings->deadline_min_us, 50000);
    assert_int_equal(settings->deadline_max_us, 6000000);
    assert_int_equal(settings->dns_server_count, 1);
    assert_string_equal(settings->dns_servers[0], "10.0.0.3");
    assert_int_equal(settings->supplier_count, 1);
    assert_int_equal(settings->suppliers[0].ceiling_us, 1000000);
    assert_false(settings->suppliers[0].is_enabled);
    const struct settings_account *account = &settings->suppliers[0].accounts[0];
    assert_int_equal(account->option_count, 2);
    assert_text(account->options[0].value, "1");
    assert_text(account->options[1].value, "3");
    settings_release(&settings);
}

static void a_value_that_is_overridden_is_checked_too(void **state)
{
    (void)state;
    const char *documents[] = { "drain: 5\n", "drain: 5s\n" };
    struct findings findings;
    struct settings *settings = NULL;
    assert_int_equal(read_documents(documents, 2, &findings, &settings), STATUS_INVALID);
    assert_int_equal(findings.count, 1);
    assert_int_equal(findings.items[0].line, 1);
}

static void the_environment_wins_over_files(void **state)
{
    (void)state;
    setenv("LASTCALL__DEADLINE__DEFAULT", "1s", 1);
    setenv("LASTCALL__LISTEN", "127.0.0.1:9090", 1);
    setenv("LASTCALL__SUPPLIERS_DIR", "one, two", 1);
    setenv("LASTCALL__DNS__SERVERS", "", 1);
    setenv("LASTCALL__NETWORK__ALLOW_PRIVATE", "127.0.40.0/24,::1/128", 1);
    setenv("LASTCALL__SUPPLIERS__WHITE_LABEL__ACCOUNTS__MAIN__SECRETS__Api__Key", "WL_KEY", 1);
    setenv("LASTCALL__SUPPLIERS__WHITE_LABEL__ACCOUNTS__MAIN__OPTIONS__BASE_URL", "http://127.0.0.1:1", 1);
    setenv("LASTCALL__SUPPLIERS__WHITE_LABEL__ENABLED", "false", 1);
    struct settings *settings = read_good("deadline: { default: 3s }\nsuppliers_dir: zero\n"
                                          "dns: { servers: [10.0.0.1] }\n");
    assert_int_equal(settings->deadline_default_us, 1000000);
    assert_text(settings->listen, "127.0.0.1:9090");
    assert_int_equal(settings->suppliers_dir_count, 2);
    assert_text(settings->suppliers_dirs[1], "two");
    assert_int_equal(settings->dns_server_count, 0);
    assert_int_equal(settings->allow_private_count, 2);
    assert_int_equal(settings->supplier_count, 1);
    assert_text(settings->suppliers[0].name, "white_label");
    assert_false(settings->suppliers[0].is_enabled);
    const struct settings_account *account = &settings->suppliers[0].accounts[0];
    assert_text(account->secrets[0].key, "Api__Key");
    assert_text(account->secrets[0].value, "WL_KEY");
    assert_text(account->options[0].key, "base_url");
    settings_release(&settings);
}

static void limits_of_an_account_are_numbers_of_requests_and_a_size(void **state)
{
    (void)state;
    struct settings *settings =
        read_good("suppliers: { acme: { accounts: { main: { limits: { rps: 20, per_minute: 600, per_day: 20000, "
                  "concurrent: 32, body: 4MiB } }, uk: { when: { market: GB }, limits: { rps: 1 } } } } }\n");
    const struct settings_account *account = &settings->suppliers[0].accounts[1];
    assert_text(account->name, "main");
    assert_int_equal(account->limits.per_second, 20);
    assert_int_equal(account->limits.per_minute, 600);
    assert_int_equal(account->limits.per_day, 20000);
    assert_int_equal(account->limits.concurrent, 32);
    assert_int_equal(account->body_cap, 4 << 20);
    account = &settings->suppliers[0].accounts[0];
    assert_int_equal(account->limits.per_second, 1);
    assert_int_equal(account->limits.concurrent, 0);
    assert_int_equal(account->body_cap, 0);
    settings_release(&settings);
}

static void every_row_has_a_range_that_holds_its_default(void **state)
{
    (void)state;
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        const struct setting *row = &SETTINGS[i];
        bool is_number = row->kind == SETTING_DURATION || row->kind == SETTING_SIZE || row->kind == SETTING_SHARE ||
                         row->kind == SETTING_DECIMAL || row->kind == SETTING_INTEGER;
        assert_int_equal(is_number, row->least != NULL);
        assert_int_equal(is_number, row->most != NULL);
        assert_true(strlen(row->about) > 5);
        assert_true(row->about[strlen(row->about) - 1] != '.');
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(row->key, SETTINGS[j].key);
        }
    }
    // Presets that break their own range are bugs, which reading the defaults would abort on.
    struct findings findings = { 0 };
    struct settings *settings = NULL;
    assert_int_equal(settings_read(NULL, 0, on_finding, &findings, &settings), STATUS_OK);
    settings_release(&settings);
}

static const struct settings_node *entry_of(const struct settings_node *map, struct text key)
{
    const struct settings_node *entry = map->first;
    while (entry != NULL && !text_equals_c(key, "*") && !text_equals(entry->key, key)) {
        entry = entry->next;
    }
    return entry;
}

// Does the tree hold the row's key anywhere? `*` tries every entry.
static bool occurs(const struct settings_node *map, struct text key)
{
    struct text rest;
    struct text part = text_split(key, '.', &rest);
    for (const struct settings_node *entry = entry_of(map, part); entry != NULL;
         entry = text_equals_c(part, "*") ? entry->next : NULL) {
        if (rest.data == NULL || occurs(entry, rest)) {
            return true;
        }
    }
    return false;
}

static char *read_example(void)
{
    FILE *file = fopen("examples/lastcall.yaml", "r");
    assert_non_null(file);
    char *bytes = calloc(1, 65536);
    assert_non_null(bytes);
    assert_true(fread(bytes, 1, 65535, file) > 1000);
    fclose(file);
    return bytes;
}

static void the_example_holds_every_setting_with_its_default(void **state)
{
    (void)state;
    const char *name = "examples/lastcall.yaml";
    struct findings findings = { 0 };
    struct settings *settings = NULL;
    struct settings_node *root = NULL;
    struct arena arena;
    char *bytes = read_example();

    assert_int_equal(settings_read(&name, 1, on_finding_print, &findings, &settings), STATUS_OK);
    settings_release(&settings);
    arena_init(&arena, 1024 * 1024);
    assert_int_equal(settings_yaml_parse(&arena, name, text_of(bytes), on_finding, &findings, &root), STATUS_OK);
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        const struct setting *row = &SETTINGS[i];
        char comment[128];
        if (row->kind == SETTING_LATER) {
            snprintf(comment, sizeof(comment), " %s:", row->key);
            if (strstr(bytes, comment) == NULL || occurs(root, text_of(row->key))) {
                fail_msg("%s belongs into the comment on later versions", row->key);
            }
        } else if (!occurs(root, text_of(row->key))) {
            fail_msg("%s is missing in the example", row->key);
        }
    }
    // Words after the key of a plain setting are its default.
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        const struct setting *row = &SETTINGS[i];
        struct text rest;
        struct text part = text_split(text_of(row->key), '.', &rest);
        const struct settings_node *entry = entry_of(root, part);
        if (row->owner != SETTING_OF_ENGINE || row->kind == SETTING_LATER || row->preset == NULL) {
            continue;
        }
        if (rest.data != NULL) {
            entry = entry_of(entry, rest);
        }
        if (entry->kind == SETTINGS_SCALAR) {
            assert_text(entry->value, row->preset);
        } else {
            struct text left = text_of(row->preset);
            for (const struct settings_node *item = entry->first; item != NULL; item = item->next) {
                struct text wanted = text_split(left, ',', &left);
                assert_true(text_equals(item->value, wanted));
            }
            assert_true(left.length == 0);
        }
    }
    arena_fini(&arena);
    free(bytes);
}

static void values_are_read_exactly(void **state)
{
    (void)state;
    struct value_problem problem = { 0 };
    uint64_t value = 0;
    assert_true(value_duration(TEXT("250us"), &value, &problem) && value == 250);
    assert_true(value_duration(TEXT("1.5s"), &value, &problem) && value == 1500000);
    assert_true(value_duration(TEXT("0.001ms"), &value, &problem) && value == 1);
    assert_true(value_duration(TEXT("2min"), &value, &problem) && value == 120000000);
    assert_true(value_duration(TEXT("24h"), &value, &problem) && value == 86400000000);
    assert_true(value_duration(TEXT("7d"), &value, &problem) && value == 604800000000);
    assert_false(value_duration(TEXT("1.s"), &value, &problem));
    assert_false(value_duration(TEXT(".5s"), &value, &problem));
    assert_false(value_duration(TEXT("1e3s"), &value, &problem));
    assert_false(value_duration(TEXT(" 1s"), &value, &problem));
    assert_true(value_size(TEXT("1.5KiB"), &value, &problem) && value == 1536);
    assert_true(value_size(TEXT("1GiB"), &value, &problem) && value == 1073741824);
    assert_true(value_share(TEXT("3%"), &value, &problem) && value == 30000);
    assert_true(value_share(TEXT("0.0001%"), &value, &problem) && value == 1);
    assert_true(value_share(TEXT("100%"), &value, &problem) && value == 1000000);
    assert_false(value_share(TEXT("100.1%"), &value, &problem));
    assert_false(value_share(TEXT("3"), &value, &problem));
    assert_true(value_name(TEXT("a1_b"), &problem));
    assert_false(value_name(TEXT("_a"), &problem));
    assert_false(value_name(TEXT("a_"), &problem));
    assert_false(value_name(TEXT("1a"), &problem));
    assert_true(value_variable(TEXT("_A1")));
    assert_false(value_variable(TEXT("1A")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_file_gives_the_defaults, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(an_empty_file_is_fine, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(every_kind_of_value_is_read, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(a_duration_may_be_a_word_where_its_row_says_so, clear_environment,
                                        clear_environment),
        cmocka_unit_test_setup_teardown(the_public_endpoint_can_be_set, clear_environment, clear_environment),
        cmocka_unit_test(loopback_is_what_only_this_machine_reaches),
        cmocka_unit_test_setup_teardown(suppliers_are_read_with_their_places, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(the_admin_listener_can_be_moved_guarded_and_switched_off, clear_environment,
                                        clear_environment),
        cmocka_unit_test_setup_teardown(a_later_file_wins_setting_by_setting, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(a_value_that_is_overridden_is_checked_too, clear_environment,
                                        clear_environment),
        cmocka_unit_test_setup_teardown(the_environment_wins_over_files, clear_environment, clear_environment),
        cmocka_unit_test(limits_of_an_account_are_numbers_of_requests_and_a_size),
        cmocka_unit_test_setup_teardown(every_row_has_a_range_that_holds_its_default, clear_environment,
                                        clear_environment),
        cmocka_unit_test_setup_teardown(the_example_holds_every_setting_with_its_default, clear_environment,
                                        clear_environment),
        cmocka_unit_test_setup_teardown(values_are_read_exactly, clear_environment, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit/app_settings_support.h"

#include "app/settings_yaml.h"
#include "base/buffer.h"

struct error_case {
    const char *document;
    uint32_t line, column;
    const char *message; // a part of it
    const char *help;    // a part of it; NULL: any
};

static const struct error_case ERRORS[] = {
    // unknown keys
    { "lisen: 127.0.0.1:80\n", 1, 1, "`lisen` is not a setting", "did you mean `listen`?" },
    { "deadline:\n  defualt: 2s\n", 2, 3, "`deadline.defualt` is not a setting", "`deadline.default`" },
    { "deadline: { min: 100ms, maxx: 2s }\n", 1, 25, "`deadline.maxx` is not a setting", "`deadline.max`" },
    { "max_items: 5\n", 1, 1, "`max_items` is not a setting", "`reply.max_items`" },
    { "deadline.min: 100ms\n", 1, 1, "`deadline.min` is not a setting", "did you mean `deadline.min`? A section" },
    { "suppliers:\n\tacme: {}\n", 2, 1, "this is not YAML", "indent with spaces: a tab is none" },
    { "suppliers:\n  acme:\n\t  mode: off\n", 3, 1, "this is not YAML", "indent with spaces: a tab is none" },
    { "suppliers:\n  acme:\n    base_url: http://a\n", 3, 5, "`suppliers.acme.base_url` is not a setting",
      "accounts: { main: { options: { base_url: … } } }" },
    { "suppliers:\n  acme:\n    options: { page: 1 }\n", 3, 5, "`suppliers.acme.options` is not a setting",
      "accounts: { main: { options: … } }" },
    { "zzzzzz: 1\n", 1, 1, "`zzzzzz` is not a setting", "" },
    { "suppliers:\n  acme:\n    cieling: 2s\n", 3, 5, "`suppliers.acme.cieling` is not a setting",
      "`suppliers.acme.ceiling`" },
    { "suppliers:\n  acme:\n    accounts:\n      main: { secret: {} }\n", 4, 15,
      "`suppliers.acme.accounts.main.secret` is not a setting", "accounts.main.secrets`" },
    // the same key twice
    { "drain: 5s\nlisten: 127.0.0.1:80\ndrain: 6s\n", 3, 1, "`drain` stands twice; the first is in line 1", "" },
    { "suppliers:\n  acme: {}\n  acme: { ceiling: 2s }\n", 3, 3, "`acme` stands twice", "" },
    // durations
    { "drain: 5\n", 1, 8, "`drain` is `5`, which has no unit", "250ms" },
    { "drain: 5m\n", 1, 8, "has an unknown unit", "`min` for minutes" },
    { "drain: 5 s\n", 1, 8, "has an unknown unit", NULL },
    { "drain: soon\n", 1, 8, "is not a duration", NULL },
    { "drain: -5s\n", 1, 8, "is negative", NULL },
    { "drain: 0s\n", 1, 8, "`drain` is `0s`, which is out of range", "from 100ms to 10min" },
    { "drain: 99999999h\n", 1, 8, "is out of range", NULL },
    { "drain: 99999999999999999999s\n", 1, 8, "is too large", NULL },
    { "drain: 100.0000001ms\n", 1, 8, "too fine", NULL },
    { "deadline:\n  min: 39ms\n", 2, 8, "out of range", "from 40ms" },
    { "drain: ''\n", 1, 8, "is not a duration", NULL },
    { "drain: auto\n", 1, 8, "is not a duration", NULL },
    { "shutdown: { notice: never }\n", 1, 21, "is not a duration", NULL },
    { "shutdown: { flush: 0s }\n", 1, 20, "`shutdown.flush` is `0s`, which is out of range", "from 100ms to 10min" },
    // sizes, numbers, choices
    { "max_body: 262144\n", 1, 11, "has no unit", "256KiB" },
    { "max_body: 256KB\n", 1, 11, "has an unknown unit", "256KiB" },
    { "max_body: 2GiB\n", 1, 11, "out of range", "from 1KiB to 64MiB" },
    { "io_threads: 0\n", 1, 13, "out of range", "from 1 to 8" },
    { "io_threads: 9\n", 1, 13, "out of range", "from 1 to 8" },
    { "io_threads: -1\n", 1, 13, "is negative", NULL },
    { "io_threads: 1.5\n", 1, 13, "is not a whole number", NULL },
    { "io_threads: auto\n", 1, 13, "is not a number", NULL },
    { "script_threads: 33\n", 1, 17, "out of range", "from 1 to 32" },
    { "log_level: loud\n", 1, 12, "is not a choice", "debug info warning error" },
    // addresses
    { "listen: 127.0.0.1\n", 1, 9, "has no port", "127.0.0.1:8080" },
    { "listen: ::1\n", 1, 9, "lacks the brackets", NULL },
    { "listen: 127.0.0.1:70000\n", 1, 9, "a port that is not 0 to 65535", NULL },
    { "listen: localhost:8080\n", 1, 9, "does not begin with an address", NULL },
    { "network:\n  allow_private: [127.0.40.0/24, 300.1.0.0/8]\n", 2, 34,
      "`300.1.0.0/8`, which is not an address range", NULL },
    { "dns: { servers: [ns.example] }\n", 1, 18, "is not the address of a name server", NULL },
    { "dns: { servers: ['10.0.0.2:0'] }\n", 1, 18, "a port that is not 1 to 65535", NULL },
    // callers, origins, how much a reply tells
    { "callers: [web, Web]\n", 1, 16, "`Web`, which is not a name", NULL },
    { "callers: [web, app, web]\n", 1, 21, "`web`, which stands there twice", NULL },
    { "callers: web\n", 1, 10, "is a list", NULL },
    { "cors: { origins: [https://a.test, a.test] }\n", 1, 35, "does not begin with https:// or http://", NULL },
    { "cors: { origins: https://a.test/ }\n", 1, 18, "`https://a.test/`, which is not an origin", "without a path" },
    { "cors: { origins: ['https://A.test'] }\n", 1, 19, "is not an origin", NULL },
    { "cors: { origins: ['https://a.test:0'] }\n", 1, 19, "a port that is not 1 to 65535", NULL },
    { "cors: { origins: ['https://'] }\n", 1, 19, "is not an origin", NULL },
    { "cors: { max_age: 25h }\n", 1, 18, "out of range", "from 0s to 24h" },
    { "reply: { detail: none }\n", 1, 18, "is not a choice", "auto full public" },
    { "reply: { token_env: 'a secret' }\n", 1, 21, "is not the name of an environment variable", NULL },
    { "reply: { max_age: 2h }\n", 1, 19, "out of range", "from 0s to 1h" },
    { "honour_deadline_headers: maybe\n", 1, 26, "neither true nor false", NULL },
    // tables
    { "data:\n  hotels: { key: [id] }\n", 2, 3, "`data.hotels` has no `file`", "{ file: hotels.tsv, key:" },
    { "data:\n  hotels: { file: h.tsv }\n", 2, 3, "`data.hotels` has no `key`", NULL },
    { "data:\n  hotels: { file: h.tsv, key: [id, city, id] }\n", 2, 31, "names `id` twice", NULL },
    { "data:\n  hotels: { file: h.tsv, keys: [id] }\n", 2, 26, "`data.hotels.keys` is not a setting",
      "`data.hotels.key`" },
    { "data:\n  Hotels!: { file: h.tsv, key: [id] }\n", 2, 3, "`data.Hotels!`", NULL },
    { "data: { h: { file: h.tsv, key: [a, b, c, d, e, f, g, h, i] } }\n", 1, 32, "has more than 8 columns", NULL },
    // wrong kinds of node
    { "listen: [a]\n", 1, 9, "`listen` is one value, not a list", NULL },
    { "listen: { a: b }\n", 1, 9, "`listen` is one value, not a map", NULL },
    { "listen:\ndrain: 1s\n", 1, 8, "`listen` has no value", "127.0.0.1:8080" },
    { "drain: ~\n", 1, 8, "`drain` has no value", "10s" },
    { "deadline: 2s\n", 1, 11, "`deadline` is a section, not a value", "default, min, max" },
    { "suppliers: [acme]\n", 1, 12, "`suppliers` is a section, not a list", "names" },
    { "dns: { servers: 10.0.0.2 }\n", 1, 17, "`dns.servers` is a list", NULL },
    { "dns: { servers: [[10.0.0.2]] }\n", 1, 18, "one value, not a list", NULL },
    { "suppliers_dir: []\n", 1, 16, "`suppliers_dir` is empty", NULL },
    { "suppliers_dir: [a, '']\n", 1, 20, "has an empty item", NULL },
    { "scripts_dir: ''\n", 1, 14, "is empty", NULL },
    { "scripts_dir: \"a\\nb\"\n", 1, 14, "`a?b`, which holds a control character", NULL },
    { "- a\n- b\n", 1, 1, "settings are a map", NULL },
    { "just words\n", 1, 1, "settings are a map", NULL },
    { "admin: { listen: localhost:1 }\n", 1, 18, "`admin.listen` is `localhost:1`", NULL },
    { "admin: { listen: }\n", 1, 18, "`admin.listen` has no value", "127.0.0.1:8081" },
    { "admin: { token_env: s3cr3t-t0ken }\n", 1, 21, "`admin.token_env` is not the name of an environment variable",
      "a secret never stands here" },
    { "attribution: { file: '' }\n", 1, 22, "`attribution.file` is empty", NULL },
    // suppliers
    { "suppliers:\n  Acme: {}\n", 2, 3, "`suppliers.Acme` is not a name", NULL },
    { "suppliers:\n  a__b: {}\n", 2, 3, "is not a name", NULL },
    { "suppliers:\n  acme: { uses: Some Thing }\n", 2, 17, "is not a name", NULL },
    { "suppliers:\n  acme: { enabled: yes }\n", 2, 20, "`yes`, which is neither true nor false", NULL },
    { "suppliers:\n  acme: { ceiling: 0ms }\n", 2, 20, "out of range", NULL },
    { "suppliers:\n  acme:\n    accounts: { uk: {}, main: {} }\n", 3, 17,
      "account `uk` takes every search, so that `main` is never used", "give one of them a `when`" },
    { "suppliers:\n  acme:\n    accounts: { uk: { when: { market: [GB, gb] } } }\n", 3, 17,
      "account `uk` names a market that is no country", "[GB, IE]" },
    { "suppliers:\n  acme:\n    accounts: { uk: { when: { device: app } } }\n", 3, 31, "is not a setting", NULL },
    { "suppliers:\n  acme:\n    accounts: { uk: { tls: { cert: a.pem } } }\n", 3, 17,
      "account `uk` has half of a client certificate", "`cert` and `key`" },
    { "suppliers:\n  acme:\n    accounts: { uk: { proxy: 'https://p.example:1' } }\n", 3, 17,
      "has a proxy that is not http://host:port", "plain HTTP" },
    { "suppliers:\n  acme:\n    accounts: { uk: { proxy: 'http://me:pw@p.example:1' } }\n", 3, 17,
      "has a proxy that is not http://host:port", NULL },
    { "suppliers:\n  acme:\n    accounts: { uk: { proxy: 'http://p.example:1/way' } }\n", 3, 17,
      "has a proxy that is not http://host:port", NULL },
    { "suppliers:\n  acme: { accounts: { main: { secrets: { K: 's3cr3t!' } } } }\n", 2, 45,
      "`suppliers.acme.accounts.main.secrets.K` is not the name of an environment variable", NULL },
    { "suppliers:\n  acme: { accounts: { main: { options: { K: [1] } } } }\n", 2, 45, "one value, not a list", NULL },
    // what later versions act on
    { "fx: { max_age: 0s }\n", 1, 16, "out of range", NULL },
    { "last_known: here\n", 1, 13, "`last_known` is a section, not a value", NULL },
    { "rules: [{ weight: much }]\n", 1, 19, "`rules.1.weight` is `much`, which is not a number",
      "write it like 2 or 0.5" },
    { "patience: { delay_cost: -1 }\n", 1, 25, "is negative", "write it like 2 or 0.5" },
    { "patience: { held_cost: 0.0000001 }\n", 1, 24, "is too large or too fine", NULL },
    { "patience: { delay_cots: 1 }\n", 1, 13, "is not a setting", "patience.delay_cost" },
    { "suppliers:\n  acme: { limits: 0s }\n", 2, 11, "`suppliers.acme.limits` is not supported", NULL },
    // modes
    { "suppliers:\n  acme: { mode: darkest }\n", 2, 17, "`suppliers.acme.mode`", "dark" },
    { "suppliers:\n  acme: { accounts: { uk: { mode: off } } }\n", 2, 35, "`suppliers.acme.accounts.uk.mode`", NULL },
    { "suppliers:\n  acme: { mode: dark, traffic: 101% }\n", 2, 32, "is more than 100%", NULL },
    { "suppliers:\n  acme: { traffic: 5% }\n", 2, 3, "`acme` has `traffic`, but nothing of it is dark", "mode: dark" },
    { "suppliers:\n  acme: { mode: dark, traffic: 5%, accounts: { main: { mode: live } } }\n", 2, 3,
      "`acme` has `traffic`, but nothing of it is dark", NULL },
    { "suppliers:\n  acme:\n    accounts: { a: { mode: test }, b: { mode: test } }\n", 3, 17,
      "account `a` takes every search, so that `b` is never used", NULL },
    { "suppliers:\n  acme:\n    accounts: { a: { mode: dark }, b: {} }\n", 3, 17,
      "account `a` takes every search, so that `b` is never used", NULL },
    // agreement
    { "deadline: { min: 2s, default: 1s }\n", 1, 31, "`deadline.min` (2000ms) is above `deadline.default` (1000ms)",
      NULL },
    { "deadline:\n  max: 1s\n", 2, 8, "`deadline.default` (2000ms) is above `deadline.max` (1000ms)", NULL },
    { "deadline:\n  min: 11s\n", 2, 8, "`deadline.min` (11000ms) is above `deadline.max` (10000ms)", NULL },
    // YAML that is refused
    { "a: &x 1\n", 1, 4, "anchors (`&name`) are not supported", NULL },
    { "drain: *x\n", 1, 8, "aliases (`*name`) are not supported", NULL },
    { "drain: !!str 5s\n", 1, 8, "tags (`!name`) are not supported", NULL },
    { "dns: !x {}\n", 1, 6, "tags (`!name`) are not supported", NULL },
    { "dns:\n  <<: {}\n", 2, 3, "merge keys (`<<`) are not supported", NULL },
    { "? [a]\n: b\n", 1, 3, "a key is a word", NULL },
    { "drain: 5s\n---\ndrain: 6s\n", 2, 1, "a second document begins here", NULL },
    { "drain: 5s\n\tlisten: x\n", 2, 1, "this is not YAML", NULL },
    { "dns: { servers: [\n", 2, 1, "this is not YAML", NULL },
    { "drain: \"a\\0b\"\n", 1, 8, "holds a NUL byte", NULL },
    { "a: \xff\n", 1, 4, "this is not YAML", NULL },
    { "drain: 1s\n\xc3\xa4: \xff\n", 2, 4, "this is not YAML", NULL },
    { "\xc3\xa4: 1\ndrain: \xc3\xa4\n", 1, 1, "is not a setting", NULL },
    { "x: [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]\n", 1, 19, "nested deeper than 16 levels", NULL },
};

static void every_error_names_its_line_and_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ERRORS); i++) {
        const struct error_case *expected = &ERRORS[i];
        struct findings findings;
        struct settings *settings = NULL;
        assert_int_equal(read_documents(&expected->document, 1, &findings, &settings), STATUS_INVALID);
        assert_null(settings);
        assert_true(findings.count >= 1);
        const struct failure *found = &findings.items[0];
        if (found->line != expected->line || found->column != expected->column ||
            strstr(found->message, expected->message) == NULL ||
            (expected->help != NULL && strstr(found->help, expected->help) == NULL)) {
            fail_msg("case %zu: got %u:%u: %s (%s)\nwanted %u:%u: %s (%s)\nfor:\n%s", i, found->line, found->column,
                     found->message, found->help, expected->line, expected->column, expected->message,
                     expected->help == NULL ? "any" : expected->help, expected->document);
        }
        assert_non_null(strstr(found->file, "app_settings_test."));
    }
}

static void all_findings_are_reported_not_the_first(void **state)
{
    (void)state;
    const char *document = "drain: 5\nnonsense: 1\nio_threads: 0\nsuppliers:\n  acme: { enabled: 1, limits: 1 }\n";
    struct findings findings;
    struct settings *settings = NULL;
    assert_int_equal(read_documents(&document, 1, &findings, &settings), STATUS_INVALID);
    assert_int_equal(findings.count, 5);
    uint32_t lines[] = { 1, 2, 3, 5, 5 };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        assert_int_equal(findings.items[i].line, lines[i]);
    }
}

static void a_secret_pasted_into_the_file_is_not_repeated(void **state)
{
    (void)state;
    const char *document = "suppliers: { a: { accounts: { main: { secrets: { KEY: sk-live-1234 } } } } }\n";
    struct findings findings;
    struct settings *settings = NULL;
    assert_int_equal(read_documents(&document, 1, &findings, &settings), STATUS_INVALID);
    assert_int_equal(findings.count, 1);
    assert_null(strstr(findings.items[0].message, "sk-live"));
    assert_null(strstr(findings.items[0].help, "sk-live"));
}

struct variable_case {
    const char *name, *value;
    const char *message, *help;
};

static const struct variable_case VARIABLES[] = {
    { "LASTCALL__DEADLIN__DEFAULT", "1s", "`deadlin` is not a setting", "`LASTCALL__DEADLINE__DEFAULT`" },
    { "LASTCALL__DEADLINE__DEFUALT", "1s", "`deadline.defualt` is not a setting", "`LASTCALL__DEADLINE__DEFAULT`" },
    { "LASTCALL__LISTEN__PORT", "1", "`listen` is one value, not a map", "" },
    { "LASTCALL__DEADLINE", "1s", "`deadline` is a section, not a value", "" },
    { "LASTCALL__DRAIN", "1", "`drain` is `1`, which has no unit", "250ms" },
    { "LASTCALL__DRAIN", "", "is not a duration", "" },
    { "LASTCALL__drain", "1s", "is not a setting", "" },
    { "LASTCALL__", "1s", "is not a setting", "" },
    { "LASTCALL____DRAIN", "1s", "is not a setting", "" },
    { "LASTCALL__SUPPLIERS__A__LIMITS__RPS", "1", "`suppliers.a.limits` is not supported by this version", "" },
    { "LASTCALL__SCRIPTS_DIR", "\xff", "is not UTF-8", "" },
    { "LASTCALL__A__B__C__D__E__F__G__H__I__J__K__L__M__N__O__P__Q__R", "1", "`a` is not a setting", "" },
    { "LASTCALL__DNS__SERVERS", "10.0.0.1,,10.0.0.2", "has an empty item", "" },
};

static void a_wrong_variable_is_reported_by_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(VARIABLES); i++) {
        const struct variable_case *expected = &VARIABLES[i];
        struct findings findings = { 0 };
        struct settings *settings = NULL;
        setenv(expected->name, expected->value, 1);
        assert_int_equal(settings_read(NULL, 0, on_finding, &findings, &settings), STATUS_INVALID);
        unsetenv(expected->name);
        const struct failure *found = &findings.items[0];
        if (findings.count != 1 || strcmp(found->file, expected->name) != 0 || found->line != 0 ||
            strstr(found->message, expected->message) == NULL || strstr(found->help, expected->help) == NULL) {
            fail_msg("%s: got %zu: %s: %s (%s)", expected->name, findings.count, found->file, found->message,
                     found->help);
        }
    }
}

static void wrong_variables_are_reported_in_the_order_of_their_names(void **state)
{
    (void)state;
    struct findings findings = { 0 };
    struct settings *settings = NULL;
    const char *names[] = { "LASTCALL__ZZ", "LASTCALL__AA", "LASTCALL__MM" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        setenv(names[i], "1", 1);
    }
    assert_int_equal(settings_read(NULL, 0, on_finding, &findings, &settings), STATUS_INVALID);
    assert_int_equal(findings.count, 3);
    assert_string_equal(findings.items[0].file, "LASTCALL__AA");
    assert_string_equal(findings.items[1].file, "LASTCALL__MM");
    assert_string_equal(findings.items[2].file, "LASTCALL__ZZ");
}

static void a_file_that_cannot_be_read_is_a_finding(void **state)
{
    (void)state;
    const char *names[] = { "/nonexistent/lastcall.yaml", "/tmp" };
    struct findings findings = { 0 };
    struct settings *settings = NULL;
    assert_int_equal(settings_read(names, 2, on_finding, &findings, &settings), STATUS_INVALID);
    assert_int_equal(findings.count, 2);
    assert_string_equal(findings.items[0].file, "/nonexistent/lastcall.yaml");
    assert_int_equal(findings.items[0].line, 0);
    assert_non_null(strstr(findings.items[0].message, "No such file"));
    assert_non_null(strstr(findings.items[0].help, "examples/farm/lastcall.yaml"));
    assert_non_null(strstr(findings.items[1].message, "directory"));
}

static void a_file_that_is_too_large_is_refused(void **state)
{
    (void)state;
    size_t sizes[] = { SETTINGS_FILE_MAX + 1, SETTINGS_FILE_MAX + 100000 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        char path[64];
        char *content = malloc(sizes[i]);
        assert_non_null(content);
        memset(content, '#', sizes[i]);
        write_file(path, content, sizes[i]);
        free(content);
        const char *name = path;
        struct findings findings = { 0 };
        struct settings *settings = NULL;
        assert_int_equal(settings_read(&name, 1, on_finding, &findings, &settings), STATUS_INVALID);
        unlink(path);
        assert_int_equal(findings.count, 1);
    }
}

static void a_file_of_too_many_values_is_refused(void **state)
{
    (void)state;
    struct buffer document;
    struct findings findings;
    struct settings *settings = NULL;
    buffer_init(&document, SETTINGS_FILE_MAX);
    buffer_append_c(&document, "dns:\n  servers:\n");
    for (int i = 0; i < SETTINGS_NODES_MAX; i++) {
        buffer_append_c(&document, "  - 10.0.0.1\n");
    }
    buffer_append_byte(&document, 0);
    assert_false(document.is_full);
    const char *bytes = document.data;
    assert_int_equal(read_documents(&bytes, 1, &findings, &settings), STATUS_INVALID);
    assert_int_equal(findings.count, 1);
    assert_non_null(strstr(findings.items[0].message, "more than 20000 values"));
    assert_int_equal(findings.items[0].line, SETTINGS_NODES_MAX);
    buffer_fini(&document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_error_names_its_line_and_column, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(all_findings_are_reported_not_the_first, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(a_secret_pasted_into_the_file_is_not_repeated, clear_environment,
                                        clear_environment),
        cmocka_unit_test_setup_teardown(a_wrong_variable_is_reported_by_its_name, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(wrong_variables_are_reported_in_the_order_of_their_names, clear_environment,
                                        clear_environment),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_read_is_a_finding, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(a_file_that_is_too_large_is_refused, clear_environment, clear_environment),
        cmocka_unit_test_setup_teardown(a_file_of_too_many_values_is_refused, clear_environment, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

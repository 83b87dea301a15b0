#include "app/generation.h"
#include "model/data_set.h"
#include "script/rates.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA "tests/unit/data/generation/"
#define ACME "suppliers_dir: " DATA "suppliers\nscripts_dir: " DATA "scripts\n"

enum { FINDINGS_MAX = 16 };

struct findings {
    struct failure items[FINDINGS_MAX];
    size_t count;
};

static void on_finding(void *context, const struct failure *failure)
{
    struct findings *findings = context;
    if (findings->count < FINDINGS_MAX) {
        findings->items[findings->count] = *failure;
    }
    findings->count++;
}

static void print_findings(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count && i < FINDINGS_MAX; i++) {
        const struct failure *failure = &findings->items[i];
        print_message("%s:%u:%u: %s (%s)\n", failure->file, failure->line, failure->column, failure->message,
                      failure->help);
    }
}

// The settings of a document, and the generation they make.
static enum status build(const char *document, struct findings *findings, struct generation **generation)
{
    char path[] = "/tmp/app_generation_test.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, document, strlen(document)), (ssize_t)strlen(document));
    close(fd);
    const char *name = path;
    struct settings *settings = NULL;
    *findings = (struct findings){ 0 };
    enum status status = settings_read(&name, 1, on_finding, findings, &settings);
    unlink(path);
    print_findings(findings);
    assert_int_equal(status, STATUS_OK);
    status = generation_build(settings, on_finding, findings, generation);
    settings_release(&settings);
    return status;
}

static struct generation *build_good(const char *document)
{
    struct findings findings;
    struct generation *generation = NULL;
    enum status status = build(document, &findings, &generation);
    print_findings(&findings);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(findings.count, 0);
    return generation;
}

static const struct catalogue_supplier *supplier_of(const struct generation *generation, const char *name)
{
    const struct catalogue *catalogue = generation_catalogue(generation);
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        if (text_equals_c(catalogue->suppliers[i].name, name)) {
            return &catalogue->suppliers[i];
        }
    }
    fail_msg("no supplier %s", name);
    return NULL;
}

static void assert_text(struct text text, const char *expected)
{
    if (!text_equals_c(text, expected)) {
        fail_msg("got `%.*s`, wanted `%s`", TEXT_ARGS(text), expected);
    }
}

static bool has_host(const struct catalogue_supplier *supplier, const char *host)
{
    for (size_t i = 0; i < supplier->account->host_count; i++) {
        if (text_equals_c(supplier->account->hosts[i], host)) {
            return true;
        }
    }
    return false;
}

static bool has_name(const struct generation *generation, const char *name)
{
    size_t count = 0;
    const struct text *names = generation_hosts(generation, &count);
    for (size_t i = 0; i < count; i++) {
        if (text_equals_c(names[i], name)) {
            return true;
        }
    }
    return false;
}

static int set_key(void **state)
{
    (void)state;
    setenv("GENERATION_TEST_KEY", "test-key-1234", 1);
    unsetenv("GENERATION_TEST_OTHER");
    return 0;
}

static void every_file_is_a_supplier_of_its_name(void **state)
{
    (void)state;
    struct generation *generation = build_good(ACME);
    const struct catalogue *catalogue = generation_catalogue(generation);
    assert_int_equal(catalogue->supplier_count, 2);
    assert_int_equal(catalogue->product_count, 1);
    assert_text(catalogue->products[0], "flights");
    assert_true(text_starts_with(catalogue->product_scripts[0], TEXT("flights@")));
    assert_int_equal(catalogue->product_scripts[0].length, sizeof("flights@") - 1 + 32); // digits of its digest
    assert_false(catalogue->last_known.is_on);                                           // there is no state_dir
    assert_int_equal(catalogue->deadline_default_us, 2000000);
    assert_int_equal(catalogue->deadline_min_us, 100000);
    assert_int_equal(catalogue->deadline_max_us, 10000000);
    assert_int_equal(catalogue->generation, generation_number(generation));
    assert_non_null(catalogue->set);
    const struct catalogue_supplier *acme = &catalogue->suppliers[0];
    assert_text(acme->name, "acme");
    assert_text(acme->display_name, "Acme Air");
    assert_text(acme->product, "flights");
    assert_true(acme->is_enabled);
    assert_null(acme->because.data);
    assert_int_equal(acme->body_cap, 2 * 1024 * 1024);
    assert_int_equal(acme->ceiling_us, 0);
    assert_true(text_starts_with(acme->script, TEXT("acme@")));
    assert_int_equal(acme->account->supplier, 0);
    assert_text(acme->account->name, "main");
    assert_int_equal(acme->account->number, 0);
    assert_int_equal(acme->account->body_cap, 2 * 1024 * 1024);
    assert_int_equal(catalogue->suppliers[1].account->number, 1);
    assert_text(catalogue->suppliers[1].name, "plain");
    assert_text(catalogue->suppliers[1].account->context, "{\"account\":\"main\",\"options\":{},\"secret\":{}}");
    assert_int_equal(generation_missing_secrets(generation, on_finding, NULL), 0);
    generation_release(&generation);
    assert_null(generation);
}

static void options_and_secrets_of_the_settings_reach_the_context(void **state)
{
    (void)state;
    setenv("GENERATION_TEST_OTHER", "other \"key\"", 1);
    struct generation *generation =
        build_good(ACME "suppliers:\n  acme:\n    ceiling: 900ms\n    display_name: Shown\n    accounts:\n      uk:\n"
                        "        secrets: { GENERATION_TEST_KEY: GENERATION_TEST_OTHER }\n"
                        "        options: { base_url: 'http://UK.acme.example:8080/x', pages: 3, fast: true }\n");
    const struct catalogue_supplier *acme = supplier_of(generation, "acme");
    assert_text(acme->account->name, "uk");
    assert_text(acme->display_name, "Shown");
    assert_int_equal(acme->ceiling_us, 900000);
    assert_text(acme->account->context,
                "{\"account\":\"uk\",\"options\":{\"base_url\":\"http://UK.acme.example:8080/x\",\"fast\":true,"
                "\"pages\":3,\"tags\":[\"a\",\"b\"]},\"secret\":{\"GENERATION_TEST_KEY\":\"other \\\"key\\\"\"}}");
    assert_true(has_host(acme, "uk.acme.example:8080"));
    assert_true(has_host(acme, "api.acme.example"));
    assert_true(has_name(generation, "uk.acme.example"));
    generation_release(&generation);
    unsetenv("GENERATION_TEST_OTHER");
}

static void the_resolver_gets_each_name_once_and_no_literal(void **state)
{
    (void)state;
    size_t count = 0;
    struct generation *generation = build_good(
        ACME "suppliers:\n  acme: { accounts: { main: { options: { base_url: 'https://api.acme.example:8443' } } } }\n"
             "  copy: { uses: acme, accounts: { main: { options: { base_url: 'http://[::1]:9' } } } }\n");
    generation_hosts(generation, &count);
    assert_int_equal(count, 2);
    assert_true(has_name(generation, "api.acme.example"));
    assert_true(has_name(generation, "login.acme.example"));
    assert_true(has_host(supplier_of(generation, "acme"), "api.acme.example:8443"));
    assert_true(has_host(supplier_of(generation, "copy"), "[::1]:9"));
    generation_release(&generation);
}

static void names_of_suppliers_that_are_off_are_not_resolved(void **state)
{
    (void)state;
    size_t count = 0;
    struct generation *generation = build_good(ACME "suppliers: { acme: { enabled: false } }\n");
    generation_hosts(generation, &count);
    assert_int_equal(count, 0);
    generation_release(&generation);
}

static void uses_adds_a_name_played_by_the_same_file(void **state)
{
    (void)state;
    struct generation *generation =
        build_good(ACME "suppliers:\n  aaa_label: { uses: acme }\n  acme: { enabled: false }\n");
    const struct catalogue *catalogue = generation_catalogue(generation);
    assert_int_equal(catalogue->supplier_count, 3);
    const struct catalogue_supplier *alias = &catalogue->suppliers[0];
    assert_text(alias->name, "aaa_label");
    assert_text(alias->display_name, "aaa_label");
    assert_true(text_starts_with(alias->script, TEXT("aaa_label@")));
    assert_true(alias->is_enabled);
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        assert_int_equal(catalogue->suppliers[i].account->supplier, i);
    }
    assert_false(catalogue->suppliers[1].is_enabled);
    assert_text(catalogue->suppliers[1].because, "switched off in the settings");
    assert_true(catalogue->suppliers[0].account->serial != catalogue->suppliers[1].account->serial);
    generation_release(&generation);
}

static void a_missing_secret_switches_its_supplier_off(void **state)
{
    (void)state;
    struct findings findings = { 0 };
    unsetenv("GENERATION_TEST_KEY");
    struct generation *generation = build_good(
        ACME
        "suppliers: { acme: { accounts: { main: { secrets: { GENERATION_TEST_KEY: GENERATION_TEST_OTHER } } } } }\n");
    const struct catalogue_supplier *acme = supplier_of(generation, "acme");
    assert_false(acme->is_enabled);
    assert_text(acme->because, "secret GENERATION_TEST_KEY is not set");
    assert_true(supplier_of(generation, "plain")->is_enabled);
    assert_int_equal(generation_missing_secrets(generation, on_finding, &findings), 1);
    assert_int_equal(findings.count, 1);
    assert_int_equal(findings.items[0].line, 3);
    assert_int_equal(findings.items[0].column, 74);
    assert_non_null(strstr(findings.items[0].message, "GENERATION_TEST_KEY is not set"));
    assert_non_null(strstr(findings.items[0].help, "GENERATION_TEST_OTHER"));
    generation_release(&generation);
}

static void a_supplier_that_is_off_needs_no_secret(void **state)
{
    (void)state;
    unsetenv("GENERATION_TEST_KEY");
    struct generation *generation = build_good(ACME "suppliers: { acme: { enabled: false, because: ended } }\n");
    assert_text(supplier_of(generation, "acme")->because, "ended");
    assert_int_equal(generation_missing_secrets(generation, on_finding, NULL), 0);
    generation_release(&generation);
}

struct finding_case {
    const char *document;
    uint32_t line, column;
    const char *file;    // its end; NULL: the settings
    const char *message; // a part of it
    const char *help;    // a part of it; NULL: any
};

static const struct finding_case FINDINGS[] = {
    { ACME "suppliers: { acne: {} }\n", 3, 14, NULL, "no file plays the supplier `acne`", "did you mean `acme`?" },
    { ACME "suppliers: { other: { uses: acne } }\n", 3, 29, NULL, "`other` uses `acne`, and no file plays that",
      "did you mean `acme`?" },
    { ACME "suppliers: { one: { uses: acme }, two: { uses: one } }\n", 3, 48, NULL, "`two` uses `one`", NULL },
    { ACME "suppliers: { plain: { uses: acme } }\n", 3, 29, NULL, "`plain` has a file of its own", NULL },
    { ACME "suppliers: { acme: { accounts: { main: { options: { base_ulr: x } } } } }\n", 3, 63, NULL,
      "has no option `base_ulr`", "did you mean `base_url`?" },
    { ACME "suppliers: { acme: { accounts: { main: { options: { pages: many } } } } }\n", 3, 60, NULL,
      "`pages` is a number, and `many` is none", NULL },
    { ACME "suppliers: { acme: { accounts: { main: { options: { pages: '3' } } } } }\n", 3, 60, NULL,
      "`pages` is a number", NULL },
    { ACME "suppliers: { acme: { accounts: { main: { options: { fast: 1 } } } } }\n", 3, 59, NULL,
      "`fast` is true or false, and `1` is none", NULL },
    { ACME "suppliers: { acme: { accounts: { main: { options: { tags: a } } } } }\n", 3, 59, NULL,
      "`tags` is a list or a map", NULL },
    { ACME "suppliers: { acme: { accounts: { main: { options: { base_url: 'https://' } } } } }\n", 3, 63, NULL,
      "`base_url` is not a URL", NULL },
    { ACME "suppliers: { acme: { accounts: { main: { secrets: { GENERATION_TEST_KYE: X } } } } }\n", 3, 74, NULL,
      "declares no secret `GENERATION_TEST_KYE`", "did you mean `GENERATION_TEST_KEY`?" },
    { "suppliers_dir: " DATA "mute\nscripts_dir: " DATA "scripts\n", 0, 0, DATA "mute/mute.lua",
      "`mute` can ask nobody: `hosts` is empty and no option is a URL", "`base_url`" },
    { "suppliers_dir: " DATA "nowhere\nscripts_dir: " DATA "scripts\n", 0, 0, DATA "nowhere",
      "the suppliers directory cannot be read: No such file", "suppliers_dir" },
    { "suppliers_dir: " DATA "suppliers\nscripts_dir: " DATA "nowhere\n", 0, 0, DATA "nowhere",
      "cannot be read: No such file", "set `scripts_dir` to the scripts folder of lastcall" },
    { "suppliers_dir: [" DATA "suppliers, " DATA "twice/]\nscripts_dir: " DATA "scripts\n", 0, 0,
      DATA "twice/plain.lua", "a supplier `plain` is already there: " DATA "suppliers/plain.lua", NULL },
};

static void every_finding_names_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(FINDINGS); i++) {
        const struct finding_case *expected = &FINDINGS[i];
        struct findings findings;
        struct generation *generation = NULL;
        assert_int_equal(build(expected->document, &findings, &generation), STATUS_INVALID);
        assert_null(generation);
        const struct failure *found = &findings.items[0];
        bool is_place_right = expected->file == NULL ? strstr(found->file, "app_generation_test.") != NULL
                                                     : strcmp(found->file, expected->file) == 0;
        if (findings.count != 1 || !is_place_right || found->line != expected->line ||
            found->column != expected->column || strstr(found->message, expected->message) == NULL ||
            (expected->help != NULL && strstr(found->help, expected->help) == NULL)) {
            print_findings(&findings);
            fail_msg("case %zu: wanted one finding at %u:%u: %s", i, expected->line, expected->column,
                     expected->message);
        }
    }
}

static void a_supplier_that_is_off_or_has_a_url_by_the_settings_needs_no_host_of_its_own(void **state)
{
    (void)state;
    struct generation *generation = build_good("suppliers_dir: " DATA "mute\nscripts_dir: " DATA "scripts\n"
                                               "suppliers: { mute: { enabled: false } }\n");
    generation_release(&generation);
    generation = build_good("suppliers_dir: " DATA "mute\nscripts_dir: " DATA "scripts\nsuppliers: { mute: { accounts: "
                            "{ main: { options: { size: 'http://127.0.0.1:9000' } } } } }\n");
    generation_release(&generation);
}

static void several_directories_are_joined(void **state)
{
    (void)state;
    struct generation *generation = build_good("suppliers_dir: [" DATA "suppliers, " DATA "more/]\n"
                                               "scripts_dir: " DATA "scripts\n");
    assert_int_equal(generation_catalogue(generation)->supplier_count, 3);
    assert_text(generation_catalogue(generation)->suppliers[1].name, "extra");
    assert_true(has_name(generation, "api.extra.example"));
    generation_release(&generation);
}

static void a_broken_script_is_reported_once_beside_the_findings_of_the_settings(void **state)
{
    (void)state;
    struct findings findings;
    struct generation *generation = NULL;
    assert_int_equal(build("suppliers_dir: " DATA "broken\nscripts_dir: " DATA "scripts\n"
                           "suppliers: { b1: { uses: broken }, b2: { uses: broken }, zzz: {} }\n",
                           &findings, &generation),
                     STATUS_INVALID);
    size_t of_script = 0;
    size_t of_name = 0;
    size_t of_settings = 0;
    for (size_t i = 0; i < findings.count && i < FINDINGS_MAX; i++) {
        of_script += strstr(findings.items[i].message, "produkt") != NULL ? 1 : 0;
        of_name += strstr(findings.items[i].message, "`No-Name` is not a name") != NULL ? 1 : 0;
        of_settings += strstr(findings.items[i].message, "no file plays the supplier `zzz`") != NULL ? 1 : 0;
    }
    if (of_script != 1 || of_name != 1 || of_settings != 1) {
        print_findings(&findings);
        fail_msg("%zu, %zu, %zu findings", of_script, of_name, of_settings);
    }
}

static void accounts_keep_their_order_markets_and_proxies(void **state)
{
    (void)state;
    struct generation *generation =
        build_good(ACME "suppliers:\n  acme:\n    accounts:\n"
                        "      main: { proxy: 'http://127.0.0.1:1' }\n" // comes last, wherever it stands
                        "      uk: { when: { market: [GB, IE] }, proxy: 'http://Gate.example:3128',\n"
                        "            options: { base_url: 'https://uk.acme.example' } }\n"
                        "      de: { when: { market: [DE] } }\n");
    const struct catalogue_supplier *acme = supplier_of(generation, "acme");
    assert_int_equal(acme->account_count, 3);
    const struct script_account *uk = &acme->account[0], *other = &acme->account[2];
    assert_text(acme->account[1].name, "de");
    assert_text(uk->name, "uk");
    assert_int_equal(uk->market_count, 2);
    assert_text(uk->markets[1], "IE");
    assert_text(uk->route->proxy, "http://gate.example:3128");
    assert_int_equal(uk->route->proxy_port, 3128);
    assert_text(other->name, "main");
    assert_int_equal(other->market_count, 0);
    assert_true(other->route->proxy_is_literal);
    assert_int_not_equal(uk->route->id, other->route->id);
    assert_int_not_equal(uk->serial, other->serial);
    // Behind a proxy nobody else is connected to; `de` has none.
    assert_true(has_name(generation, "gate.example"));
    assert_false(has_name(generation, "uk.acme.example"));
    assert_true(has_name(generation, "api.acme.example"));
    generation_release(&generation);
}

static void a_secret_that_one_account_misses_switches_the_supplier_off(void **state)
{
    (void)state;
    struct generation *generation =
        build_good(ACME "suppliers:\n  acme:\n    accounts:\n"
                        "      uk: { when: { market: [GB] }, secrets: { GENERATION_TEST_KEY: GENERATION_TEST_NONE } }\n"
                        "      main: {}\n");
    assert_false(supplier_of(generation, "acme")->is_enabled);
    generation_release(&generation);
}

static void a_certificate_that_cannot_be_used_is_a_finding_unless_its_supplier_is_off(void **state)
{
    (void)state;
    struct findings findings;
    struct generation *generation = NULL;
    static const char with[] = "    accounts:\n      main: { tls: { cert: /nowhere/a.pem, key: /nowhere/a.key } }\n";
    char document[512];
    snprintf(document, sizeof(document), ACME "suppliers:\n  acme:\n%s", with);
    assert_int_equal(build(document, &findings, &generation), STATUS_INVALID);
    assert_int_equal(findings.count, 1);
    assert_int_equal(findings.items[0].line, 6);
    assert_non_null(strstr(findings.items[0].message, "account `main`: /nowhere/a.pem cannot be read"));
    snprintf(document, sizeof(document), ACME "suppliers:\n  acme:\n    enabled: false\n%s", with);
    generation = build_good(document);
    generation_release(&generation);
}

// Writes a file into the temporary folder; its path lives until the next call.
static const char *temporary(const char *name, const char *content)
{
    static char path[128];
    snprintf(path, sizeof(path), "/tmp/app_generation_test.%d", getpid());
    (void)mkdir(path, 0700);
    size_t length = strlen(path);
    snprintf(path + length, sizeof(path) - length, "/%s", name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(content, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
    return path;
}

// A document with a table and a supplier of its own that looks up in `table`.
static const char *document_of(const char *rows, const char *table, const char *more)
{
    static char document[1024];
    char data[128], script[400];
    snprintf(data, sizeof(data), "%s", temporary("hotels.tsv", rows));
    snprintf(script, sizeof(script),
             "return { name = \"asker\", product = \"flights\", owner = \"o\", hosts = { \"a.example\" },\n"
             "  build_request = function(search)\n"
             "    return { path = lookup(\"%s\", search.id)[1] }\n  end,\n"
             "  normalise = function() return {} end }\n",
             table);
    (void)temporary("asker.lua", script);
    snprintf(document, sizeof(document),
             "suppliers_dir: /tmp/app_generation_test.%d\nscripts_dir: " DATA "scripts\n"
             "data: { hotels: { file: %s, key: [id] } }\n%s",
             getpid(), data, more);
    return document;
}

static void remove_temporary(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf /tmp/app_generation_test.%d", getpid());
    assert_int_equal(system(command), 0);
}

static void tables_are_loaded_with_the_generation(void **state)
{
    (void)state;
    struct generation *generation = build_good(document_of("id\thotel\na\t1\na\t2\n", "hotels", ""));
    const struct data_set *data = generation_catalogue(generation)->data;
    assert_int_equal(data_set_count(data), 1);
    assert_text(data_set_name(data, 0), "hotels");
    assert_int_equal(data_table_stats(data_set_table(data, 0)).rows, 2);
    generation_release(&generation);
    remove_temporary();
}

static void a_look_up_in_a_table_that_is_not_declared_is_a_finding(void **state)
{
    (void)state;
    struct findings findings;
    struct generation *generation = NULL;
    assert_int_equal(
        build(document_of("id\th\na\t1\n", "hotel", "suppliers: { twin: { uses: asker } }\n"), &findings, &generation),
        STATUS_INVALID);
    assert_int_equal(findings.count, 1); // one file, though two suppliers
    assert_non_null(strstr(findings.items[0].file, "asker.lua"));
    assert_int_equal(findings.items[0].line, 3);
    assert_string_equal(findings.items[0].message, "there is no table \"hotel\" to look up");
    assert_string_equal(findings.items[0].help, "did you mean \"hotels\"?");

    generation = build_good(document_of("id\th\na\t1\n", "hotel", "suppliers: { asker: { enabled: false } }\n"));
    generation_release(&generation);
    remove_temporary();
}

static void findings_of_a_table_and_of_a_script_are_told_at_once(void **state)
{
    (void)state;
    struct findings findings;
    struct generation *generation = NULL;
    assert_int_equal(build(document_of("id\th\na\n", "nothing_like_it", ""), &findings, &generation), STATUS_INVALID);
    assert_int_equal(findings.count, 2);
    assert_non_null(strstr(findings.items[0].file, "hotels.tsv"));
    assert_int_equal(findings.items[0].line, 2);
    assert_non_null(strstr(findings.items[1].help, "declare it in the settings"));
    assert_int_equal(build(document_of("code\th\na\t1\n", "hotels", ""), &findings, &generation), STATUS_INVALID);
    assert_int_equal(findings.count, 1);
    assert_int_equal(findings.items[0].line, 3); // of the settings
    assert_non_null(strstr(findings.items[0].message, "the key names `id`"));
    remove_temporary();
}

static void rates_are_loaded_with_the_generation(void **state)
{
    (void)state;
    struct generation *generation = build_good(ACME "fx: { file: examples/rates.json }\n");
    assert_non_null(generation_catalogue(generation)->rates);
    assert_text(rates_base(generation_catalogue(generation)->rates), "EUR");
    generation_release(&generation);
    generation = build_good(ACME);
    assert_null(generation_catalogue(generation)->rates);
    generation_release(&generation);
}

static void rates_that_cannot_be_read_are_a_finding(void **state)
{
    (void)state;
    struct findings findings;
    struct generation *generation = NULL;
    assert_int_equal(build(ACME "fx: { file: /no/such/rates.json }\n", &findings, &generation), STATUS_INVALID);
    assert_null(generation);
    assert_int_equal(findings.count, 1);
    assert_string_equal(findings.items[0].file, "/no/such/rates.json");
    assert_string_equal(findings.items[0].help, "`fx.file` names it");
}

static void the_example_settings_fit_the_repositorys_suppliers(void **state)
{
    (void)state;
    const char *name = "examples/lastcall.yaml";
    struct findings findings = { 0 };
    struct settings *settings = NULL;
    struct generation *generation = NULL;
    setenv("DUFFEL_TOKEN", "test-token", 1);
    assert_int_equal(settings_read(&name, 1, on_finding, &findings, &settings), STATUS_OK);
    enum status status = generation_build(settings, on_finding, &findings, &generation);
    settings_release(&settings);
    print_findings(&findings);
    assert_int_equal(status, STATUS_OK);
    assert_true(supplier_of(generation, "duffel")->is_enabled);
    assert_int_equal(supplier_of(generation, "duffel")->ceiling_us, 1800000);
    assert_false(supplier_of(generation, "duffel_sandbox")->is_enabled);
    assert_true(has_name(generation, "api.duffel.com"));
    generation_release(&generation);
}

static void a_generation_lives_until_its_last_release(void **state)
{
    (void)state;
    struct generation *first = build_good(ACME);
    struct generation *second = build_good(ACME);
    assert_int_equal(generation_number(second), generation_number(first) + 1);
    struct generation *held = generation_acquire(first);
    generation_release(&first);
    assert_null(first);
    assert_text(generation_catalogue(held)->suppliers[0].name, "acme");
    generation_release(&held);
    generation_release(&held);
    generation_release(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_file_is_a_supplier_of_its_name, set_key),
        cmocka_unit_test_setup(options_and_secrets_of_the_settings_reach_the_context, set_key),
        cmocka_unit_test_setup(the_resolver_gets_each_name_once_and_no_literal, set_key),
        cmocka_unit_test_setup(names_of_suppliers_that_are_off_are_not_resolved, set_key),
        cmocka_unit_test_setup(uses_adds_a_name_played_by_the_same_file, set_key),
        cmocka_unit_test_setup(a_missing_secret_switches_its_supplier_off, set_key),
        cmocka_unit_test_setup(a_supplier_that_is_off_needs_no_secret, set_key),
        cmocka_unit_test_setup(every_finding_names_its_place, set_key),
        cmocka_unit_test_setup(a_supplier_that_is_off_or_has_a_url_by_the_settings_needs_no_host_of_its_own, set_key),
        cmocka_unit_test_setup(several_directories_are_joined, set_key),
        cmocka_unit_test_setup(a_broken_script_is_reported_once_beside_the_findings_of_the_settings, set_key),
        cmocka_unit_test_setup(accounts_keep_their_order_markets_and_proxies, set_key),
        cmocka_unit_test_setup(a_secret_that_one_account_misses_switches_the_supplier_off, set_key),
        cmocka_unit_test_setup(a_certificate_that_cannot_be_used_is_a_finding_unless_its_supplier_is_off, set_key),
        cmocka_unit_test_setup(tables_are_loaded_with_the_generation, set_key),
        cmocka_unit_test_setup(a_look_up_in_a_table_that_is_not_declared_is_a_finding, set_key),
        cmocka_unit_test_setup(findings_of_a_table_and_of_a_script_are_told_at_once, set_key),
        cmocka_unit_test(rates_are_loaded_with_the_generation),
        cmocka_unit_test(rates_that_cannot_be_read_are_a_finding),
        cmocka_unit_test_setup(the_example_settings_fit_the_repositorys_suppliers, set_key),
        cmocka_unit_test_setup(a_generation_lives_until_its_last_release, set_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit/app_settings_support.h"

#include "app/watch_list.h"

static struct settings *read_good(const char *document)
{
    struct settings *settings = NULL;
    struct findings findings = { .count = 0 };

    (void)read_documents(&document, 1, &findings, &settings);
    assert_string_equal(findings.items[0].message, "");
    return settings;
}

static bool has(const struct watch_list *list, const char *path, enum file_walk_kind kind)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].path, path) == 0 && list->items[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static void everything_that_a_generation_is_made_of_is_watched(void **state)
{
    (void)state;
    static const struct file_watch_path wanted[] = {

        { "one", FILE_WALK_SUPPLIERS },        { "two", FILE_WALK_SUPPLIERS },
        { "scripts", FILE_WALK_LUA },          { "scripts/products", FILE_WALK_LUA },
        { "scripts/data", FILE_WALK_ENTRIES }, { "properties.tsv", FILE_WALK_FILE },
        { "rates.json", FILE_WALK_FILE },      { "/run/secrets", FILE_WALK_ENTRIES },
        { "main.pem", FILE_WALK_FILE },        { "main.key", FILE_WALK_FILE },
        { "other.pem", FILE_WALK_FILE },       { "other.key", FILE_WALK_FILE },
    };
    struct settings *settings =
        read_good("suppliers_dir: [one, two]\n"
                  "secrets_dir: /run/secrets\n"
                  "fx: { file: rates.json }\n"
                  "data: { properties: { file: properties.tsv, key: [supplier] } }\n"
                  "suppliers:\n  acme:\n    accounts:\n"
                  "      main: { tls: { cert: main.pem, key: main.key }, when: { market: [GB] } }\n"
                  "      other: { tls: { cert: other.pem, key: other.key } }\n");
    struct watch_list list;

    assert_int_equal(settings->file_count, 1);
    char *file = strdup(settings->files[0].path);
    assert_non_null(file);
    assert_int_equal(watch_list_init(&list, settings), STATUS_OK);
    settings_release(&settings);
    assert_true(has(&list, file, FILE_WALK_FILE));
    free(file);
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        if (!has(&list, wanted[i].path, wanted[i].kind)) {
            fail_msg("%s is not watched", wanted[i].path);
        }
    }
    assert_int_equal(list.count, COUNT_OF(wanted) + 1);
    watch_list_fini(&list);
}

static void what_is_not_set_is_not_watched_and_secrets_follow_the_environment(void **state)
{
    (void)state;
    struct settings *settings = read_good("");
    struct watch_list list;

    assert_int_equal(unsetenv("CREDENTIALS_DIRECTORY"), 0);
    assert_int_equal(watch_list_init(&list, settings), STATUS_OK);
    assert_int_equal(list.count, 5); // the file, suppliers, scripts, products, airports
    watch_list_fini(&list);

    assert_int_equal(setenv("CREDENTIALS_DIRECTORY", "/run/credentials/lastcall", 1), 0);
    assert_int_equal(watch_list_init(&list, settings), STATUS_OK);
    assert_int_equal(list.count, 6);
    assert_true(has(&list, "/run/credentials/lastcall", FILE_WALK_ENTRIES));
    watch_list_fini(&list);
    assert_int_equal(unsetenv("CREDENTIALS_DIRECTORY"), 0);
    settings_release(&settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_a_generation_is_made_of_is_watched),
        cmocka_unit_test(what_is_not_set_is_not_watched_and_secrets_follow_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

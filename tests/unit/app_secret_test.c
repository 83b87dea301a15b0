#include "app/secret.h"

#include "app/bearer.h"
#include "app/startup.h"
#include "base/redact.h"
#include "support/certificate.h"
#include "unit/app_settings_support.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/app_secret_test.XXXXXX";
static struct arena arena;
static struct text value;
static struct failure why;

static void assert_text(struct text text, const char *expected)
{
    if (!text_equals_c(text, expected)) {
        fail_msg("%.*s is not %s", TEXT_ARGS(text), expected);
    }
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_secret(const char *name, const char *bytes, size_t length)
{
    FILE *file = fopen(path_of(name), "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path_of(name), 0600), 0);
}

static enum status find(const char *directory, const char *name)
{
    why = (struct failure){ 0 };
    return secret_find(text_of(directory), text_of(name), &arena, &value, &why);
}

static int open_folder(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    unsetenv("SECRET_TEST_A");
    unsetenv("CREDENTIALS_DIRECTORY");
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int close_folder(void **state)
{
    (void)state;
    unlink(path_of("SECRET_TEST_A"));
    rmdir(path_of("SECRET_TEST_A"));
    unlink(path_of("SECRET_TEST_B"));
    arena_fini(&arena);
    unsetenv("SECRET_TEST_A");
    unsetenv("CREDENTIALS_DIRECTORY");
    return rmdir(folder);
}

static void the_variable_wins_then_the_settings_directory_then_the_environments(void **state)
{
    (void)state;
    char other[] = "/tmp/app_secret_test.XXXXXX";
    char in_other[128];
    assert_non_null(mkdtemp(other));
    write_secret("SECRET_TEST_A", "of the setting", 14);
    snprintf(in_other, sizeof(in_other), "%s/SECRET_TEST_A", other);
    assert_int_equal(rename(path_of("SECRET_TEST_A"), in_other), 0);
    write_secret("SECRET_TEST_A", "of systemd", 10);

    assert_int_equal(find(NULL, "SECRET_TEST_A"), STATUS_NOT_FOUND);
    setenv("CREDENTIALS_DIRECTORY", folder, 1);
    assert_int_equal(find(NULL, "SECRET_TEST_A"), STATUS_OK);
    assert_text(value, "of systemd");
    assert_int_equal(find(other, "SECRET_TEST_A"), STATUS_OK);
    assert_text(value, "of the setting");
    setenv("SECRET_TEST_A", "", 1); // as good as not set
    assert_int_equal(find(other, "SECRET_TEST_A"), STATUS_OK);
    assert_text(value, "of the setting");
    setenv("SECRET_TEST_A", "of the variable", 1);
    assert_int_equal(find(other, "SECRET_TEST_A"), STATUS_OK);
    assert_text(value, "of the variable");
    unlink(in_other);
    rmdir(other);
}

static void one_newline_at_the_end_is_not_part_of_it(void **state)
{
    (void)state;
    static const struct {
        struct text file, secret;
    } rows[] = {
        { TEXT("key"), TEXT("key") },       { TEXT("key\n"), TEXT("key") },   { TEXT("key\r\n"), TEXT("key") },
        { TEXT("key\n\n"), TEXT("key\n") }, { TEXT(" key "), TEXT(" key ") }, { TEXT("k\ney\n"), TEXT("k\ney") },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        write_secret("SECRET_TEST_A", rows[i].file.data, rows[i].file.length);
        assert_int_equal(find(folder, "SECRET_TEST_A"), STATUS_OK);
        assert_true(text_equals(value, rows[i].secret));
    }
}

static void a_file_that_is_no_secret_is_refused_without_waiting(void **state)
{
    (void)state;
    static char large[SECRET_MAX + 1];
    memset(large, 'x', sizeof(large));

    write_secret("SECRET_TEST_A", "\n", 1);
    assert_int_equal(find(folder, "SECRET_TEST_A"), STATUS_INVALID);
    assert_non_null(strstr(why.message, "/SECRET_TEST_A: it is empty"));
    write_secret("SECRET_TEST_A", "half\0\0\0", 7);
    assert_int_equal(find(folder, "SECRET_TEST_A"), STATUS_INVALID);
    assert_non_null(strstr(why.message, "it holds a NUL byte"));
    write_secret("SECRET_TEST_A", large, sizeof(large));
    assert_int_equal(find(folder, "SECRET_TEST_A"), STATUS_INVALID);
    assert_non_null(strstr(why.message, "it is larger than 64 KiB"));
    large[SECRET_MAX] = '\n';
    write_secret("SECRET_TEST_A", large, sizeof(large));
    assert_int_equal(find(folder, "SECRET_TEST_A"), STATUS_OK);
    assert_int_equal(value.length, SECRET_MAX);
    unlink(path_of("SECRET_TEST_A"));
    assert_int_equal(mkfifo(path_of("SECRET_TEST_A"), 0600), 0);
    assert_int_equal(find(folder, "SECRET_TEST_A"), STATUS_INVALID);
    assert_non_null(strstr(why.message, "it is not a regular file"));
    unlink(path_of("SECRET_TEST_A"));
    assert_int_equal(mkdir(path_of("SECRET_TEST_A"), 0700), 0);
    assert_int_equal(find(folder, "SECRET_TEST_A"), STATUS_INVALID);
    assert_non_null(strstr(why.message, "it is a directory"));
}

static void what_is_missing_is_told_with_the_places_to_put_it(void **state)
{
    (void)state;
    char help[200];
    assert_int_equal(find(NULL, "SECRET_TEST_A"), STATUS_NOT_FOUND);
    assert_string_equal(why.message, "is not set");
    assert_string_equal(why.help, "set the environment variable SECRET_TEST_A, or write it to a file of that name in a "
                                  "directory that `secrets_dir` names");
    assert_int_equal(find(folder, "SECRET_TEST_A"), STATUS_NOT_FOUND);
    snprintf(help, sizeof(help), "set the environment variable SECRET_TEST_A, or write it to the file %s/SECRET_TEST_A",
             folder);
    assert_string_equal(why.help, help);
    assert_int_equal(find(folder, "../SECRET_TEST_A"), STATUS_NOT_FOUND); // never out of the directory
    assert_null(strstr(why.help, "file"));
}

static void what_is_found_is_kept_out_of_what_is_written(void **state)
{
    (void)state;
    char line[] = "it is found-in-a-file, or found-in-the-variable";
    write_secret("SECRET_TEST_B", "found-in-a-file\n", 16);
    assert_int_equal(find(folder, "SECRET_TEST_B"), STATUS_OK);
    setenv("SECRET_TEST_A", "found-in-the-variable", 1);
    assert_int_equal(find(folder, "SECRET_TEST_A"), STATUS_OK);
    line[redact_apply(line, strlen(line), false)] = '\0';
    assert_string_equal(line, "it is ***, or ***");
}

static void a_token_may_be_a_file_and_must_be_long(void **state)
{
    (void)state;
    struct text token;
    write_secret("SECRET_TEST_A", "0123456789abcdef\n", 17);
    assert_int_equal(bearer_read("admin.token_env", TEXT("SECRET_TEST_A"), text_of(folder), &token, &why), STATUS_OK);
    assert_text(token, "0123456789abcdef");
    bearer_free(&token);
    write_secret("SECRET_TEST_A", "0123456789abcde\n", 16);
    assert_int_equal(bearer_read("admin.token_env", TEXT("SECRET_TEST_A"), text_of(folder), &token, &why),
                     STATUS_INVALID);
    assert_non_null(strstr(why.message, "is too short for a token"));
    assert_null(token.data);
}

// ---- what would keep the engine from starting
// ------------------------------------------------------------------------

static struct certificate_authority *authority;

/// `format` takes a path of this test, or nothing. The certificates of authorities are fine unless it names others.
PRINTF_LIKE(2, 3) static void check_start(const char *expected, const char *format, ...)
{
    struct findings findings = { 0 };
    struct settings *settings = NULL;
    char wanted[300], certificates[200];
    const char *documents[] = { certificates, wanted };
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(wanted, sizeof(wanted), format, arguments);
    va_end(arguments);
    snprintf(certificates, sizeof(certificates), "network: { ca_file: %s }\n", authority->file);
    assert_int_equal(read_documents(documents, 2, &findings, &settings), STATUS_OK);
    startup_check(settings, on_finding, &findings);
    assert_int_equal(findings.count, expected == NULL ? 0 : 1);
    if (expected != NULL && strstr(findings.items[0].message, expected) == NULL) {
        fail_msg("`%s` is not in `%s`", expected, findings.items[0].message);
    }
    assert_true(expected == NULL || findings.items[0].help[0] != '\0');
    settings_release(&settings);
}

static void what_would_keep_it_from_starting_is_found_beforehand(void **state)
{
    (void)state;
    authority = certificate_authority_create();
    check_start(NULL, "listen: '127.0.0.1:0'\n");
    check_start("admin.listen 0.0.0.0:8081 is beyond loopback", "admin: { listen: '0.0.0.0:8081' }\n");
    check_start("SECRET_TEST_A, which admin.token_env names, is not set",
                "admin: { listen: '0.0.0.0:8081', token_env: SECRET_TEST_A }\n");
    check_start(NULL, "admin: { listen: '', token_env: SECRET_TEST_A }\n"); // there is none to guard
    check_start("SECRET_TEST_A, which reply.token_env names, is not set", "reply: { token_env: SECRET_TEST_A }\n");
    check_start("cannot read certificates of authorities from \"/nowhere/ca.pem\": No such file",
                "network: { ca_file: /nowhere/ca.pem }\n");
    check_start("there is no certificate in it", "network: { ca_file: README.md }\n");
    assert_int_equal(mkfifo(path_of("SECRET_TEST_B"), 0600), 0);
    check_start("it is not a regular file", "network: { ca_file: %s }\n", path_of("SECRET_TEST_B"));
    check_start("attribution.file /nowhere/a.ndjson cannot be opened: No such file",
                "attribution: { file: /nowhere/a.ndjson }\n");
    check_start("cannot be opened: Is a directory", "attribution: { file: /tmp }\n");
    check_start(NULL, "attribution: { file: %s }\n", path_of("not-there"));
    assert_int_equal(access(path_of("not-there"), F_OK), -1); // nothing was made
    certificate_authority_destroy(&authority);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_variable_wins_then_the_settings_directory_then_the_environments,
                                        open_folder, close_folder),
        cmocka_unit_test_setup_teardown(one_newline_at_the_end_is_not_part_of_it, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(a_file_that_is_no_secret_is_refused_without_waiting, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(what_is_missing_is_told_with_the_places_to_put_it, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(what_is_found_is_kept_out_of_what_is_written, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(a_token_may_be_a_file_and_must_be_long, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(what_would_keep_it_from_starting_is_found_beforehand, open_folder,
                                        close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

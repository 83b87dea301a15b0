#include "cli/mock_run.h"

#include "app/generation.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json_write.h"
#include "cli/cli_commands.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { URL_SIZE = 64, WORD_SIZE = 96, WORDS_MAX = 64, OUTPUT_MAX = 16 << 20, PATH_SIZE = 4096 };

static const char FIRST_LINE[] = "# Leads suppliers to `lastcall mock`";
static const char SECRETS_FIRST_LINE[] = "# Test values of the fixtures' secrets; written by `lastcall mock`.\n";

struct mock_command {
    const struct cli_options *options;
    struct json_writer *json; // with a list of findings open; NULL: for a person
    struct mock *mock;
    char address[INET_ADDRSTRLEN];
    uint16_t port;
    char urls[MOCK_DOORS_MAX][URL_SIZE]; // "http://127.0.0.1:9000"
    char words[WORDS_MAX][WORD_SIZE];    // for the farm
    size_t word_count;
    char ca_file[PATH_SIZE];
    char secrets_file[PATH_SIZE];
};

static void tell_finding(void *context, const struct failure *failure)
{
    struct mock_command *command = context;
    cli_tell_finding(command->json, failure, command->options->is_colourless);
}

// ---- what the caller wants

static int read_listen(struct mock_command *command)
{
    const char *written = command->options->listen != NULL ? command->options->listen : "127.0.0.1:9000";
    struct text port_text;
    struct text address = text_split(text_of(written), ':', &port_text);
    struct in_addr parsed;
    uint64_t port = 0;

    (void)snprintf(command->address, sizeof(command->address), "%.*s", TEXT_ARGS(address));
    if (address.length >= sizeof(command->address) || inet_pton(AF_INET, command->address, &parsed) != 1 ||
        !text_to_u64(port_text, &port) || port == 0 || port > UINT16_MAX) {
        return cli_usage_error("an IPv4 address and a port, such as 127.0.0.1:9000: each supplier takes the next port",
                               "`%s` is no value for --listen", written);
    }
    command->port = (uint16_t)port;
    return CLI_OK;
}

/// Keeps a word for the farm. False: it is too long, or one too many.
static bool add_word(struct mock_command *command, const char *before, struct text word, const char *behind)
{
    if (command->word_count == WORDS_MAX) {
        return false;
    }
    int length = snprintf(command->words[command->word_count], WORD_SIZE, "%s%.*s%s", before, TEXT_ARGS(word), behind);
    return length < WORD_SIZE && command->words[command->word_count++][0] != '\0';
}

/// "recorded", "none", or a model with numbers: "lognormal,median_ms=300,tail=2%".
static int read_latency(struct mock_command *command)
{
    struct text rest = text_of(command->options->latency);
    bool is_fine = true;

    if (rest.data == NULL || text_equals_c(rest, "recorded")) {
        return CLI_OK;
    }
    if (text_equals_c(rest, "none")) {
        return add_word(command, "median_ms=0", TEXT(""), "") ? CLI_OK : CLI_BUG;
    }
    struct text model = text_split(rest, ',', &rest);
    is_fine = add_word(command, "model=", model, "");
    while (rest.data != NULL && is_fine) {
        struct text word = text_split(rest, ',', &rest);
        is_fine = memchr(word.data, '=', word.length) != NULL && add_word(command, "", word, "");
    }
    return is_fine ? CLI_OK
                   : cli_usage_error("recorded, none, or a model with numbers: lognormal,median_ms=300,tail=2%",
                                     "`%s` is no value for --latency", command->options->latency);
}

/// "drip=5%,status_503": without a share always.
static int read_faults(struct mock_command *command)
{
    struct text rest = text_of(command->options->fault);
    bool is_fine = true;

    while (rest.data != NULL && is_fine) {
        struct text word = text_split(rest, ',', &rest);
        bool is_whole = memchr(word.data, '=', word.length) != NULL;
        is_fine = word.length > 0 && add_word(command, "", word, is_whole ? "" : "=1");
    }
    return is_fine ? CLI_OK
                   : cli_usage_error("faults with their shares, as in drip=5%,status_503=2%; examples/farm/README.md "
                                     "lists them",
                                     "`%s` is no value for --fault", command->options->fault);
}

static int read_tls(struct mock_command *command)
{
    const char *directory = command->options->tls;

    if (directory != NULL && snprintf(command->ca_file, PATH_SIZE, "%s/ca.pem", directory) >= PATH_SIZE) {
        return cli_usage_error("a shorter one", "the path of --tls is too long");
    }
    return CLI_OK;
}

/// Is there something that the mock did not write?
static bool is_of_somebody(const char *path, const char *first_line)
{
    struct buffer content;

    buffer_init(&content, OUTPUT_MAX);
    enum status status = file_read(path, &content, NULL);
    bool is_ours = status == STATUS_NOT_FOUND || (status == STATUS_OK && content.length == 0) ||
                   text_starts_with(buffer_text(&content), text_of(first_line));
    buffer_fini(&content);
    return !is_ours;
}

/// Before the doors are open, so that nothing listens for nobody.
static int check_settings_file(struct mock_command *command)
{
    const char *path = command->options->settings;

    if (path == NULL) {
        return CLI_OK;
    }
    if (snprintf(command->secrets_file, PATH_SIZE, "%s.env", path) >= PATH_SIZE) {
        return cli_usage_error("a shorter one", "the path of --settings is too long");
    }
    const char *foreign = is_of_somebody(path, FIRST_LINE)                            ? path
                          : is_of_somebody(command->secrets_file, SECRETS_FIRST_LINE) ? command->secrets_file
                                                                                      : NULL;
    return foreign != NULL ? cli_usage_error("give --settings another name: this file would be overwritten",
                                             "`%s` was not written by the mock", foreign)
                           : CLI_OK;
}

static int read_options(struct mock_command *command)
{
    int (*const steps[])(struct mock_command * command) = { read_listen, read_latency, read_faults, read_tls,
                                                            check_settings_file };
    int code = CLI_OK;

    for (size_t i = 0; i < COUNT_OF(steps) && code == CLI_OK; i++) {
        code = steps[i](command);
    }
    return code;
}

// ---- the farm

/// Arguments of the farm; `doors` and `seed` are where they are written.
static void write_arguments(const struct mock_command *command, char doors[MOCK_DOORS_MAX][URL_SIZE], char seed[24],
                            const char *arguments[FARM_ARGUMENTS_MAX])
{
    size_t count = 0;

    arguments[count++] = "--prompted";
    arguments[count++] = "--seed";
    (void)snprintf(seed, 24, "%llu", (unsigned long long)command->options->seed);
    arguments[count++] = seed;
    if (command->options->tls != NULL) {
        arguments[count++] = "--tls";
        arguments[count++] = "--tls-dir";
        arguments[count++] = command->options->tls;
    }
    for (size_t i = 0; i < mock_door_count(command->mock); i++) {
        (void)snprintf(doors[i], URL_SIZE, "%s:%u", command->address, (unsigned)(command->port + i));
        arguments[count++] = "--door";
        arguments[count++] = doors[i];
    }
    for (size_t i = 0; i < command->word_count; i++) {
        arguments[count++] = "--with";
        arguments[count++] = command->words[i];
    }
    arguments[count] = NULL;
}

static enum status start_farm(const struct mock_command *command, struct farm_child *farm, struct failure *why)
{
    static const char nowhere[] = "--listen leaves no ports for all suppliers";
    char doors[MOCK_DOORS_MAX][URL_SIZE], seed[24];
    const char *arguments[FARM_ARGUMENTS_MAX];

    if (command->port + mock_door_count(command->mock) > UINT16_MAX + 1UL) {
        buffer_init(&farm->input, 0);
        failure_set(why, "%s", nowhere);
        failure_help(why, "%zu ports are needed, from that of --listen on", mock_door_count(command->mock));
        return STATUS_INVALID;
    }
    write_arguments(command, doors, seed, arguments);
    enum status status = farm_child_start(farm, arguments, why);
    return status == STATUS_OK && !mock_run_await_ready(farm, why) ? STATUS_IO : status;
}

// ---- what the caller has to know

static bool write_file(const char *path, const struct buffer *content, mode_t mode, struct failure *why)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    size_t written = 0;
    bool is_fine = fd >= 0 && !content->is_full;

    while (is_fine && written < content->length) {
        ssize_t more = write(fd, content->data + written, content->length - written);
        is_fine = more > 0 || (more < 0 && errno == EINTR);
        written += more > 0 ? (size_t)more : 0;
    }
    if (!is_fine) {
        failure_at(why, path, 0, 0);
        failure_set(why, "it cannot be written: %s", strerror(errno));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return is_fine;
}

/// The addresses by which the doors are reached.
static void write_urls(struct mock_command *command, const char *urls[MOCK_DOORS_MAX])
{
    bool is_any = strcmp(command->address, "0.0.0.0") == 0;

    for (size_t i = 0; i < mock_door_count(command->mock); i++) {
        (void)snprintf(command->urls[i], URL_SIZE, "%s://%s:%u", command->options->tls != NULL ? "https" : "http",
                       is_any ? "127.0.0.1" : command->address, (unsigned)(command->port + i));
        urls[i] = command->urls[i];
    }
}

/// Settings and secrets to their files, when the caller named one.
static bool write_files(struct mock_command *command, const struct buffer *settings, struct failure *why)
{
    struct buffer secrets;
    bool is_written = true;

    if (command->options->settings == NULL) {
        return true;
    }
    buffer_init(&secrets, OUTPUT_MAX);
    buffer_append_c(&secrets, SECRETS_FIRST_LINE);
    if (mock_write_secrets(command->mock, &secrets) == 0) {
        command->secrets_file[0] = '\0';
    } else {
        (void)unlink(command->secrets_file); // its mode may be another
        is_written = write_file(command->secrets_file, &secrets, 0600, why);
    }
    buffer_fini(&secrets);
    return is_written && write_file(command->options->settings, settings, 0644, why);
}

static void print_doors(const struct mock_command *command, struct buffer *out)
{
    size_t suppliers = mock_supplier_count(command->mock), fixtures = mock_fixture_count(command->mock);
    struct buffer names;

    buffer_printf(out, "mock: %zu supplier%s, %zu fixture%s; Ctrl-C ends it\n", suppliers, suppliers == 1 ? "" : "s",
                  fixtures, fixtures == 1 ? "" : "s");
    for (size_t i = 0; i < mock_door_count(command->mock); i++) {
        buffer_printf(out, "  %-16.*s %s in place of %.*s\n", TEXT_ARGS(mock_door_supplier(command->mock, i)),
                      command->urls[i], TEXT_ARGS(mock_door_origin(command->mock, i)));
    }
    buffer_init(&names, OUTPUT_MAX);
    mock_tell_unreachable(command->mock, &names);
    if (names.length > 0) {
        buffer_printf(out, "not played, for no option leads all of their requests here: %.*s\n",
                      TEXT_ARGS(buffer_text(&names)));
    }
    buffer_clear(&names);
    mock_tell_over(command->mock, clock_wall_us(), &names);
    if (names.length > 0) {
        buffer_printf(
            out, "the days of their searches are over, so ask for later ones (the answers stay as they are): %.*s\n",
            TEXT_ARGS(buffer_text(&names)));
    }
    buffer_fini(&names);
}

static void print_use(const struct mock_command *command, const struct buffer *settings, struct buffer *out)
{
    const struct cli_options *options = command->options;
    struct buffer names;

    buffer_init(&names, OUTPUT_MAX);
    mock_tell_secrets(command->mock, &names);
    if (options->settings == NULL) {
        buffer_printf(
            out,
            "settings that lead suppliers here (--settings FILE writes them, and the secrets' test values):\n\n"
            "%.*s\n",
            TEXT_ARGS(buffer_text(settings)));
        if (names.length > 0) {
            buffer_printf(out, "secrets that the engine needs then: %.*s\n\n", TEXT_ARGS(buffer_text(&names)));
        }
    } else {
        buffer_append_c(out, "to use it:\n");
        if (names.length > 0) {
            bool has_slash = strchr(command->secrets_file, '/') != NULL; // `.` would search PATH
            buffer_printf(out, "  . %s%s    # test values of %.*s\n", has_slash ? "" : "./", command->secrets_file,
                          TEXT_ARGS(buffer_text(&names)));
        }
        buffer_append_c(out, "  lastcall serve");
        for (size_t i = 0; i < options->file_count; i++) {
            buffer_printf(out, " -c %s", options->files[i]);
        }
        buffer_printf(out, " -c %s\n", options->settings);
    }
    buffer_fini(&names);
}

static void write_ready(const struct mock_command *command, const struct buffer *settings, struct buffer *out)
{
    struct json_writer json;
    struct buffer names;

    buffer_init(&names, OUTPUT_MAX);
    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_c(&json, "event", "ready");
    json_field_u64(&json, "suppliers", mock_supplier_count(command->mock));
    json_field_u64(&json, "fixtures", mock_fixture_count(command->mock));
    json_key(&json, "doors");
    json_begin_array(&json);
    for (size_t i = 0; i < mock_door_count(command->mock); i++) {
        json_begin_object(&json);
        json_field_text(&json, "supplier", mock_door_supplier(command->mock, i));
        json_field_c(&json, "url", command->urls[i]);
        json_field_text(&json, "in_place_of", mock_door_origin(command->mock, i));
        json_end_object(&json);
    }
    json_end_array(&json);
    mock_tell_unreachable(command->mock, &names);
    json_field_text(&json, "not_played", names.length == 0 ? TEXT("") : buffer_text(&names));
    buffer_clear(&names);
    mock_tell_over(command->mock, clock_wall_us(), &names);
    json_field_text(&json, "over", names.length == 0 ? TEXT("") : buffer_text(&names));
    buffer_clear(&names);
    mock_tell_secrets(command->mock, &names);
    json_field_text(&json, "secrets", names.length == 0 ? TEXT("") : buffer_text(&names));
    if (command->options->settings != NULL) {
        json_field_c(&json, "settings_file", command->options->settings);
        json_field_c(&json, "secrets_file", command->secrets_file);
    } else {
        json_field_text(&json, "settings", buffer_text(settings));
    }
    json_end_object(&json);
    buffer_append_byte(out, '\n');
    buffer_fini(&names);
}

static bool tell_ready(struct mock_command *command, struct failure *why)
{
    const char *urls[MOCK_DOORS_MAX];
    struct buffer settings, out;

    buffer_init(&settings, OUTPUT_MAX);
    buffer_init(&out, OUTPUT_MAX);
    write_urls(command, urls);
    mock_write_settings(command->mock, urls, command->options->tls != NULL ? command->ca_file : NULL, &settings);
    bool is_written = write_files(command, &settings, why);
    if (is_written && command->options->is_json) {
        write_ready(command, &settings, &out);
    } else if (is_written) {
        print_doors(command, &out);
        print_use(command, &settings, &out);
    }
    cli_flush(stdout, &out);
    buffer_fini(&out);
    buffer_fini(&settings);
    return is_written;
}

// ---- the command

static int play(struct mock_command *command, const sigset_t *signals)
{
    struct failure why = { .code = CODE_START };
    struct farm_child farm;
    int code, signal_fd = signalfd(-1, signals, SFD_NONBLOCK | SFD_CLOEXEC);

    if (start_farm(command, &farm, &why) != STATUS_OK || signal_fd < 0 || !tell_ready(command, &why)) {
        code = cli_fail(command->options, &why, CLI_CANNOT_LOAD);
    } else {
        struct mock_run run = { .options = command->options, .mock = command->mock, .farm = &farm };
        code = mock_run(&run, signal_fd);
        if (code == CLI_BUG) {
            failure_set(&why, "the farm program ended by itself");
            (void)cli_fail(command->options, &why, CLI_BUG);
        }
    }
    farm_child_stop(&farm);
    if (signal_fd >= 0) {
        (void)close(signal_fd);
    }
    return code;
}

/// Settings, scripts and fixtures; findings are told, as a list that stands alone.
static int load(struct mock_command *command, struct settings **settings, struct generation **generation)
{
    struct json_writer json;
    struct buffer out;
    enum status status;

    buffer_init(&out, OUTPUT_MAX);
    json_writer_init(&json, &out);
    if (command->options->is_json) {
        command->json = &json;
        json_begin_object(&json);
        json_key(&json, "findings");
        json_begin_array(&json);
    }
    int code = CLI_CANNOT_LOAD;
    if (cli_load_for(command->options, command->options->arguments, command->options->argument_count, tell_finding,
                     command, settings, generation) == STATUS_OK) {
        const struct mock_order order = { .settings = *settings,
                                          .catalogue = generation_catalogue(*generation),
                                          .names = command->options->arguments,
                                          .name_count = command->options->argument_count,
                                          .report = tell_finding,
                                          .context = command };
        status = mock_open(&order, &command->mock);
        code = status == STATUS_OK ? CLI_OK : status == STATUS_NOT_FOUND ? CLI_USAGE : CLI_FINDINGS;
    }
    if (command->options->is_json && code != CLI_OK) {
        json_end_array(&json);
        json_end_object(&json);
        buffer_append_byte(&out, '\n');
        cli_flush(stdout, &out);
    }
    command->json = NULL;
    buffer_fini(&out);
    return code;
}

int cmd_mock(const struct cli_options *options)
{
    struct mock_command *command = calloc(1, sizeof(*command));
    struct settings *settings = NULL;
    struct generation *generation = NULL;
    sigset_t signals;

    if (command == NULL) {
        return CLI_BUG;
    }
    command->options = options;
    // Before there are threads: they would be who is told, and end the process.
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    int code = read_options(command);
    code = code != CLI_OK ? code : load(command, &settings, &generation);
    if (code == CLI_OK) {
        code = play(command, &signals);
    }
    mock_close(&command->mock);
    generation_release(&generation);
    settings_release(&settings);
    free(command);
    (void)pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    return code;
}

// farm: forty simulated suppliers, their names and their certificates, on loopback addresses.

#include "base/buffer.h"
#include "base/clock.h"
#include "farm/admin.h"
#include "farm/airports.h"
#include "farm/connection.h"
#include "farm/door.h"
#include "farm/names.h"
#include "farm/play.h"
#include "farm/prompter.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_CANNOT_START = 3, FILES_MAX = 8, WORDS_MAX = 64, REPORT_US = 1000000 };

struct options {
    const char *population;
    const char *network;
    const char *admin;
    const char *tls_directory;
    const char *airports;
    const char *properties;
    const char *files[FILES_MAX];
    size_t file_count;
    const char *doors[POPULATION_MAX];
    size_t door_count;
    const char *words[WORDS_MAX];
    size_t word_count;
    uint64_t seed;
    uint64_t ttl_s;
    bool reports;
    bool prints_settings;
    bool is_plain;
    bool is_prompted;
    bool is_tls;
};

/// What belongs to the program and to no part.
struct program {
    struct farm farm;
    struct names *names;
    struct prompter *prompter;
    struct watch signals;
    struct timer report;
    uint64_t reported;
    bool is_reporting;
};

static const char help[] =
    "usage: farm --population FILE [options]\n"
    "\n"
    "Plays the suppliers of a population file: HTTP on port 8080 and HTTPS on port 8443 of 127.0.40.N,\n"
    "their names NAME.farm.test on a name server at 127.0.40.253:5300 (UDP).\n"
    "\n"
    "  --population FILE       the table of suppliers\n"
    "  --seed N                everything drawn follows from it (default 1)\n"
    "  --network A.B.C         the first three numbers of all addresses (default 127.0.40)\n"
    "  --admin ADDRESS:PORT    the admin endpoint (default A.B.C.254:9999)\n"
    "  --tls-dir DIR           where ca.pem is kept or made (default .build/farm)\n"
    "  --airports FILE         airports and their time zones (default scripts/data/airports.txt)\n"
    "  --file NAME:ADDR:PATH   one more supplier, which answers POST /air/offer_requests with a file; PATH.answers:\n"
    "                          with what it lists by method and target (recording.h)\n"
    "  --properties FILE       write the table of 100,000 properties that the suppliers of hotels sell, and exit\n"
    "  --prompted              play --door suppliers only, whose answers come from the program at standard input\n"
    "                          (prompter.h; `lastcall mock` is one)\n"
    "  --door ADDRESS:PORT     with it: one supplier; may be repeated\n"
    "  --tls                   with it: all doors speak TLS\n"
    "  --with WORD             with it: how all doors behave, FAULT=SHARE or what else a population's line may end "
    "in,\n"
    "                          or model=NAME; may be repeated\n"
    "  --ttl SECONDS           of the names (default 60)\n"
    "  --report                a line with its own CPU share each second, and one at the end\n"
    "  --print-settings        print the suppliers section of lastcall.yaml for this population, and exit\n"
    "  --plain                 with it: http for those who speak both\n";

static const struct option longs[] = {
    { "population", required_argument, NULL, 'p' },
    { "seed", required_argument, NULL, 's' },
    { "network", required_argument, NULL, 'n' },
    { "admin", required_argument, NULL, 'a' },
    { "tls-dir", required_argument, NULL, 't' },
    { "airports", required_argument, NULL, 'z' },
    { "file", required_argument, NULL, 'f' },
    { "properties", required_argument, NULL, 'o' },
    { "prompted", no_argument, NULL, 'q' },
    { "door", required_argument, NULL, 'd' },
    { "tls", no_argument, NULL, 'T' },
    { "with", required_argument, NULL, 'w' },
    { "ttl", required_argument, NULL, 'l' },
    { "report", no_argument, NULL, 'r' },
    { "print-settings", no_argument, NULL, 'y' },
    { "plain", no_argument, NULL, 'i' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

/// False: the option is none of those of a prompted farm, or there are too many.
static bool options_read_prompted(struct options *options, int option, const char *value)
{
    switch (option) {
    case 'q':
        options->is_prompted = true;
        return true;
    case 'T':
        options->is_tls = true;
        return true;
    case 'd':
        if (options->door_count < POPULATION_MAX) {
            options->doors[options->door_count++] = value;
            return true;
        }
        return false;
    case 'w':
        if (options->word_count < WORDS_MAX) {
            options->words[options->word_count++] = value;
            return true;
        }
        return false;
    default:
        return false;
    }
}

static bool options_read(struct options *options, int count, char **arguments)
{
    bool is_right = true;

    for (int option; is_right && (option = getopt_long(count, arguments, "h", longs, NULL)) != -1;) {
        switch (option) {
        case 'p':
            options->population = optarg;
            break;
        case 's':
            is_right = text_to_u64(text_of(optarg), &options->seed);
            break;
        case 'n':
            options->network = optarg;
            break;
        case 'a':
            options->admin = optarg;
            break;
        case 't':
            options->tls_directory = optarg;
            break;
        case 'z':
            options->airports = optarg;
            break;
        case 'f':
            is_right = options->file_count < FILES_MAX;
            options->files[is_right ? options->file_count++ : 0] = optarg;
            break;
        case 'o':
            options->properties = optarg;
            break;
        case 'l':
            is_right = text_to_u64(text_of(optarg), &options->ttl_s) && options->ttl_s <= 86400;
            break;
        case 'r':
            options->reports = true;
            break;
        case 'y':
            options->prints_settings = true;
            break;
        case 'i':
            options->is_plain = true;
            break;
        case 'h':
            fputs(help, stdout);
            exit(EXIT_SUCCESS);
        default:
            is_right = options_read_prompted(options, option, optarg);
        }
    }
    bool has_work =
        options->population != NULL || options->properties != NULL || (options->is_prompted && options->door_count > 0);
    return is_right && has_work && optind == count;
}

/// "127.0.40" and a last number, or an address as written.
static bool address_read(struct sockaddr_in *address, const char *network, int host, uint16_t port, const char *written)
{
    char dotted[64];
    struct text rest = text_of(written);

    snprintf(dotted, sizeof(dotted), "%s.%d", network, host);
    *address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
    if (written != NULL) {
        uint64_t given;
        struct text name = text_split(rest, ':', &rest);
        if (!text_to_u64(rest, &given) || given == 0 || given > 65535) {
            return false;
        }
        snprintf(dotted, sizeof(dotted), "%.*s", TEXT_ARGS(name));
        address->sin_port = htons((uint16_t)given);
    }
    return inet_pton(AF_INET, dotted, &address->sin_addr) == 1;
}

static void program_on_signal(struct watch *watch, uint32_t events)
{
    struct program *program = CONTAINER_OF(watch, struct program, signals);

    if ((events & EPOLLIN) != 0) {
        program->farm.loop.is_stopping = true;
    }
}

static void program_on_report(struct timer *timer)
{
    struct program *program = CONTAINER_OF(timer, struct program, report);
    uint64_t answered = program->farm.answered;

    fprintf(stderr, "farm: cpu %.1f %%, %llu answers/s\n", admin_cpu_share(&program->farm),
            (unsigned long long)(answered >= program->reported ? answered - program->reported : answered));
    program->reported = answered;
    if (timer_heap_start(&program->farm.loop.timers, timer, clock_now_us() + REPORT_US) != STATUS_OK) {
        program->is_reporting = false;
    }
}

/// Names and addresses of all who speak TLS, as OpenSSL spells them in a certificate; empty: nobody does.
static void write_certificate_names(struct buffer *out, const struct population *population)
{
    for (size_t i = 0; i < population->count; i++) {
        const struct supplier *supplier = &population->suppliers[i];
        char dotted[INET_ADDRSTRLEN];
        if (supplier->speaks_tls) {
            inet_ntop(AF_INET, &supplier->address, dotted, sizeof(dotted));
            buffer_printf(out, "%sDNS:%s.farm.test,IP:%s", out->length > 0 ? "," : "", supplier->name, dotted);
        }
    }
    buffer_append_byte(out, '\0');
}

static enum status program_start_tls(struct program *program, const struct options *options, struct failure *why)
{
    struct buffer names;
    enum status status = STATUS_OK;

    buffer_init(&names, 1 << 20);
    write_certificate_names(&names, program->farm.population);
    if (names.is_full) {
        status = STATUS_NO_MEMORY;
    } else if (names.length > 1) {
        status = tls_create(options->tls_directory, names.data, &program->farm.tls, why);
    }
    buffer_fini(&names);
    return status;
}

/// Ctrl-C reaches the prompter, too, which ends a prompted farm by leaving.
static enum status program_start_signals(struct program *program, bool is_prompted)
{
    sigset_t set;

    sigemptyset(&set);
    if (is_prompted) {
        signal(SIGINT, SIG_IGN);
    } else {
        sigaddset(&set, SIGINT);
    }
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    program->signals.on_event = program_on_signal;
    program->signals.fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return program->signals.fd >= 0 ? loop_watch(&program->farm.loop, &program->signals) : STATUS_IO;
}

static enum status program_start(struct program *program, const struct options *options, struct failure *why)
{
    struct farm *farm = &program->farm;
    struct sockaddr_in admin, names;
    enum status status = STATUS_OK;

    if (!address_read(&admin, options->network, 254, FARM_ADMIN_PORT, options->admin) ||
        !address_read(&names, options->network, 253, FARM_NAME_PORT, NULL)) {
        failure_set(why, "--network or --admin is no address");
        return STATUS_INVALID;
    }
    farm->input = malloc(FARM_INPUT);
    if (farm->input == NULL) {
        return STATUS_NO_MEMORY;
    }
    population_reset(farm->population, farm->seed, clock_now_us());
    status = play_prepare(farm);
    if (status == STATUS_OK) {
        status = program_start_signals(program, options->is_prompted);
    }
    if (status == STATUS_OK) {
        status = program_start_tls(program, options, why);
    }
    if (status == STATUS_OK && !options->is_prompted) {
        status = names_create(farm, &names, (uint32_t)options->ttl_s, &program->names, why);
    }
    if (status == STATUS_OK && options->is_prompted) {
        status = prompter_create(farm, STDIN_FILENO, &program->prompter);
        farm->prompter = program->prompter;
    }
    if (status == STATUS_OK) {
        status = door_open_all(farm, options->is_prompted ? NULL : &admin, why);
    }
    if (status == STATUS_OK && options->reports) {
        program->report.on_due = program_on_report;
        program->is_reporting = true;
        status = timer_heap_start(&farm->loop.timers, &program->report, clock_now_us() + REPORT_US);
    }
    return status;
}

static void program_stop(struct program *program)
{
    timer_heap_cancel(&program->farm.loop.timers, &program->report);
    door_close_all(&program->farm);
    connection_close_all(&program->farm);
    names_destroy(&program->names);
    program->farm.prompter = NULL;
    prompter_destroy(&program->prompter);
    tls_destroy(&program->farm.tls);
    if (program->signals.fd >= 0) {
        close(program->signals.fd);
    }
    sessions_destroy(&program->farm.sessions);
    free(program->farm.input);
    free(program->farm.output);
    loop_fini(&program->farm.loop);
}

static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void program_say_ready(struct program *program, const struct options *options)
{
    if (program->prompter != NULL) {
        prompter_say_ready(program->prompter);
        return;
    }
    printf("farm: ready: %zu suppliers on %s.0/24, seed %llu\n", program->farm.population->count, options->network,
           (unsigned long long)options->seed);
    fflush(stdout);
}

static enum status program_run(const struct options *options, struct population *population, struct failure *why)
{
    struct program program = { .farm = { .population = population, .seed = options->seed }, .signals = { .fd = -1 } };
    struct timespec spent;

    list_init(&program.farm.connections);
    list_init(&program.farm.spare);
    if (loop_init(&program.farm.loop) != STATUS_OK) {
        return STATUS_IO;
    }
    enum status status = program_start(&program, options, why);
    if (status == STATUS_OK) {
        uint64_t begun_us = clock_now_us();
        program_say_ready(&program, options);
        admin_cpu_share(&program.farm);
        loop_run(&program.farm.loop);
        if (options->reports) {
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
            double cpu_us = (double)spent.tv_sec * 1e6 + (double)spent.tv_nsec / 1e3;
            fprintf(stderr, "farm: done: %llu answers, cpu %.1f %% over all\n",
                    (unsigned long long)program.farm.answered, 100.0 * cpu_us / (double)(clock_now_us() - begun_us));
        }
    }
    program_stop(&program);
    return status;
}

static int run_prompted(const struct options *options)
{
    struct population *population = population_create(options->network);
    struct failure why = { 0 };
    enum status status = population == NULL ? STATUS_NO_MEMORY : STATUS_OK;

    for (size_t i = 0; status == STATUS_OK && i < options->door_count; i++) {
        status = population_add_door(population, options->doors[i], options->is_tls, options->words,
                                     options->word_count, &why);
    }
    if (status == STATUS_OK) {
        status = program_run(options, population, &why);
    }
    if (status != STATUS_OK) {
        prompter_say_failed(STDIN_FILENO, &why);
    }
    population_destroy(&population);
    return status == STATUS_OK ? EXIT_SUCCESS : EXIT_CANNOT_START;
}

static int complain(enum status status, const struct failure *why)
{
    if (why->file[0] != '\0') {
        fprintf(stderr, "%s:%u: ", why->file, why->line);
    } else {
        fprintf(stderr, "farm: ");
    }
    fprintf(stderr, "%s\n", why->message[0] != '\0' ? why->message : status_name(status));
    if (why->help[0] != '\0') {
        fprintf(stderr, "help: %s\n", why->help);
    }
    return EXIT_CANNOT_START;
}

int main(int count, char **arguments)
{
    struct options options = { .network = "127.0.40",
                               .tls_directory = ".build/farm",
                               .airports = "scripts/data/airports.txt",
                               .seed = 1,
                               .ttl_s = 60 };
    struct population *population;
    struct failure why = { 0 };

    if (!options_read(&options, count, arguments)) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    if (strncmp(options.network, "127.", 4) != 0 || strlen(options.network) > 11) {
        fprintf(stderr, "farm: --network must lie in 127.0.0.0/8\n");
        return EXIT_USAGE;
    }
    if (options.properties != NULL) {
        enum status written = hotels_write_table(options.properties, &why);
        return written == STATUS_OK ? EXIT_SUCCESS : complain(written, &why);
    }
    raise_descriptor_limit();
    if (options.is_prompted) {
        return run_prompted(&options);
    }
    enum status status = airport_open_clocks(options.airports, &why);
    if (status == STATUS_NOT_FOUND) {
        fprintf(stderr, "farm: no %s: clocks follow from longitudes, and engines will drop flights\n",
                options.airports);
    } else if (status != STATUS_OK) {
        return complain(status, &why);
    }
    status = population_read(options.population, options.network, &population, &why);
    for (size_t i = 0; status == STATUS_OK && i < options.file_count; i++) {
        status = population_add_file(population, options.files[i], &why);
    }
    if (status == STATUS_OK && options.prints_settings) {
        population_print_settings(population, options.is_plain);
    } else if (status == STATUS_OK) {
        status = program_run(&options, population, &why);
    }
    int result = status == STATUS_OK ? EXIT_SUCCESS : complain(status, &why);
    population_destroy(&population);
    airport_close_clocks();
    return result;
}

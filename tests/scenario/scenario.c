// Plays in virtual time over the real search/: those written down in Lua, and those that chance makes.
//
//   scenario [PLAY.lua…]                 the plays given, or all of tests/scenario, then the random ones
//   scenario --random [--seed N] [--count M]
//
// Environment: LASTCALL_RANDOM_SEARCHES: how many random searches, unless --count says.
#include "scenario/allocations.h"
#include "scenario/chance.h"
#include "scenario/script.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RANDOM_SEARCHES = 100000, FAILURES_SHOWN = 5 };

static const char *program;
static char running[512]; // what to say when it aborts

/// A broken `require` ends the process; the seed or play that did it is told first.
static void on_abort(int signal_number)
{
    ssize_t written = write(STDOUT_FILENO, running, strlen(running));
    (void)written;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void print_violations(uint64_t seed, const struct buffer *violations)
{
    struct text left = buffer_text(violations);

    while (left.length > 0) {
        struct text line = text_split(left, '\n', &left);
        if (line.length > 0) {
            printf("# seed %llu: %.*s\n", (unsigned long long)seed, TEXT_ARGS(line));
        }
    }
    printf("# once more: %s --random --seed %llu --count 1\n", program, (unsigned long long)seed);
}

static bool play_one(struct play *play, uint64_t seed)
{
    struct buffer violations;

    snprintf(running, sizeof(running),
             "not ok random_searches_keep_every_promise\n# seed %llu ended the process\n"
             "# once more: %s --random --seed %llu --count 1\n",
             (unsigned long long)seed, program, (unsigned long long)seed);
    buffer_init(&violations, 1 << 20);
    chance_play(play, seed, &violations);
    bool is_fine = violations.length == 0;
    if (!is_fine) {
        print_violations(seed, &violations);
    }
    buffer_fini(&violations);
    return is_fine;
}

static size_t play_random(uint64_t seed, uint64_t count)
{
    static struct play play;
    struct timespec begin, end;
    size_t failed = 0;
    uint64_t played = 0;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (; played < count && failed < FAILURES_SHOWN; played++) {
        failed += !play_one(&play, seed + played);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double took_s = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("%s random_searches_keep_every_promise\n", failed == 0 ? "ok" : "not ok");
    printf("# %llu random searches from seed %llu on, each as a reply and as a stream, in %.1f s\n",
           (unsigned long long)played, (unsigned long long)seed, took_s);
    running[0] = '\0';
    return failed;
}

static size_t play_files(struct script *script, int count, char **paths)
{
    size_t failed = 0;

    for (int i = 0; i < count; i++) {
        snprintf(running, sizeof(running), "not ok %s ended the process\n", paths[i]);
        failed += script_play_file(script, paths[i]);
    }
    running[0] = '\0';
    return failed;
}

static size_t play_written(int count, char **paths)
{
    struct script *script = script_create();
    glob_t found = { 0 };
    size_t failed = 0;

    if (script == NULL) {
        printf("not ok the_words_of_plays_can_be_loaded\n");
        return 1;
    }
    if (count > 0) {
        failed = play_files(script, count, paths);
    } else if (glob("tests/scenario/?_*.lua", 0, NULL, &found) == 0) {
        failed = play_files(script, (int)found.gl_pathc, found.gl_pathv);
        failed += script_check_errors(script, "tests/scenario/wrong");
        globfree(&found);
    } else {
        printf("not ok there_are_plays\n# run it in the root of the project\n");
        failed = 1;
    }
    script_destroy(&script);
    return failed;
}

/// What the checks of memory rest on.
static size_t check_counting(void)
{
    if (!allocations_are_counted()) {
        printf("skip memory_is_counted the sanitizer of this variant looks for leaks\n");
        return 0;
    }
    long before = allocations_live();
    struct block *block = block_create(TEXT("counted"));
    bool has_risen = allocations_live() == before + 1;
    block_release(&block);
    bool is_fine = has_risen && allocations_live() == before;
    printf("%s memory_is_counted\n", is_fine ? "ok" : "not ok");
    return is_fine ? 0 : 1;
}

struct options {
    bool is_random;
    uint64_t seed, count;
};

/// False: not to be understood. `first` becomes the index of the first file.
static bool options_read(struct options *options, int argc, char **argv, int *first)
{
    const char *count = getenv("LASTCALL_RANDOM_SEARCHES");

    *options = (struct options){ .seed = 1, .count = RANDOM_SEARCHES };
    if (count != NULL && !text_to_u64(text_of(count), &options->count)) {
        return false;
    }
    for (*first = 1; *first < argc && argv[*first][0] == '-'; (*first)++) {
        const char *word = argv[*first];
        uint64_t *number = strcmp(word, "--seed") == 0    ? &options->seed
                           : strcmp(word, "--count") == 0 ? &options->count
                                                          : NULL;
        if (strcmp(word, "--random") == 0) {
            options->is_random = true;
        } else if (number == NULL || ++*first >= argc || !text_to_u64(text_of(argv[*first]), number)) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options options;
    int first = 1;
    size_t failed = 0;

    if (!options_read(&options, argc, argv, &first)) {
        fprintf(stderr, "usage: scenario [--random] [--seed N] [--count M] [PLAY.lua...]\n");
        return 2;
    }
    program = argv[0];
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGABRT, on_abort);
    signal(SIGSEGV, on_abort);
    if (!options.is_random) {
        failed += check_counting();
        failed += play_written(argc - first, argv + first);
    }
    if (first == argc || options.is_random) {
        failed += play_random(options.seed, options.count);
    }
    return failed == 0 ? 0 : 1;
}

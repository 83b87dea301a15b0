// e2e_crowd: many callers of one engine at once, each by its line of a plan, and a report of what became of each.
//
//   e2e_crowd --port 18480 --plan FILE --report FILE --concurrency 20 [--until FILE]
//
// With --until the plan is begun again and again until that file exists; what is under way then is finished.
// A line of the plan: ACCEPT SEND LEAVE HOW BODY, where
//   ACCEPT  json, ndjson, sse, or text (a wrong content type)
//   SEND    nothing, line, head, headers, body, all, twice     (half of the line, the head, the body; see
//   crowd_caller.h) LEAVE   answered, after:MS, events:N, slow:BYTES, kept:MS HOW     fin, rst BODY    all up to the
//   end of the line
// A line of the report: {"caller": N, "end": answered | left | lost | stuck, "was_sent", "bytes", "replies":
// [{"status", "is_whole", "kept"}]}; N counts from 1, also
// over repetitions of the plan.
#include "e2e/crowd_caller.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { PLAN_MAX = 64 << 20, READ_SIZE = 64 << 10, REPORT_MAX = 64 << 20, CALLERS_MAX = 1024, WAIT_MS = 2 };

struct crowd {
    uint16_t port;
    const char *plan_path, *report_path;
    const char *until_path; // NULL: the plan once
    size_t concurrency;
    FILE *report;
    struct buffer plan;
    struct crowd_line *lines;
    size_t line_count, begun, ended;
    int epoll;
    struct crowd_caller callers[CALLERS_MAX];
};

// ---------------------------------------------------------------------------------------------------------------- plan

static const char *const sends[] = {
    [CROWD_SEND_NOTHING] = "nothing", [CROWD_SEND_LINE] = "line", [CROWD_SEND_HEAD] = "head",
    [CROWD_SEND_HEADERS] = "headers", [CROWD_SEND_BODY] = "body", [CROWD_SEND_ALL] = "all",
    [CROWD_SEND_TWICE] = "twice",
};
static const char *const leaves[] = {
    [CROWD_LEAVE_ANSWERED] = "answered", [CROWD_LEAVE_AFTER] = "after", [CROWD_LEAVE_EVENTS] = "events",
    [CROWD_LEAVE_SLOW] = "slow",         [CROWD_LEAVE_KEPT] = "kept",
};

/// False: it is none of the words.
static bool find_word(struct text word, const char *const *words, size_t count, unsigned *found)
{
    for (*found = 0; *found < count; ++*found) {
        if (text_equals_c(word, words[*found])) {
            return true;
        }
    }
    return false;
}

/// Takes the line's bytes: what it points at stays. False: no line of a plan.
static bool read_line(struct crowd_line *line, struct text bytes)
{
    struct text rest, number;
    unsigned send, leave;
    struct text accept = text_split(bytes, ' ', &rest);
    struct text sent = text_split(rest, ' ', &rest);
    struct text when = text_split(text_split(rest, ' ', &rest), ':', &number);
    struct text how = text_split(rest, ' ', &line->body);

    line->type = text_equals_c(accept, "text") ? "text/plain" : "application/json";
    line->accept = text_equals_c(accept, "sse")      ? "text/event-stream"
                   : text_equals_c(accept, "ndjson") ? "application/x-ndjson"
                                                     : "application/json";
    if (!find_word(sent, sends, COUNT_OF(sends), &send) || !find_word(when, leaves, COUNT_OF(leaves), &leave) ||
        (leave != CROWD_LEAVE_ANSWERED && !text_to_u64(number, &line->amount)) || line->body.data == NULL) {
        return false;
    }
    line->send = (enum crowd_send)send;
    line->leave = (enum crowd_leave)leave;
    line->resets = text_equals_c(how, "rst");
    return line->resets || text_equals_c(how, "fin");
}

/// The whole file, which lives as long as its lines. False: it cannot be read.
static bool read_file(const char *path, struct buffer *content)
{
    FILE *file = fopen(path, "r");
    size_t got;

    buffer_init(content, PLAN_MAX);
    while (file != NULL && buffer_reserve(content, READ_SIZE) &&
           (got = fread(content->data + content->length, 1, READ_SIZE, file)) > 0) {
        content->length += got;
    }
    bool is_fine = file != NULL && !content->is_full && ferror(file) == 0;
    if (file != NULL) {
        fclose(file);
    }
    return is_fine;
}

static bool read_plan(struct crowd *crowd)
{
    if (!read_file(crowd->plan_path, &crowd->plan)) {
        perror("e2e_crowd: the plan cannot be read");
        return false;
    }
    for (struct text left = buffer_text(&crowd->plan); left.length > 0;) {
        struct text bytes = text_split(left, '\n', &left);
        void *grown = realloc(crowd->lines, (crowd->line_count + 1) * sizeof(*crowd->lines));
        require(grown != NULL);
        crowd->lines = grown;
        struct crowd_line *line = &crowd->lines[crowd->line_count++];
        memset(line, 0, sizeof(*line));
        if (!read_line(line, bytes)) {
            fprintf(stderr, "e2e_crowd: line %zu of the plan is none: %.*s\n", crowd->line_count,
                    (int)(bytes.length < 80 ? bytes.length : 80), bytes.data);
            return false;
        }
    }
    return true;
}

// ----------------------------------------------------------------------------------------------------------------- run

static void end_caller(struct crowd *crowd, struct crowd_caller *caller)
{
    struct buffer line;

    if (caller->line == NULL || caller->end == CROWD_OPEN) {
        return;
    }
    buffer_init(&line, REPORT_MAX);
    crowd_caller_finish(caller, &line);
    require(!line.is_full && fwrite(line.data, 1, line.length, crowd->report) == line.length);
    require(fflush(crowd->report) == 0); // who watches sees how far it is
    buffer_fini(&line);
    caller->line = NULL;
    crowd->ended++;
}

static bool has_more(const struct crowd *crowd)
{
    return crowd->until_path != NULL ? access(crowd->until_path, F_OK) != 0 : crowd->begun < crowd->line_count;
}

static bool begin_callers(struct crowd *crowd)
{
    for (size_t i = 0; i < crowd->concurrency && has_more(crowd); i++) {
        struct crowd_caller *caller = &crowd->callers[i];
        if (caller->line != NULL) {
            continue;
        }
        const struct crowd_line *line = &crowd->lines[crowd->begun++ % crowd->line_count];
        struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = caller };
        if (!crowd_caller_start(caller, line, crowd->begun, crowd->port) ||
            epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, caller->fd, &event) != 0) {
            perror("e2e_crowd: a caller could not begin");
            return false;
        }
    }
    return true;
}

static void run_once(struct crowd *crowd)
{
    struct epoll_event events[CALLERS_MAX];
    int count = epoll_wait(crowd->epoll, events, CALLERS_MAX, WAIT_MS);
    uint64_t now_us = clock_now_us();

    for (int i = 0; i < count; i++) {
        struct crowd_caller *caller = events[i].data.ptr;
        if (caller->line != NULL) {
            crowd_caller_on_ready(caller, (events[i].events & ~(uint32_t)EPOLLOUT) != 0);
        }
    }
    for (size_t i = 0; i < crowd->concurrency; i++) {
        if (crowd->callers[i].line != NULL) {
            crowd_caller_on_time(&crowd->callers[i], now_us);
            end_caller(crowd, &crowd->callers[i]);
        }
    }
}

static bool read_options(struct crowd *crowd, int argc, char **argv)
{
    static const struct option OPTIONS[] = {
        { "port", required_argument, NULL, 'p' },   { "plan", required_argument, NULL, 'l' },
        { "report", required_argument, NULL, 'r' }, { "concurrency", required_argument, NULL, 'c' },
        { "until", required_argument, NULL, 'u' },  { NULL, 0, NULL, 0 },
    };
    int option;

    while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
        switch (option) {
        case 'p':
            crowd->port = (uint16_t)strtoul(optarg, NULL, 10);
            break;
        case 'l':
            crowd->plan_path = optarg;
            break;
        case 'r':
            crowd->report_path = optarg;
            break;
        case 'u':
            crowd->until_path = optarg;
            break;
        case 'c':
            crowd->concurrency = strtoul(optarg, NULL, 10);
            break;
        default:
            return false;
        }
    }
    return crowd->port != 0 && crowd->plan_path != NULL && crowd->report_path != NULL && crowd->concurrency > 0 &&
           crowd->concurrency <= CALLERS_MAX;
}

int main(int argc, char **argv)
{
    static struct crowd crowd;

    if (!read_options(&crowd, argc, argv)) {
        fprintf(stderr, "e2e_crowd: wrong arguments (see the top of tests/e2e/crowd.c)\n");
        return 2;
    }
    crowd.report = fopen(crowd.report_path, "w");
    crowd.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (crowd.report == NULL || crowd.epoll < 0) {
        perror("e2e_crowd: the report cannot be written");
        return 1;
    }
    if (!read_plan(&crowd)) {
        return 1;
    }
    while (crowd.line_count > 0 && (has_more(&crowd) || crowd.ended < crowd.begun)) {
        if (!begin_callers(&crowd)) {
            return 1;
        }
        run_once(&crowd);
    }
    free(crowd.lines);
    buffer_fini(&crowd.plan);
    return fclose(crowd.report) == 0 ? 0 : 1;
}

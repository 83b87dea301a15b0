#include "app/try_record.h"

#include "app/fixture_secret.h"
#include "app/hide.h"
#include "app/pretty.h"
#include "app/try_fixture.h"
#include "app/try_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BODY_NAME = 96, NEVER_MS = 600000, OUTPUT_MAX = 64 << 20, MORE_MAX = 4 };

/// One exchange on its way into the fixture.
struct recorded {
    const struct tap_exchange *from; // NULL: of none, it never comes
    char body_file[BODY_NAME];       // empty: no body
    struct header *headers;
    size_t header_count;
    struct text expect_request;
    bool is_written; // its body
};

struct making {
    struct try_recording *recording;
    struct try_subject subject; // as `lastcall test` sees it
    struct arena arena;
    struct hide hide;
    struct recorded *items;
    size_t count;
    struct fixture *fixture; // while it is played for its requests
    bool has_form;
    bool is_written; // the fixture itself
    struct try_run again;
};

/// The supplier as `lastcall test` knows it: that of the file's own name.
static struct try_subject subject_of_file(const struct try_subject *subject)
{
    struct try_subject own = *subject;

    for (size_t i = 0; i < script_set_supplier_count(subject->catalogue->set); i++) {
        const struct script_supplier *script = script_set_supplier(subject->catalogue->set, i);
        char end[256];
        (void)snprintf(end, sizeof(end), "%.*s.lua", TEXT_ARGS(script->name));
        size_t length = strlen(end);
        bool is_own = text_equals(script->file, subject->script->file) && script->file.length >= length &&
                      memcmp(script->file.data + script->file.length - length, end, length) == 0;
        if (is_own) {
            own.script = script;
            own.script_index = i;
        }
    }
    return own;
}

// ------------------------------------------------------------------------------------------------------------- answers

static bool is_of_transport(struct text name)
{
    static const char *const NAMES[] = { "content-length",
                                         "content-encoding",
                                         "transfer-encoding",
                                         "connection",
                                         "keep-alive",
                                         "date",
                                         "server",
                                         "via",
                                         "age",
                                         "x-request-id",
                                         "traceparent",
                                         "cf-ray",
                                         "alt-svc",
                                         "strict-transport-security" };

    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        if (text_equals_nocase(name, text_of(NAMES[i]))) {
            return true;
        }
    }
    return false;
}

static bool take_headers(struct making *making, struct recorded *item)
{
    const struct http_response *response = item->from->response;

    item->headers = arena_alloc_array(&making->arena, response->header_count + 1, sizeof(*item->headers));
    if (item->headers == NULL) {
        return false;
    }
    for (size_t i = 0; i < response->header_count; i++) {
        struct buffer value;
        if (is_of_transport(response->headers[i].name)) {
            continue;
        }
        buffer_init(&value, 1 << 20);
        hide_header(&making->hide, response->headers[i].name, response->headers[i].value, &value);
        item->headers[item->header_count++] =
            (struct header){ response->headers[i].name,
                             value.length > 0 ? arena_copy(&making->arena, buffer_text(&value)) : TEXT("") };
        buffer_fini(&value);
    }
    return true;
}

static void body_path(const struct making *making, const struct recorded *item, char path[TRY_PATH_SIZE])
{
    const char *slash = strrchr(making->recording->path, '/');

    (void)snprintf(path, TRY_PATH_SIZE, "%.*s/%s", (int)(slash - making->recording->path), making->recording->path,
                   item->body_file);
}

static bool take_body(struct making *making, struct recorded *item, size_t index, struct failure *why)
{
    struct buffer scratch, out;
    struct text plain;
    char number[32] = "", path[TRY_PATH_SIZE];

    buffer_init(&scratch, FIXTURE_BODY_MAX);
    buffer_init(&out, FIXTURE_BODY_MAX);
    bool is_plain = try_inflate(item->from->response, &scratch, &plain);
    if (plain.length > 0) {
        struct text head = text_trim(plain);
        const char *end = head.length > 0 && head.data[0] == '<' ? "xml" : "json";
        if (making->count > 1) {
            (void)snprintf(number, sizeof(number), ".%zu", index + 1);
        }
        (void)snprintf(item->body_file, sizeof(item->body_file), "%s%s.body.%s", making->recording->name, number, end);
        making->hide.is_of_login = item->from->is_login;
        hide_body(&making->hide, plain, false, &out);
        making->hide.is_of_login = false;
        body_path(making, item, path);
        is_plain = try_record_write(path, buffer_text(&out), why);
        item->is_written = is_plain;
    }
    buffer_fini(&scratch);
    buffer_fini(&out);
    return is_plain;
}

static bool was_cut(const struct tap_exchange *exchange)
{
    return exchange->is_cut || exchange->fetch.result == FETCH_ENDED;
}

/// Is there an answer that can be played, or one that never comes? False: `why`.
static bool has_answer(const struct making *making, const struct tap_exchange *exchange, struct failure *why)
{
    if (exchange->response != NULL || was_cut(exchange)) {
        return true;
    }
    failure_code(why, CODE_CALL_FAILED);
    failure_set(why, "request %zu has no answer that could be kept: %s", exchange->number,
                exchange->fetch.detail[0] != '\0' ? exchange->fetch.detail : phase_name(exchange->fetch.phase));
    failure_help(why, making->recording->run->is_live ? "`lastcall try` shows the exchange"
                                                      : "each request needs its answer: --body FILE once more");
    return false;
}

/// The account's secrets, which a test replaces wherever they stand as they are.
static void take_secrets(struct making *making)
{
    const struct try_subject *subject = making->recording->subject;
    struct json_node *context;
    const char *sentence;
    size_t offset;

    for (size_t i = 0; i < catalogue_account_count(subject->supplier); i++) {
        if (json_tree_read(&making->arena, subject->supplier->account[i].context, &context, &offset, &sentence) !=
            STATUS_OK) {
            continue;
        }
        const struct json_node *secrets = json_tree_member(context, "secret");
        for (const struct json_node *at = secrets == NULL ? NULL : secrets->first; at != NULL; at = at->next) {
            struct buffer stand_in;
            buffer_init(&stand_in, 1 << 20);
            fixture_test_secret(at->key, at->text, &stand_in);
            hide_add(&making->hide, at->text, buffer_text(&stand_in));
            buffer_fini(&stand_in);
        }
    }
}

static bool take_answers(struct making *making, struct failure *why)
{
    const struct tap *tap = &making->recording->run->tap;

    making->count = tap->count;
    making->items = arena_alloc_array(&making->arena, tap->count + MORE_MAX, sizeof(*making->items));
    if (making->items == NULL || tap->is_short) {
        failure_set(why, "there is no memory for the exchange");
        return false;
    }
    if (tap->count > FIXTURE_EXCHANGES_MAX) {
        failure_set(why, "a fixture holds at most %d exchanges, these are %zu", FIXTURE_EXCHANGES_MAX, tap->count);
        return false;
    }
    for (size_t i = 0; i < tap->count; i++) {
        making->items[i].from = tap_at(tap, i);
        if (!has_answer(making, making->items[i].from, why)) {
            return false;
        }
    }
    for (size_t i = 0; i < tap->count; i++) { // only now: what is there is not touched for nothing
        struct recorded *item = &making->items[i];
        if (item->from->response != NULL && !(take_headers(making, item) && take_body(making, item, i, why))) {
            return false;
        }
    }
    return true;
}

// ------------------------------------------------------------------------------------------------------------- fixture

static uint64_t after_ms(const struct recorded *item)
{
    if (item->from == NULL || item->from->response == NULL) {
        return NEVER_MS;
    }
    const struct fetch *fetch = &item->from->fetch;
    return fetch->done_us > fetch->started_us ? (fetch->done_us - fetch->started_us + 500) / 1000 : 0;
}

/// A login that was there already is nobody's in a fixture.
static void write_login(struct making *making, struct buffer *out)
{
    struct text login = making->recording->login;

    if (login.length > 0 && text_trim(login).data[0] == '"') {
        buffer_append_c(out, "\"test-login\"");
    } else if (login.length > 0) {
        hide_body(&making->hide, login, false, out);
    }
}

static bool write_fixture(struct making *making, struct text expect, struct buffer *out)
{
    struct try_frame_exchange *exchanges = arena_alloc_array(&making->arena, making->count + 1, sizeof(*exchanges));
    struct buffer about, search, login;

    if (exchanges == NULL) {
        return false;
    }
    for (size_t i = 0; i < making->count; i++) {
        const struct recorded *item = &making->items[i];
        exchanges[i] = (struct try_frame_exchange){ .expect_request = item->expect_request,
                                                    .status = item->from == NULL || item->from->response == NULL
                                                                  ? 200
                                                                  : item->from->response->status,
                                                    .after_ms = after_ms(item),
                                                    .headers = item->headers,
                                                    .header_count = item->header_count,
                                                    .body_file = item->body_file[0] == '\0' ? NULL : item->body_file };
    }
    buffer_init(&about, 1024);
    buffer_init(&search, TRY_SEARCH_MAX * 4);
    buffer_init(&login, TRY_SEARCH_MAX);
    write_login(making, &login);
    buffer_printf(&about, "recorded from %s", making->recording->run->is_live ? "a live call" : "saved answers");
    hide_body(&making->hide, making->recording->run->search, false, &search);
    const struct try_frame frame = { .about = buffer_text(&about),
                                     .search = buffer_text(&search),
                                     .login = login.length > 0 ? buffer_text(&login) : (struct text){ 0 },
                                     .expect = expect,
                                     .wall_us = making->recording->run->wall_us / 1000 * 1000,
                                     .exchanges = exchanges,
                                     .exchange_count = making->count };
    try_fixture_write(&making->subject, &frame, out);
    buffer_fini(&about);
    buffer_fini(&search);
    buffer_fini(&login);
    return !out->is_full;
}

static void keep_failure(void *context, const struct failure *failure)
{
    struct failure *why = context;

    if (why->message[0] == '\0') {
        *why = *failure;
    }
}

/// Requests that run side by side may be sent in another order than they were: each gets its own answer.
static void on_send(void *owner, const struct tap_exchange *exchange)
{
    struct making *making = owner;
    size_t index = exchange->number - 1;

    for (size_t i = index; i < making->count; i++) {
        const struct tap_exchange *from = making->items[i].from;
        if (from != NULL && from->line == exchange->line && from->place == exchange->place) {
            struct fixture_exchange played = making->fixture->exchanges.items[i];
            struct recorded item = making->items[i];
            making->fixture->exchanges.items[i] = making->fixture->exchanges.items[index];
            making->items[i] = making->items[index];
            making->fixture->exchanges.items[index] = played;
            making->items[index] = item;
            return;
        }
    }
}

/// Plays the answers with the secrets of a test.
static bool play_again(struct making *making, struct failure *why)
{
    struct fixture fixture = { .findings = 0 };
    struct buffer json;

    try_run_fini(&making->again);
    try_run_init(&making->again);
    making->again.tap.on_send = on_send;
    making->again.tap.owner = making;
    making->fixture = &fixture;
    buffer_init(&json, OUTPUT_MAX);
    bool is_fine = write_fixture(making, (struct text){ 0 }, &json) &&
                   fixture_read_text(&fixture, making->recording->path, buffer_text(&json), keep_failure, why) &&
                   try_run_fixture(&making->again, &making->subject, &fixture);
    fixture_fini(&fixture);
    buffer_fini(&json);
    return is_fine;
}

/// A search that its end has cut sends a request more or less when scripts take no time: one more is never answered,
/// and what was not answered is not missed. False: it is not that.
static bool settle_count(struct making *making)
{
    bool was_bound = json_tree_member(try_report(making->recording->run), "bound") != NULL;
    size_t sent = making->again.tap.count;

    if (!was_bound) {
        return false;
    }
    if (sent > making->count) {
        making->items[making->count++] = (struct recorded){ .from = NULL };
        return true;
    }
    for (size_t i = sent; i < making->count; i++) {
        if (making->items[i].from != NULL && making->items[i].from->response != NULL) {
            return false;
        }
    }
    making->count = sent;
    return true;
}

/// What the script sends with the secrets of a test.
static bool take_requests(struct making *making, struct failure *why)
{
    bool is_fine = play_again(making, why);

    for (int more = 1; more < MORE_MAX && is_fine && making->again.tap.count != making->count; more++) {
        is_fine = settle_count(making) && play_again(making, why);
    }
    if (making->again.tap.count != making->count) {
        failure_set(why, "with the secrets of a test the script sends %zu requests, not %zu", making->again.tap.count,
                    making->count);
        failure_help(why, "does it look at what a secret, or the time, is like?");
        return false;
    }
    for (size_t i = 0; i < making->count && is_fine; i++) {
        struct buffer request;
        bool has_form;
        buffer_init(&request, OUTPUT_MAX);
        try_record_request(tap_at(&making->again.tap, i)->request, &request, &has_form);
        making->items[i].expect_request = arena_copy(&making->arena, buffer_text(&request));
        making->has_form = making->has_form || has_form;
        buffer_fini(&request);
    }
    return is_fine;
}

static bool write_final(struct making *making, struct failure *why)
{
    struct buffer expect, json, pretty;

    buffer_init(&expect, 1 << 20);
    buffer_init(&json, OUTPUT_MAX);
    buffer_init(&pretty, OUTPUT_MAX);
    try_record_expect(&making->again, &expect);
    bool is_fine = write_fixture(making, buffer_text(&expect), &json);
    pretty_json(buffer_text(&json), &pretty);
    buffer_append_byte(&pretty, '\n');
    is_fine = is_fine && try_record_write(making->recording->path, buffer_text(&pretty), why);
    making->is_written = is_fine;
    buffer_fini(&expect);
    buffer_fini(&json);
    buffer_fini(&pretty);
    return is_fine;
}

// ------------------------------------------------------------------------------------------------------------- running

static void count_finding(void *context, const struct failure *failure)
{
    struct try_recording *recording = context;

    recording->findings++;
    recording->report(recording->context, failure);
}

/// As `lastcall test` does; with `is_updating` what differs is written.
static void run_fixture(struct making *making, bool is_updating)
{
    const struct worker_pool_options options = { .threads = 1,
                                                 .build_limit_us = 100000,
                                                 .normalise_limit_us = 1000000,
                                                 .deliver = fixture_world_deliver,
                                                 .watches_fields = true };
    struct worker_pool *workers = NULL;
    struct failure why = { .code = CODE_NONE };
    struct fixture fixture;

    if (worker_pool_create(&options, &workers, &why) != STATUS_OK) {
        count_finding(making->recording, &why);
        return;
    }
    const struct fixture_subject subject = { .settings = making->subject.settings,
                                             .catalogue = making->subject.catalogue,
                                             .script = making->subject.script,
                                             .index = making->subject.script_index,
                                             .workers = workers };
    if (fixture_read(&fixture, making->recording->path, count_finding, making->recording)) {
        fixture.is_updating = is_updating;
        fixture_run(&fixture, &subject);
        if (is_updating && fixture.edit_count > 0) {
            (void)!fixture_save(&fixture);
        }
    }
    if (fixture.bug.data != NULL && making->recording->findings == 0) {
        failure_at(&why, making->recording->path, 0, 0);
        failure_set(&why, "%.*s", TEXT_ARGS(fixture.bug));
        count_finding(making->recording, &why);
    }
    fixture_fini(&fixture);
    worker_pool_destroy(&workers);
}

/// The end of what was written: it stays, or what stood there before comes back.
static void end_files(const struct making *making, bool is_kept)
{
    void (*end)(const char *path) = is_kept ? try_record_settle : try_record_undo;
    char path[TRY_PATH_SIZE];

    if (making->is_written) {
        end(making->recording->path);
    }
    for (size_t i = 0; i < making->count && making->items != NULL; i++) {
        if (making->items[i].is_written) {
            body_path(making, &making->items[i], path);
            end(path);
        }
    }
}

/// Bodies of the fixture that this one has replaced.
static void remove_old_bodies(const struct making *making)
{
    char path[TRY_PATH_SIZE];

    for (size_t number = 0; try_record_body_path(making->recording, number, path); number++) {
        const char *name = strrchr(path, '/') + 1;
        bool is_ours = false;
        for (size_t i = 0; i < making->count; i++) {
            is_ours = is_ours || strcmp(making->items[i].body_file, name) == 0;
        }
        if (!is_ours) {
            (void)unlink(path);
        }
    }
}

/// The folder of the fixtures, made if need be and held: what several write at once is written one after the other, so
/// that bodies belong to their fixture. -1: `why`. A file system without locks holds nobody up.
static int hold_folder(const struct try_recording *recording, struct failure *why)
{
    char folder[TRY_PATH_SIZE];
    const char *slash = strrchr(recording->path, '/');

    (void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - recording->path), recording->path);
    bool is_there = mkdir(folder, 0777) == 0 || errno == EEXIST;
    int held = is_there ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (held < 0) {
        failure_at(why, folder, 0, 0);
        failure_set(why, "the folder cannot be %s: %s", is_there ? "opened" : "made", strerror(errno));
        return -1;
    }
    while (flock(held, LOCK_EX) != 0 && errno == EINTR) {
    }
    return held;
}

/// While the folder is held.
static bool record_held(struct try_recording *recording, struct failure *why)
{
    struct making making = { .recording = recording, .subject = subject_of_file(recording->subject) };

    arena_init(&making.arena, 512 << 20);
    hide_init(&making.hide, true);
    try_run_init(&making.again);
    take_secrets(&making);
    try_hide_signed(recording->run, &making.hide);
    bool is_made = take_answers(&making, why) && take_requests(&making, why) && write_final(&making, why);
    if (is_made && making.has_form) {
        run_fixture(&making, true);
    }
    if (is_made && recording->findings == 0) {
        run_fixture(&making, false);
    }
    recording->is_kept = is_made && (recording->findings == 0 || recording->is_forced);
    end_files(&making, recording->is_kept);
    if (recording->is_kept && recording->is_forced) {
        remove_old_bodies(&making);
    }
    if (recording->is_kept && strncmp(recording->name, "ok-", 3) == 0) {
        try_record_meet_invented(recording);
        bool is_replaced = recording->chosen[0] != '\0' && recording->invented[0] != '\0';
        recording->is_invented_gone = is_replaced && unlink(recording->invented) == 0;
    }
    if (!is_made && why->message[0] == '\0') {
        failure_set(why, "the fixture could not be made: out of memory");
    }
    try_run_fini(&making.again);
    hide_fini(&making.hide);
    arena_fini(&making.arena);
    return is_made;
}

bool try_record(struct try_recording *recording, struct failure *why)
{
    int held = try_record_fits(recording, why) ? hold_folder(recording, why) : -1;
    bool is_made = false;

    if (held >= 0) {
        // Somebody may have taken the name since it was looked at.
        is_made = try_record_check(recording, why) && record_held(recording, why);
        (void)close(held);
    }
    return is_made;
}

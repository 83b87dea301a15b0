// What goes wrong with a real redis-server, or with one that is none: a fault at once, never a wait, and up again when
// it can be.
#include "unit/app_store_redis_stage.h"

#include "store/redis_link.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void close_it(struct store **store)
{
    (*store)->ops->close(store, 1000000);
    assert_null(*store);
}

static struct store *open_port(uint16_t port, const char *user, const char *password)
{
    char url[80];

    snprintf(url, sizeof url, "redis://127.0.0.1:%u/0", (unsigned)port);
    return open_at(url, user, password);
}

static void one_that_refuses_is_a_fault_at_once(void **state)
{
    struct store *store = open_at("unix:///nowhere/socket", NULL, NULL);
    (void)state;

    wait_trouble(store, "No such file");
    assert_int_equal(look(store, STORE_INDEX, "q", "acme"), STORE_FAULT);
    assert_int_equal(look(store, STORE_READ, "q", "acme"), STORE_FAULT);
    assert_int_equal(keep(store, "q", "acme", 1), STORE_FAULT);
    assert_int_equal(report_of(store).faults, 3);
    assert_int_equal(report_of(store).dropped, 0);
    close_it(&store);
}

static void a_name_that_is_unknown_is_told(void **state)
{
    struct store *store = open_at("redis://store.invalid", NULL, NULL);
    (void)state;

    wait_trouble(store, "not"); // "Name or service not known", or that there is no network
    assert_int_equal(look(store, STORE_INDEX, "q", "acme"), STORE_FAULT);
    close_it(&store);
}

static void serve_silence(struct peer_stream *stream)
{
    stream_wait_for_end(stream);
}

static void one_that_accepts_and_says_nothing_is_given_up(void **state)
{
    struct peer_options options = { .serve = serve_silence };
    struct peer *peer = peer_start(&options);
    struct store *store = open_port(peer_port(peer), NULL, NULL);
    (void)state;

    wait_trouble(store, "says nothing");
    assert_int_equal(look(store, STORE_INDEX, "q", "acme"), STORE_FAULT);
    close_it(&store);
    peer_stop(&peer);
}

/// Whatever comes next; false: the client has left.
static bool take_some(struct peer_stream *stream)
{
    struct pollfd look = { .fd = stream->fd, .events = POLLIN };
    char bytes[4096];

    return poll(&look, 1, -1) == 1 && recv(stream->fd, bytes, sizeof bytes, 0) > 0;
}

/// Says the greeting, then what its context says to the next thing it is asked, then leaves.
static void serve_words(struct peer_stream *stream)
{
    if (take_some(stream) && stream_send(stream, "+OK\r\n+PONG\r\n") && take_some(stream)) {
        stream_send(stream, stream->context);
    }
}

static void words_in_place_of_a_reply_are_a_fault(void **state)
{
    static const struct {
        const char *words, *trouble;
    } CASES[] = {
        { "-LOADING Redis is loading the dataset in memory\r\n", "LOADING" },
        { "-NOAUTH Authentication required.\r\n", "NOAUTH" },
        { "-MOVED 3999 127.0.0.1:6381\r\n", "MOVED" },
        { "HTTP/1.1 400 Bad Request\r\n\r\n", "protocol" },
        { "*2147483647\r\n", "too large" },
        { "*1\r\n*1\r\n*1\r\n*1\r\n", "too large" },
        { ":12\r\n", "something else" },
        { "$-1\r\n", "something else" },
        { "$5\r\nhe", "closed the connection" },
        { "$0\r\n\r\n$0\r\n\r\n", "nobody asked" },
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct peer_options options = { .serve = serve_words, .context = (void *)(uintptr_t)CASES[i].words };
        struct peer *peer = peer_start(&options);
        struct store *store = open_port(peer_port(peer), NULL, NULL);
        wait_up(store, true);
        (void)look(store, STORE_INDEX, "q", "acme");
        wait_trouble(store, CASES[i].trouble);
        assert_int_equal(look(store, STORE_INDEX, "q", "bravo"), STORE_FAULT);
        close_it(&store);
        peer_stop(&peer);
    }
}

static void a_reply_without_end_is_given_up(void **state)
{
    static char words[REDIS_REPLY_MAX + 100000] = "$99999999999\r\n";
    struct peer_options options = { .serve = serve_words, .context = words };
    (void)state;

    memset(words + strlen(words), 'x', sizeof words - 1 - strlen(words));
    struct peer *peer = peer_start(&options);
    struct store *store = open_port(peer_port(peer), NULL, NULL);
    wait_up(store, true);
    assert_int_equal(look(store, STORE_INDEX, "q", "acme"), STORE_FAULT);
    wait_trouble(store, "too large");
    close_it(&store);
    peer_stop(&peer);
}

static void one_that_flaps_is_asked_one_attempt_at_a_time(void **state)
{
    struct peer_options options = { .serve = serve_words, .context = (void *)(uintptr_t) "-LOADING it flaps\r\n" };
    struct peer *peer = peer_start(&options);
    struct store *store = open_port(peer_port(peer), NULL, NULL);
    (void)state;

    for (int i = 0; i < 3; i++) {
        wait_up(store, true);
        assert_int_equal(look(store, STORE_INDEX, "q", "acme"), STORE_FAULT);
        wait_trouble(store, "flaps");
    }
    assert_int_equal(peer_connections(peer), 3);
    close_it(&store);
    peer_stop(&peer);
}

static void a_wrong_password_is_told_and_the_right_one_works(void **state)
{
    struct redis_server server;
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, (const char *const[]){ "--requirepass", "open sesame", "--user", "app", "on", "+@all",
                                                       "~*", ">of the app", NULL });
    struct store *none = open_port(server.port, NULL, NULL);
    struct store *wrong = open_port(server.port, NULL, "close sesame");
    struct store *right = open_port(server.port, NULL, "open sesame");
    struct store *named = open_port(server.port, "app", "of the app");
    struct store *stranger = open_port(server.port, "nobody", "of the app");
    wait_trouble(none, "NOAUTH");
    wait_trouble(wrong, "WRONGPASS");
    wait_trouble(stranger, "store.password_env");
    assert_null(strstr(report_of(wrong).trouble, "close sesame"));
    wait_up(right, true);
    wait_up(named, true);
    assert_int_equal(keep(named, "q", "acme", 2), STORE_FOUND);
    assert_int_equal(look(right, STORE_READ, "q", "acme"), STORE_FOUND);
    assert_int_equal(look(none, STORE_READ, "q", "acme"), STORE_FAULT);
    struct store *stores[] = { none, wrong, right, named, stranger };
    for (size_t i = 0; i < COUNT_OF(stores); i++) {
        close_it(&stores[i]);
    }
    redis_server_stop(&server);
}

static void one_that_is_killed_is_found_again(void **state)
{
    struct redis_server server;
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *store = open_path(&server);
    wait_up(store, true);
    assert_int_equal(keep(store, "q", "acme", 2), STORE_FOUND);
    redis_server_kill(&server);
    wait_up(store, false);
    assert_int_equal(look(store, STORE_INDEX, "q", "acme"), STORE_FAULT);
    redis_server_again(&server, NULL);
    wait_up(store, true);
    wait_trouble(store, "");
    assert_int_equal(look(store, STORE_INDEX, "q", "acme"), STORE_ABSENT); // it had kept nothing
    assert_int_equal(keep(store, "q", "acme", 2), STORE_FOUND);
    close_it(&store);
    redis_server_stop(&server);
}

/// Between the store and a real server, whose replies it cuts off after so many bytes.
struct cutter {
    const char *path;
    size_t after;
};

static void serve_cut(struct peer_stream *stream)
{
    const struct cutter *cutter = stream->context;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct pollfd both[2] = { { .fd = stream->fd, .events = POLLIN }, { .events = POLLIN } };
    size_t passed = 0;
    char bytes[4096];

    both[1].fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", cutter->path);
    assert_int_equal(connect(both[1].fd, (struct sockaddr *)&address, sizeof address), 0);
    while (passed < cutter->after && poll(both, 2, -1) > 0) {
        size_t from = both[0].revents != 0 ? 0 : 1;
        ssize_t taken = recv(both[from].fd, bytes, sizeof bytes, 0);
        if (taken <= 0) {
            break;
        }
        size_t length = (size_t)taken;
        if (from == 1) {
            length = length < cutter->after - passed ? length : cutter->after - passed;
            passed += length;
        }
        bool is_sent = from == 1 ? stream_send_bytes(stream, bytes, length)
                                 : send(both[1].fd, bytes, length, MSG_NOSIGNAL) == taken;
        if (!is_sent) {
            break;
        }
    }
    close(both[1].fd);
    stream_reset(stream);
}

static void one_that_is_gone_in_the_middle_of_a_reply_is_a_fault(void **state)
{
    static const size_t AFTER[] = { 13, 30, 76, 500 }; // 12 are the greeting's; then heads, then values
    struct redis_server server;
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    for (size_t i = 0; i < COUNT_OF(AFTER); i++) {
        struct cutter cutter = { server.path, AFTER[i] };
        struct peer_options options = { .serve = serve_cut, .context = &cutter };
        struct peer *peer = peer_start(&options);
        struct store *direct = open_port(server.port, NULL, NULL);
        struct store *store = open_port(peer_port(peer), NULL, NULL);
        wait_up(direct, true);
        wait_up(store, true);
        assert_int_equal(keep(direct, "q", "acme", 20), STORE_FOUND);
        assert_int_equal(look(store, STORE_READ, "q", "acme"), STORE_FAULT);
        assert_int_equal(report_of(store).faults, 1);
        assert_int_equal(look(direct, STORE_READ, "q", "acme"), STORE_FOUND);
        close_it(&store);
        close_it(&direct);
        peer_stop(&peer);
    }
    redis_server_stop(&server);
}

static void one_that_is_full_is_still_read(void **state)
{
    struct redis_server server;
    char reply[512];
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *store = open_path(&server);
    wait_up(store, true);
    assert_int_equal(keep(store, "q", "acme", 2), STORE_FOUND);
    redis_server_say(&server, "CONFIG SET maxmemory 1", reply, sizeof reply);
    assert_int_equal(keep(store, "q", "bravo", 2), STORE_FAULT);
    wait_trouble(store, "it takes nothing: OOM");
    assert_true(report_of(store).is_up);
    assert_int_equal(look(store, STORE_READ, "q", "acme"), STORE_FOUND);
    redis_server_say(&server, "CONFIG SET maxmemory 0", reply, sizeof reply);
    for (int i = 0; keep(store, "q", "bravo", 2) != STORE_FOUND; i++) { // it is left alone for a while
        assert_true(i < LOOKS_MAX);
        poll(NULL, 0, LOOK_MS);
    }
    wait_trouble(store, "");
    close_it(&store);
    redis_server_stop(&server);
}

static void a_replica_is_read_and_takes_nothing(void **state)
{
    struct redis_server server;
    char reply[512];
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, (const char *const[]){ "--replica-serve-stale-data", "yes", NULL });
    struct store *store = open_path(&server);
    wait_up(store, true);
    assert_int_equal(keep(store, "q", "acme", 2), STORE_FOUND);
    redis_server_say(&server, "REPLICAOF 127.0.0.1 1", reply, sizeof reply);
    wait_up(store, true); // it may have closed its connections
    for (int i = 0; strstr(report_of(store).trouble, "READONLY") == NULL; i++) {
        assert_true(i < LOOKS_MAX);
        assert_int_not_equal(keep(store, "q", "bravo", 2), STORE_FOUND);
        poll(NULL, 0, LOOK_MS);
    }
    assert_int_equal(look(store, STORE_READ, "q", "acme"), STORE_FOUND);
    close_it(&store);
    redis_server_stop(&server);
}

static void the_only_key(const struct redis_server *server, char *key, size_t size)
{
    char reply[1024];

    redis_server_say(server, "SELECT 3\r\nKEYS *:a:*", reply, sizeof reply);
    const char *found = strstr(reply, "lastcall:a:");
    assert_non_null(found);
    snprintf(key, size, "%.*s", (int)strcspn(found, "\r"), found);
}

static void an_entry_that_cannot_be_read_is_absent_and_gone(void **state)
{
    static const char *const DAMAGE[] = {
        "SETRANGE %s 10 x",         // its head
        "SETRANGE %s 3 \x02",       // another version
        "SETRANGE %s 200 @@@@@@@@", // its offers
        "APPEND %s x",              // longer than it says
        "SET %s short",             //
        "DEL %s\r\nRPUSH %s a",     // something else altogether
    };
    struct redis_server server;
    char key[256], line[1200], reply[512];
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *store = open_path(&server);
    wait_up(store, true);
    for (size_t i = 0; i < COUNT_OF(DAMAGE); i++) {
        assert_int_equal(keep(store, "q", "acme", 20), STORE_FOUND);
        the_only_key(&server, key, sizeof key);
        int at = snprintf(line, sizeof line, "SELECT 3\r\n");
        const char *format = DAMAGE[i];
        for (const char *c = format; *c != '\0'; c++) {
            bool is_key = c[0] == '%' && c[1] == 's';
            at += snprintf(line + at, sizeof line - (size_t)at, is_key ? "%s" : "%.1s", is_key ? key : c);
            c += is_key;
        }
        redis_server_say(&server, line, reply, sizeof reply);
        assert_int_equal(look(store, STORE_READ, "q", "acme"), STORE_ABSENT);
        assert_int_equal(report_of(store).corrupt, i + 1);
        for (int j = 0; strstr(redis_server_say(&server, "SELECT 3\r\nDBSIZE", reply, sizeof reply), ":0") == NULL;
             j++) {
            assert_true(j < LOOKS_MAX);
            poll(NULL, 0, LOOK_MS);
        }
    }
    close_it(&store);
    redis_server_stop(&server);
}

static void an_answer_under_the_name_of_another_is_none(void **state)
{
    struct redis_server server;
    char key[256], other[256], line[1200], reply[512];
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *store = open_path(&server);
    wait_up(store, true);
    assert_int_equal(keep(store, "q", "acme", 2), STORE_FOUND);
    the_only_key(&server, key, sizeof key);
    snprintf(other, sizeof other, "%s", key);
    memcpy(strstr(other, "acme"), "evil", 4);
    snprintf(line, sizeof line, "SELECT 3\r\nCOPY %s %s", key, other);
    redis_server_say(&server, line, reply, sizeof reply);
    assert_int_equal(look(store, STORE_INDEX, "q", "evil"), STORE_ABSENT);
    assert_int_equal(report_of(store).corrupt, 1);
    assert_int_equal(look(store, STORE_INDEX, "q", "acme"), STORE_FOUND);
    close_it(&store);
    redis_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_refuses_is_a_fault_at_once),
        cmocka_unit_test(a_name_that_is_unknown_is_told),
        cmocka_unit_test(one_that_accepts_and_says_nothing_is_given_up),
        cmocka_unit_test(words_in_place_of_a_reply_are_a_fault),
        cmocka_unit_test(a_reply_without_end_is_given_up),
        cmocka_unit_test(one_that_flaps_is_asked_one_attempt_at_a_time),
        cmocka_unit_test(a_wrong_password_is_told_and_the_right_one_works),
        cmocka_unit_test(one_that_is_killed_is_found_again),
        cmocka_unit_test(one_that_is_gone_in_the_middle_of_a_reply_is_a_fault),
        cmocka_unit_test(one_that_is_full_is_still_read),
        cmocka_unit_test(a_replica_is_read_and_takes_nothing),
        cmocka_unit_test(an_entry_that_cannot_be_read_is_absent_and_gone),
        cmocka_unit_test(an_answer_under_the_name_of_another_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Routes of fetches: through a proxy, plain and tunnelled, and with a client's certificate.

#include "io/identity.h"
#include "model/ground.h"
#include "support/fetch_world.h"

#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

// ---- proxies

static char proxy_url[64];

/// By the address of the world's peer, or by the one name of the book.
static struct fetch_route proxy_route(const struct fetch_world *world, const char *host)
{
    uint16_t port = peer_port(world->peer);
    snprintf(proxy_url, sizeof(proxy_url), "http://%s:%u", host, (unsigned)port);
    return (struct fetch_route){ .id = 7,
                                 .proxy = text_of(proxy_url),
                                 .proxy_host = text_of(host),
                                 .proxy_is_literal = host[0] == '1',
                                 .proxy_port = port };
}

static void call_prepare_url(struct call *call, const char *url, const struct fetch_route *route)
{
    snprintf(call->url, sizeof(call->url), "%s", url);
    call->request.url = text_of(call->url);
    call->fetch.route = route;
}

static void a_proxy_is_asked_for_the_whole_url_and_nobody_resolves_its_host(void **state)
{
    struct fetch_world *world = *state;
    static const char *const hosts[] = { "127.0.0.1", "peer.test" };

    start_peer(world, serve_echo, false);
    set_book(world, NAME_KNOWN, "127.0.0.1");
    for (size_t i = 0; i < COUNT_OF(hosts); i++) {
        struct fetch_route route = proxy_route(world, hosts[i]);
        struct call call;
        call_prepare(world, &call, "GET", "127.0.0.1", false);
        call_prepare_url(&call, "http://nobody-knows.test/rates?a=1", &route);
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        expect_body(&call, "GET http://nobody-knows.test/rates?a=1 HTTP/1.1");
        call_fini(&call);
    }
}

static void the_next_fetch_without_a_route_goes_straight(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    start_peer(world, serve_echo, false);
    struct fetch_route route = proxy_route(world, "127.0.0.1");
    for (int i = 0; i < 4; i++) {
        call_prepare(world, &call, "GET", "127.0.0.1", false);
        call.fetch.route = i % 2 == 0 ? &route : NULL;
        char by_proxy[600];
        snprintf(by_proxy, sizeof(by_proxy), "GET %s HTTP/1.1", call.url);
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        expect_body(&call, i % 2 == 0 ? by_proxy : "GET /search?a=1 HTTP/1.1");
        call_fini(&call);
    }
}

static void a_proxy_at_a_forbidden_address_is_refused(void **state)
{
    struct fetch_world *world = *state;
    struct call call;

    start_peer(world, serve_echo, false);
    struct fetch_route route = proxy_route(world, "127.9.9.9");
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_prepare_url(&call, "http://nobody-knows.test/", &route);
    call_run(world, &call);
    expect(&call, FETCH_REFUSED, PHASE_QUEUE);
    route = proxy_route(world, "127.0.0.1");
    call_prepare(world, &call, "GET", "127.0.0.1", false);
    call_prepare_url(&call, "http://10.1.2.3/", &route); // a proxy is no way around it
    call_run(world, &call);
    expect(&call, FETCH_REFUSED, PHASE_QUEUE);
    assert_int_equal(peer_requests(world->peer), 0);
}

static uint16_t tunnel_port; // where every tunnel leads

static bool pump(int from, int to)
{
    char bytes[4096];
    ssize_t got = recv(from, bytes, sizeof(bytes), 0);
    return got > 0 && send(to, bytes, (size_t)got, MSG_NOSIGNAL) == got;
}

static void serve_tunnel(struct peer_stream *stream)
{
    struct sockaddr_in target = { .sin_family = AF_INET, .sin_port = htons(tunnel_port) };
    char head[HEAD];
    uint64_t length;

    if (!stream_read_request(stream, head, sizeof(head), &length) || strncmp(head, "CONNECT ", 8) != 0) {
        return;
    }
    if (strstr(head, "secret.test:") != NULL) {
        stream_send(stream, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
        return;
    }
    target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&target, sizeof(target)) == 0 &&
        stream_send(stream, "HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n")) {
        struct pollfd both[] = { { .fd = stream->fd, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
        bool is_open = true;
        while (is_open && poll(both, 2, -1) > 0) {
            is_open = (both[0].revents == 0 || pump(stream->fd, fd)) && (both[1].revents == 0 || pump(fd, stream->fd));
        }
    }
    close(fd);
}

static void tls_goes_through_a_tunnel_and_is_checked_against_the_url(void **state)
{
    struct fetch_world *world = *state;
    struct peer_options options = { .serve = serve_echo, .tls = world->tls };
    struct peer *target = peer_start(&options);
    struct call call;

    tunnel_port = peer_port(target);
    start_peer(world, serve_tunnel, false);
    struct fetch_route route = proxy_route(world, "127.0.0.1");
    for (int i = 0; i < 2; i++) {
        call_prepare(world, &call, "GET", "127.0.0.1", true);
        call_prepare_url(&call, "https://peer.test/rates", &route); // whose name is in no book
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        expect_body(&call, "GET /rates HTTP/1.1");
        assert_null(http_response_header(call.fetch.response, "x-proxy").data);
        assert_int_equal(call.fetch.is_reused, i > 0);
        call_fini(&call);
    }
    call_prepare(world, &call, "GET", "127.0.0.1", true);
    call_prepare_url(&call, "https://other.test/rates", &route);
    call_run(world, &call);
    expect(&call, FETCH_TLS_FAILED, PHASE_TLS);
    call_prepare(world, &call, "GET", "127.0.0.1", true);
    call_prepare_url(&call, "https://secret.test/rates", &route);
    call_run(world, &call);
    assert_int_equal(call.fetch.result, FETCH_CONNECT_FAILED);
    assert_non_null(strstr(call.fetch.detail, "403"));
    peer_stop(&target);
}

// ---- certificates

struct identity {
    char certificate_file[64], key_file[64];
    struct arena arena;
    struct fetch_route route;
};

static void identity_make(struct fetch_world *world, const char *name, int days, struct identity *identity)
{
    *identity = (struct identity){ .certificate_file = "/tmp/lastcall_test_cert_XXXXXX",
                                   .key_file = "/tmp/lastcall_test_key_XXXXXX" };
    certificate_authority_issue(world->authority, name, days, identity->certificate_file, identity->key_file);
    arena_init(&identity->arena, 1 << 20);
}

static void identity_make_good(struct fetch_world *world, const char *name, uint64_t id, struct identity *identity)
{
    struct failure why = { 0 };
    identity_make(world, name, 10, identity);
    identity->route.id = id;
    enum status status = identity_load(identity->certificate_file, identity->key_file, &identity->arena,
                                       &identity->route.certificate, &identity->route.key, &why);
    assert_string_equal(why.message, "");
    assert_int_equal(status, STATUS_OK);
}

static void identity_fini(struct identity *identity)
{
    unlink(identity->certificate_file);
    unlink(identity->key_file);
    arena_fini(&identity->arena);
}

/// Answers with the name in the client's certificate.
static void serve_name(struct peer_stream *stream)
{
    char head[HEAD];
    char answer[256];
    char name[64] = "nobody";
    uint64_t length;

    while (stream_read_request(stream, head, sizeof(head), &length)) {
        X509 *certificate = SSL_get1_peer_certificate(stream->tls);
        if (certificate != NULL) {
            X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
            X509_free(certificate);
        }
        snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(name), name);
        if (!stream_send(stream, answer)) {
            return;
        }
    }
}

static void each_route_shows_its_own_certificate(void **state)
{
    struct fetch_world *world = *state;
    struct identity acme, beta;
    struct call call;

    certificate_authority_demand(world->authority, world->tls);
    identity_make_good(world, "acme", 1, &acme);
    identity_make_good(world, "beta", 2, &beta);
    start_peer(world, serve_name, true);
    for (int i = 0; i < 6; i++) { // kept connections among them
        call_prepare(world, &call, "GET", "127.0.0.1", true);
        call.fetch.route = i % 2 == 0 ? &acme.route : &beta.route;
        call_run(world, &call);
        expect(&call, FETCH_OK, PHASE_BODY);
        expect_body(&call, i % 2 == 0 ? "acme" : "beta");
        assert_int_equal(call.fetch.is_reused, i >= 2);
        call_fini(&call);
    }
    call_prepare(world, &call, "GET", "127.0.0.1", true);
    call_run(world, &call);
    // TLS 1.3 lets the client finish first: whether the refusal meets its sending or its reading is a race.
    assert_int_not_equal(call.fetch.result, FETCH_OK);
    assert_false(call.fetch.is_reused);
    identity_fini(&acme);
    identity_fini(&beta);
}

/// A route that goes with its ground, as an account's does with its generation.
struct plot {
    struct ground ground;
    struct identity identity;
    bool *is_gone;
};

static void plot_end(struct ground *ground)
{
    struct plot *plot = CONTAINER_OF(ground, struct plot, ground);

    *plot->is_gone = true;
    identity_fini(&plot->identity);
    memset(plot, 0xa5, sizeof(*plot));
    free(plot);
}

static void a_fetch_that_is_given_up_holds_the_ground_of_its_route_until_the_transport_lets_go(void **state)
{
    struct fetch_world *world = *state;
    struct plot *plot = calloc(1, sizeof(*plot));
    bool is_gone = false;
    struct call call;

    assert_non_null(plot);
    ground_init(&plot->ground, plot_end);
    plot->is_gone = &is_gone;
    identity_make_good(world, "acme", 1, &plot->identity);
    start_peer_saying(world, "", true); // of a handshake it knows nothing
    call_prepare(world, &call, "GET", "127.0.0.1", true);
    call.fetch.route = &plot->identity.route;
    call.fetch.ground = &plot->ground;
    assert_int_equal(fetch_start(world->pool, &call.fetch), STATUS_OK);
    for (int i = 0; i < 5000 && fetch_phase(&call.fetch) != PHASE_TLS; i++) {
        run_for(world, 1 * MS);
    }
    assert_int_equal(fetch_phase(&call.fetch), PHASE_TLS);
    fetch_cancel(world->pool, &call.fetch);
    struct ground *own = &plot->ground;
    ground_drop(&own);
    assert_false(is_gone); // the transport has the certificate yet, and the key
    for (int i = 0; i < 5000 && !is_gone; i++) {
        run_for(world, 1 * MS);
    }
    assert_true(is_gone);
    call_fini(&call);
}

static void refuses(const char *certificate, const char *key, struct arena *arena, const char *words)
{
    struct text first, second;
    struct failure why = { 0 };
    assert_int_equal(identity_load(certificate, key, arena, &first, &second, &why), STATUS_INVALID);
    if (strstr(why.message, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, why.message);
    }
    assert_true(why.help[0] != '\0');
}

static void an_identity_that_cannot_be_used_is_refused(void **state)
{
    struct fetch_world *world = *state;
    struct identity good, other, expired;

    identity_make_good(world, "good", 1, &good);
    identity_make_good(world, "other", 2, &other);
    identity_make(world, "expired", -1, &expired);
    refuses("/nowhere/cert.pem", good.key_file, &good.arena, "cannot be read: No such file");
    refuses(good.certificate_file, "/nowhere/key.pem", &good.arena, "cannot be read");
    refuses("/dev/null", good.key_file, &good.arena, "cannot be read: it is not a regular file");
    refuses(good.key_file, good.key_file, &good.arena, "holds no certificate");
    refuses(good.certificate_file, good.certificate_file, &good.arena, "holds no private key");
    refuses(good.certificate_file, other.key_file, &good.arena, "is not the key of the certificate");
    refuses(expired.certificate_file, expired.key_file, &good.arena, "has expired");
    identity_fini(&good);
    identity_fini(&other);
    identity_fini(&expired);
}

#define PLAY(test) cmocka_unit_test_setup_teardown(test, fetch_world_set_up, fetch_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY(a_proxy_is_asked_for_the_whole_url_and_nobody_resolves_its_host),
        PLAY(the_next_fetch_without_a_route_goes_straight),
        PLAY(a_proxy_at_a_forbidden_address_is_refused),
        PLAY(tls_goes_through_a_tunnel_and_is_checked_against_the_url),
        PLAY(each_route_shows_its_own_certificate),
        PLAY(a_fetch_that_is_given_up_holds_the_ground_of_its_route_until_the_transport_lets_go),
        PLAY(an_identity_that_cannot_be_used_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

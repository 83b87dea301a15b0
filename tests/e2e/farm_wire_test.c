// The bytes of the farm's wire faults, seen by a client that knows only sockets, and that a population can plan them.

#include "e2e/farm_process.h"
#include "e2e/wire.h"

#include "base/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { HTTP = 8080, QUICK = 1, CLOSER = 8 };

static const char ask[] = "{\"trip\":[{\"from\":\"MAD\",\"to\":\"LHR\",\"date\":\"2030-05-12\"}]}";

static const char population[] =
    "quick   1  both  a         constant  0    0  0  4000  -\n"
    "planned 2  http  a         constant  0    0  0  4000  -  close gzip_plain=100%\n"
    "storm   3  http  a         constant  0    0  0  4000  -  outage=status_429 outage_ms=600000\n"
    "waits   4  http  a         ramp      0    0  0  4000  -  peak_ms=10 over_ms=1000\n"
    "sources 5  http  parts     constant  0    0  0  4000  -  source_down=100%\n"
    "polled  6  http  poll_add  bimodal   0    0  0  4000  -  other_ms=5 other_share=50% rounds=4 poll_after_ms=7\n"
    "heals   7  http  a         recovery  0    0  0  4000  -  peak_ms=10 over_ms=1000 outage=status_503\n"
    "closer  8  http  a         constant  0    0  0  4000  -  close\n";

/// What the wire shows of a fault. `closes`: the fault itself ends the connection.
struct sight {
    const char *fault;
    const char *shown;
    const char *not_shown;
    bool closes;
};

static const struct sight sights[] = {
    { "gzip_cut_length", "Content-Encoding: gzip\r\nContent-Length: ", "chunked", false },
    { "gzip_cut_chunked", "Transfer-Encoding: chunked\r\n\r\n", "Content-Length", false },
    { "gzip_cut_close", "Content-Encoding: gzip\r\n\r\n\x1f\x8b", "Content-Length", true },
    { "gzip_cut_record", "Content-Encoding: gzip\r\n", "chunked", false },
    { "gzip_plain", "Content-Encoding: gzip\r\nContent-Length: ", "\x1f\x8b", false },
    { "gzip_members", "Content-Encoding: gzip\r\n", "chunked", false },
    { "gzip_bomb", "\r\n\r\n\x1f\x8b", "chunked", false },
    { "json_cut_close", "json\r\n\r\n{\"search\"", "Content-Length", true },
    { "chunked_no_end", "]}\r\n", "\r\n0\r\n", true },
    { "chunked_broken", "\r\nno size ", "\r\n0\r\n", true },
    { "length_long", "]}", "chunked", true },
    { "length_short", "]}", "chunked", false },
    { "status_204_body", "HTTP/1.1 204 No Content\r\n", "chunked", false },
    { "head_huge", "X-Padding-4095: ", "chunked", false },
    { "head_line_huge", "X-Padding: xxxxxxxx", "chunked", false },
    { "informational", "HTTP/1.1 103 Early Hints\r\n", "-20.css", false },
    { "informational_flood", "style-9999.css", "-10000.css", false },
    { "no_status_line", "{\"search\"", "HTTP/", true },
    { "redirect_host", "Location: http://quick.farm.test:8080/elsewhere\r\n", "file:", false },
    { "redirect_file", "Location: file:///", "elsewhere", false },
    { "bom", "\r\n\r\n\xef\xbb\xbf{", "charset", false },
    { "utf16", "charset=utf-16\r\n", "{\"", false },
    { "cp1252", "\"brand\":\"\x80", "utf-8", false },
    { "charset_lie", "\"brand\":\"\x80", "windows", false },
};

static bool shows(size_t length, const char *needle)
{
    return memmem(answer, length, needle, strlen(needle)) != NULL;
}

static void play(const char *supplier, const char *fault)
{
    const char *body;
    char path[64], change[64];
    snprintf(path, sizeof(path), "/supplier/%s", supplier);
    snprintf(change, sizeof(change), "{\"fault\":\"%s\"}", fault);
    assert_int_equal(admin(path, change, &body), 200);
}

/// Reads until the supplier closes; false: it did not.
static bool play_and_read(int host, const char *fault, size_t *length)
{
    play(host == QUICK ? "quick" : "closer", fault);
    int fd = connect_to(host, HTTP, WAIT_MS);
    assert_true(fd >= 0);
    send_request(fd, "POST", "/v1/offers", ask);
    bool is_closed = drain(fd, WAIT_MS, length) == 0;
    close(fd);
    return is_closed;
}

static void each_fault_of_an_answer_shows_on_the_wire(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sights); i++) {
        const struct sight *sight = &sights[i];
        size_t length;
        bool is_read = play_and_read(sight->closes ? QUICK : CLOSER, sight->fault, &length);
        if (!is_read || !shows(length, sight->shown) || shows(length, sight->not_shown)) {
            fail_msg("%s: closed %d, %zu bytes: %.300s", sight->fault, is_read, length, answer);
        }
    }
}

static void the_lengths_are_wrong_by_a_hundred(void **state)
{
    (void)state;
    static const struct {
        const char *fault;
        long off;
    } cases[] = { { "length_long", 100 }, { "length_short", -100 } };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t length;
        assert_true(play_and_read(CLOSER, cases[i].fault, &length));
        long told = strtol(strstr(answer, "Content-Length: ") + 16, NULL, 10);
        long sent = (long)length - (strstr(answer, "\r\n\r\n") + 4 - answer);
        assert_int_equal(told - sent, cases[i].off);
    }
}

/// What curl makes of the certificate.
static int curl_code(const char *fault)
{
    char command[512];
    play("quick", fault);
    snprintf(command, sizeof(command),
             "curl -s -o /dev/null --noproxy '*' --max-time 20 --cacert %s/tls/ca.pem --resolve "
             "quick.farm.test:8443:127.0.46.1 -d '%s' https://quick.farm.test:8443/v1/offers",
             farm_folder, ask);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void certificates_are_wrong_in_three_ways(void **state)
{
    (void)state;
    assert_int_equal(curl_code("none"), 0);
    assert_int_equal(curl_code("slow_tls"), 0);
    assert_int_equal(curl_code("cert_unknown"), 60);
    assert_int_equal(curl_code("cert_name"), 60);
    assert_int_equal(curl_code("cert_expired"), 60);
}

static void the_name_server_fails_and_lies(void **state)
{
    (void)state;
    uint32_t address;
    play("quick", "name_servfail");
    assert_int_equal(ask_name("quick.farm.test", WAIT_MS, &address), 2);
    play("quick", "name_wrong");
    assert_int_equal(ask_name("quick.farm.test", WAIT_MS, &address), 0);
    assert_int_equal(address, htonl(INADDR_LOOPBACK));
    play("quick", "none");
    assert_int_equal(ask_name("quick.farm.test", WAIT_MS, &address), 0);
    assert_int_equal(address, address_of(1, 0).sin_addr.s_addr);
}

static void a_fault_at_accept_ends_the_kept_connections(void **state)
{
    (void)state;
    const char *body;
    char byte;
    int fd = connect_to(1, HTTP, WAIT_MS);
    send_request(fd, "POST", "/v1/offers", ask);
    assert_int_equal(read_answer(fd, &body), 200);
    play("quick", "hang_accept");
    assert_int_equal(receive(fd, &byte, 1, WAIT_MS), 0);
    close(fd);
}

static void a_population_plans_faults_outages_and_models(void **state)
{
    (void)state;
    const char *body;
    size_t length;
    assert_int_equal(exchange(3, HTTP, "POST", "/v1/offers", ask, &body), 429);
    assert_int_equal(exchange(4, HTTP, "POST", "/v1/offers", ask, &body), 200);
    assert_int_equal(exchange(5, HTTP, "POST", "/v1/sources/3", ask, &body), 502);
    assert_int_equal(exchange(5, HTTP, "POST", "/v1/sources/1", ask, &body), 200);
    assert_int_equal(exchange(6, HTTP, "POST", "/v1/searches", ask, &body), 200);
    assert_non_null(strstr(body, "\"status\":\"pending\",\"poll_after_ms\":7}"));
    assert_int_equal(exchange(7, HTTP, "POST", "/v1/offers", ask, &body), 200);
    int fd = connect_to(2, HTTP, WAIT_MS);
    send_request(fd, "POST", "/v1/offers", ask);
    drain(fd, WAIT_MS, &length);
    assert_true(shows(length, "Content-Encoding: gzip\r\n"));
    close(fd);
}

static void models_and_outages_change_while_it_runs(void **state)
{
    (void)state;
    const char *body;
    assert_int_equal(admin("/supplier/quick", "{\"outage\":\"status_503\",\"outage_ms\":600000}", &body), 200);
    assert_non_null(strstr(body, "\"outage\":\"status_503\""));
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask, &body), 503);
    assert_int_equal(admin("/supplier/quick", "{\"outage\":\"none\",\"model\":\"ramp\",\"peak_ms\":3}", &body), 200);
    assert_non_null(strstr(body, "\"model\":\"ramp\""));
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask, &body), 200);
    assert_int_equal(admin("/supplier/quick", "{\"outage\":\"refused\"}", &body), 422);
    assert_non_null(strstr(body, "no fault of an answer"));
    assert_int_equal(admin("/supplier/quick", "{\"fault\":\"source_down\"}", &body), 422);
    assert_int_equal(admin("/supplier/planned", "{\"fault\":\"cert_name\"}", &body), 422);
    assert_int_equal(admin("/faults", NULL, &body), 200);
    for (size_t i = 0; i < COUNT_OF(sights); i++) {
        assert_non_null(strstr(body, sights[i].fault));
    }
}

static void a_line_that_cannot_be_played_is_told(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        { "http a constant 0 0 0 9 - cert_name=1%", "cert_name: this supplier does not speak TLS" },
        { "http a constant 0 0 0 9 - source_down=1%", "source_down: this supplier has no sources" },
        { "http a constant 0 0 0 9 - outage=refused", "outage: \"refused\" is no fault of an answer" },
        { "http a constant 0 0 0 9 - rounds=0", "\"rounds=0\" is no FAULT=SHARE" },
        { "http poll constant 0 0 0 9 -", "shape: \"poll\" is unknown" },
        { "http a normal 0 0 0 9 -", "model: \"normal\" is unknown" },
    };

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        char command[1024];
        snprintf(command, sizeof(command),
                 "printf 's01 1 %%s\\n' '%s' >%s/broken; %s --population %s/broken 2>&1 | grep -qF 'broken:1: %s'",
                 lines[i][0], farm_folder, farm_path(), farm_folder, lines[i][1]);
        assert_int_equal(system(command), 0);
    }
}

static int start(void **state)
{
    (void)state;
    return farm_start(population);
}

static int stop(void **state)
{
    (void)state;
    return farm_stop();
}

static int reset_farm(void **state)
{
    (void)state;
    const char *body;
    return admin("/reset", "{\"seed\":5}", &body) == 200 ? 0 : -1;
}

#define PLAY(name) cmocka_unit_test_setup(name, reset_farm)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY(each_fault_of_an_answer_shows_on_the_wire),   PLAY(the_lengths_are_wrong_by_a_hundred),
        PLAY(certificates_are_wrong_in_three_ways),        PLAY(the_name_server_fails_and_lies),
        PLAY(a_fault_at_accept_ends_the_kept_connections), PLAY(a_population_plans_faults_outages_and_models),
        PLAY(models_and_outages_change_while_it_runs),     PLAY(a_line_that_cannot_be_played_is_told),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start, stop);
}

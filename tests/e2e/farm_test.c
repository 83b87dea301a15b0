// The farm on the wire: every fault, every answer and the name server, seen by a client that knows only sockets.

#include "e2e/farm_process.h"
#include "e2e/wire.h"

#include "base/json_read.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SILENCE_MS = 250, HTTP = 8080, HTTPS = 8443 };

#define TRIP                                                                                                           \
    "\"trip\":[{\"from\":\"MAD\",\"to\":\"LHR\",\"date\":\"2030-05-12\"},{\"from\":\"LHR\",\"to\":\"MAD\","            \
    "\"date\":\"2030-05-19\"}]"
static const char ask_a[] = "{" TRIP ",\"travellers\":{\"adults\":2},\"cabin\":\"economy\",\"currency\":\"EUR\"}";
static const char ask_b[] = "{\"od\":[\"MAD-LHR-2030-05-12\"],\"pax\":\"1ADT\",\"class\":\"Y\",\"cur\":\"GBP\"}";

static const char population[] = "quick   1  both  a  constant  0    0  0  4000  -\n"
                                 "flat    2  both  b  constant  0    0  0  4000  -\n"
                                 "slow    3  http  a  constant  400  0  0  4000  -\n"
                                 "coin    4  http  a  constant  0    0  0  4000  -  status_500=50%\n"
                                 "closer  5  both  a  constant  0    0  0  4000  -  close\n"
                                 "shut    6  http  a  constant  0    0  0  4000  -  refused=100%\n"
                                 "late    7  http  a  constant  0    0  0  4000  -  name_delay_ms=400\n"
                                 "kept    8  http  a  constant  0    0  0  4000  -  silent_kept=100%\n";

static void play(const char *supplier, const char *fault)
{
    const char *body;
    char path[64], change[64];
    snprintf(path, sizeof(path), "/supplier/%s", supplier);
    snprintf(change, sizeof(change), "{\"fault\":\"%s\"}", fault);
    assert_int_equal(admin(path, change, &body), 200);
}

/// Asks supplier `quick` while it plays the fault; the connection stays open.
static int ask_quick(const char *fault)
{
    play("quick", fault);
    int fd = connect_to(1, HTTP, WAIT_MS);
    assert_true(fd >= 0);
    send_request(fd, "POST", "/v1/offers", ask_a);
    return fd;
}

static void assert_silence(int fd)
{
    char byte;
    assert_int_equal(receive(fd, &byte, 1, SILENCE_MS), -2);
}

static unsigned count(const char *bytes, const char *word)
{
    unsigned found = 0;
    for (const char *at = bytes; (at = strstr(at, word)) != NULL; at += strlen(word)) {
        found++;
    }
    return found;
}

static void assert_json(const char *body)
{
    size_t offset;
    const char *sentence = "";
    if (!json_is_valid(text_of(body), &offset, &sentence)) {
        fail_msg("no JSON at %zu: %s", offset, sentence);
    }
}

static void an_answer_holds_thirty_offers_for_the_journey_asked(void **state)
{
    (void)state;
    const char *body;
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask_a, &body), 200);
    assert_json(body);
    assert_int_equal(count(body, "\"slices\":["), 30);
    assert_int_equal(count(body, "{\"from\":\"MAD\",\"to\":\"LHR\""), 30);
    assert_int_equal(count(body, "{\"from\":\"LHR\",\"to\":\"MAD\""), 30);
    assert_true(count(body, "\"departs\":\"2030-05-12T") >= 30);
    assert_true(count(body, "\"departs\":\"2030-05-19T") >= 30);
    assert_in_range(strlen(body), 19000, 23000);
}

static void the_flat_shape_holds_thirty_fares_with_money_as_text(void **state)
{
    (void)state;
    const char *body;
    assert_int_equal(exchange(2, HTTP, "POST", "/search", ask_b, &body), 200);
    assert_json(body);
    assert_int_equal(count(body, "\"total\":\""), 30);
    assert_int_equal(count(body, "\"id\":\"J"), 30);
    assert_non_null(strstr(body, "\"cur\":\"GBP\""));
}

static void equal_seeds_give_equal_answers_and_other_seeds_others(void **state)
{
    (void)state;
    const char *body;
    assert_int_equal(admin("/reset", "{\"seed\":5}", &body), 200);
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask_a, &body), 200);
    char *first = strdup(body);
    assert_int_equal(admin("/reset", "{\"seed\":6}", &body), 200);
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask_a, &body), 200);
    assert_string_not_equal(first, body);
    assert_int_equal(admin("/reset", "{\"seed\":5}", &body), 200);
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask_a, &body), 200);
    assert_string_equal(first, body);
    free(first);
}

static void some_itineraries_are_sold_by_several_suppliers(void **state)
{
    (void)state;
    const char *body;
    unsigned shared = 0;
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask_a, &body), 200);
    char *first = strdup(body);
    assert_int_equal(exchange(5, HTTP, "POST", "/v1/offers", ask_a, &body), 200);
    for (const char *at = first; (at = strstr(at, "\"slices\":[")) != NULL; at++) {
        char *flights = strndup(at, (size_t)(strstr(at, "]}]}") - at));
        shared += strstr(body, flights) != NULL ? 1 : 0;
        free(flights);
    }
    assert_in_range(shared, 6, 12); // twelve each, out of a pool of eighteen
    free(first);
}

static void a_kept_connection_answers_requests_that_come_in_pieces_and_together(void **state)
{
    (void)state;
    const char *body;
    char request[1024];
    int fd = connect_to(1, HTTP, WAIT_MS);
    snprintf(request, sizeof(request), "POST /v1/offers HTTP/1.1\r\ncontent-length: %zu\r\n\r\n%s", strlen(ask_a),
             ask_a);
    for (size_t i = 0; i < strlen(request); i += 40) {
        char piece[41];
        snprintf(piece, sizeof(piece), "%s", request + i);
        send_text(fd, piece);
        usleep(500);
    }
    assert_int_equal(read_answer(fd, &body), 200);
    size_t one = strlen(answer);
    char twice[2048];
    snprintf(twice, sizeof(twice), "%s%s", request, request);
    send_text(fd, twice);
    size_t length = 0;
    while (length < 2 * one) {
        ssize_t got = receive(fd, answer, ANSWER_MAX, WAIT_MS);
        assert_true(got > 0);
        length += (size_t)got;
    }
    assert_int_equal(length, 2 * one);
    close(fd);
}

static void requests_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const char *body;
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", "{}", &body), 400);
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", "{\"trip\":[", &body), 400);
    assert_int_equal(exchange(2, HTTP, "POST", "/search", "{\"od\":[\"MAD-LHR-2030-02-30\"]}", &body), 400);
    assert_int_equal(exchange(1, HTTP, "GET", "/v1/offers", "", &body), 405);
    assert_int_equal(exchange(1, HTTP, "POST", "/elsewhere", ask_a, &body), 404);
    int fd = connect_to(1, HTTP, WAIT_MS);
    send_text(fd, "nonsense\r\n\r\n");
    assert_int_equal(read_answer(fd, &body), 400);
    close(fd);
}

static void a_slow_supplier_answers_after_a_quick_one(void **state)
{
    (void)state;
    const char *body;
    char byte;
    int slow = connect_to(3, HTTP, WAIT_MS);
    send_request(slow, "POST", "/v1/offers", ask_a);
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask_a, &body), 200);
    assert_int_equal(recv(slow, &byte, 1, MSG_DONTWAIT), -1);
    assert_int_equal(read_answer(slow, &body), 200);
    close(slow);
}

static void a_supplier_that_closes_says_so_and_does(void **state)
{
    (void)state;
    size_t length;
    int fd = connect_to(5, HTTP, WAIT_MS);
    send_request(fd, "POST", "/v1/offers", ask_a);
    assert_int_equal(drain(fd, WAIT_MS, &length), 0);
    assert_non_null(strstr(answer, "Connection: close\r\n"));
    assert_int_equal(count(answer, "\"slices\":["), 30);
    close(fd);
}

static void refused_means_no_listener(void **state)
{
    (void)state;
    assert_int_equal(connect_to(6, HTTP, WAIT_MS), -1);
    play("quick", "refused");
    assert_int_equal(connect_to(1, HTTP, WAIT_MS), -1);
    assert_int_equal(connect_to(1, HTTPS, WAIT_MS), -1);
}

static void hang_connect_lets_connects_hang(void **state)
{
    (void)state;
    int fds[4], hanging = 0;
    play("quick", "hang_connect");
    for (int i = 0; i < 4; i++) {
        fds[i] = connect_to(1, HTTP, SILENCE_MS);
        hanging += fds[i] < 0 ? 1 : 0;
    }
    assert_int_equal(hanging, 4);
}

static void hang_accept_accepts_and_keeps_silent(void **state)
{
    (void)state;
    int fd = ask_quick("hang_accept");
    assert_silence(fd);
    close(fd);
}

static void hang_tls_never_shakes_hands_but_speaks_http(void **state)
{
    (void)state;
    const char *body;
    play("quick", "hang_tls");
    int fd = connect_to(1, HTTPS, WAIT_MS);
    send_text(fd, "no hello of TLS: whoever shakes hands would send an alert");
    assert_silence(fd);
    close(fd);
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask_a, &body), 200);
    play("quick", "none");
    fd = connect_to(1, HTTPS, WAIT_MS);
    send_text(fd, "no hello of TLS: whoever shakes hands would send an alert");
    assert_int_not_equal(receive(fd, answer, ANSWER_MAX, WAIT_MS), -2);
    close(fd);
}

static void hang_answer_reads_the_request_and_keeps_silent(void **state)
{
    (void)state;
    const char *body;
    int fd = ask_quick("hang_answer");
    assert_silence(fd);
    close(fd);
    assert_int_equal(admin("/supplier/quick", NULL, &body), 200);
    assert_non_null(strstr(body, "\"hang_answer\":1"));
}

static void hang_headers_sends_the_headers_only(void **state)
{
    (void)state;
    size_t length;
    int fd = ask_quick("hang_headers");
    assert_int_equal(drain(fd, SILENCE_MS, &length), -2);
    assert_string_equal(answer + length - 4, "\r\n\r\n");
    close(fd);
}

static void hang_body_sends_half_of_the_body(void **state)
{
    (void)state;
    size_t length;
    int fd = ask_quick("hang_body");
    assert_int_equal(drain(fd, SILENCE_MS, &length), -2);
    size_t whole = strtoul(strstr(answer, "Content-Length: ") + 16, NULL, 10);
    assert_int_equal(length - (size_t)(strstr(answer, "\r\n\r\n") + 4 - answer), whole / 2);
    close(fd);
}

static void drip_sends_the_body_byte_by_byte(void **state)
{
    (void)state;
    size_t length = 0;
    int fd = ask_quick("drip");
    for (const char *end = NULL; end == NULL; end = strstr(answer, "\r\n\r\n")) {
        ssize_t got = receive(fd, answer + length, 4096, WAIT_MS);
        assert_true(got > 0);
        length += (size_t)got;
        answer[length] = '\0';
    }
    assert_string_equal(answer + length - 4, "\r\n\r\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(receive(fd, answer, ANSWER_MAX, WAIT_MS), 1);
    }
    close(fd);
}

static void silent_kept_answers_once_for_each_connection(void **state)
{
    (void)state;
    const char *body;
    int fd = ask_quick("silent_kept");
    assert_int_equal(read_answer(fd, &body), 200);
    send_request(fd, "POST", "/v1/offers", ask_a);
    assert_silence(fd);
    close(fd);
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask_a, &body), 200);
}

static void shares_of_silent_kept_are_drawn_by_connection(void **state)
{
    (void)state;
    const char *body;
    int fd = connect_to(8, HTTP, WAIT_MS);
    send_request(fd, "POST", "/v1/offers", ask_a);
    assert_int_equal(read_answer(fd, &body), 200);
    send_request(fd, "POST", "/v1/offers", ask_a);
    assert_silence(fd);
    close(fd);
}

static void resets_come_at_accept_after_the_headers_and_mid_body(void **state)
{
    (void)state;
    size_t length;
    char byte;
    play("quick", "reset_accept");
    int fd = connect_to(1, HTTP, WAIT_MS);
    if (fd >= 0) {
        assert_int_equal(receive(fd, &byte, 1, WAIT_MS), -1);
        assert_int_equal(errno, ECONNRESET);
        close(fd);
    }
    fd = ask_quick("reset_headers");
    assert_int_equal(drain(fd, WAIT_MS, &length), -1);
    assert_string_equal(answer + length - 4, "\r\n\r\n");
    close(fd);
    fd = ask_quick("reset_body");
    assert_int_equal(drain(fd, WAIT_MS, &length), -1);
    assert_in_range(length, 5000, 15000);
    close(fd);
    fd = ask_quick("cut_body");
    assert_int_equal(drain(fd, WAIT_MS, &length), 0);
    assert_in_range(length, 5000, 15000);
    close(fd);
}

static void statuses_and_odd_bodies_are_played(void **state)
{
    (void)state;
    const char *body;
    int fd = ask_quick("status_429");
    assert_int_equal(read_answer(fd, &body), 429);
    assert_non_null(strstr(answer, "Retry-After: 2\r\n"));
    close(fd);
    fd = ask_quick("status_500");
    assert_int_equal(read_answer(fd, &body), 500);
    assert_json(body);
    close(fd);
    fd = ask_quick("status_503");
    assert_int_equal(read_answer(fd, &body), 503);
    close(fd);
    fd = ask_quick("html");
    assert_int_equal(read_answer(fd, &body), 200);
    assert_non_null(strstr(body, "<html>"));
    close(fd);
    fd = ask_quick("empty");
    assert_int_equal(read_answer(fd, &body), 200);
    assert_string_equal(body, "");
    close(fd);
}

static void a_healed_supplier_answers_again(void **state)
{
    (void)state;
    static const char *const faults[] = { "refused", "hang_connect", "hang_accept", "drip" };
    const char *body;
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        play("quick", faults[i]);
        play("quick", "none");
        assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask_a, &body), 200);
    }
}

static void the_same_seed_plays_the_same_faults(void **state)
{
    (void)state;
    const char *body;
    int first[24], failures = 0;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(admin("/reset", "{\"seed\":9}", &body), 200);
        for (size_t i = 0; i < COUNT_OF(first); i++) {
            int status = exchange(4, HTTP, "POST", "/v1/offers", ask_a, &body);
            assert_true(round == 0 || first[i] == status);
            first[i] = status;
            failures += status == 500 ? 1 : 0;
        }
    }
    assert_in_range(failures, 4, 44);
}

static void the_test_authority_vouches_for_names_and_addresses(void **state)
{
    (void)state;
    char command[1024];
    snprintf(command, sizeof(command),
             "curl -sf --noproxy '*' --max-time 20 --cacert %s/tls/ca.pem --resolve quick.farm.test:8443:127.0.46.1 "
             "-d '%s' https://quick.farm.test:8443/v1/offers https://127.0.46.1:8443/v1/offers | grep -o "
             "'\"slices\":' | wc -l | grep -qx 60",
             farm_folder, ask_a);
    assert_int_equal(system(command), 0);
}

static void the_name_server_knows_the_suppliers_and_nobody_else(void **state)
{
    (void)state;
    uint32_t address;
    assert_int_equal(ask_name("Flat.FARM.test", WAIT_MS, &address), 0);
    assert_int_equal(address, address_of(2, 0).sin_addr.s_addr);
    assert_int_equal(ask_name("nobody.farm.test", WAIT_MS, &address), 3);
    assert_int_equal(ask_name("www.example.com", WAIT_MS, &address), 5);
    assert_int_equal(ask_name("never7.farm.test", SILENCE_MS, &address), -1);
    assert_int_equal(ask_name("late.farm.test", 100, &address), -1);
    assert_int_equal(ask_name("late.farm.test", WAIT_MS, &address), 0);
}

static void names_can_be_played_one_by_one_and_all_together(void **state)
{
    (void)state;
    const char *body;
    uint32_t address;
    play("quick", "never_resolves");
    assert_int_equal(ask_name("quick.farm.test", SILENCE_MS, &address), -1);
    assert_int_equal(ask_name("flat.farm.test", WAIT_MS, &address), 0);
    play("quick", "nxdomain");
    assert_int_equal(ask_name("quick.farm.test", WAIT_MS, &address), 3);
    assert_int_equal(admin("/names", "{\"mode\":\"never\"}", &body), 200);
    assert_int_equal(ask_name("flat.farm.test", SILENCE_MS, &address), -1);
    assert_int_equal(admin("/names", "{\"mode\":\"answer\"}", &body), 200);
    assert_int_equal(ask_name("flat.farm.test", WAIT_MS, &address), 0);
}

static void a_file_is_served_as_it_is(void **state)
{
    (void)state;
    const char *body;
    assert_int_equal(exchange(9, HTTP, "POST", "/air/offer_requests?return_offers=true", "{}", &body), 200);
    assert_string_equal(body, population);
}

static void the_admin_endpoint_counts_and_refuses_what_it_does_not_know(void **state)
{
    (void)state;
    const char *body;
    assert_int_equal(exchange(1, HTTP, "POST", "/v1/offers", ask_a, &body), 200);
    assert_int_equal(admin("/stats", NULL, &body), 200);
    assert_json(body);
    assert_non_null(strstr(body, "\"cpu_percent\":"));
    assert_int_equal(admin("/supplier/quick", NULL, &body), 200);
    assert_non_null(strstr(body, "\"requests\":1,\"answered\":1"));
    assert_int_equal(admin("/supplier/nobody", NULL, &body), 404);
    assert_int_equal(admin("/supplier/quick", "{\"fault\":\"tired\"}", &body), 422);
    assert_non_null(strstr(body, "\\\"tired\\\" is no fault; there are none, refused, "));
    assert_non_null(strstr(body, ", charset_lie, login_hang, login_500, login_denied, mix\"}\n"));
    assert_int_equal(admin("/supplier/quick", "{\"median_ms\":-1}", &body), 422);
    assert_non_null(strstr(body, "\\\"median_ms\\\" takes a number from 0 to 600000"));
    assert_int_equal(admin("/supplier/quick", "{\"fautl\":\"none\"}", &body), 422);
    assert_non_null(
        strstr(body, "\\\"fautl\\\" is unknown; there are fault, model, mode, outage, field, retry_after, median_ms"));
    assert_int_equal(admin("/names", "{\"delay_ms\":0}", &body), 200);
    assert_string_equal(body, "{\"seed\":5,\"names\":{\"mode\":\"answer\",\"delay_ms\":0}}\n");
    assert_int_equal(admin("/supplier/slow", "{\"fault\":\"hang_tls\"}", &body), 422);
    assert_int_equal(admin("/supplier/slow", "{\"median_ms\":0,\"model\":\"lognormal\",\"sigma\":0.5}", &body), 200);
    assert_non_null(strstr(body, "\"model\":\"lognormal\",\"median_ms\":0,\"sigma\":0.5"));
}

static void the_settings_of_the_example_are_those_of_its_population(void **state)
{
    (void)state;
    char command[1024];
    snprintf(command, sizeof(command),
             "%s --population examples/farm/populations/brief.txt --print-settings >%s/printed", farm_path(),
             farm_folder);
    assert_int_equal(system(command), 0);
    snprintf(
        command, sizeof(command),
        "sed -n '/^suppliers:/,/^  # Not of the farm/p' examples/farm/lastcall.yaml | sed '$d' | diff - %s/printed",
        farm_folder);
    assert_int_equal(system(command), 0);
}

static void every_population_of_the_example_is_well_formed(void **state)
{
    (void)state;
    static const char *const names[] = { "brief", "healthy", "hanging8", "instant", "tls-cold", "steps" };
    char command[1024];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(command, sizeof(command),
                 "%s --population examples/farm/populations/%s.txt --print-settings | grep -c uses: | grep -qx 40",
                 farm_path(), names[i]);
        assert_int_equal(system(command), 0);
    }
}

static void a_broken_population_is_told_with_its_line(void **state)
{
    (void)state;
    char command[1024];
    snprintf(
        command, sizeof(command),
        "printf '# one\\ns01 1 http a lognormal 80 0.2 0 4000 - tired=2%%%%\\n' >%s/broken; %s --population %s/broken "
        "2>&1 | grep -q 'broken:2: \"tired=2%%\" is no FAULT=SHARE'",
        farm_folder, farm_path(), farm_folder);
    assert_int_equal(system(command), 0);
}

static void sigterm_ends_it_cleanly(void **state)
{
    (void)state;
    int fd = ask_quick("hang_body");
    assert_int_equal(farm_terminate(), 0);
    close(fd);
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
    return !farm_is_running() || admin("/reset", "{\"seed\":5}", &body) == 200 ? 0 : -1;
}

#define PLAY(name) cmocka_unit_test_setup(name, reset_farm)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY(an_answer_holds_thirty_offers_for_the_journey_asked),
        PLAY(the_flat_shape_holds_thirty_fares_with_money_as_text),
        PLAY(equal_seeds_give_equal_answers_and_other_seeds_others),
        PLAY(some_itineraries_are_sold_by_several_suppliers),
        PLAY(a_kept_connection_answers_requests_that_come_in_pieces_and_together),
        PLAY(requests_that_make_no_sense_are_refused),
        PLAY(a_slow_supplier_answers_after_a_quick_one),
        PLAY(a_supplier_that_closes_says_so_and_does),
        PLAY(refused_means_no_listener),
        PLAY(hang_connect_lets_connects_hang),
        PLAY(hang_accept_accepts_and_keeps_silent),
        PLAY(hang_tls_never_shakes_hands_but_speaks_http),
        PLAY(hang_answer_reads_the_request_and_keeps_silent),
        PLAY(hang_headers_sends_the_headers_only),
        PLAY(hang_body_sends_half_of_the_body),
        PLAY(drip_sends_the_body_byte_by_byte),
        PLAY(silent_kept_answers_once_for_each_connection),
        PLAY(shares_of_silent_kept_are_drawn_by_connection),
        PLAY(resets_come_at_accept_after_the_headers_and_mid_body),
        PLAY(statuses_and_odd_bodies_are_played),
        PLAY(a_healed_supplier_answers_again),
        PLAY(the_same_seed_plays_the_same_faults),
        PLAY(the_test_authority_vouches_for_names_and_addresses),
        PLAY(the_name_server_knows_the_suppliers_and_nobody_else),
        PLAY(names_can_be_played_one_by_one_and_all_together),
        PLAY(a_file_is_served_as_it_is),
        PLAY(the_admin_endpoint_counts_and_refuses_what_it_does_not_know),
        PLAY(the_settings_of_the_example_are_those_of_its_population),
        PLAY(every_population_of_the_example_is_well_formed),
        PLAY(a_broken_population_is_told_with_its_line),
        PLAY(sigterm_ends_it_cleanly),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start, stop);
}

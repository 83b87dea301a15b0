// The resolver with a name server of the test's own.

#include "base/clock.h"
#include "io/resolver.h"
#include "support/hosts_file.h"
#include "support/name_server.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// --------------------------------------------------------------------------------------------------- with name servers

struct world {
    struct name_server *server;
    struct resolver *resolver;
    atomic_uint changes;
};

static void count_change(void *context)
{
    struct world *world = context;
    atomic_fetch_add(&world->changes, 1);
}

static struct resolver *make_resolver(struct world *world, uint16_t port, const char *range)
{
    char server[32];
    const char *const servers[] = { server };
    struct address_range allowed;
    struct failure why = { 0 };
    struct resolver *resolver;

    snprintf(server, sizeof(server), "127.0.0.1:%u", (unsigned)port);
    if (range != NULL) {
        assert_true(address_range_parse(text_of(range), &allowed));
    }
    struct resolver_options options = { .servers = servers,
                                        .server_count = 1,
                                        .allowed = &allowed,
                                        .allowed_count = range != NULL,
                                        .on_change = count_change,
                                        .context = world };
    assert_int_equal(resolver_create(&options, &resolver, &why), STATUS_OK);
    return resolver;
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    world->server = name_server_start();
    world->resolver = make_resolver(world, name_server_port(world->server), "127.0.0.0/8");
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    resolver_destroy(&world->resolver);
    if (world->server != NULL) {
        name_server_stop(&world->server);
    }
    free(world);
    return 0;
}

static void set_name(struct resolver *resolver, const char *name)
{
    struct text host = text_of(name);
    assert_int_equal(resolver_set_names(resolver, &host, 1), STATUS_OK);
}

static enum name_state look(struct resolver *resolver, const char *name, char *address, size_t size, size_t *count)
{
    struct address_book *book = resolver_book(resolver);
    const struct address_entry *entry = address_book_find(book, text_of(name));

    assert_non_null(entry);
    enum name_state state = entry->state;
    *count = entry->address_count;
    if (entry->address_count > 0) {
        const struct sockaddr_storage *first = &entry->addresses[0];
        const void *bytes = first->ss_family == AF_INET6
                                ? (const void *)&((const struct sockaddr_in6 *)(const void *)first)->sin6_addr
                                : (const void *)&((const struct sockaddr_in *)(const void *)first)->sin_addr;
        inet_ntop(first->ss_family, bytes, address, (socklen_t)size);
    } else {
        address[0] = '\0';
    }
    address_book_release(&book);
    return state;
}

// Waits (20 s at most) until the name has that state and that first address (NULL: any).
static void wait_for(struct resolver *resolver, const char *name, enum name_state wanted, const char *first)
{
    char address[INET6_ADDRSTRLEN];
    size_t count;

    for (int i = 0; i < 4000; i++) {
        if (look(resolver, name, address, sizeof(address), &count) == wanted &&
            (first == NULL || strcmp(first, address) == 0)) {
            return;
        }
        usleep(5000);
    }
    fail_msg("%s never came to state %d with %s", name, (int)wanted, first != NULL ? first : "anything");
}

static void a_name_becomes_known_with_all_its_addresses(void **state)
{
    struct world *world = *state;
    char address[INET6_ADDRSTRLEN];
    size_t count;

    name_server_set(world->server, "acme.example", ANSWERS, "8.8.8.8,8.8.4.4,2606:4700::1111", 60);
    set_name(world->resolver, "ACME.example");
    wait_for(world->resolver, "acme.EXAMPLE", NAME_KNOWN, "8.8.8.8");
    for (count = 0; count < 3;) { // the IPv6 address may be a moment later
        assert_int_equal(look(world->resolver, "acme.example", address, sizeof(address), &count), NAME_KNOWN);
    }
    assert_int_equal(count, 3);
    assert_true(atomic_load(&world->changes) >= 1);
    assert_true(resolver_is_settled(world->resolver));
}

static void a_name_that_is_added_later_takes_readiness_from_nobody(void **state)
{
    struct world *world = *state;
    const struct text hosts[] = { TEXT("acme.example"), TEXT("new.example") };
    char address[INET6_ADDRSTRLEN];
    size_t count;

    name_server_set(world->server, "acme.example", ANSWERS, "8.8.8.8", 60);
    name_server_set(world->server, "new.example", IS_SILENT, "", 0);
    set_name(world->resolver, "acme.example");
    wait_for(world->resolver, "acme.example", NAME_KNOWN, "8.8.8.8");
    while (!resolver_is_settled(world->resolver)) { // the other family may be a moment later
        usleep(1000);
    }
    assert_int_equal(resolver_set_names(world->resolver, hosts, COUNT_OF(hosts)), STATUS_OK);
    assert_int_equal(look(world->resolver, "new.example", address, sizeof(address), &count), NAME_PENDING);
    assert_true(resolver_is_settled(world->resolver));
    assert_int_equal(look(world->resolver, "acme.example", address, sizeof(address), &count), NAME_KNOWN);
}

static void a_new_name_stands_in_the_book_at_once_as_pending(void **state)
{
    struct world *world = *state;
    const struct text hosts[] = { TEXT("b.example"), TEXT("a.example"), TEXT("b.example") };

    name_server_set(world->server, "a.example", IS_SILENT, "", 0);
    name_server_set(world->server, "b.example", IS_SILENT, "", 0);
    assert_int_equal(resolver_set_names(world->resolver, hosts, COUNT_OF(hosts)), STATUS_OK);
    struct address_book *book = resolver_book(world->resolver);
    const struct address_entry *entry = address_book_find(book, TEXT("b.example"));
    assert_non_null(entry);
    assert_int_equal(entry->state, NAME_PENDING);
    assert_non_null(address_book_find(book, TEXT("a.example")));
    assert_null(address_book_find(book, TEXT("c.example")));
    address_book_release(&book);
    assert_false(resolver_is_settled(world->resolver));
}

static void names_that_cannot_be_are_not_taken(void **state)
{
    struct world *world = *state;
    char long_name[300];
    struct text hosts[] = { { long_name, 254 } };
    struct text nothing = { "", 0 };

    memset(long_name, 'a', sizeof(long_name));
    assert_int_equal(resolver_set_names(world->resolver, hosts, 1), STATUS_INVALID);
    assert_int_equal(resolver_set_names(world->resolver, &nothing, 1), STATUS_INVALID);
    assert_int_equal(resolver_set_names(world->resolver, NULL, 0), STATUS_OK);
}

static void a_name_that_is_not_there_fails_and_says_why(void **state)
{
    struct world *world = *state;

    set_name(world->resolver, "missing.example");
    wait_for(world->resolver, "missing.example", NAME_FAILED, NULL);
    struct address_book *book = resolver_book(world->resolver);
    assert_true(address_book_find(book, TEXT("missing.example"))->detail[0] != '\0');
    address_book_release(&book);
}

static void a_server_that_refuses_or_fails_fails_the_name(void **state)
{
    struct world *world = *state;
    const struct text hosts[] = { TEXT("refused.example"), TEXT("failing.example") };

    name_server_set(world->server, "refused.example", REFUSES, "", 0);
    name_server_set(world->server, "failing.example", FAILS, "", 0);
    assert_int_equal(resolver_set_names(world->resolver, hosts, COUNT_OF(hosts)), STATUS_OK);
    wait_for(world->resolver, "refused.example", NAME_FAILED, NULL);
    wait_for(world->resolver, "failing.example", NAME_FAILED, NULL);
}

static void a_failed_name_is_asked_again_and_found(void **state)
{
    struct world *world = *state;

    name_server_set(world->server, "late.example", SAYS_NO_NAME, "", 0);
    set_name(world->resolver, "late.example");
    wait_for(world->resolver, "late.example", NAME_FAILED, NULL);
    name_server_set(world->server, "late.example", ANSWERS, "8.8.8.8", 60);
    wait_for(world->resolver, "late.example", NAME_KNOWN, "8.8.8.8");
}

static void a_server_that_never_answers_leaves_the_name_pending_and_the_others_known(void **state)
{
    struct world *world = *state;
    const struct text hosts[] = { TEXT("hung.example"), TEXT("acme.example") };
    char address[INET6_ADDRSTRLEN];
    size_t count;

    name_server_set(world->server, "hung.example", IS_SILENT, "", 0);
    name_server_set(world->server, "acme.example", ANSWERS, "8.8.8.8", 60);
    assert_int_equal(resolver_set_names(world->resolver, hosts, COUNT_OF(hosts)), STATUS_OK);
    wait_for(world->resolver, "acme.example", NAME_KNOWN, "8.8.8.8");
    while (name_server_questions(world->server, "hung.example") < 4) { // asked again: at least one time-out passed
        usleep(5000);
    }
    assert_int_equal(look(world->resolver, "hung.example", address, sizeof(address), &count), NAME_PENDING);
    while (!resolver_is_settled(world->resolver)) { // nobody waits for it for ever
        usleep(5000);
    }
    name_server_set(world->server, "hung.example", ANSWERS, "8.8.4.4", 60);
    wait_for(world->resolver, "hung.example", NAME_KNOWN, "8.8.4.4");
}

static void a_server_silent_about_ipv6_does_not_hold_up_ipv4(void **state)
{
    struct world *world = *state;

    name_server_set(world->server, "half.example", IS_SILENT_ABOUT_IPV6, "8.8.8.8", 60);
    set_name(world->resolver, "half.example");
    wait_for(world->resolver, "half.example", NAME_KNOWN, "8.8.8.8");
}

static void private_addresses_of_a_name_are_left_out(void **state)
{
    struct world *world = *state;
    const struct text hosts[] = { TEXT("inside.example"), TEXT("mixed.example"), TEXT("local.example") };
    char address[INET6_ADDRSTRLEN];
    size_t count;

    name_server_set(world->server, "inside.example", ANSWERS, "10.0.0.1,fd00::1", 60);
    name_server_set(world->server, "mixed.example", ANSWERS, "10.0.0.1,8.8.8.8", 60);
    name_server_set(world->server, "local.example", ANSWERS, "127.0.40.1", 60);
    assert_int_equal(resolver_set_names(world->resolver, hosts, COUNT_OF(hosts)), STATUS_OK);
    wait_for(world->resolver, "inside.example", NAME_FORBIDDEN, NULL);
    struct address_book *book = resolver_book(world->resolver);
    const char *detail = address_book_find(book, TEXT("inside.example"))->detail;
    assert_non_null(strstr(detail, "inside.example is at "));
    assert_true(strstr(detail, " 10.0.0.1, a private") != NULL || strstr(detail, " fd00::1, a private") != NULL);
    assert_non_null(strstr(detail, " address; allow it in network.allow_private"));
    address_book_release(&book);
    wait_for(world->resolver, "mixed.example", NAME_KNOWN, "8.8.8.8");
    wait_for(world->resolver, "local.example", NAME_KNOWN, "127.0.40.1");
    look(world->resolver, "mixed.example", address, sizeof(address), &count);
    assert_int_equal(count, 1);
}

static void a_refresh_brings_new_addresses(void **state)
{
    struct world *world = *state;

    name_server_set(world->server, "moving.example", ANSWERS, "8.8.8.8", 1);
    set_name(world->resolver, "moving.example");
    wait_for(world->resolver, "moving.example", NAME_KNOWN, "8.8.8.8");
    name_server_set(world->server, "moving.example", ANSWERS, "8.8.4.4", 1);
    wait_for(world->resolver, "moving.example", NAME_KNOWN, "8.8.4.4");
}

static void names_that_stay_keep_their_addresses_when_the_set_is_replaced(void **state)
{
    struct world *world = *state;
    const struct text hosts[] = { TEXT("acme.example"), TEXT("hung.example") };
    char address[INET6_ADDRSTRLEN];
    size_t count;

    name_server_set(world->server, "acme.example", ANSWERS, "8.8.8.8", 600);
    name_server_set(world->server, "hung.example", IS_SILENT, "", 0);
    set_name(world->resolver, "acme.example");
    wait_for(world->resolver, "acme.example", NAME_KNOWN, "8.8.8.8");
    for (int i = 0; i < 200; i++) { // with look-ups of the dropped name under way
        assert_int_equal(resolver_set_names(world->resolver, hosts, 1 + (size_t)(i % 2)), STATUS_OK);
        assert_int_equal(look(world->resolver, "acme.example", address, sizeof(address), &count), NAME_KNOWN);
    }
    set_name(world->resolver, "other.example");
    wait_for(world->resolver, "other.example", NAME_FAILED, NULL);
    struct address_book *book = resolver_book(world->resolver);
    assert_null(address_book_find(book, TEXT("acme.example")));
    address_book_release(&book);
}

static void the_hosts_file_is_honoured(void **state)
{
    struct world *world = *state;

    if (!hosts_file_names_localhost()) {
        print_message("SKIPPED: /etc/hosts does not name localhost\n");
        skip();
    }
    set_name(world->resolver, "localhost");
    wait_for(world->resolver, "localhost", NAME_KNOWN, "127.0.0.1");
}

static void a_changed_resolv_conf_is_read_again(void **state)
{
    struct world *world = *state;
    char path[] = "/tmp/lastcall_test_resolv_conf_XXXXXX";
    struct failure why = { 0 };
    struct resolver *resolver;
    char address[INET6_ADDRSTRLEN];
    size_t count;
    int fd = mkstemp(path);

    // 127.9.9.9 has nobody at that port; 127.0.0.1 has.
    assert_true(fd >= 0 && write(fd, "nameserver 127.9.9.9\n", 21) == 21);
    close(fd);
    struct address_range all;
    assert_true(address_range_parse(TEXT("127.0.0.0/8"), &all));
    struct resolver_options options = {
        .resolv_conf = path, .resolv_conf_port = name_server_port(world->server), .allowed = &all, .allowed_count = 1
    };
    assert_int_equal(resolver_create(&options, &resolver, &why), STATUS_OK);
    name_server_set(world->server, "acme.example", ANSWERS, "8.8.8.8", 60);
    set_name(resolver, "acme.example");
    usleep(300000);
    assert_int_equal(look(resolver, "acme.example", address, sizeof(address), &count), NAME_PENDING);
    FILE *file = fopen(path, "w");
    fputs("nameserver 127.0.0.1\n", file);
    fclose(file);
    wait_for(resolver, "acme.example", NAME_KNOWN, "8.8.8.8");
    resolver_destroy(&resolver);
    unlink(path);
}

static void a_resolver_ends_in_the_middle_of_its_questions(void **state)
{
    struct world *world = *state;

    name_server_set(world->server, "hung.example", IS_SILENT, "", 0);
    for (int i = 0; i < 20; i++) {
        struct resolver *resolver = make_resolver(world, name_server_port(world->server), NULL);
        set_name(resolver, "hung.example");
        if (i % 2 == 0) {
            while (name_server_questions(world->server, "hung.example") < (unsigned)i) {
                usleep(1000);
            }
        }
        resolver_destroy(&resolver);
    }
}

static void name_servers_that_are_no_addresses_are_refused_with_a_sentence(void **state)
{
    const char *const servers[] = { "dns.example" };
    struct resolver_options options = { .servers = servers, .server_count = 1 };
    struct resolver *resolver;
    struct failure why = { 0 };
    (void)state;

    assert_int_equal(resolver_create(&options, &resolver, &why), STATUS_INVALID);
    assert_null(resolver);
    assert_non_null(strstr(why.message, "dns.example"));
}

#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SERVER(a_name_becomes_known_with_all_its_addresses),
        WITH_SERVER(a_name_that_is_added_later_takes_readiness_from_nobody),
        WITH_SERVER(a_new_name_stands_in_the_book_at_once_as_pending),
        WITH_SERVER(names_that_cannot_be_are_not_taken),
        WITH_SERVER(a_name_that_is_not_there_fails_and_says_why),
        WITH_SERVER(a_server_that_refuses_or_fails_fails_the_name),
        WITH_SERVER(a_failed_name_is_asked_again_and_found),
        WITH_SERVER(a_server_that_never_answers_leaves_the_name_pending_and_the_others_known),
        WITH_SERVER(a_server_silent_about_ipv6_does_not_hold_up_ipv4),
        WITH_SERVER(private_addresses_of_a_name_are_left_out),
        WITH_SERVER(a_refresh_brings_new_addresses),
        WITH_SERVER(names_that_stay_keep_their_addresses_when_the_set_is_replaced),
        WITH_SERVER(the_hosts_file_is_honoured),
        WITH_SERVER(a_changed_resolv_conf_is_read_again),
        WITH_SERVER(a_resolver_ends_in_the_middle_of_its_questions),
        cmocka_unit_test(name_servers_that_are_no_addresses_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

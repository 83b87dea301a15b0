// The engine in small, on the calling thread: one loop, one search. Permits, logins and the resolver are moved in by
// the generation's own catalogue; the search gets a copy of it in which this supplier is on and live, at the same
// place, so that rules find it.

#include "app/live_world.h"
#include "app/try.h"

#include "base/clock.h"
#include "io/identity.h"
#include "search/search.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SETTLE_US = 3000000,
    SETTLE_POLL_US = 2000,
    WATCH_POLL_US = 30000,
    WORKERS = 2,
    ITEMS_MAX = 10000,
    OFFERS_MAX = 10000
};

static volatile sig_atomic_t is_interrupted; // by Ctrl-C; one run at a time

struct try_live {
    struct try_run *run;
    const struct try_subject *subject;
    struct loop *loop;
    struct resolver *resolver;
    struct worker_pool *workers;
    struct fetch_pool *fetches;
    struct permits *permits;
    struct login_book *logins;
    struct live_world live;
    bool has_world;
    struct catalogue catalogue; // in which the supplier is on
    struct timer settle;        // until its names are known
    struct timer watch;         // for Ctrl-C
    uint64_t settle_end_us;
    struct message book_message;
    atomic_bool is_book_posted;
    struct search *search;
    struct failure *why;
    bool is_started;
};

// -------------------------------------------------------------------------------------------------------- the supplier

static struct catalogue_supplier *copy_suppliers(struct try_live *own)
{
    const struct catalogue *from = own->subject->catalogue;
    struct catalogue_supplier *copies = arena_alloc_array(&own->run->arena, from->supplier_count, sizeof(*copies));

    if (copies != NULL) {
        memcpy(copies, from->suppliers, from->supplier_count * sizeof(*copies));
    }
    return copies;
}

/// False: no memory.
static bool make_catalogue(struct try_live *own)
{
    const struct catalogue *from = own->subject->catalogue;
    struct catalogue_supplier *suppliers = copy_suppliers(own);
    size_t count = catalogue_account_count(own->subject->supplier);
    struct script_account *accounts = arena_alloc_array(&own->run->arena, count, sizeof(*accounts));

    if (suppliers == NULL || accounts == NULL) {
        return false;
    }
    memcpy(accounts, own->subject->supplier->account, count * sizeof(*accounts));
    for (size_t i = 0; i < count; i++) {
        accounts[i].mode = MODE_LIVE;
    }
    struct catalogue_supplier *supplier = &suppliers[own->subject->supplier - from->suppliers];
    supplier->is_enabled = true;
    supplier->mode = MODE_LIVE;
    supplier->account = accounts;
    supplier->shadow = NULL;
    own->catalogue = *from;
    own->catalogue.suppliers = suppliers;
    return true;
}

/// The names that its accounts connect to.
static bool set_names(struct try_live *own)
{
    struct text names[64];
    size_t count = 0;

    for (size_t i = 0; i < catalogue_account_count(own->subject->supplier); i++) {
        const struct script_account *account = &own->subject->supplier->account[i];
        const struct fetch_route *route = account->route;
        if (route != NULL && route->proxy.data != NULL && !route->proxy_is_literal && count < COUNT_OF(names)) {
            names[count++] = route->proxy_host;
        }
        for (size_t j = 0; j < account->host_count && count < COUNT_OF(names); j++) {
            struct text host;
            uint16_t port;
            struct in6_addr address;
            char terminated[INET6_ADDRSTRLEN + 1];
            if (!host_split(account->hosts[j], &host, &port)) {
                continue;
            }
            (void)snprintf(terminated, sizeof(terminated), "%.*s", TEXT_ARGS(host));
            bool is_literal = host.length < sizeof(terminated) && (inet_pton(AF_INET, terminated, &address) == 1 ||
                                                                   inet_pton(AF_INET6, terminated, &address) == 1);
            if (!is_literal) {
                names[count++] = host;
            }
        }
    }
    return resolver_set_names(own->resolver, names, count) == STATUS_OK;
}

// ----------------------------------------------------------------------------------------------------------- the
// search

static void on_reply(void *context, const struct search_reply *reply)
{
    struct try_live *own = context;

    own->search = NULL;
    buffer_append_text(&own->run->reply, block_text(reply->body));
    loop_stop(own->loop);
}

static void start_search(struct try_live *own)
{
    struct try_run *run = own->run;
    struct block *body = block_create(run->search);
    struct reserve reserve;

    reserve_init(&reserve);
    run->arrival_us = clock_now_us();
    run->wall_us = clock_wall_us();
    search_id_make(run->search_id, run->wall_us);
    const struct search_options options = { .world = &run->tap.world,
                                            .catalogue = &own->catalogue,
                                            .search_id = text_of(run->search_id),
                                            .product = own->subject->script->product,
                                            .body = body,
                                            .arrival_us = run->arrival_us,
                                            .arrival_wall_us = run->wall_us,
                                            .budget = run->budget,
                                            .reserve_us = reserve_for(&reserve, run->budget.effective_us),
                                            .reserve_wish_us = reserve_wish(&reserve),
                                            .only = &own->subject->supplier->name,
                                            .only_count = 1,
                                            .max_items = ITEMS_MAX,
                                            .max_offers_per_item = OFFERS_MAX,
                                            .sort = SORT_BEST,
                                            .on_reply = on_reply,
                                            .owner = own };
    own->is_started = body != NULL && search_start(&options, &own->search) == STATUS_OK;
    block_release(&body);
    if (!own->is_started) {
        failure_set(own->why, "the search could not be started: out of memory");
        loop_stop(own->loop);
    }
}

static void on_interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

/// Ctrl-C ends the search as its deadline would, so that what is known by then is told. It does so once: the second
/// one ends the program.
static void on_watch(struct timer *timer)
{
    struct try_live *own = CONTAINER_OF(timer, struct try_live, watch);

    if (own->search != NULL && is_interrupted != 0) {
        own->run->is_interrupted = true;
        search_end(&own->search, 0);
        return;
    }
    (void)!loop_timer_start(own->loop, timer, clock_now_us() + WATCH_POLL_US);
}

static void on_settle(struct timer *timer)
{
    struct try_live *own = CONTAINER_OF(timer, struct try_live, settle);
    uint64_t now_us = clock_now_us();

    if (!resolver_is_settled(own->resolver) && now_us < own->settle_end_us && is_interrupted == 0 &&
        loop_timer_start(own->loop, timer, now_us + SETTLE_POLL_US) == STATUS_OK) {
        return;
    }
    start_search(own);
    (void)!loop_timer_start(own->loop, &own->watch, clock_now_us());
}

// ------------------------------------------------------------------------------------------------------ start and stop

static void on_book_message(struct message *message)
{
    struct try_live *own = CONTAINER_OF(message, struct try_live, book_message);

    atomic_store(&own->is_book_posted, false);
    if (own->resolver != NULL && own->fetches != NULL) {
        fetch_pool_set_book(own->fetches, resolver_book(own->resolver));
    }
}

/// On the resolver's thread.
static void on_book(void *context)
{
    struct try_live *own = context;

    if (!atomic_exchange(&own->is_book_posted, true)) {
        loop_post(own->loop, &own->book_message);
    }
}

static enum status start_workers(struct try_live *own, struct failure *why)
{
    const struct settings *settings = own->subject->settings;
    const struct worker_pool_options options = { .threads = WORKERS,
                                                 .build_limit_us = settings->script_build_us,
                                                 .normalise_limit_us = settings->script_normalise_us,
                                                 .memory_growth = settings->script_memory,
                                                 .deliver = live_world_deliver,
                                                 .watches_fields = true };

    enum status status = worker_pool_create(&options, &own->workers, why);
    if (status == STATUS_OK) {
        (void)worker_pool_prepare(own->workers, own->catalogue.set, NULL);
    }
    return status;
}

static enum status start_wire(struct try_live *own, struct failure *why)
{
    const struct settings *settings = own->subject->settings;
    const struct resolver_options resolver = { .servers = settings->dns_servers,
                                               .server_count = settings->dns_server_count,
                                               .allowed = settings->allow_private,
                                               .allowed_count = settings->allow_private_count,
                                               .on_change = on_book,
                                               .context = own };
    const struct fetch_pool_options fetches = { .ca_file = settings->ca_file.data,
                                                .allowed = settings->allow_private,
                                                .allowed_count = settings->allow_private_count };

    enum status status = identity_check_authorities("network.ca_file", settings->ca_file.data, why);
    if (status == STATUS_OK) {
        status = resolver_create(&resolver, &own->resolver, why);
    }
    if (status == STATUS_OK && !set_names(own)) {
        status = STATUS_INVALID;
        failure_set(why, "the supplier's hosts cannot be looked up");
    }
    if (status == STATUS_OK) {
        status = fetch_pool_create(own->loop, &fetches, &own->fetches, why);
    }
    return status;
}

static enum status start_all(struct try_live *own, struct failure *why)
{
    const struct catalogue *catalogue = own->subject->catalogue;

    failure_set(why, "out of memory");
    enum status status = make_catalogue(own) ? loop_create(&own->loop) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        status = permits_create(catalogue, &own->permits);
    }
    if (status == STATUS_OK) {
        status = login_book_create(catalogue, &own->logins);
    }
    if (status == STATUS_OK) {
        status = start_workers(own, why);
    }
    if (status == STATUS_OK) {
        status = start_wire(own, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    live_world_init(&own->live, own->loop, own->fetches, own->workers, own->permits);
    own->has_world = true;
    tap_begin(&own->run->tap, &own->live.world);
    status = login_desk_open(&own->live.logins, own->logins, &own->run->tap.world, own->loop);
    if (status == STATUS_OK) {
        fetch_pool_set_book(own->fetches, resolver_book(own->resolver));
        own->settle_end_us = clock_now_us() + SETTLE_US;
        status = loop_timer_start(own->loop, &own->settle, clock_now_us());
    }
    return status;
}

/// As an engine goes down: what gives back first, what takes last.
static void stop_all(struct try_live *own)
{
    if (own->search != NULL) {
        search_cancel(&own->search);
    }
    if (own->has_world) {
        login_desk_close(&own->live.logins);
        shadow_desk_close(&own->live.shadows);
    }
    if (own->resolver != NULL) {
        resolver_destroy(&own->resolver);
    }
    if (own->workers != NULL) {
        worker_pool_destroy(&own->workers);
    }
    if (own->loop != NULL) {
        loop_stop(own->loop);
        loop_run(own->loop); // what is on its way is received
        struct timer *const timers[] = { &own->settle, &own->watch };
        for (size_t i = 0; i < COUNT_OF(timers); i++) {
            if (timer_is_running(timers[i])) {
                loop_timer_cancel(own->loop, timers[i]);
            }
        }
    }
    if (own->fetches != NULL) {
        fetch_pool_destroy(&own->fetches);
    }
    if (own->loop != NULL) {
        loop_destroy(&own->loop);
    }
    if (own->logins != NULL) {
        login_book_destroy(&own->logins);
    }
    if (own->permits != NULL) {
        permits_destroy(&own->permits);
    }
}

/// A supplier that lacks a secret has nothing to show to anybody.
static bool check_secrets(struct try_run *run, const struct try_subject *subject, struct failure *why)
{
    const struct script_account *account = subject->supplier->account;
    struct json_node *context = NULL;
    const char *sentence;
    size_t offset;

    if (json_tree_read(&run->arena, account->context, &context, &offset, &sentence) != STATUS_OK) {
        failure_set(why, "the supplier's account could not be read");
        return false;
    }
    const struct json_node *secrets = json_tree_member(context, "secret");
    for (size_t i = 0; i < subject->script->secret_count; i++) {
        if (json_tree_member_text(secrets, subject->script->secrets[i]) == NULL) {
            failure_code(why, CODE_SECRET_MISSING);
            failure_at(why, subject->script->file.data, 0, 0);
            failure_set(why, "a live call needs the secret %.*s, which is not set",
                        TEXT_ARGS(subject->script->secrets[i]));
            failure_help(why, "set the environment variable, or try a saved answer: --body FILE");
            return false;
        }
    }
    return true;
}

bool try_run_live(struct try_run *run, const struct try_subject *subject, struct failure *why)
{
    struct try_live own = { .run = run, .subject = subject, .why = why };

    if (!check_secrets(run, subject, why)) {
        return false;
    }
    own.settle.on_due = on_settle;
    own.watch.on_due = on_watch;
    own.book_message.on_receive = on_book_message;
    list_init(&own.book_message.node);
    run->is_live = true;
    (void)signal(SIGPIPE, SIG_IGN); // a peer that leaves ends its connection, not us
    const struct sigaction once = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
    (void)sigaction(SIGINT, &once, NULL);
    if (start_all(&own, why) == STATUS_OK) {
        loop_run(own.loop);
    }
    bool is_run = own.is_started && own.search == NULL && !run->reply.is_full;
    stop_all(&own);
    if (is_run) {
        struct json_node *root = NULL;
        const char *sentence;
        size_t offset;
        is_run = json_tree_read(&run->arena, buffer_text(&run->reply), &root, &offset, &sentence) == STATUS_OK;
        run->root = root;
    }
    return is_run;
}

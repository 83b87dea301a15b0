#include "io/resolver.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "io/resolver_book.h"
#include "io/resolver_channel.h"
#include "io/resolver_name.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// The thread's turn: take the wanted names, start the look-ups that are due, publish when something changed, wait.
//
// Names belong to the thread. Others only read books, and leave the list of wanted hosts. Two locks: `publishing` is
// held while a book is made and put up (by the thread or by who sets names), `lock` only for a pointer's exchange, so
// that a loop that asks for the book never waits for one being made.

static const uint64_t SETTLE_US = 2000000;

struct resolver {
    char *servers; // comma separated; NULL: resolv.conf
    char *resolv_conf;
    struct address_range *allowed;
    void (*on_change)(void *context);
    void *context;

    struct channel *channel;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_stopping;
    _Atomic uint64_t set_us;
    atomic_bool was_set; // names, once
    atomic_bool was_settled;

    pthread_mutex_t publishing;
    pthread_mutex_t lock;
    struct address_book *book;   // under lock
    struct address_book *wanted; // under publishing: hosts to take over, as a book; NULL: nothing new

    // the thread's own
    struct name **names; // ascending
    size_t name_count;
    struct name **dropped; // unwanted ones whose look-ups still run
    size_t dropped_count;
    bool is_dirty;   // a name's entry differs from the book
    bool is_changed; // on_change is due
};

// ------------------------------------------------------------------------------------------------------------- books

struct address_book *resolver_book(struct resolver *resolver)
{
    pthread_mutex_lock(&resolver->lock);
    struct address_book *book = address_book_acquire(resolver->book);
    pthread_mutex_unlock(&resolver->lock);
    return book;
}

static void resolver_put_up(struct resolver *resolver, struct address_book *book)
{
    pthread_mutex_lock(&resolver->lock);
    struct address_book *old = resolver->book;
    resolver->book = book;
    pthread_mutex_unlock(&resolver->lock);
    address_book_release(&old);
}

static struct address_book *resolver_make_book(const struct resolver *resolver)
{
    size_t address_count = 0;
    struct address_book *book = NULL;

    for (size_t i = 0; i < resolver->name_count; i++) {
        address_count += name_address_count(resolver->names[i]);
    }
    struct address_entry *entries = calloc(resolver->name_count + 1, sizeof(*entries));
    struct sockaddr_storage *addresses = calloc(address_count + 1, sizeof(*addresses));
    if (entries != NULL && addresses != NULL) {
        struct sockaddr_storage *room = addresses;
        for (size_t i = 0; i < resolver->name_count; i++) {
            name_to_entry(resolver->names[i], &entries[i], room);
            room += entries[i].address_count;
        }
        book = address_book_create(entries, resolver->name_count);
    }
    free(addresses);
    free(entries);
    return book;
}

// Without memory the old book stays and the next turn tries again.
static void resolver_publish(struct resolver *resolver)
{
    pthread_mutex_lock(&resolver->publishing);
    if (resolver->wanted == NULL) { // else: newer names wait, and the next turn publishes for them
        struct address_book *book = resolver_make_book(resolver);
        if (book != NULL) {
            resolver_put_up(resolver, book);
            resolver->is_dirty = false;
        }
    }
    pthread_mutex_unlock(&resolver->publishing);
    if (!resolver->is_dirty && resolver->is_changed) {
        resolver->is_changed = false;
        if (resolver->on_change != NULL) {
            resolver->on_change(resolver->context);
        }
    }
}

bool resolver_is_settled(struct resolver *resolver)
{
    if (atomic_load(&resolver->was_settled)) {
        return true;
    }
    struct address_book *book = resolver_book(resolver);
    bool is_settled = true;

    for (size_t i = 0; i < address_book_count(book) && is_settled; i++) {
        is_settled = address_book_at(book, i)->state != NAME_PENDING;
    }
    address_book_release(&book);
    is_settled = is_settled || clock_now_us() - atomic_load(&resolver->set_us) >= SETTLE_US;
    if (is_settled && atomic_load(&resolver->was_set)) {
        atomic_store(&resolver->was_settled, true);
    }
    return is_settled;
}

// ----------------------------------------------------------------------------------------------------- names from
// outside

static int host_compare(const void *a, const void *b)
{
    return text_compare(((const struct address_entry *)a)->host, ((const struct address_entry *)b)->host);
}

// Lower-case copies in one piece of memory, ascending, each once; `*count` becomes their number.
static struct address_entry *hosts_to_entries(const struct text *hosts, size_t *count, char **bytes)
{
    size_t total = 1;
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++) {
        total += hosts[i].length;
    }
    struct address_entry *entries = calloc(*count + 1, sizeof(*entries));
    char *place = *bytes = malloc(total);
    if (entries == NULL || place == NULL) {
        free(entries);
        free(place);
        *bytes = NULL;
        return NULL;
    }
    for (size_t i = 0; i < *count; i++) {
        for (size_t k = 0; k < hosts[i].length; k++) {
            char c = hosts[i].data[k];
            place[k] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        }
        entries[i].host = (struct text){ place, hosts[i].length };
        place += hosts[i].length;
    }
    qsort(entries, *count, sizeof(*entries), host_compare);
    for (size_t i = 0; i < *count; i++) {
        if (kept == 0 || !text_equals(entries[kept - 1].host, entries[i].host)) {
            entries[kept++] = entries[i];
        }
    }
    *count = kept;
    return entries;
}

enum status resolver_set_names(struct resolver *resolver, const struct text *hosts, size_t count)
{
    char *bytes = NULL;

    for (size_t i = 0; i < count; i++) {
        if (hosts[i].length == 0 || hosts[i].length > NAME_MAX_LENGTH) {
            return STATUS_INVALID;
        }
    }
    struct address_entry *entries = hosts_to_entries(hosts, &count, &bytes);
    if (entries == NULL) {
        return STATUS_NO_MEMORY;
    }
    pthread_mutex_lock(&resolver->publishing);
    struct address_book *old = resolver_book(resolver);
    for (size_t i = 0; i < count; i++) {
        const struct address_entry *known = address_book_find(old, entries[i].host);
        if (known != NULL) {
            entries[i] = *known;
        }
    }
    struct address_book *book = address_book_create(entries, count);
    if (book != NULL) {
        address_book_release(&resolver->wanted);
        resolver->wanted = address_book_acquire(book);
        atomic_store(&resolver->set_us, clock_now_us());
        resolver_put_up(resolver, book);
    }
    pthread_mutex_unlock(&resolver->publishing);
    address_book_release(&old);
    free(entries);
    free(bytes);
    if (book == NULL) {
        return STATUS_NO_MEMORY;
    }
    atomic_store(&resolver->was_set, true);
    channel_wake(resolver->channel);
    return STATUS_OK;
}

// ------------------------------------------------------------------------------------------------- names on the thread

// An unwanted name cannot be freed while c-ares holds its look-ups.
static void resolver_sweep(struct resolver *resolver)
{
    size_t kept = 0;

    for (size_t i = 0; i < resolver->dropped_count; i++) {
        if (name_is_running(resolver->dropped[i])) {
            resolver->dropped[kept++] = resolver->dropped[i];
        } else {
            name_destroy(&resolver->dropped[i]);
        }
    }
    resolver->dropped_count = kept;
}

// Merges two ascending lists: wanted hosts that are known keep their name, new ones get one, the rest is dropped.
// False: no memory, nothing was changed.
static bool resolver_merge(struct resolver *resolver, const struct address_book *wanted)
{
    size_t count = address_book_count(wanted);
    size_t made = 0;
    size_t old = 0;
    struct name **names = calloc(count + 1, sizeof(struct name *));
    struct name **dropped =
        realloc(resolver->dropped, (resolver->dropped_count + resolver->name_count + 1) * sizeof(struct name *));

    if (dropped != NULL) {
        resolver->dropped = dropped;
    }
    for (made = 0; names != NULL && made < count; made++) {
        // All the new ones first: nothing is moved before their memory is there.
        names[made] = name_create(address_book_at(wanted, made)->host);
        if (names[made] == NULL) {
            break;
        }
    }
    if (names == NULL || dropped == NULL || made < count) {
        while (made > 0) {
            name_destroy(&names[--made]);
        }
        free(names);
        return false;
    }
    for (size_t i = 0; i < count;) {
        int order = old < resolver->name_count ? strcmp(names[i]->host, resolver->names[old]->host) : -1;
        if (order == 0) {
            name_destroy(&names[i]);
            names[i] = resolver->names[old++];
        } else if (order > 0) {
            dropped[resolver->dropped_count++] = resolver->names[old++];
            continue;
        }
        i++;
    }
    while (old < resolver->name_count) {
        dropped[resolver->dropped_count++] = resolver->names[old++];
    }
    free(resolver->names);
    resolver->names = names;
    resolver->name_count = count;
    return true;
}

static void resolver_take_wanted(struct resolver *resolver)
{
    pthread_mutex_lock(&resolver->publishing);
    if (resolver->wanted != NULL && resolver_merge(resolver, resolver->wanted)) {
        address_book_release(&resolver->wanted);
        resolver->is_dirty = resolver->is_changed = true;
    }
    pthread_mutex_unlock(&resolver->publishing);
    resolver_sweep(resolver);
}

// ------------------------------------------------------------------------------------------------------------ thread

static void resolver_on_settled(void *context, bool is_changed)
{
    struct resolver *resolver = context;

    resolver->is_dirty = true;
    resolver->is_changed = resolver->is_changed || is_changed;
}

// Starts what is due; when the next one will be.
static uint64_t resolver_ask_due(struct resolver *resolver)
{
    uint64_t now_us = clock_now_us();
    uint64_t next_us = UINT64_MAX;

    for (size_t i = 0; i < resolver->name_count; i++) {
        for (size_t k = 0; k < NAME_LOOKUPS; k++) {
            struct lookup *lookup = &resolver->names[i]->lookups[k];
            if (!lookup->is_running && lookup->next_us <= now_us) {
                channel_ask(resolver->channel, lookup);
            }
            if (!lookup->is_running && lookup->next_us < next_us) {
                next_us = lookup->next_us;
            }
        }
    }
    return next_us;
}

static void *resolver_run(void *context)
{
    struct resolver *resolver = context;

    while (!atomic_load(&resolver->is_stopping)) {
        resolver_take_wanted(resolver);
        uint64_t next_us = resolver_ask_due(resolver);
        if (resolver->is_dirty) {
            resolver_publish(resolver);
        }
        channel_turn(resolver->channel, next_us);
    }
    return NULL;
}

// --------------------------------------------------------------------------------------------------- birth and death

static char *servers_join(const char *const *servers, size_t count)
{
    struct buffer all;

    buffer_init(&all, 64 * 1024);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(&all, "%s%s", i != 0 ? "," : "", servers[i]);
    }
    char *joined = all.is_full ? NULL : buffer_take(&all);
    buffer_fini(&all);
    return joined;
}

static bool resolver_fill(struct resolver *resolver, const struct resolver_options *options)
{
    pthread_mutex_init(&resolver->publishing, NULL);
    pthread_mutex_init(&resolver->lock, NULL);
    resolver->on_change = options->on_change;
    resolver->context = options->context;
    resolver->resolv_conf = strdup(options->resolv_conf != NULL ? options->resolv_conf : "/etc/resolv.conf");
    resolver->servers = options->server_count != 0 ? servers_join(options->servers, options->server_count) : NULL;
    resolver->allowed = calloc(options->allowed_count + 1, sizeof(*resolver->allowed));
    resolver->book = address_book_create(NULL, 0);
    if (resolver->resolv_conf == NULL || resolver->allowed == NULL || resolver->book == NULL ||
        (options->server_count != 0 && resolver->servers == NULL)) {
        return false;
    }
    if (options->allowed_count != 0) {
        memcpy(resolver->allowed, options->allowed, options->allowed_count * sizeof(*resolver->allowed));
    }
    atomic_store(&resolver->set_us, clock_now_us());
    return true;
}

static enum status resolver_begin(struct resolver *resolver, const struct resolver_options *options,
                                  struct failure *why)
{
    const struct channel_options channel_options = {
        .servers = resolver->servers,
        .resolv_conf = resolver->resolv_conf,
        .resolv_conf_port = options->resolv_conf_port,
        .allowed = resolver->allowed,
        .allowed_count = options->allowed_count,
        .on_settled = resolver_on_settled,
        .context = resolver,
    };
    enum status status = channel_create(&channel_options, &resolver->channel, why);

    if (status != STATUS_OK) {
        return status;
    }
    int error = pthread_create(&resolver->thread, NULL, resolver_run, resolver);
    if (error != 0) {
        failure_set(why, "cannot start the resolver: %s", strerror(error));
        return STATUS_IO;
    }
    resolver->has_thread = true;
    return STATUS_OK;
}

enum status resolver_create(const struct resolver_options *options, struct resolver **resolver, struct failure *why)
{
    struct resolver *made = calloc(1, sizeof(*made));
    enum status status = STATUS_NO_MEMORY;

    *resolver = NULL;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (resolver_fill(made, options)) {
        status = resolver_begin(made, options, why);
    }
    if (status != STATUS_OK) {
        resolver_destroy(&made);
        return status;
    }
    *resolver = made;
    return STATUS_OK;
}

void resolver_destroy(struct resolver **resolver)
{
    struct resolver *gone = *resolver;

    *resolver = NULL;
    if (gone == NULL) {
        return;
    }
    if (gone->has_thread) {
        atomic_store(&gone->is_stopping, true);
        channel_wake(gone->channel);
        pthread_join(gone->thread, NULL);
    }
    channel_destroy(&gone->channel);
    resolver_sweep(gone);
    for (size_t i = 0; i < gone->name_count; i++) {
        name_destroy(&gone->names[i]);
    }
    address_book_release(&gone->wanted);
    address_book_release(&gone->book);
    pthread_mutex_destroy(&gone->publishing);
    pthread_mutex_destroy(&gone->lock);
    free(gone->dropped);
    free(gone->names);
    free(gone->allowed);
    free(gone->resolv_conf);
    free(gone->servers);
    free(gone);
}

#include "app/nodes.h"

#include "app/account_mark.h"
#include "app/board.h"
#include "app/engine.h"
#include "app/generation.h"
#include "app/login_book.h"
#include "app/permits.h"
#include "app/switch_desk.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    NODES_GRACE_US = 1000000,
    NODES_PARK_LEAST_US = 1500000,  // a shorter one is over before the others hear of it
    NODES_PROBE_LATER_US = 3000000, // the engine that parked it tries it out first
    NODES_MOMENT_US = 60000000,     // what is done to a breaker now, and not held, is of no use later
};

struct nodes {
    struct engine *engine;
    struct permits_listener listener;
    bool has_keys;
};

// ------------------------------------------------------------------------------------------------------ what is heard

static void on_done(struct switch_request *request)
{
    free(request);
}

/// On the board's thread.
static void on_switch(void *context, const struct switch_word *word)
{
    const struct nodes *nodes = context;
    uint64_t wall_us = clock_wall_us();
    bool is_moment = switch_word_is_past(word, wall_us) && word->until_us == 0 &&
                     (word->action == SWITCH_OPEN || word->action == SWITCH_CLOSE || word->action == SWITCH_RESET);
    struct switch_request *request = calloc(1, sizeof(*request));

    if (request == NULL) {
        return; // it is told again when the engine starts
    }
    request->action = word->action;
    request->is_told = true;
    request->said_us = word->said_us;
    request->is_past =
        word->until_us != 0 ? wall_us >= word->until_us : is_moment && wall_us > word->said_us + NODES_MOMENT_US;
    request->for_us = word->until_us > wall_us ? word->until_us - wall_us : 0;
    request->ceiling_us = word->ceiling_us;
    request->on_done = on_done;
    (void)snprintf(request->supplier, sizeof(request->supplier), "%s", word->supplier);
    (void)snprintf(request->account, sizeof(request->account), "%s", word->account);
    (void)snprintf(request->who, sizeof(request->who), "%s", word->who);
    (void)snprintf(request->why, sizeof(request->why), "%s", word->why);
    if (switch_desk_submit(nodes->engine->switch_desk, request) != STATUS_OK) {
        free(request); // it ends
    }
}

static const struct script_account *account_of(const struct catalogue *catalogue, const struct park_word *word)
{
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        for (size_t j = 0; j < catalogue_account_count(supplier); j++) {
            if (text_equals_c(supplier->name, word->supplier) &&
                text_equals_c(supplier->account[j].name, word->account)) {
                return &supplier->account[j];
            }
        }
    }
    return NULL;
}

static void adopt(const struct nodes *nodes, const struct script_account *account, const struct park_word *word)
{
    uint64_t wall_us = clock_wall_us();
    uint64_t left_us = word->until_us > wall_us ? word->until_us - wall_us : 0;
    char mark[ACCOUNT_MARK_SIZE];

    if (word->kind == PARK_QUOTA && left_us > 0) {
        permits_adopt_block(nodes->engine->permits, account, left_us);
    }
    if (word->kind == PARK_AUTH && nodes->has_keys &&
        account_mark(&nodes->engine->tokens.ring, text_of(word->supplier), account, mark) &&
        strcmp(mark, word->mark) == 0) {
        permits_adopt_auth(nodes->engine->permits, account, word->parks, left_us + NODES_PROBE_LATER_US);
    }
}

/// On the board's thread.
static void on_park(void *context, const struct park_word *word)
{
    const struct nodes *nodes = context;
    struct generation *running = engine_generation(nodes->engine);
    const struct script_account *account = account_of(generation_catalogue(running), word);

    if (account != NULL) {
        adopt(nodes, account, word);
    }
    generation_release(&running);
}

// ------------------------------------------------------------------------------------------------------- what is told

static struct park_word word_of(enum park_kind kind, const struct script_account *account, uint64_t for_us)
{
    uint64_t wall_us = clock_wall_us();
    struct park_word word = { .kind = kind, .until_us = for_us > 0 ? wall_us + for_us : 0, .said_us = wall_us };

    (void)snprintf(word.supplier, sizeof(word.supplier), "%.*s", TEXT_ARGS(account->kept->supplier->name));
    (void)snprintf(word.account, sizeof(word.account), "%.*s", TEXT_ARGS(account->name));
    return word;
}

/// On a loop, as the next.
static void on_blocked(void *context, const struct script_account *account, uint64_t for_us)
{
    const struct nodes *nodes = context;

    if (for_us >= NODES_PARK_LEAST_US) {
        struct park_word word = word_of(PARK_QUOTA, account, for_us);
        board_tell_park(nodes->engine->board, &word);
    }
}

static void on_auth(void *context, const struct script_account *account, uint32_t parks, uint64_t for_us)
{
    const struct nodes *nodes = context;
    struct park_word word = word_of(PARK_AUTH, account, parks > 0 ? for_us : 0);

    word.parks = parks;
    if (nodes->has_keys &&
        account_mark(&nodes->engine->tokens.ring, account->kept->supplier->name, account, word.mark)) {
        board_tell_park(nodes->engine->board, &word);
    }
}

// ----------------------------------------------------------------------------------------------------- birth and death

/// What was kept over the restart is no news, and the others may not know it.
static enum status remember(struct engine *engine, struct failure *why)
{
    struct switch_item *items = calloc(SWITCHES_MAX, sizeof(*items));
    uint64_t now_us = clock_now_us(), wall_us = clock_wall_us();

    if (items == NULL) {
        failure_set(why, "out of memory");
        return STATUS_NO_MEMORY;
    }
    size_t count = switches_list(engine->switches, items);
    for (size_t i = 0; i < count; i++) {
        struct switch_word word = switch_word_of_item(&items[i], now_us, wall_us);
        board_remember(engine->board, &word);
    }
    free(items);
    return STATUS_OK;
}

enum status nodes_open(struct engine *engine, struct nodes **nodes, struct failure *why)
{
    struct nodes *made = NULL;

    *nodes = NULL;
    if (!engine->store_is_shared) {
        return STATUS_OK;
    }
    made = calloc(1, sizeof(*made));
    if (made == NULL) {
        failure_set(why, "out of memory");
        return STATUS_NO_MEMORY;
    }
    const struct board_hooks hooks = { .on_switch = on_switch, .on_park = on_park, .context = made };
    made->engine = engine;
    made->has_keys = engine->tokens.is_on && engine->settings->offer_key_count > 0;
    made->listener = (struct permits_listener){ .on_blocked = on_blocked, .on_auth = on_auth, .context = made };
    *nodes = made;
    enum status status = board_create(engine->store, &hooks, &engine->board, why);
    if (status == STATUS_OK) {
        status = remember(engine, why);
    }
    if (status != STATUS_OK) {
        nodes_close(nodes);
        return status;
    }
    permits_listen(engine->permits, &made->listener);
    if (made->has_keys) {
        login_book_share(engine->logins, &engine->tokens.ring);
    }
    return STATUS_OK;
}

enum status nodes_start(struct nodes *nodes, struct failure *why)
{
    return nodes != NULL ? board_start(nodes->engine->board, why) : STATUS_OK;
}

void nodes_stop(struct nodes *nodes)
{
    if (nodes != NULL) {
        board_stop(nodes->engine->board, NODES_GRACE_US);
    }
}

void nodes_close(struct nodes **nodes)
{
    if (*nodes != NULL) {
        board_destroy(&(*nodes)->engine->board);
        free(*nodes);
        *nodes = NULL;
    }
}

void nodes_write(const struct engine *engine, struct json_writer *json)
{
    if (engine->switch_desk != NULL) {
        json_key(json, "switches");
        json_begin_object(json);
        switch_desk_write_kept(engine->switch_desk, json);
        json_end_object(json);
    }
    if (engine->board != NULL) {
        json_key(json, "nodes");
        board_write(engine->board, json);
    }
}

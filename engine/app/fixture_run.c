#include "app/fixture_run.h"

#include "app/envelope.h"
#include "search/search.h"

#include <stdio.h>
#include <string.h>

enum { REPLY_MAX = 64 << 20, ITEMS_MAX = 10000, OFFERS_MAX = 10000 };

const struct json_node *fixture_value(struct fixture *fixture, struct text json)
{
    struct json_node *node;
    size_t offset;
    const char *why;
    struct text kept = arena_copy(&fixture->arena, json);

    return kept.data != NULL && json_tree_read(&fixture->arena, kept, &node, &offset, &why) == STATUS_OK ? node : NULL;
}

static void watch(void *owner, const struct fixture_exchange *exchange, size_t index,
                  const struct http_request *request)
{
    const struct fixture_play *play = owner;
    fixture_note_host(play, request);
    fixture_watch(play->fixture, "", &play->fixture->exchanges, exchange, index, request);
}

static void on_trouble(void *owner, const struct catalogue_supplier *supplier, enum outcome outcome, const char *detail,
                       const struct failure *trouble)
{
    struct fixture_play *play = owner;
    (void)supplier;
    (void)outcome;
    (void)detail;

    if (trouble != NULL) {
        fixture_world_keep_trouble(play->world, trouble); // it has the exchange, too
    }
}

static void on_reply(void *owner, const struct search_reply *reply)
{
    struct fixture_play *play = owner;
    buffer_append_text(&play->reply, block_text(reply->body));
}

/// Reads what stands around the query. False: a finding says what is wrong with it.
static bool read_envelope(struct fixture_play *play, struct envelope *envelope)
{
    struct fixture *fixture = play->fixture;
    struct problem problem;

    problem_init(&problem, 422, "", "");
    (void)!envelope_read(envelope, fixture->search->source, &problem);
    for (size_t i = 0; i < problem.error_count; i++) {
        fixture_find(fixture, fixture->search, CODE_SEARCH_INVALID, "", "search%s: %s", problem.errors[i].pointer,
                     problem.errors[i].detail);
    }
    if (problem.error_count == 0 && !text_equals(envelope->product, play->subject->script->product)) {
        fixture_find(fixture, fixture->search, CODE_SEARCH_INVALID, "", "search/product: `%.*s` sells %.*s, not %.*s",
                     TEXT_ARGS(play->subject->script->name), TEXT_ARGS(play->subject->script->product),
                     TEXT_ARGS(envelope->product));
    }
    return fixture->findings == 0;
}

static struct budget budget_of(const struct fixture_play *play, const struct envelope *envelope)
{
    const struct settings *settings = play->subject->settings;
    uint64_t asked_us = envelope->budget_ms > 0 ? envelope->budget_ms * 1000 : settings->deadline_default_us;

    return budget_clamp(asked_us, settings->deadline_min_us, settings->deadline_max_us);
}

/// A catalogue of this one supplier; rules and other accounts are the settings' affair.
static struct catalogue catalogue_of(const struct fixture_play *play, struct catalogue_supplier *supplier)
{
    const struct script_supplier *script = play->subject->script;
    struct catalogue catalogue = *play->subject->catalogue;

    *supplier = (struct catalogue_supplier){ .name = script->name,
                                             .display_name = script->display_name,
                                             .product = script->product,
                                             .script = script->label,
                                             .is_enabled = true,
                                             .wants_client = script->want_count > 0,
                                             .signs = script->signs,
                                             .body_cap = script->body_cap,
                                             .account = play->account,
                                             .account_count = 1 };
    catalogue.suppliers = supplier;
    catalogue.supplier_count = 1;
    catalogue.login_count = script->logs_in ? 1 : 0;
    catalogue.rules = NULL;
    return catalogue;
}

/// Runs the search to its reply. False: a finding says why there is none.
static bool run_search(struct fixture_play *play, const struct envelope *envelope)
{
    struct fixture_world *played = play->world;
    struct world *world = play->subject->tap == NULL ? &played->world : &play->subject->tap->world;
    struct catalogue_supplier supplier;
    struct catalogue catalogue = catalogue_of(play, &supplier);
    struct budget budget = budget_of(play, envelope);
    struct block *body = block_create(play->fixture->search->source);
    struct search *search;

    if (play->account->login > 0) {
        fixture_login_open(&played->login, world, &catalogue, play->fixture->wall_us);
    }
    if (play->account->login > 0 && play->fixture->login != NULL) {
        fixture_login_bring(&played->login, play->fixture->login->source);
    }
    play->arrival_us = played->now_us;
    play->budget_us = budget.effective_us;
    const struct search_options options = { .world = world,
                                            .catalogue = &catalogue,
                                            .search_id = TEXT("00000000000000000000000000"),
                                            .product = envelope->product,
                                            .body = body,
                                            .arrival_us = played->now_us,
                                            .arrival_wall_us = play->fixture->wall_us,
                                            .budget = budget,
                                            .max_items = ITEMS_MAX,
                                            .max_offers_per_item = OFFERS_MAX,
                                            .sort = envelope->sort,
                                            .on_script_trouble = on_trouble,
                                            .on_reply = on_reply,
                                            .owner = play };
    bool is_started = body != NULL && search_start(&options, &search) == STATUS_OK;
    if (is_started) {
        fixture_world_run(played);
    }
    block_release(&body);
    play->root = is_started && !play->reply.is_full ? fixture_value(play->fixture, buffer_text(&play->reply)) : NULL;
    if (play->root == NULL) {
        fixture_find(play->fixture, NULL, CODE_NONE, "", "the search could not be run: out of memory");
    }
    return play->root != NULL;
}

/// The product said no to the query, or failed: nobody was asked.
static bool is_refused(const struct fixture_play *play)
{
    const struct json_node *errors = json_tree_member(play->root, "errors");
    const struct json_node *detail = json_tree_member(play->root, "detail");

    if (json_tree_member(play->root, "suppliers") != NULL) {
        return false;
    }
    for (const struct json_node *at = errors == NULL ? NULL : errors->first; at != NULL; at = at->next) {
        const struct json_node *pointer = json_tree_member(at, "pointer"), *why = json_tree_member(at, "detail");
        if (pointer != NULL && why != NULL) {
            fixture_find(play->fixture, play->fixture->search, CODE_SEARCH_INVALID, "", "search%.*s: %.*s",
                         TEXT_ARGS(pointer->text), TEXT_ARGS(why->text));
        }
    }
    if (errors == NULL) {
        fixture_find(play->fixture, play->fixture->search, CODE_PRODUCT, "", "the product failed: %.*s",
                     detail == NULL ? 0 : (int)detail->text.length, detail == NULL ? "" : detail->text.data);
    }
    return true;
}

static void play_all(struct fixture_play *play, const struct envelope *envelope)
{
    bool is_run = run_search(play, envelope);

    if (play->subject->tap != NULL) {
        buffer_append_text(play->subject->reply, buffer_text(&play->reply));
        return;
    }
    if (!is_run || is_refused(play) || fixture_meet_bug(play)) {
        return;
    }
    fixture_measure(play);
    if (fixture_expect(play)) {
        fixture_check_sent(play->fixture, "", &play->fixture->exchanges, play->world->sent);
        fixture_ask(play);
    }
}

void fixture_run(struct fixture *fixture, const struct fixture_subject *subject)
{
    struct fixture_play play = { .fixture = fixture, .subject = subject };
    struct fixture_world world;
    struct envelope envelope;

    play.account = fixture_account(fixture, subject);
    if (play.account == NULL) {
        return;
    }
    envelope_init(&envelope);
    fixture_world_init(&world, subject->workers, &fixture->exchanges);
    if (subject->tap != NULL) {
        tap_begin(subject->tap, &world.world);
    } else {
        world.on_send = watch;
        world.owner = &play;
    }
    play.world = &world;
    buffer_init(&play.reply, REPLY_MAX);
    if (read_envelope(&play, &envelope)) {
        play_all(&play, &envelope);
    }
    buffer_fini(&play.reply);
    fixture_world_fini(&world);
    envelope_fini(&envelope);
}

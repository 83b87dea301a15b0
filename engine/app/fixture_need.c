// What a fixture's exchanges take, held against what its search was given. What was sent is measured; of what was not,
// because time was up, at least its own answer must be waited for.

#include "app/fixture_run.h"

#include <stdio.h>

enum { SUM_SIZE = 96 };

static uint64_t sum_of(const struct fixture_exchanges *exchanges, size_t from)
{
    uint64_t sum_us = 0;

    for (size_t i = from; i < exchanges->count; i++) {
        sum_us += exchanges->items[i].after_us;
    }
    return sum_us;
}

void fixture_measure(const struct fixture_play *play)
{
    const struct fixture_world *world = play->world;
    uint64_t last_us = world->last_answer_us > play->arrival_us ? world->last_answer_us - play->arrival_us : 0;

    const struct json_node *report = json_tree_element(json_tree_member(play->root, "suppliers"), 0);
    uint64_t ceiling_ms = 0;
    bool is_scripts = text_equals(json_tree_text(report, "ceiling_from"), TEXT("script"));

    if (is_scripts && json_tree_to_u64(json_tree_member(report, "ceiling_ms"), &ceiling_ms)) {
        play->fixture->ceiling_us = ceiling_ms * 1000;
    }
    play->fixture->needs_us = last_us + sum_of(&play->fixture->exchanges, world->sent);
}

/// "60 + 400 + 300", when they come one after the other; with "and pauses" when there is more between them.
static void write_sum(const struct fixture *fixture, char out[SUM_SIZE])
{
    const struct fixture_exchanges *exchanges = &fixture->exchanges;
    uint64_t sum_us = sum_of(exchanges, 0);
    int length = 0;

    out[0] = '\0';
    if (exchanges->count < 2 || sum_us > fixture->needs_us) { // side by side
        return;
    }
    for (size_t i = 0; i < exchanges->count && length >= 0 && length < SUM_SIZE - 24; i++) {
        length += snprintf(out + length, SUM_SIZE - (size_t)length, "%s%llu", i == 0 ? " (" : " + ",
                           (unsigned long long)exchanges->items[i].after_us / 1000);
        if (length >= SUM_SIZE - 24 && i + 1 < exchanges->count) {
            length += snprintf(out + length, SUM_SIZE - (size_t)length, " + …");
        }
    }
    (void)snprintf(out + length, SUM_SIZE - (size_t)length, "%s", sum_us < fixture->needs_us ? " and pauses)" : ")");
}

bool fixture_find_misfit(const struct fixture_play *play, const struct json_node *at, const struct json_node *report)
{
    const struct json_node *bound = json_tree_member(report, "bound");
    const struct json_node *ceiling = json_tree_member(report, "ceiling_ms");
    bool is_ceiling = bound != NULL && text_equals(bound->text, TEXT("ceiling"));
    uint64_t end_ms = play->budget_us / 1000;
    char sum[SUM_SIZE];

    if (bound == NULL || (is_ceiling && !json_tree_to_u64(ceiling, &end_ms)) ||
        play->fixture->needs_us / 1000 < end_ms) {
        return false;
    }
    write_sum(play->fixture, sum);
    fixture_find(play->fixture, at, CODE_STEPS_DO_NOT_FIT,
                 is_ceiling
                     ? "let `ceiling` say more, ask for less, or call the fixture odd-… where it is meant to be cut"
                     : "give the search more `budget_ms`, or call the fixture odd-… where it is meant to be cut",
                 "%s take%s %llu ms%s, but %s at %llu ms",
                 play->account->login > 0             ? "login and steps"
                 : play->fixture->exchanges.count > 1 ? "its exchanges"
                                                      : "its exchange",
                 play->account->login > 0 || play->fixture->exchanges.count > 1 ? "" : "s",
                 (unsigned long long)play->fixture->needs_us / 1000, sum,
                 is_ceiling ? "the ceiling ends it" : "the search is over", (unsigned long long)end_ms);
    return true;
}

void fixture_note_host(const struct fixture_play *play, const struct http_request *request)
{
    const struct script_supplier *script = play->subject->script;
    struct url_parts parts;

    for (size_t i = 0; url_split(request->url, &parts) && i < script->host_count && i < 64; i++) {
        struct text host;
        uint16_t port;
        bool is_it = host_split(script->hosts[i], &host, &port) && text_equals_nocase(host, parts.host);
        play->fixture->hosts_asked |= is_it ? UINT64_C(1) << i : 0;
    }
}

// `expect`: members are those of the supplier in a reply, `offers` how many there are, `first` and `offers[3]` those of
// the reply's offers, whose `item` may be expected as its id, or as what the reply's items say of it. What an ok
// fixture does not expect of trouble is a finding.

#include "app/fixture_match.h"
#include "app/fixture_run.h"

#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 128, EXPECTATION_MAX = 64 << 10 };

/// What a reply may say of a supplier, and the offers beside it.
static const char *const MEMBERS[] = {
    "outcome",  "offers",  "first",        "name",          "account",        "mode",          "bound",
    "phase",    "kind",    "http_status",  "code",          "reason",         "detail",        "retry_in_ms",
    "partial",  "parts",   "warnings",     "first_warning", "offers_dropped", "first_dropped", "offers_unmapped",
    "began_ms", "took_ms", "allocated_ms", "ceiling_ms",    "ceiling_from",   "script"
};

/// The number in "offers[3]"; false: the key is something else.
static bool is_offer_key(struct text key, uint64_t *index)
{
    struct text rest = key;
    struct text head = text_split(key, '[', &rest);

    if (!text_equals(head, TEXT("offers")) || rest.length < 2 || rest.data[rest.length - 1] != ']') {
        return false;
    }
    rest.length--;
    return text_to_u64(rest, index);
}

/// The offer of the reply. Unless its item's id is expected, the item stands there in place of it.
static const struct json_node *offer_of(const struct fixture_play *play, const struct json_node *expected,
                                        const struct json_node *offer)
{
    const struct json_node *wanted = json_tree_member(expected, "item");
    const struct json_node *id = json_tree_member(offer, "item");
    const struct json_node *item =
        id == NULL ? NULL : json_tree_member_text(json_tree_member(play->root, "items"), id->text);

    if ((wanted != NULL && wanted->kind != JSON_BEGIN_OBJECT) || item == NULL) {
        return offer;
    }
    struct json_node *members = arena_alloc_array(&play->fixture->arena, offer->count + 1, sizeof(*members));
    if (members == NULL) {
        return offer; // no memory: told as a difference
    }
    struct json_node *whole = members++, *at = members;
    *whole = *offer;
    whole->first = members;
    for (const struct json_node *member = offer->first; member != NULL; member = member->next, at++) {
        *at = member == id ? *item : *member;
        at->key = member->key;
        at->next = member->next == NULL ? NULL : at + 1;
    }
    return whole;
}

/// What stands for the member of `expect`; NULL: nothing does.
static const struct json_node *got_of(const struct fixture_play *play, const struct json_node *report,
                                      const struct json_node *expected)
{
    struct text key = expected->key;
    const struct json_node *offers = json_tree_member(play->root, "offers");
    const struct json_node *got = json_tree_member_text(report, key);
    uint64_t index = 0;

    if (text_equals(key, TEXT("offers"))) {
        return got != NULL ? got : fixture_value(play->fixture, TEXT("0"));
    }
    if (text_equals(key, TEXT("first")) || is_offer_key(key, &index)) {
        return offer_of(play, expected, json_tree_element(offers, (size_t)index));
    }
    return got;
}

void fixture_find_detail(struct fixture *fixture, const struct json_node *at, const struct json_node *report)
{
    static const char *const names[] = { "detail", "reason", "first_dropped", "first_warning" };

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct json_node *words = json_tree_member(report, names[i]);
        if (words != NULL) {
            fixture_find(fixture, at, CODE_OUTCOME_DIFFERS, "", "because: %.*s", TEXT_ARGS(words->text));
            return;
        }
    }
}

static void match_members(const struct fixture_play *play, const struct json_node *report)
{
    struct fixture *fixture = play->fixture;
    char path[PATH_SIZE];

    for (const struct json_node *at = fixture->expect->first; at != NULL; at = at->next) {
        size_t before = fixture->findings;
        uint64_t index;
        if (!is_offer_key(at->key, &index) &&
            !fixture_check_member(fixture, at, "expect.", MEMBERS, COUNT_OF(MEMBERS))) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "expect.%.*s", TEXT_ARGS(at->key));
        bool is_offers = text_starts_with(at->key, TEXT("offers")) || text_equals(at->key, TEXT("first"));
        fixture->differs = is_offers ? CODE_OFFERS_DIFFER : CODE_OUTCOME_DIFFERS;
        fixture_match(fixture, path, at, got_of(play, report, at), MATCH_NAMED);
        if (fixture->findings > before && text_equals(at->key, TEXT("outcome"))) {
            fixture_find_detail(fixture, at, report);
        }
    }
}

/// The expectation that a fixture without one should have.
static void propose(const struct fixture_play *play, const struct json_node *report)
{
    struct json_writer json;
    struct buffer out;
    const struct json_node *first = json_tree_element(json_tree_member(play->root, "offers"), 0);
    static const char *const names[] = { "outcome", "kind", "code", "reason", "offers" };

    buffer_init(&out, EXPECTATION_MAX);
    json_writer_init(&json, &out);
    json_begin_object(&json);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct json_node *member = json_tree_member(report, names[i]);
        if (member != NULL) {
            json_key(&json, names[i]);
            json_raw(&json, member->source);
        }
    }
    if (json_tree_member(first, "price") != NULL) {
        json_key(&json, "first");
        json_begin_object(&json);
        json_key(&json, "price");
        json_raw(&json, json_tree_member(first, "price")->source);
        json_end_object(&json);
    }
    json_end_object(&json);
    fixture_add_member(play->fixture, play->fixture->root, "expect", buffer_text(&out));
    buffer_fini(&out);
}

/// Is it "acme.lua:12: sentence"?
static bool is_place_in_script(struct text words)
{
    struct text rest, sentence;
    struct text file = text_split(words, ':', &rest);
    uint64_t line;

    return file.length > 4 && text_equals_c((struct text){ file.data + file.length - 4, 4 }, ".lua") &&
           rest.data != NULL && text_to_u64(text_split(rest, ':', &sentence), &line) && sentence.data != NULL;
}

/// What only the script itself can be to blame for.
static bool is_fault(struct text outcome)
{
    static const char *const names[] = { "script_error", "script_timeout", "script_memory" };
    bool is_one = false;

    for (size_t i = 0; i < COUNT_OF(names) && !is_one; i++) {
        is_one = text_equals_c(outcome, names[i]);
    }
    return is_one;
}

/// What the world has of the script's error, in the fixture's memory; NULL: nothing.
static const struct failure *keep_trouble(const struct fixture_play *play)
{
    struct failure *kept =
        play->world->trouble == NULL ? NULL : arena_alloc(&play->fixture->arena, sizeof(struct failure));

    if (kept != NULL) {
        *kept = *play->world->trouble;
    }
    return kept;
}

bool fixture_meet_bug(const struct fixture_play *play)
{
    struct fixture *fixture = play->fixture;
    const struct json_node *report = json_tree_element(json_tree_member(play->root, "suppliers"), 0);
    const struct json_node *outcome = json_tree_member(report, "outcome");
    const struct json_node *expected = json_tree_member(fixture->expect, "outcome");
    const struct json_node *detail = json_tree_member(report, "detail");
    bool is_partial = json_tree_member(report, "partial") != NULL;

    if (outcome == NULL || detail == NULL) {
        return false;
    }
    bool is_expected = is_fault(outcome->text) ? expected != NULL && text_equals(expected->text, outcome->text)
                                               : json_tree_member(fixture->expect, "partial") != NULL;
    if (is_expected || (!is_fault(outcome->text) && !(is_partial && is_place_in_script(detail->text)))) {
        return false;
    }
    fixture->bug = detail->text;
    fixture->bug_code = text_equals(outcome->text, TEXT("script_timeout"))  ? CODE_TIMEOUT
                        : text_equals(outcome->text, TEXT("script_memory")) ? CODE_MEMORY
                                                                            : CODE_RAISED;
    fixture->trouble = keep_trouble(play);
    fixture->findings++;
    return true;
}

static bool has_items(const struct json_node *node)
{
    return node != NULL && node->count > 0;
}

bool fixture_expect(const struct fixture_play *play)
{
    struct fixture *fixture = play->fixture;
    const struct json_node *report = json_tree_element(json_tree_member(play->root, "suppliers"), 0);

    if (report == NULL) {
        fixture_find(fixture, fixture->search, CODE_OUTCOME_DIFFERS, "", "the search did not ask the supplier");
        return false;
    }
    if (fixture->must_not_fail && !fixture_check_is_fine(play, report)) {
        return false;
    }
    if (fixture->expect != NULL && fixture->expect->count > 0) {
        match_members(play, report);
    } else if (fixture->is_updating && fixture->expect == NULL) {
        propose(play, report);
    } else if (!has_items(fixture->ceilings) && !has_items(fixture->revalidate)) {
        fixture_find(fixture, fixture->expect != NULL ? fixture->expect : fixture->root, CODE_FIXTURE_EXPECTS_NOTHING,
                     "\"expect\": { \"outcome\": …, \"offers\": … }; `lastcall test --update` writes what came",
                     "the fixture expects nothing");
    }
    return true;
}

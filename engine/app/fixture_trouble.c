// What nobody expects of a fixture that must not fail. A wrong outcome is one finding, with its cause: everything else
// that differs then comes of it.

#include "app/fixture_run.h"
#include "script/drop_words.h"

#include <stdio.h>
#include <string.h>

static void find_dropped(struct fixture *fixture, const struct json_node *at, struct text words)
{
    const struct drop_words *known = drop_words_find(words);

    fixture_find(fixture, at, known != NULL ? known->code : CODE_OFFER_DROPPED,
                 known != NULL
                     ? known->help
                     : "mend what the script gives, or name it in `expect` (\"offers_dropped\": …) where it is "
                       "meant so",
                 "offers were dropped: %.*s", TEXT_ARGS(words));
}

static void find_warned(struct fixture *fixture, const struct json_node *at, struct text words)
{
    fixture_find(fixture, at, CODE_OUTCOME_DIFFERS, "name it in `expect` (\"warnings\": …) where it is meant to be so",
                 "the answer has warnings: %.*s", TEXT_ARGS(words));
}

static void find_partial(struct fixture *fixture, const struct json_node *at, struct text words)
{
    fixture_find(fixture, at, CODE_OUTCOME_DIFFERS, "name it in `expect` (\"partial\": …) where it is meant to be so",
                 "the answer is partial: %.*s", TEXT_ARGS(words));
}

/// Where the login's answer stands: it was the last that was asked for.
static const struct json_node *last_exchange(const struct fixture_play *play)
{
    size_t sent = play->world->sent;

    return sent > 0 && sent <= play->fixture->exchanges.count ? play->fixture->exchanges.items[sent - 1].node : NULL;
}

static void find_failed_login(const struct fixture_play *play, const struct json_node *at,
                              const struct json_node *report)
{
    const struct json_node *status = json_tree_member(report, "http_status"), *last = last_exchange(play);
    struct text why = json_tree_text(report, "detail");
    char answered[48] = "";

    if (status != NULL) {
        (void)snprintf(answered, sizeof(answered), ", answered with %.*s", TEXT_ARGS(status->source));
    }
    fixture_find(
        play->fixture, last != NULL ? last : at, CODE_LOGIN_FAILED,
        "look at the secrets that `login.build_request` sends, and let `login.read` say fail.auth(…) where they "
        "are refused",
        "the login failed%s%s%.*s", answered, why.length > 0 ? ": " : "", TEXT_ARGS(why));
}

/// Why, at the line of the script.
static void tell_trouble(struct fixture *fixture, const struct failure *trouble)
{
    struct failure why = *trouble;

    failure_note(&why, "first met in %.*s", TEXT_ARGS(fixture->path));
    fixture->findings++;
    fixture->report(fixture->context, &why);
}

/// False: it is not what an ok fixture may be, and findings say why.
static bool check_outcome(const struct fixture_play *play, const struct json_node *at, const struct json_node *report)
{
    struct text outcome = json_tree_text(report, "outcome");

    if (outcome.data == NULL || text_equals(outcome, TEXT("answered")) || text_equals(outcome, TEXT("empty"))) {
        return true;
    }
    fixture_find(play->fixture, at, CODE_OUTCOME_DIFFERS, "a fixture of trouble is called odd-…",
                 "an ok fixture must not fail, but it is %.*s", TEXT_ARGS(outcome));
    if (fixture_find_misfit(play, at, report)) {
        return false;
    }
    if (text_equals(json_tree_text(report, "phase"), TEXT("login"))) {
        find_failed_login(play, at, report);
    } else if (play->world->trouble != NULL && play->world->trouble->line != 0) {
        tell_trouble(play->fixture, play->world->trouble);
    } else {
        fixture_find_detail(play->fixture, at, report);
    }
    return false;
}

bool fixture_check_is_fine(const struct fixture_play *play, const struct json_node *report)
{
    static const struct {
        const char *member, *words;
        void (*find)(struct fixture *fixture, const struct json_node *at, struct text words);
    } TROUBLES[] = {
        { "offers_dropped", "first_dropped", find_dropped },
        { "warnings", "first_warning", find_warned },
        { "partial", "detail", find_partial },
    };
    struct fixture *fixture = play->fixture;
    const struct json_node *at = fixture->expect != NULL ? fixture->expect : fixture->root;

    if (!check_outcome(play, at, report)) {
        return false;
    }
    if (json_tree_member(fixture->expect, "partial") == NULL && fixture_find_misfit(play, at, report)) {
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(TROUBLES); i++) {
        if (json_tree_member(report, TROUBLES[i].member) != NULL &&
            json_tree_member(fixture->expect, TROUBLES[i].member) == NULL) {
            TROUBLES[i].find(fixture, at, json_tree_text(report, TROUBLES[i].words));
        }
    }
    return true;
}

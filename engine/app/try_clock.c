#include "app/try_clock.h"

#include "script/calendar.h"

#include <string.h>

enum { DATE_LENGTH = 10 };

static const int64_t SECOND_US = 1000000, HOUR_US = 3600 * SECOND_US, DAY_US = 24 * HOUR_US;

/// The earliest `2027-05-03` in it, also with a time behind, as days since 1970.
static void find_first_date(const struct json_node *node, int64_t *first)
{
    struct moment moment;
    bool is_date = node->kind == JSON_STRING && node->text.length >= DATE_LENGTH && node->text.data[4] == '-' &&
                   calendar_parse(node->text, &moment);

    if (is_date && moment.days < *first) {
        *first = moment.days;
    }
    for (const struct json_node *at = node->first; at != NULL; at = at->next) {
        find_first_date(at, first);
    }
}

/// `now` of a fixture, unless it is none.
static bool take_now(struct try_run *run, const struct json_node *now)
{
    struct moment moment;

    if (now == NULL || now->kind != JSON_STRING || !calendar_parse(now->text, &moment) || !moment.has_time ||
        !moment.has_offset || calendar_epoch_us(&moment) <= 0) {
        return false;
    }
    run->clock_us = (uint64_t)calendar_epoch_us(&moment);
    run->clock_from = "fixture";
    return true;
}

/// When the first day of a search is over everywhere; 0: it names none.
static int64_t end_of_first_day(const struct json_node *search, int64_t *first)
{
    const struct json_node *query = json_tree_member(search, "query");

    *first = INT64_MAX;
    if (query != NULL) {
        find_first_date(query, first);
    }
    return *first <= 1 || *first == INT64_MAX ? 0 : (*first + 1) * DAY_US + 12 * HOUR_US; // where days end last
}

bool try_clock_is_over(const struct json_node *search, uint64_t real_us)
{
    int64_t first, end_us = end_of_first_day(search, &first);

    return end_us > 0 && end_us <= (int64_t)real_us;
}

void try_clock_choose(struct try_run *run, const struct json_node *root, const struct json_node *search,
                      uint64_t real_us)
{
    int64_t first;

    if (root != search && take_now(run, json_tree_member(root, "now"))) {
        return;
    }
    int64_t end_us = end_of_first_day(search, &first);
    if (end_us > 0 && end_us <= (int64_t)real_us) {
        run->clock_us = (uint64_t)((first - 1) * DAY_US + 12 * HOUR_US);
        run->clock_from = "search";
    }
}

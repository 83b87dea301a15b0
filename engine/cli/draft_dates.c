// Which pasted values are days of the search, and how each is spelt.

#include "cli/draft.h"
#include "cli/draft_key.h"

#include <stdio.h>
#include <string.h>

/// How to write a day as the supplier does: what `gsub` takes. `pattern` NULL: as a search has it.
struct day_spelling {
    const char *pattern;
    struct text replacement;
    const char *told;
};

struct text draft_keep(struct draft *draft, const char *text)
{
    struct text kept = arena_copy(draft->arena, text_of(text));
    draft->is_out_of_memory = draft->is_out_of_memory || kept.data == NULL;
    return kept;
}

/// "2026-12-20", "2026-12-20T00:00:00", "20261220": the day as ISO; `*rest` what follows it. False: no day.
static bool read_day(struct draft *draft, struct text value, struct text *day, struct text *rest, bool *is_compact)
{
    static const char ISO[] = "dddd-dd-dd", COMPACT[] = "dddddddd";
    char written[11];

    *is_compact = value.length == 8;
    const char *form = *is_compact ? COMPACT : ISO;
    size_t length = strlen(form);
    if (value.length < length || value.length > 32 || (value.length > length && value.data[length] != 'T')) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        bool is_digit = value.data[i] >= '0' && value.data[i] <= '9';
        if (form[i] == 'd' ? !is_digit : value.data[i] != form[i]) {
            return false;
        }
    }
    const char *d = value.data;
    (void)snprintf(written, sizeof(written), "%.4s-%.2s-%.2s", d, d + (*is_compact ? 4 : 5), d + (*is_compact ? 6 : 8));
    bool is_possible = written[0] == '2' && written[1] == '0' && strncmp(written + 5, "01", 2) >= 0 &&
                       strncmp(written + 5, "12", 2) <= 0 && strncmp(written + 8, "01", 2) >= 0 &&
                       strncmp(written + 8, "31", 2) <= 0;
    *day = draft_keep(draft, written);
    *rest = (struct text){ value.data + length, value.length - length };
    return is_possible;
}

static bool is_digits(struct text value)
{
    for (size_t i = 0; i < value.length; i++) {
        if (value.data[i] < '0' || value.data[i] > '9') {
            return false;
        }
    }
    return true;
}

/// "150117", where the names speak of a day: as ddmmyy, else as yymmdd.
static bool read_short_day(struct draft *draft, const struct draft_value *value, struct text *day, bool *is_year_first)
{
    char key[DRAFT_KEY_SIZE], parent[DRAFT_KEY_SIZE], written[11];
    const char *d = value->value.data;

    draft_key_plain(value->key, key);
    draft_key_plain(value->parent, parent);
    bool is_named = strstr(key, "date") != NULL || strstr(key, "day") != NULL || strstr(parent, "date") != NULL;
    if (!is_named || value->value.length != 6 || !is_digits(value->value)) {
        return false;
    }
    *is_year_first = memcmp(d, "31", 2) > 0 || memcmp(d, "00", 2) == 0 || memcmp(d + 2, "12", 2) > 0;
    const char *month = d + 2, *last = *is_year_first ? d + 4 : d, *year = *is_year_first ? d : d + 4;
    (void)snprintf(written, sizeof(written), "20%.2s-%.2s-%.2s", year, month, last);
    *day = draft_keep(draft, written);
    return memcmp(month, "01", 2) >= 0 && memcmp(month, "12", 2) <= 0 && memcmp(last, "01", 2) >= 0 &&
           memcmp(last, "31", 2) <= 0;
}

/// Which of the two days of a search it is, 0 or 1; 2: of neither.
static size_t which_day(struct draft *draft, const struct draft_value *value, struct text day)
{
    static const char *const SECOND[] = { "return", "inbound", "back", "checkout", "until", "end" };
    static const char *const FIRST[] = { "checkin", "outbound", "depart", "start" };
    static const char *const OTHER[] = { "birth", "dob", "expir", "version", "issued", "created", "timestamp" };
    char key[DRAFT_KEY_SIZE], parent[DRAFT_KEY_SIZE];

    draft_key_plain(value->key, key);
    draft_key_plain(value->parent, parent);
    if (draft_key_has_any(key, OTHER, COUNT_OF(OTHER))) {
        return 2;
    }
    bool is_second =
        draft_key_has_any(key, SECOND, COUNT_OF(SECOND)) || draft_key_has_any(parent, SECOND, COUNT_OF(SECOND));
    bool is_first = draft_key_has_any(key, FIRST, COUNT_OF(FIRST));
    if (draft->is_hotels) { // a guest arrives first and departs at the end
        is_second = (is_second || strstr(key, "depart") != NULL || draft_key_begins_with(key, "to")) &&
                    strstr(key, "start") == NULL;
        is_first = draft_key_has_any(key, FIRST, COUNT_OF(FIRST)) && strstr(key, "depart") == NULL;
    }
    size_t index = is_second                                                                         ? 1
                   : is_first || value->slice != NULL                                                ? value->index
                   : draft->search.dates[0].data == NULL || text_equals(draft->search.dates[0], day) ? 0
                                                                                                     : 1;
    bool is_free =
        index < 2 && (draft->search.dates[index].data == NULL || text_equals(draft->search.dates[index], day));
    return is_free ? index : 2;
}

/// "12/05/2030", "12.05.2030", "12-05-2030": whose numbers, and what is between them. False: it is none.
static bool split_written(struct text value, unsigned *first, unsigned *second, char *mark)
{
    static const char FORM[] = "dd-dd-dddd";

    if (value.length != sizeof(FORM) - 1 || strchr("/.-", value.data[2]) == NULL || value.data[2] == '\0' ||
        value.data[5] != value.data[2]) {
        return false;
    }
    for (size_t i = 0; i < value.length; i++) {
        if (FORM[i] == 'd' && (value.data[i] < '0' || value.data[i] > '9')) {
            return false;
        }
    }
    const char *d = value.data;
    *first = (unsigned)(d[0] - '0') * 10 + (unsigned)(d[1] - '0');
    *second = (unsigned)(d[3] - '0') * 10 + (unsigned)(d[4] - '0');
    *mark = d[2];
    return d[6] == '2' && d[7] == '0' && *first >= 1 && *second >= 1 && *first <= 31 && *second <= 31 &&
           (*first <= 12 || *second <= 12);
}

/// Does the month stand first in the whole call? One day above 12 in the second place says so.
static bool is_month_first(const struct pasted_list *list)
{
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        unsigned first, second;
        char mark;
        if (split_written(list->items[i].value, &first, &second, &mark) && second > 12) {
            return true;
        }
    }
    return false;
}

/// Day, month and year as people write them: day first, unless the call has a date that cannot be read so.
static bool read_written_day(struct draft *draft, struct text value, struct text *day, struct day_spelling *spelling)
{
    unsigned first, second;
    char mark, written[11], swap[16];

    if (!split_written(value, &first, &second, &mark)) {
        return false;
    }
    bool is_first = second > 12 || (first <= 12 && draft->call != NULL &&
                                    (is_month_first(&draft->call->query) || is_month_first(&draft->call->form)));
    (void)snprintf(written, sizeof(written), "%.4s-%02u-%02u", value.data + 6, is_first ? first : second,
                   is_first ? second : first);
    (void)snprintf(swap, sizeof(swap), is_first ? "%%2%c%%3%c%%1" : "%%3%c%%2%c%%1", mark, mark);
    *day = draft_keep(draft, written);
    spelling->pattern = "^(....)-(..)-(..)$";
    spelling->replacement = draft_keep(draft, swap);
    spelling->told = is_first ? ", month first" : ", day first";
    return true;
}

/// The day that the value spells; `rest` is what follows it. False: none.
static bool read_any_day(struct draft *draft, const struct draft_value *value, struct text *day, struct text *rest,
                         struct day_spelling *spelling)
{
    bool is_compact = false, is_year_first = false;

    *spelling = (struct day_spelling){ .told = "" };
    if (read_day(draft, value->value, day, rest, &is_compact)) {
        spelling->pattern = is_compact ? "-" : NULL;
        spelling->replacement = TEXT("");
        return true;
    }
    *rest = (struct text){ 0 };
    if (read_short_day(draft, value, day, &is_year_first)) {
        spelling->pattern = "^..(..)-(..)-(..)$";
        spelling->replacement = is_year_first ? TEXT("%1%2%3") : TEXT("%3%2%1");
        spelling->told = is_year_first ? ", as yymmdd" : ", as ddmmyy";
        return true;
    }
    return read_written_day(draft, value->value, day, spelling);
}

struct text draft_take_date(struct draft *draft, const struct draft_value *value)
{
    char expression[160], what[80];
    struct text day, rest = { 0 };
    struct day_spelling spelling;

    if (value->where == DRAFT_HEADER || !read_any_day(draft, value, &day, &rest, &spelling)) {
        return (struct text){ 0 };
    }
    size_t index = which_day(draft, value, day);
    if (index > 1) {
        draft_tell(draft, value, "a date that stays as it is");
        return (struct text){ 0 };
    }
    draft->search.dates[index] = day;
    const char *field = draft->is_hotels ? (index == 0 ? "search.query.check_in" : "search.query.check_out")
                        : index == 0     ? "search.query.slices[1].date"
                                         : "search.query.slices[2].date";
    if (value->slice != NULL) {
        field = "slice.date";
    } else {
        draft->uses_second_slice = draft->uses_second_slice || (index == 1 && !draft->is_hotels);
    }
    (void)snprintf(expression, sizeof(expression), "%s", field);
    if (spelling.pattern != NULL) {
        (void)snprintf(expression, sizeof(expression), "(%s:gsub(\"%s\", \"%.*s\"))", field, spelling.pattern,
                       TEXT_ARGS(spelling.replacement));
    }
    if (rest.length > 0) {
        (void)snprintf(expression, sizeof(expression), "%s .. \"%.*s\"", field, TEXT_ARGS(rest));
        for (size_t i = 0; i < rest.length; i++) {
            if (strchr("T0123456789:.+-Z", rest.data[i]) == NULL) {
                return (struct text){ 0 };
            }
        }
    }
    (void)snprintf(what, sizeof(what), "%s%s",
                   draft->is_hotels       ? (index == 0 ? "the day of check-in" : "the day of check-out")
                   : value->slice != NULL ? "the day of the slice"
                   : index == 0           ? "the day of the first slice"
                                          : "the day of the way back",
                   spelling.told);
    draft_tell(draft, value, what);
    return draft_keep(draft, expression);
}

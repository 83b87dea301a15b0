// What is said of travellers, and of elements that are told apart by their number.

#include "cli/draft.h"

#include <stdio.h>
#include <string.h>

const char *const draft_traveller_names[DRAFT_NO_TRAVELLER] = { "adult", "child", "infant_lap", "infant_seat" };

enum draft_traveller draft_traveller_of(struct text word)
{
    static const struct {
        const char *word;
        enum draft_traveller kind;
    } WORDS[] = { { "adult", DRAFT_ADULT },
                  { "ADULT", DRAFT_ADULT },
                  { "ADT", DRAFT_ADULT },
                  { "child", DRAFT_CHILD },
                  { "CHILD", DRAFT_CHILD },
                  { "CHD", DRAFT_CHILD },
                  { "CNN", DRAFT_CHILD },
                  { "infant", DRAFT_INFANT_LAP },
                  { "INF", DRAFT_INFANT_LAP },
                  { "INFANT", DRAFT_INFANT_LAP },
                  { "infant_without_seat", DRAFT_INFANT_LAP },
                  { "infant_with_seat", DRAFT_INFANT_SEAT },
                  { "INS", DRAFT_INFANT_SEAT } };

    for (size_t i = 0; i < COUNT_OF(WORDS); i++) {
        if (text_equals_c(word, WORDS[i].word)) {
            return WORDS[i].kind;
        }
    }
    return DRAFT_NO_TRAVELLER;
}

void draft_traveller_words(struct text sample, struct text words[DRAFT_NO_TRAVELLER])
{
    static const char *const SHORT[] = { "ADT", "CHD", "INF", "INS" };
    static const char *const UPPER[] = { "ADULT", "CHILD", "INFANT", "INFANT" };
    static const char *const LOWER[] = { "adult", "child", "infant", "infant" };
    bool is_short = sample.length == 3, is_upper = sample.length > 0 && sample.data[0] < 'a';

    for (size_t i = 0; i < DRAFT_NO_TRAVELLER; i++) {
        words[i] = text_of(is_short ? SHORT[i] : is_upper ? UPPER[i] : LOWER[i]);
    }
}

static bool is_one_of(struct text word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (word.length == strlen(words[i]) && strncasecmp(word.data, words[i], word.length) == 0) {
            return true;
        }
    }
    return false;
}

bool draft_is_traveller_count(struct text key, struct text value)
{
    static const char *const WORDS[] = { "quantity", "qty", "count", "paxcount", "passengercount" };

    return is_one_of(key, WORDS, COUNT_OF(WORDS)) && value.length == 1 && value.data[0] >= '0' && value.data[0] <= '9';
}

void draft_count_travellers(struct draft *draft, const uint64_t counts[DRAFT_NO_TRAVELLER])
{
    struct draft_search *search = &draft->search;

    search->adults = counts[DRAFT_ADULT] > 0 ? counts[DRAFT_ADULT] : 1;
    search->children = counts[DRAFT_CHILD];
    search->infants = counts[DRAFT_INFANT_LAP] <= search->adults ? counts[DRAFT_INFANT_LAP] : 0;
    search->infant_seats = counts[DRAFT_INFANT_SEAT];
}

// ------------------------------------------------------------------------------------------------------------ numbers

enum draft_numbering draft_numbering_of(struct text key, const struct text *values, size_t count)
{
    static const char *const WORDS[] = { "rph", "segref", "ref", "sequence", "seq", "index", "position", "slice" };
    bool is_same = true, is_from_one = true, is_from_zero = true;

    for (size_t i = 0; i < count; i++) {
        char one[24], zero[24];
        (void)snprintf(one, sizeof(one), "%zu", i + 1);
        (void)snprintf(zero, sizeof(zero), "%zu", i);
        is_same = is_same && text_equals(values[i], values[0]);
        is_from_one = is_from_one && text_equals_c(values[i], one);
        is_from_zero = is_from_zero && text_equals_c(values[i], zero);
    }
    bool is_told = count > 1 || is_one_of(key, WORDS, COUNT_OF(WORDS)); // one alone is any number
    if (is_told && (is_from_one || is_from_zero)) {
        return is_from_one ? DRAFT_FROM_ONE : DRAFT_FROM_ZERO;
    }
    return is_same ? DRAFT_SAME : DRAFT_DIFFERS;
}

void draft_write_number(struct draft *draft, const struct draft_value *value, enum draft_numbering numbering,
                        struct buffer *out)
{
    bool is_text = value->where == DRAFT_JSON && !value->is_number;
    const char *expression = numbering == DRAFT_FROM_ONE ? "number" : "number - 1";

    draft->uses_number = true;
    draft_tell(draft, value, "its number, counted from the first");
    buffer_printf(out, "%s%s%s", is_text ? "tostring(" : "", expression, is_text ? ")" : "");
}

void draft_write_indent(uint32_t indent, struct buffer *out)
{
    for (uint32_t i = 0; i < indent; i++) {
        buffer_append_byte(out, ' ');
    }
}

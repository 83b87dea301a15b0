// A machine with two pointers, into subject and pattern, and a stack of places to come back to. Nothing in a pattern
// can be repeated but single bytes, so each item is entered at most once on a way through it, and the stack is as high
// as the pattern has items at most.
//
// After `*`, `+` or `-`, when the pattern goes on with a certain byte, the places without that byte are passed over; so
// are, before a match, the places where it cannot begin.

#include "script/pattern.h"

#include <string.h>

enum { SCAN_AT_ONCE = 1 << 14 }; // bytes between two looks at the allowance

enum try_kind {
    TRY_FEWER, // of `*` and `+`
    TRY_MORE,  // of `-`
    TRY_NONE,  // of `?`
    TRY_OPENED,
    TRY_CLOSED,
};

enum step { STEP_ON, STEP_FAILED, STEP_DONE, STEP_BROKEN };

struct place {
    const char *s; // in the subject
    const char *p; // in the pattern
};

// ---- the allowance

static enum step step_spend(struct pattern_match *match, size_t steps)
{
    return pattern_spend(match->allowance, steps) ? STEP_ON : STEP_BROKEN;
}

/// pattern_item_scan with a look at the allowance now and then. NULL: stop.
static const char *scan_all(struct pattern_match *match, const struct pattern_item *item, const char *s)
{
    if (item->kind == PATTERN_ITEM_ANY) {
        return match->end;
    }
    for (;;) {
        const char *end = match->end - s > SCAN_AT_ONCE ? s + SCAN_AT_ONCE : match->end;
        const char *stop = pattern_item_scan(item, s, end);
        if (!pattern_spend(match->allowance, (size_t)(stop - s))) {
            return NULL;
        }
        if (stop < end || end == match->end) {
            return stop;
        }
        s = stop;
    }
}

// ---- places to come back to

static enum step try_push(struct pattern_match *match, const struct pattern_try *try)
{
    if (match->depth == PATTERN_DEPTH_MAX) {
        match->items.trouble = "pattern too complex";
        return STEP_BROKEN;
    }
    match->tries[match->depth++] = *try;
    return STEP_ON;
}

/// Must the pattern go on with a certain byte? Captures in between are passed over: whether they are well-formed was
/// seen the first time.
static void try_foresee(struct pattern_try *try)
{
    const char *p = try->pattern;

    while (*p == '(' || *p == ')') {
        p++;
    }
    if (!pattern_is_special(*p) && !pattern_is_repeated(p[1])) {
        try->is_certain = 1;
        try->byte = (unsigned char)*p;
    }
}

/// One byte less. The scan backwards is paid for by the one that came before it.
static bool retry_fewer(struct pattern_match *match, struct pattern_try *try, struct place *place)
{
    const char *s = try->subject;

    do {
        if (s == try->least) {
            match->depth--;
            match->allowance->left -= try->subject - s;
            return false;
        }
        s--;
    } while (try->is_certain && (s == match->end || (unsigned char)*s != try->byte));
    match->allowance->left -= try->subject - s;
    try->subject = s;
    *place = (struct place){ s, try->pattern };
    return true;
}

/// One byte more.
static bool retry_more(struct pattern_match *match, struct pattern_try *try, struct place *place)
{
    struct pattern_item item;
    const char *s = try->subject;
    const char *end = match->end - s > SCAN_AT_ONCE ? s + SCAN_AT_ONCE : match->end;

    require(pattern_item_read(&match->items, try->item, &item)); // it was well-formed before
    do {
        if (s == match->end || !pattern_item_fits(&item, (unsigned char)*s)) {
            match->depth--;
            match->allowance->left -= s - try->subject;
            return false;
        }
        s++;
    } while (try->is_certain && s < end && (unsigned char)*s != try->byte);
    match->allowance->left -= s - try->subject;
    try->subject = s;
    *place = (struct place){ s, try->pattern };
    return true;
}

/// Goes back to the last place with another way. False: there is none.
static bool retry(struct pattern_match *match, struct place *place)
{
    while (match->depth > 0) {
        struct pattern_try *try = &match->tries[match->depth - 1];
        switch ((enum try_kind)try->kind) {
        case TRY_FEWER:
            if (retry_fewer(match, try, place)) {
                return true;
            }
            break;
        case TRY_MORE:
            if (retry_more(match, try, place)) {
                return true;
            }
            break;
        case TRY_NONE:
            *place = (struct place){ try->subject, try->pattern };
            match->depth--;
            return true;
        case TRY_OPENED:
            match->capture_count--;
            match->depth--;
            break;
        case TRY_CLOSED:
            match->captures[try->byte].length = PATTERN_OPEN;
            match->depth--;
            break;
        }
    }
    return false;
}

// ---- steps

static enum step take_most(struct pattern_match *match, struct place *place, const struct pattern_item *item,
                           const char *least)
{
    const char *s = scan_all(match, item, least);

    if (s == NULL) {
        return STEP_BROKEN;
    }
    *place = (struct place){ s, item->end + 1 };
    if (s == least) {
        return STEP_ON;
    }
    struct pattern_try try = { .kind = TRY_FEWER, .subject = s, .least = least, .pattern = item->end + 1 };
    try_foresee(&try);
    return try_push(match, &try);
}

static enum step take_least(struct pattern_match *match, struct place *place, const struct pattern_item *item)
{
    struct pattern_try try = { .kind = TRY_MORE, .subject = place->s, .pattern = item->end + 1, .item = place->p };

    try_foresee(&try);
    place->p = item->end + 1;
    return try_push(match, &try);
}

static enum step take_maybe(struct pattern_match *match, struct place *place, const struct pattern_item *item,
                            bool is_fitting)
{
    const struct pattern_try try = { .kind = TRY_NONE, .subject = place->s, .pattern = item->end + 1 };

    place->p = item->end + 1;
    if (!is_fitting) {
        return STEP_ON;
    }
    place->s++;
    return try_push(match, &try);
}

static inline enum step take_item(struct pattern_match *match, struct place *place)
{
    struct pattern_item item;

    if (!pattern_item_read(&match->items, place->p, &item)) {
        return STEP_BROKEN;
    }
    switch (*item.end) {
    case '*':
        return take_most(match, place, &item, place->s);
    case '-':
        return take_least(match, place, &item);
    default:
        break;
    }
    bool is_fitting = place->s < match->end && pattern_item_fits(&item, (unsigned char)*place->s);
    if (*item.end == '?') {
        return take_maybe(match, place, &item, is_fitting);
    }
    if (!is_fitting) {
        return STEP_FAILED;
    }
    if (*item.end == '+') {
        return take_most(match, place, &item, place->s + 1);
    }
    *place = (struct place){ place->s + 1, item.end };
    return STEP_ON;
}

/// What is done to captures needs undoing only when there is a place to come back to.
static enum step take_open(struct pattern_match *match, struct place *place)
{
    const struct pattern_try try = { .kind = TRY_OPENED };
    bool is_position = place->p[1] == ')';

    if (match->capture_count == PATTERN_CAPTURES_MAX) {
        match->items.trouble = "too many captures";
        return STEP_BROKEN;
    }
    match->captures[match->capture_count++] =
        (struct pattern_capture){ place->s, is_position ? PATTERN_POSITION : PATTERN_OPEN };
    place->p += is_position ? 2 : 1;
    return match->depth > 0 ? try_push(match, &try) : STEP_ON;
}

static enum step take_close(struct pattern_match *match, struct place *place)
{
    uint32_t index = match->capture_count;

    while (index > 0 && match->captures[index - 1].length != PATTERN_OPEN) {
        index--;
    }
    if (index == 0) {
        match->items.trouble = "invalid pattern capture";
        return STEP_BROKEN;
    }
    struct pattern_capture *capture = &match->captures[index - 1];
    const struct pattern_try try = { .kind = TRY_CLOSED, .byte = (unsigned char)(index - 1) };
    capture->length = place->s - capture->start;
    place->p++;
    return match->depth > 0 ? try_push(match, &try) : STEP_ON;
}

/// %1 to %9. A position matches nothing.
static enum step take_reference(struct pattern_match *match, struct place *place)
{
    unsigned index = (unsigned)(place->p[1] - '1');

    if (index >= match->capture_count || match->captures[index].length == PATTERN_OPEN) {
        match->items.trouble = "invalid capture index";
        return STEP_BROKEN;
    }
    const struct pattern_capture *capture = &match->captures[index];
    if (capture->length < 0 || match->end - place->s < capture->length ||
        memcmp(place->s, capture->start, (size_t)capture->length) != 0) {
        match->allowance->left -= capture->length > 0 ? capture->length / 8 : 0;
        return STEP_FAILED;
    }
    place->s += capture->length;
    place->p += 2;
    return step_spend(match, (size_t)capture->length / 8);
}

/// %bxy: from an x to the y that closes it.
static enum step take_balance(struct pattern_match *match, struct place *place)
{
    const char open = place->p[2];
    const char close = open == '\0' ? '\0' : place->p[3];
    const char *s = place->s;
    size_t depth = 1;

    if (close == '\0') {
        match->items.trouble = "unbalanced pattern";
        return STEP_BROKEN;
    }
    if (s == match->end || *s != open) {
        return STEP_FAILED;
    }
    while (++s < match->end) {
        if (*s == close) {
            if (--depth == 0) {
                size_t length = (size_t)(s + 1 - place->s);
                *place = (struct place){ s + 1, place->p + 4 };
                return step_spend(match, length);
            }
        } else if (*s == open) {
            depth++;
        }
    }
    match->allowance->left -= s - place->s;
    return STEP_FAILED;
}

/// %f[set]: here the set begins to fit; zero bytes stand before and behind the subject.
static enum step take_frontier(struct pattern_match *match, struct place *place)
{
    if (place->p[2] != '[') {
        match->items.trouble = "missing '[' after '%f' in pattern";
        return STEP_BROKEN;
    }
    const struct pattern_set *set = pattern_set_at(&match->items, place->p + 2);
    if (set == NULL) {
        return STEP_BROKEN;
    }
    char before = place->s == match->subject ? '\0' : place->s[-1];
    char here = place->s == match->end ? '\0' : *place->s;
    if (pattern_bits_have(set->bits, (unsigned char)before) || !pattern_bits_have(set->bits, (unsigned char)here)) {
        return STEP_FAILED;
    }
    place->p = set->end;
    return STEP_ON;
}

static inline enum step take_step(struct pattern_match *match, struct place *place)
{
    const char *p = place->p;

    switch (*p) {
    case '\0':
        return STEP_DONE;
    case '(':
        return take_open(match, place);
    case ')':
        return take_close(match, place);
    case '$':
        if (p[1] == '\0') {
            return place->s == match->end ? STEP_DONE : STEP_FAILED;
        }
        break;
    case '%':
        if (p[1] == 'b') {
            return take_balance(match, place);
        }
        if (p[1] == 'f') {
            return take_frontier(match, place);
        }
        if (p[1] >= '0' && p[1] <= '9') {
            return take_reference(match, place);
        }
        break;
    default:
        break;
    }
    return take_item(match, place);
}

// ---- matching

bool pattern_is_plain(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] != '\0' && pattern_is_special(text.data[i])) {
            return false;
        }
    }
    return true;
}

/// Does every match begin with a certain kind of byte? What is malformed is left to the match itself.
static void match_foresee(struct pattern_match *match)
{
    const char *p = match->pattern;
    size_t opened = 0;

    match->has_first = false;
    while (*p == '(' && p[1] != ')' && opened++ < PATTERN_CAPTURES_MAX) {
        p++;
    }
    if (*p == '\0' || *p == '(' || *p == ')' || *p == '$' ||
        (*p == '%' && (p[1] == 'b' || p[1] == 'f' || (p[1] >= '0' && p[1] <= '9')))) {
        return;
    }
    if (!pattern_item_read(&match->items, p, &match->first)) {
        match->items.trouble = NULL;
        return;
    }
    if (*p == '[') { // its place among the sets may be taken by another one
        memcpy(match->first_bits, match->first.bits, sizeof match->first_bits);
        match->first.bits = match->first_bits;
    }
    match->has_first = *match->first.end == '+' || !pattern_is_repeated(*match->first.end);
}

void pattern_begin(struct pattern_match *match, struct text subject, const char *pattern, bool may_anchor,
                   struct pattern_allowance *allowance)
{
    match->subject = subject.data;
    match->end = subject.data + subject.length;
    match->is_anchored = may_anchor && *pattern == '^';
    match->pattern = match->is_anchored ? pattern + 1 : pattern;
    match->allowance = allowance;
    match->items.allowance = allowance;
    match->items.trouble = NULL;
    match->items.count = 0;
    match->items.next = 0;
    match->has_first = false;
    if (!match->is_anchored) {
        match_foresee(match);
    }
}

enum pattern_result pattern_at(struct pattern_match *match, const char *from, const char **end)
{
    struct place place = { from, match->pattern };

    match->depth = 0;
    match->capture_count = 0;
    for (;;) {
        enum step step = take_step(match, &place);
        if (step == STEP_DONE) {
            *end = place.s;
            return PATTERN_FOUND;
        }
        if (step == STEP_BROKEN) {
            return match->items.trouble != NULL ? PATTERN_MALFORMED : PATTERN_STOPPED;
        }
        if (step == STEP_FAILED && !retry(match, &place)) {
            return PATTERN_NONE;
        }
        if (--match->allowance->left < 0 && !match->allowance->refill(match->allowance)) {
            return PATTERN_STOPPED;
        }
    }
}

/// The next place where a match may begin; the end of the subject: nowhere.
static const char *search_skip(struct pattern_match *match, const char *s)
{
    const char *found = s;

    if (match->first.kind == PATTERN_ITEM_BYTE) {
        found = memchr(s, match->first.byte, (size_t)(match->end - s));
        found = found == NULL ? match->end : found;
        match->allowance->left -= (found - s) / 16;
    } else if (match->first.kind == PATTERN_ITEM_BITS) {
        while (found < match->end && !pattern_item_fits(&match->first, (unsigned char)*found)) {
            found++;
        }
        match->allowance->left -= found - s;
    }
    return found;
}

enum pattern_result pattern_search(struct pattern_match *match, const char *from, const char **start, const char **end)
{
    for (const char *s = from;; s++) {
        if (match->has_first) {
            s = search_skip(match, s);
            if (s == match->end) {
                return PATTERN_NONE;
            }
        }
        enum pattern_result result = pattern_at(match, s, end);
        if (result == PATTERN_FOUND) {
            *start = s;
        }
        if (result != PATTERN_NONE || match->is_anchored || s == match->end) {
            return result;
        }
        if (!pattern_spend(match->allowance, 1)) {
            return PATTERN_STOPPED;
        }
    }
}

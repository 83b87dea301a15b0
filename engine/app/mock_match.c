// Differences are counted by the same code that tells them in `lastcall test`, one member of `expect_request` at a
// time.

#include "app/mock_match.h"

#include "app/fixture_request.h"
#include "base/json_read.h"

#include <string.h>

enum { ARENA_MAX = 64 << 20, OTHER_KIND = 1000, SILENT_URL = 1, SILENT_BODY = 4 };

// ---- urls

/// The option that leads to the target: of those of the door the one whose path begins it and is the longest. Without
/// one any of the door, and `*is_other`: the request goes to another path of the origin.
static const struct mock_option *find_option(const struct mock_supplier *supplier, size_t door, struct text target,
                                             bool *is_other)
{
    const struct mock_option *best = NULL, *any = NULL;
    struct text query;
    struct text path = text_split(target, '?', &query);

    for (size_t i = 0; i < supplier->option_count; i++) {
        const struct mock_option *option = &supplier->options[i];
        if (option->door != door) {
            continue;
        }
        bool is_before = text_starts_with(path, option->path) &&
                         (path.length == option->path.length || path.data[option->path.length] == '/');
        any = option;
        if (is_before && (best == NULL || option->path.length > best->path.length)) {
            best = option;
        }
    }
    *is_other = best == NULL;
    return best != NULL ? best : any;
}

struct text mock_url_of(struct arena *arena, const struct mock_play *play, const struct mock_supplier *supplier,
                        size_t door, struct text target)
{
    bool is_other;
    struct url_parts parts;
    const struct mock_option *option = find_option(supplier, door, target, &is_other);

    require(option != NULL); // a door is there for an option
    struct text url = mock_option_url(play, option);
    struct text rest = target;
    if (!is_other) {
        rest = (struct text){ target.data + option->path.length, target.length - option->path.length };
    } else if (url_split(url, &parts) && parts.target.data != NULL) {
        url.length = (size_t)(parts.target.data - url.data);
    }
    char *made = arena_alloc(arena, url.length + rest.length + 1);
    if (made == NULL) {
        return target;
    }
    (void)text_put(text_put(made, url), rest);
    return (struct text){ made, url.length + rest.length };
}

static bool has_digit(struct text piece)
{
    bool has_one = false;

    for (size_t i = 0; i < piece.length && !has_one; i++) {
        has_one = piece.data[i] >= '0' && piece.data[i] <= '9';
    }
    return has_one;
}

/// `*pieces` is how many of them differ.
static enum mock_path compare_paths(struct text expected, struct text got, size_t *pieces)
{
    enum mock_path verdict = MOCK_PATH_SAME;

    while (expected.data != NULL || got.data != NULL) {
        bool are_both = expected.data != NULL && got.data != NULL;
        struct text wanted = { 0 }, have = { 0 };
        wanted = expected.data == NULL ? wanted : text_split(expected, '/', &expected);
        have = got.data == NULL ? have : text_split(got, '/', &got);
        if (!are_both || !text_equals(wanted, have)) {
            bool is_alike = are_both && has_digit(wanted) && has_digit(have) && verdict != MOCK_PATH_OTHER;
            verdict = is_alike ? MOCK_PATH_ALIKE : MOCK_PATH_OTHER;
            ++*pieces;
        }
    }
    return verdict;
}

/// The path of a URL without query; "" when it ends at the host.
static struct text path_of(struct text url)
{
    struct url_parts parts;
    struct text query;

    return url_split(url, &parts) && parts.target.data != NULL ? text_split(parts.target, '?', &query) : TEXT("");
}

// ---- differences

/// What fixture_match reports to while it only counts.
struct counting {
    size_t count;
    struct mock_listener *listener; // NULL: nobody listens
    bool is_header;
};

static void count_one(void *context, const struct failure *failure)
{
    struct counting *counting = context;
    struct text words = text_of(failure->message), rest;

    counting->count++;
    if (counting->listener == NULL) {
        return;
    }
    if (words.length > 0 && words.data[0] == '.') {
        words = (struct text){ words.data + 1, words.length - 1 };
    }
    if (counting->is_header) { // its value is nobody's business
        words = text_split(words, ':', &rest);
    }
    counting->listener->on_difference(counting->listener, words);
}

/// Holds the request against one member of `expect_request`.
static size_t count_member(struct mock_play *play, const struct json_node *expect, const struct json_node *member,
                           const struct http_request *request, struct mock_listener *listener)
{
    struct json_node one = *member, object = *expect;
    struct counting counting = { .listener = listener, .is_header = text_equals_c(member->key, "headers") };
    struct fixture scratch = *play->fixture; // its bytes and path, for places

    one.next = NULL;
    object.first = &one;
    object.count = 1;
    arena_init(&scratch.arena, ARENA_MAX);
    scratch.report = count_one;
    scratch.context = &counting;
    scratch.is_updating = false;
    scratch.is_counting = listener == NULL;
    fixture_match_request(&scratch, "", &object, request);
    arena_fini(&scratch.arena);
    return counting.count;
}

static bool is_of_word(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           byte == '_' || byte == '-' || byte == '.' || (byte & 0x80) != 0;
}

static bool next_word(struct text *rest, struct text *word)
{
    size_t from = 0, to;

    while (from < rest->length && !is_of_word(rest->data[from])) {
        from++;
    }
    for (to = from; to < rest->length && is_of_word(rest->data[to]); to++) {
    }
    *word = (struct text){ rest->data + from, to - from };
    *rest = (struct text){ rest->data + to, rest->length - to };
    return word->length > 0;
}

/// How many words of one body the other has not, at most a thousand: XML for another date is nearer than another
/// command.
static size_t count_words(struct text from, struct text in)
{
    struct text word;
    size_t missing = 0;

    while (missing < OTHER_KIND && next_word(&from, &word)) {
        missing += memmem(in.data, in.length, word.data, word.length) == NULL;
    }
    return missing;
}

/// The elements of XML that the other has not.
static size_t count_elements(struct text from, struct text in)
{
    size_t missing = 0;

    for (size_t i = 0; i + 1 < from.length; i++) {
        struct text word, rest = { from.data + i + 1, from.length - i - 1 };
        if (from.data[i] == '<' && is_of_word(from.data[i + 1]) && next_word(&rest, &word)) {
            struct text tag = { word.data - 1, word.length + 1 };
            missing += memmem(in.data, in.length, tag.data, tag.length) == NULL;
        }
    }
    return missing;
}

static size_t count_all_words(struct text text)
{
    struct text word;
    size_t count = 0;

    while (next_word(&text, &word)) {
        count++;
    }
    return count;
}

static size_t count_body(struct mock_play *play, const struct json_node *expect, const struct json_node *member,
                         const struct http_request *request)
{
    const char *why;
    size_t offset, words;
    struct text body = request->body.data == NULL ? TEXT("") : request->body;
    size_t count = count_member(play, expect, member, request, NULL);

    if (count == 0) {
        return 0;
    }
    if (text_equals_c(member->key, "json") && !json_is_valid(body, &offset, &why)) {
        return OTHER_KIND;
    }
    if (text_equals_c(member->key, "body") && member->kind == JSON_STRING) {
        words = count_words(member->text, body) + count_words(body, member->text);
        // Where all commands have one URL, the elements say which command it is.
        words += count_elements(member->text, body) + count_elements(body, member->text) > 0 ? OTHER_KIND : 0;
        return words > count ? words : count;
    }
    if (text_equals_c(member->key, "json")) {
        // A list of another length is one difference, but what is in it makes it another request.
        size_t wanted = count_all_words(member->source), have = count_all_words(body);
        count += wanted > have ? wanted - have : have - wanted;
    }
    return count;
}

static void fit_url(struct mock_play *play, const struct json_node *expect, const struct json_node *url,
                    const struct http_request *request, struct mock_fit *fit)
{
    struct text query, base, got_query;

    if (url == NULL || url->kind != JSON_STRING) {
        fit->path = MOCK_PATH_UNSAID;
        fit->silence += SILENT_URL;
        return;
    }
    base = text_split(url->text, '?', &query);
    (void)text_split(request->url, '?', &got_query);
    fit->path = compare_paths(path_of(base), path_of(request->url), &fit->pieces);
    fit->says_what = fit->says_what || query.data != NULL;
    if (query.data == NULL && got_query.data == NULL) {
        return;
    }
    if (query.data == NULL || got_query.data == NULL) {
        fit->what++; // one has none; which parameters the other has makes no difference
        return;
    }
    // Only the parameters: the path was judged.
    struct buffer together;
    buffer_init(&together, (size_t)base.length + got_query.length + 2);
    buffer_append_text(&together, base);
    buffer_append_byte(&together, '?');
    buffer_append_text(&together, got_query);
    struct http_request here = *request;
    here.url = buffer_text(&together);
    fit->what += together.is_full ? 1 : count_member(play, expect, url, &here, NULL);
    buffer_fini(&together);
}

struct mock_fit mock_fit_of(struct mock_play *play, size_t exchange, const struct http_request *request)
{
    static const char *const bodies[] = { "json", "form", "body" };
    const struct json_node *expect = play->exchanges.items[exchange].expect;
    const struct json_node *method = json_tree_member(expect, "method"), *headers = json_tree_member(expect, "headers");
    struct mock_fit fit = { 0 };
    size_t body_count = 0;

    fit.is_other_method =
        method != NULL && (method->kind != JSON_STRING || !text_equals_nocase(method->text, request->method));
    fit_url(play, expect, json_tree_member(expect, "url"), request, &fit);
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        const struct json_node *body = json_tree_member(expect, bodies[i]);
        if (body != NULL) {
            fit.what += count_body(play, expect, body, request);
            body_count++;
        }
    }
    fit.says_what = fit.says_what || body_count > 0;
    fit.silence += body_count == 0 && request->body.length > 0 ? SILENT_BODY : 0;
    if (headers != NULL && headers->kind == JSON_BEGIN_OBJECT) {
        fit.headers = count_member(play, expect, headers, request, NULL);
    }
    return fit;
}

void mock_tell_differences(struct mock_play *play, size_t exchange, const struct http_request *request,
                           struct mock_listener *listener)
{
    const struct json_node *expect = play->exchanges.items[exchange].expect;

    for (const struct json_node *member = expect == NULL ? NULL : expect->first; member != NULL;
         member = member->next) {
        (void)count_member(play, expect, member, request, listener);
    }
}

// ---- the best

/// Below 0: `a` fits better; 0: equally well.
static int compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/// An odd answer is for whoever asks for it: by name, or word for word.
static size_t reluctance(const struct mock_choice *choice)
{
    const struct mock_fit *fit = &choice->fit;
    bool is_exact = fit->path == MOCK_PATH_SAME && fit->what == 0 && fit->silence == 0;

    if (choice->play->is_good) {
        return is_exact ? 0 : 1;
    }
    return is_exact && fit->says_what ? 0 : 2;
}

/// Asked for by name. What says nothing of its request would take a login for a search, too, and XML another command.
static bool is_preferred(const struct mock_choice *choice)
{
    return choice->play->is_chosen && choice->fit.what < OTHER_KIND &&
           (choice->fit.path != MOCK_PATH_UNSAID || !choice->play->logs_in);
}

static int compare_nearness(const struct mock_fit *a, const struct mock_fit *b)
{
    int by = compare_numbers(a->path == MOCK_PATH_UNSAID, b->path == MOCK_PATH_UNSAID);

    by = by != 0 ? by : compare_numbers(a->pieces, b->pieces);
    by = by != 0 ? by : compare_numbers(a->is_other_method, b->is_other_method);
    by = by != 0 ? by : compare_numbers(a->what, b->what);
    return by != 0 ? by : compare_numbers(a->headers, b->headers);
}

static int compare_fits(const struct mock_choice *a, const struct mock_choice *b)
{
    int by = compare_numbers(!a->can_answer, !b->can_answer);

    if (by == 0 && !a->can_answer) {
        return compare_nearness(&a->fit, &b->fit);
    }
    by = by != 0 ? by : compare_numbers(!is_preferred(a), !is_preferred(b));
    by = by != 0 ? by : compare_numbers(reluctance(a), reluctance(b));
    by = by != 0 ? by : compare_numbers(a->fit.path == MOCK_PATH_ALIKE, b->fit.path == MOCK_PATH_ALIKE);
    by = by != 0 ? by : compare_numbers(a->fit.what + a->fit.silence, b->fit.what + b->fit.silence);
    return by != 0 ? by : compare_numbers(a->fit.headers, b->fit.headers);
}

static bool is_better(const struct mock_supplier *supplier, const struct mock_choice *a, const struct mock_choice *b)
{
    int by = compare_fits(a, b);

    if (by == 0) {
        by = compare_numbers(!a->play->is_good, !b->play->is_good);
    }
    // A play that goes on; what begins one begins the first that fits.
    if (by == 0 && a->exchange > 0 && b->exchange > 0) {
        by = compare_numbers(a->play != supplier->last, b->play != supplier->last);
    }
    return by < 0;
}

/// Of equal requests of one play the answers come in their order.
static void take_turn(struct mock_choice *best, const struct mock_choice *all, size_t count)
{
    uint32_t *uses = best->play->uses;
    const struct mock_choice *next = NULL, *last = NULL, *first = NULL;
    size_t equal = 0;

    for (size_t i = 0; i < count; i++) {
        if (all[i].play == best->play && compare_fits(&all[i], best) == 0) {
            first = first == NULL ? &all[i] : first;
            next = next == NULL && uses[all[i].exchange] == 0 ? &all[i] : next;
            last = &all[i];
            equal++;
        }
    }
    require(first != NULL); // the best is one of them
    if (next == NULL && first->exchange > 0) {
        next = last; // told already: what came at last stays true
    } else if (next == NULL) {
        memset(uses, 0, best->play->exchanges.count * sizeof(*uses)); // it all begins anew
        next = first;
    }
    *best = *next;
    if (equal == 1) { // what follows it follows anew
        size_t from = best->exchange + 1;
        memset(uses + from, 0, (best->play->exchanges.count - from) * sizeof(*uses));
    }
    uses[best->exchange]++;
}

/// Does another fixture say the URL of the request at this place?
static bool is_said_elsewhere(const struct mock_supplier *supplier, const struct mock_choice *choice)
{
    bool is_said = false;

    for (size_t i = 0; i < supplier->play_count && !is_said; i++) {
        const struct mock_play *play = &supplier->plays[i];
        bool is_same_kind = (play->where[0] == '\0') == (choice->play->where[0] == '\0');
        if (is_same_kind && play->exchanges.count > choice->exchange) {
            is_said = json_tree_member(play->exchanges.items[choice->exchange].expect, "url") != NULL;
        }
    }
    return is_said;
}

/// `is_known`: some exchange has method and path of the request.
static bool can_answer(const struct mock_supplier *supplier, const struct mock_choice *choice, bool is_known,
                       bool is_strict)
{
    const struct mock_fit *fit = &choice->fit;
    bool is_exact = fit->path != MOCK_PATH_ALIKE && fit->what == 0 && fit->headers == 0;

    if (fit->is_other_method || fit->path == MOCK_PATH_OTHER || (is_strict && !is_exact)) {
        return false;
    }
    // One that says no URL means the URL that others say there, so that what should not be asked is found.
    return fit->path != MOCK_PATH_UNSAID || is_known || !is_said_elsewhere(supplier, choice);
}

/// Holds the request against each exchange; returns their number.
static size_t fit_all(struct mock *mock, struct mock_supplier *supplier, size_t door,
                      const struct http_request *request, bool is_strict, struct mock_choice *all)
{
    size_t count = 0;
    bool is_known = false;

    for (size_t i = 0; i < supplier->play_count; i++) {
        struct mock_play *play = &supplier->plays[i];
        struct http_request here = *request;
        here.url = mock_url_of(&mock->scratch, play, supplier, door, request->url);
        for (size_t j = 0; j < play->exchanges.count; j++) {
            struct mock_fit fit = mock_fit_of(play, j, &here);
            is_known = is_known || (fit.path <= MOCK_PATH_ALIKE && !fit.is_other_method);
            all[count++] = (struct mock_choice){ .play = play, .exchange = j, .fit = fit };
        }
    }
    for (size_t i = 0; i < count; i++) {
        all[i].can_answer = can_answer(supplier, &all[i], is_known, is_strict);
    }
    return count;
}

struct mock_choice mock_choose(struct mock *mock, struct mock_supplier *supplier, size_t door,
                               const struct http_request *request, bool is_strict)
{
    struct mock_choice best = { 0 };
    size_t most = 0;

    for (size_t i = 0; i < supplier->play_count; i++) {
        most += supplier->plays[i].exchanges.count;
    }
    struct mock_choice *all = arena_alloc_array(&mock->scratch, most + 1, sizeof(*all));
    size_t count = all == NULL ? 0 : fit_all(mock, supplier, door, request, is_strict, all);
    for (size_t i = 0; i < count; i++) {
        if (best.play == NULL || is_better(supplier, &all[i], &best)) {
            best = all[i];
        }
    }
    if (best.can_answer) {
        take_turn(&best, all, count);
        supplier->last = best.play;
    }
    return best;
}

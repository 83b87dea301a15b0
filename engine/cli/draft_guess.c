// What a value of a pasted call is: by the key that it stands at, and by how it looks.

#include "cli/draft.h"
#include "cli/draft_key.h"

#include <stdio.h>
#include <string.h>

enum { SECRET_LENGTH_MIN = 20, NAME_SECRET_MIN = 16, PATH_SHOWN = 120 };

/// A line on a value, once in the list; a name that is a secret is not told.
static void note_value(struct draft *draft, const struct draft_value *value, const char *what, struct text *lines,
                       size_t *count)
{
    static const char *const PLACES[] = { "header", "query", "form", "json", "path", "body" };
    struct text name = value->path.length > 0 ? value->path : value->key;
    char line[PATH_SHOWN + 160];

    if (draft->is_silent) {
        return;
    }
    for (size_t i = 0; i < draft->secret_count; i++) {
        struct text secret = draft->secrets[i].value;
        if (secret.length >= NAME_SECRET_MIN && name.length >= secret.length &&
            memmem(name.data, name.length, secret.data, secret.length) != NULL) {
            return;
        }
    }
    (void)snprintf(line, sizeof(line), "%s%s%.*s%s", PLACES[value->where], name.length > 0 ? " " : "",
                   (int)(name.length < PATH_SHOWN ? name.length : PATH_SHOWN), name.length > 0 ? name.data : "", what);
    for (char *at = line; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at; // it becomes a comment
    }
    for (size_t i = 0; i < *count; i++) {
        if (text_equals_c(lines[i], line)) {
            return;
        }
    }
    if (*count < DRAFT_NOTES_MAX) {
        lines[(*count)++] = arena_copy(draft->arena, text_of(line));
    }
}

void draft_tell(struct draft *draft, const struct draft_value *value, const char *what)
{
    char words[160];

    (void)snprintf(words, sizeof(words), ": %s", what);
    note_value(draft, value, words, draft->guesses, &draft->guess_count);
}

void draft_tell_literal(struct draft *draft, const struct draft_value *value)
{
    bool is_empty = value->value.length == 0;

    if (!is_empty && value->where != DRAFT_HEADER && value->key.length > 0) {
        note_value(draft, value, "", draft->literals, &draft->literal_count);
    }
}

// ------------------------------------------------------------------------------------------------------------- secrets

static bool is_secret_key(const char *key)
{
    static const char *const PARTS[] = { "apikey", "accesskey", "appkey",         "authkey", "secret",
                                         "token",  "passw",     "passphrase",     "pwd",     "credential",
                                         "jwt",    "session",   "signature",      "cookie",  "csrf",
                                         "xsrf",   "clientid",  "licence",        "license", "authoriz",
                                         "bearer", "sharedkey", "subscriptionkey" };
    static const char *const WORDS[] = { "key",  "sig",   "sid",  "user", "username", "login",     "userid",  "pin",
                                         "auth", "xauth", "hash", "pass", "appid",    "accountid", "agentid", "pcc" };

    return draft_key_has_any(key, PARTS, COUNT_OF(PARTS)) || draft_key_is_any(key, WORDS, COUNT_OF(WORDS)) ||
           (draft_key_ends_with(key, "key") && strlen(key) <= 16);
}

/// Long, of letters and digits mixed, and no word, path or type.
static bool looks_secret(struct text value)
{
    size_t letters = 0, digits = 0;

    if (text_starts_with(value, TEXT("eyJ")) && value.length > 10) {
        return true;
    }
    for (size_t i = 0; i < value.length; i++) {
        char c = value.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_digit = c >= '0' && c <= '9';
        letters += is_letter;
        digits += is_digit;
        if (!is_letter && !is_digit && (c == '\0' || strchr("-_.+/=~", c) == NULL)) {
            return false;
        }
    }
    return value.length >= SECRET_LENGTH_MIN && letters >= 2 && digits >= 3 &&
           memmem(value.data, value.length, "application/", 12) == NULL &&
           memmem(value.data, value.length, "text/", 5) == NULL;
}

static bool is_truth(struct text value)
{
    return value.length == 0 || text_equals_c(value, "true") || text_equals_c(value, "false") ||
           text_equals_c(value, "null");
}

/// "x-api-key" of acme -> "ACME_API_KEY"; "acme-key" -> "ACME_KEY"
static void secret_name(const struct draft *draft, const char *suffix, char out[2 * DRAFT_KEY_SIZE])
{
    char plain[DRAFT_KEY_SIZE] = { 0 };
    size_t length = 0;

    for (const char *at = suffix; *at != '\0' && length + 1 < sizeof(plain); at++) {
        char c = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
        bool is_word = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool is_hump = at > suffix && *at >= 'A' && *at <= 'Z' && at[-1] >= 'a' && at[-1] <= 'z';
        if ((is_hump || !is_word) && length > 0 && plain[length - 1] != '_') {
            plain[length++] = '_';
        }
        if (is_word && length + 1 < sizeof(plain)) {
            plain[length++] = c;
        }
    }
    length -= length > 0 && plain[length - 1] == '_' ? 1 : 0;
    plain[length] = '\0';
    char prefix[DRAFT_KEY_SIZE + 1];
    (void)snprintf(prefix, sizeof(prefix), "%.*s_", TEXT_ARGS(draft->name));
    for (char *at = prefix; *at != '\0'; at++) {
        *at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
    }
    const char *rest = draft_key_begins_with(plain, "X_") ? plain + 2 : plain;
    rest += draft_key_begins_with(rest, prefix) ? strlen(prefix) : 0;
    (void)snprintf(out, 2 * DRAFT_KEY_SIZE, "%s%s", prefix, rest[0] == '\0' ? "SECRET" : rest);
}

static bool is_name_taken(const struct draft *draft, const char *name)
{
    for (size_t i = 0; i < draft->secret_count; i++) {
        if (text_equals_c(draft->secrets[i].name, name)) {
            return true;
        }
    }
    return false;
}

struct text draft_secret_of(struct draft *draft, const char *suffix, struct text value)
{
    char name[2 * DRAFT_KEY_SIZE], numbered[2 * DRAFT_KEY_SIZE + 8];

    for (size_t i = 0; i < draft->secret_count; i++) {
        if (text_equals(draft->secrets[i].value, value)) {
            return draft->secrets[i].name;
        }
    }
    if (draft->secret_count == DRAFT_SECRETS_MAX) {
        draft->is_out_of_memory = true;
        return TEXT("TOO_MANY_SECRETS");
    }
    secret_name(draft, suffix, name);
    (void)snprintf(numbered, sizeof(numbered), "%s", name);
    for (unsigned i = 2; is_name_taken(draft, numbered); i++) {
        (void)snprintf(numbered, sizeof(numbered), "%s_%u", name, i);
    }
    struct draft_secret *secret = &draft->secrets[draft->secret_count++];
    *secret = (struct draft_secret){ draft_keep(draft, numbered), value };
    return secret->name;
}

bool draft_take_secret(struct draft *draft, const struct draft_value *value)
{
    char key[DRAFT_KEY_SIZE], suffix[DRAFT_KEY_SIZE];
    bool is_path = value->where == DRAFT_PATH || value->key.length == 0;

    draft_key_plain(value->key, key);
    draft_key_plain(value->parent, suffix);
    bool is_requestor = strcmp(key, "id") == 0 && strcmp(suffix, "requestorid") == 0 && value->value.length >= 4;
    if (is_truth(value->value) || (value->is_number && value->value.length < 6) ||
        (!is_requestor && !is_secret_key(key) && !looks_secret(value->value))) {
        return false;
    }
    if (is_requestor) {
        (void)draft_secret_of(draft, "requestor_id", value->value);
        return true;
    }
    (void)snprintf(suffix, sizeof(suffix), "%.*s",
                   (int)(is_path                  ? 5
                         : value->key.length < 40 ? value->key.length
                                                  : 40),
                   is_path ? "token" : value->key.data);
    (void)draft_secret_of(draft, suffix, value->value);
    return true;
}

// ---------------------------------------------------------------------------------------------------- fields of a
// search

bool draft_is_airport(struct text value)
{
    for (size_t i = 0; i < value.length; i++) {
        if (value.data[i] < 'A' || value.data[i] > 'Z') {
            return false;
        }
    }
    return value.length == 3;
}

bool draft_is_origin(struct text word)
{
    static const char *const WORDS[] = { "dep", "src", "source", "org" };
    char key[DRAFT_KEY_SIZE];

    draft_key_plain(word, key);
    return draft_key_ends_with_word(word, "from") || strstr(key, "orig") != NULL || strstr(key, "depart") != NULL ||
           draft_key_begins_with(key, "from") || draft_key_is_any(key, WORDS, COUNT_OF(WORDS));
}

bool draft_is_destination(struct text word)
{
    static const char *const WORDS[] = { "arr", "dst" };
    char key[DRAFT_KEY_SIZE];

    draft_key_plain(word, key);
    return draft_key_ends_with_word(word, "to") || strstr(key, "dest") != NULL || strstr(key, "arriv") != NULL ||
           draft_key_begins_with(key, "to") || draft_key_is_any(key, WORDS, COUNT_OF(WORDS));
}

/// Where the one who asks is at home: `POS.Source.@AirportCode`.
static bool is_of_seller(const struct draft_value *value)
{
    char name[DRAFT_KEY_SIZE];

    for (struct text rest = value->path; rest.data != NULL && rest.length > 0;) {
        draft_key_plain(text_split(rest, '.', &rest), name);
        if (strcmp(name, "pos") == 0 || strcmp(name, "pointofsale") == 0) {
            return true;
        }
    }
    return false;
}

static struct text take_airport(struct draft *draft, const struct draft_value *value)
{
    if (draft->is_hotels || !draft_is_airport(value->value) || value->where == DRAFT_HEADER || is_of_seller(value)) {
        return (struct text){ 0 };
    }
    bool is_origin = draft_is_origin(value->key), is_destination = draft_is_destination(value->key);
    if (!is_origin && !is_destination) {
        is_origin = draft_is_origin(value->parent);
        is_destination = draft_is_destination(value->parent);
    }
    if (!is_origin && !is_destination && value->where == DRAFT_PATH) {
        is_origin = draft->search.origin.data == NULL || text_equals(draft->search.origin, value->value);
        is_destination = !is_origin;
    }
    if (!is_origin && !is_destination) {
        return (struct text){ 0 };
    }
    // The way back is the other way round.
    bool is_back = value->index == 1 && (value->where == DRAFT_JSON || value->slice != NULL);
    bool is_known_origin = is_back ? is_destination : is_origin;
    struct text *place = is_known_origin ? &draft->search.origin : &draft->search.destination;
    if (place->data != NULL && !text_equals(*place, value->value)) {
        return (struct text){ 0 };
    }
    *place = value->value;
    draft->uses_second_slice = draft->uses_second_slice || (is_back && value->slice == NULL);
    draft_tell(draft, value, is_origin ? "the origin" : "the destination");
    if (value->slice != NULL) {
        return is_origin ? TEXT("slice.origin") : TEXT("slice.destination");
    }
    if (is_back) {
        return is_origin ? TEXT("search.query.slices[2].origin") : TEXT("search.query.slices[2].destination");
    }
    return is_origin ? TEXT("search.query.slices[1].origin") : TEXT("search.query.slices[1].destination");
}

/// A count, once it fits what the fixture searches for; 0 is none.
static bool take_count(uint64_t *known, uint64_t count)
{
    if (*known != UINT64_MAX && *known != count) {
        return false;
    }
    *known = count;
    return true;
}

/// `<GuestCount Count="2">`: a number of something, by the name around it.
static bool is_number_of(const struct draft_value *value, const char *what)
{
    static const char *const COUNTS[] = { "quantity", "count", "number" };
    char key[DRAFT_KEY_SIZE], parent[DRAFT_KEY_SIZE];

    draft_key_plain(value->key, key);
    draft_key_plain(value->parent, parent);
    return draft_key_is_any(key, COUNTS, COUNT_OF(COUNTS)) && draft_key_begins_with(parent, what);
}

static struct text take_party(struct draft *draft, const struct draft_value *value)
{
    static const char *const EVERYBODY[] = {
        "pax", "passengers", "travellers", "travelers", "seats", "passengercount"
    };
    static const char *const GUESTS[] = { "occupancy", "guests", "guestcount", "pax", "persons" };
    struct draft_search *search = &draft->search;
    char key[DRAFT_KEY_SIZE];
    uint64_t count;
    const char *expression = NULL, *what = NULL;

    draft_key_plain(value->key, key);
    if (!text_to_u64(value->value, &count) || count > 9 || value->where == DRAFT_HEADER || value->where == DRAFT_PATH) {
        return (struct text){ 0 };
    }
    if (strstr(key, "adult") != NULL || strcmp(key, "adt") == 0) {
        what = "how many adults";
        expression = count > 0 && take_count(&search->adults, count)
                         ? (draft->is_hotels ? "search.query.rooms[1].adults" : "count(search, \"adult\")")
                         : NULL;
    } else if (strstr(key, "child") != NULL || strcmp(key, "chd") == 0) {
        what = "how many children";
        expression = strstr(key, "age") == NULL && count <= 4 && take_count(&search->children, count)
                         ? (draft->is_hotels ? "#search.query.rooms[1].child_ages" : "count(search, \"child\")")
                         : NULL;
    } else if ((strstr(key, "infant") != NULL || strcmp(key, "inf") == 0) && !draft->is_hotels) {
        what = "how many infants on a lap";
        expression = count <= 1 && take_count(&search->infants, count) ? "count(search, \"infant_lap\")" : NULL;
    } else if (draft_key_is_any(key, EVERYBODY, COUNT_OF(EVERYBODY)) && !draft->is_hotels) {
        what = "how many travellers";
        expression = count > 0 && take_count(&search->adults, count) ? "#search.query.travellers" : NULL;
    } else if (draft->is_hotels && (draft_key_is_any(key, GUESTS, COUNT_OF(GUESTS)) || is_number_of(value, "guest"))) {
        what = "how many adults";
        expression = count > 0 && take_count(&search->adults, count) ? "search.query.rooms[1].adults" : NULL;
    } else if (draft->is_hotels && (is_number_of(value, "room") || draft_key_begins_with(key, "room"))) {
        what = "how many rooms";
        expression = count > 0 && take_count(&search->rooms, count) ? "#search.query.rooms" : NULL;
    }
    if (expression == NULL) {
        return (struct text){ 0 };
    }
    draft->counts_travellers = draft->counts_travellers || draft_key_begins_with(expression, "count(");
    draft_tell(draft, value, what);
    if (value->is_number || value->where != DRAFT_JSON) {
        return draft_keep(draft, expression);
    }
    char as_text[80];
    (void)snprintf(as_text, sizeof(as_text), "tostring(%s)", expression);
    return draft_keep(draft, as_text);
}

static bool is_capitals(struct text value, size_t length)
{
    for (size_t i = 0; i < value.length; i++) {
        if (value.data[i] < 'A' || value.data[i] > 'Z') {
            return false;
        }
    }
    return value.length == length;
}

static bool take_text(struct text *known, struct text value)
{
    if (known->data != NULL && !text_equals(*known, value)) {
        return false;
    }
    *known = value;
    return true;
}

static bool is_code(struct text value)
{
    for (size_t i = 0; i < value.length; i++) {
        char c = value.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) &&
            (c == '\0' || strchr("_.-", c) == NULL)) {
            return false;
        }
    }
    return value.length > 0 && value.length <= 40;
}

/// No word that a search would have for a city: with a digit in it.
static bool is_their_code(struct text value)
{
    bool has_digit = false;

    for (size_t i = 0; i < value.length; i++) {
        has_digit = has_digit || (value.data[i] >= '0' && value.data[i] <= '9');
    }
    return has_digit && is_code(value);
}

static struct text take_word(struct draft *draft, const struct draft_value *value)
{
    static const char *const MARKETS[] = { "country", "market", "pos", "pointofsale", "countrycode" };
    static const char *const PLACES[] = {
        "dest", "destination", "destinationcode", "location", "locationcode", "place"
    };
    struct draft_search *search = &draft->search;
    char key[DRAFT_KEY_SIZE];

    draft_key_plain(value->key, key);
    bool is_city = draft->is_hotels && (strstr(key, "city") != NULL || draft_key_is_any(key, PLACES, COUNT_OF(PLACES)));
    if (is_city && is_their_code(value->value) && take_text(&draft->their_city, value->value)) {
        draft->is_city_number = value->is_number;
        draft_tell(draft, value, "the city, by a code of theirs: CITIES has to say which of ours it is");
        return TEXT("CITIES[search.query.place.city]");
    }
    if (value->is_number) {
        return (struct text){ 0 };
    }
    if (strstr(key, "curr") != NULL && is_capitals(value->value, 3) && take_text(&search->currency, value->value)) {
        draft_tell(draft, value, "the currency");
        return TEXT("search.currency");
    }
    if (draft_key_is_any(key, MARKETS, COUNT_OF(MARKETS)) && is_capitals(value->value, 2) &&
        take_text(&search->market, value->value)) {
        draft_tell(draft, value, "the market");
        return TEXT("search.market");
    }
    bool is_cabin = text_equals_c(value->value, "economy") || text_equals_c(value->value, "business") ||
                    text_equals_c(value->value, "first");
    if (!draft->is_hotels && is_cabin && (strstr(key, "cabin") != NULL || strstr(key, "class") != NULL) &&
        take_text(&search->cabin, value->value)) {
        draft_tell(draft, value, "the cabin (premium may have another name there)");
        return TEXT("search.query.cabin");
    }
    if (is_city && is_code(value->value) && take_text(&search->city, value->value)) {
        draft_tell(draft, value, "the city");
        return TEXT("search.query.place.city");
    }
    return (struct text){ 0 };
}

struct text draft_take_field(struct draft *draft, const struct draft_value *value)
{
    struct text (*const TAKES[])(struct draft * draft, const struct draft_value *value) = { draft_take_date,
                                                                                            take_airport, take_party,
                                                                                            take_word };

    for (size_t i = 0; i < COUNT_OF(TAKES); i++) {
        struct text expression = TAKES[i](draft, value);
        if (expression.data != NULL) {
            return expression;
        }
    }
    return (struct text){ 0 };
}

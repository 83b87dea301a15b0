#include "app/hide.h"

#include "app/hide_document.h"
#include "base/redact.h"
#include "script/calendar.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { ARENA_MAX = 128 << 20, NAME_MAX_BYTES = 48, VALUE_LEAST = 6, PASSING_LEAST = 12 };

void hide_init(struct hide *hide, bool has_stand_ins)
{
    hide->has_stand_ins = has_stand_ins;
    hide->is_of_request = false;
    hide->is_of_login = false;
    hide->count = 0;
    arena_init(&hide->arena, ARENA_MAX);
}

void hide_fini(struct hide *hide)
{
    arena_fini(&hide->arena);
}

void hide_add(struct hide *hide, struct text value, struct text stand_in)
{
    struct hide_value kept = { arena_copy(&hide->arena, value), arena_copy(&hide->arena, stand_in) };

    if (hide->count < HIDE_VALUES_MAX && kept.value.data != NULL && kept.stand_in.data != NULL) {
        hide->values[hide->count++] = kept;
    }
}

// --------------------------------------------------------------------------------------------------------------- names

/// Lower case, without what separates words.
static struct text plain_name(struct text name, char place[NAME_MAX_BYTES])
{
    size_t length = 0;

    for (size_t i = 0; i < name.length && length < NAME_MAX_BYTES; i++) {
        if (isalnum((unsigned char)name.data[i])) {
            place[length++] = (char)tolower((unsigned char)name.data[i]);
        }
    }
    return (struct text){ place, length };
}

static bool ends_with(struct text name, const char *end)
{
    size_t length = strlen(end);
    return name.length >= length && memcmp(name.data + name.length - length, end, length) == 0;
}

bool hide_is_name(struct text name)
{
    static const char *const ENDS[] = { "token",         "secret",      "password", "passwd",  "signature",
                                        "apikey",        "jwt",         "cookie",   "session", "sessionid",
                                        "authorization", "credentials", "assertion" };
    char place[NAME_MAX_BYTES];
    struct text plain = plain_name(name, place);

    for (size_t i = 0; i < COUNT_OF(ENDS); i++) {
        if (ends_with(plain, ENDS[i])) {
            return true;
        }
    }
    return false;
}

static bool has_any(struct text text, bool (*is_one)(char c))
{
    for (size_t i = 0; i < text.length; i++) {
        if (is_one(text.data[i])) {
            return true;
        }
    }
    return false;
}

static bool is_digit(char c)
{
    return isdigit((unsigned char)c) != 0;
}

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) != 0;
}

static bool is_at(char c)
{
    return c == '@';
}

/// An address or an identifier: no word, number, time or URL, which scripts may have to read.
static bool is_of_account(struct text value)
{
    struct moment moment;

    return value.length >= VALUE_LEAST && !text_starts_with(value, TEXT("http")) && !calendar_parse(value, &moment) &&
           (has_any(value, is_at) || (has_any(value, is_digit) && has_any(value, is_letter)));
}

/// The names under which a request says who asks: beside a secret they are half of a key.
static bool is_credential(struct text plain)
{
    static const char *const WHOLE[] = { "user",       "userid",    "username",       "userlogin",
                                         "login",      "loginid",   "clientid",       "accountid",
                                         "agentid",    "agentcode", "agencyid",       "agency",
                                         "agencycode", "pcc",       "pseudocitycode", "customerid" };

    for (size_t i = 0; i < COUNT_OF(WHOLE); i++) {
        if (text_equals_c(plain, WHOLE[i])) {
            return true;
        }
    }
    return false;
}

bool hide_is_named(const struct hide *hide, struct text name, struct text value)
{
    static const char *const WHOLE[] = { "refresh", "access", "pin",   "bearer",  "ticket",    "key",    "clientid",
                                         "user",    "userid", "email", "account", "accountid", "agency", "username" };
    char place[NAME_MAX_BYTES];
    struct text plain = plain_name(name, place);
    bool is_one = hide_is_name(name) || (hide->is_of_request && is_credential(plain));

    for (size_t i = 0; i < COUNT_OF(WHOLE) && hide->is_of_login && !is_one; i++) {
        is_one = text_equals_c(plain, WHOLE[i]);
    }
    return is_one || (hide->is_of_login && is_of_account(value));
}

/// In URLs, forms and headers a secret may have a name that is any identifier's in a document.
static bool is_parameter(const struct hide *hide, struct text name)
{
    static const char *const WHOLE[] = { "xkey", "key", "auth", "xauth", "pwd", "sig", "sid", "hash" };
    char place[NAME_MAX_BYTES];
    struct text plain = plain_name(name, place);
    bool is_one = hide_is_name(name) || (hide->is_of_request && is_credential(plain));

    for (size_t i = 0; i < COUNT_OF(WHOLE) && !is_one; i++) {
        is_one = text_equals_c(plain, WHOLE[i]);
    }
    return is_one;
}

// -------------------------------------------------------------------------------------------------------------- values

struct text hide_stand_in(struct hide *hide, struct text name, struct text value)
{
    char place[NAME_MAX_BYTES], stand_in[NAME_MAX_BYTES + 32];

    if (value.length >= PASSING_LEAST) {
        (void)redact_add_passing(value); // it may be repeated elsewhere
    }
    if (!hide->has_stand_ins) {
        return TEXT("***");
    }
    for (size_t i = 0; i < hide->count && value.data != NULL; i++) {
        if (text_equals(hide->values[i].value, value)) {
            return hide->values[i].stand_in;
        }
    }
    struct text plain = plain_name(name, place);
    (void)snprintf(stand_in, sizeof(stand_in), "test-%.*s-%zu", TEXT_ARGS(plain), hide->count + 1);
    hide_add(hide, value, text_of(stand_in));
    return arena_copy(&hide->arena, text_of(stand_in));
}

struct text hide_known(const struct hide *hide, struct text value)
{
    for (size_t i = 0; i < hide->count && value.data != NULL && value.length >= VALUE_LEAST; i++) {
        if (text_equals(hide->values[i].value, value)) {
            return hide->values[i].stand_in;
        }
    }
    return (struct text){ 0 };
}

/// The longest known value at this place.
static const struct hide_value *value_at(const struct hide *hide, struct text rest)
{
    const struct hide_value *found = NULL;

    for (size_t i = 0; i < hide->count; i++) {
        const struct hide_value *value = &hide->values[i];
        if (value->value.data != NULL && value->value.length >= VALUE_LEAST && text_starts_with(rest, value->value) &&
            (found == NULL || value->value.length > found->value.length)) {
            found = value;
        }
    }
    return found;
}

void hide_text(struct hide *hide, struct text text, struct buffer *out)
{
    struct buffer kept;
    size_t i = 0;

    buffer_init(&kept, out->ceiling);
    while (text.data != NULL && i < text.length) {
        const struct hide_value *value =
            hide->count == 0 ? NULL : value_at(hide, (struct text){ text.data + i, text.length - i });
        if (value == NULL) {
            buffer_append_byte(&kept, text.data[i++]);
        } else {
            buffer_append_text(&kept, value->stand_in);
            i += value->value.length;
        }
    }
    if (kept.is_full) {
        buffer_append_c(out, "***"); // rather nothing than too much
    } else if (kept.length > 0) {
        kept.length = redact_apply(kept.data, kept.length, false);
        buffer_append_text(out, buffer_text(&kept));
    }
    buffer_fini(&kept);
}

/// "Bearer abc" keeps its first word, "JSESSIONID=abc; Path=/" its name and attributes.
static void hide_credentials(struct hide *hide, struct text name, struct text value, struct buffer *out)
{
    struct text rest = { 0 };
    struct text first = text_split(value, ';', &rest), credential = { 0 };
    struct text head = text_split(first, '=', &credential);
    bool is_cookie = text_equals_nocase(name, TEXT("set-cookie")) || text_equals_nocase(name, TEXT("cookie"));

    if (is_cookie && credential.data != NULL) {
        buffer_append_text(out, head);
        buffer_append_byte(out, '=');
        buffer_append_text(out, hide_stand_in(hide, TEXT("cookie"), credential));
        for (struct text at = rest; at.data != NULL && text_equals_nocase(name, TEXT("set-cookie"));) {
            buffer_append_byte(out, ';');
            hide_text(hide, text_split(at, ';', &at), out);
        }
        return;
    }
    struct text word = text_split(value, ' ', &rest);
    if (rest.data != NULL && word.length > 0 && word.length <= 12 && memchr(word.data, '=', word.length) == NULL) {
        buffer_append_text(out, word);
        buffer_append_byte(out, ' ');
        value = rest;
    }
    buffer_append_text(out, hide_stand_in(hide, name, value));
}

void hide_header(struct hide *hide, struct text name, struct text value, struct buffer *out)
{
    if (is_parameter(hide, name) && value.length > 0) {
        hide_credentials(hide, name, value, out);
    } else {
        hide_text(hide, value, out);
    }
}

static void hide_pairs(struct hide *hide, struct text pairs, struct buffer *out)
{
    for (struct text rest = pairs; rest.data != NULL;) {
        struct text value;
        struct text name = text_split(text_split(rest, '&', &rest), '=', &value);
        hide_text(hide, name, out);
        if (value.data != NULL) {
            buffer_append_byte(out, '=');
        }
        if (value.length > 0 && is_parameter(hide, name)) {
            buffer_append_text(out, hide_stand_in(hide, name, value));
        } else {
            hide_text(hide, value, out);
        }
        if (rest.data != NULL) {
            buffer_append_byte(out, '&');
        }
    }
}

void hide_url(struct hide *hide, struct text url, struct buffer *out)
{
    struct text query;
    struct text path = text_split(url, '?', &query);

    hide_text(hide, path, out);
    if (query.data != NULL) {
        buffer_append_byte(out, '?');
        hide_pairs(hide, query, out);
    }
}

void hide_body(struct hide *hide, struct text body, bool is_form, struct buffer *out)
{
    struct text trimmed = text_trim(body);
    struct buffer kept;

    if (is_form) {
        hide_pairs(hide, body, out);
        return;
    }
    buffer_init(&kept, out->ceiling);
    bool is_done =
        trimmed.length > 0 && (trimmed.data[0] == '<' ? hide_xml(hide, body, &kept) : hide_json(hide, body, &kept));
    hide_text(hide, is_done && !kept.is_full ? buffer_text(&kept) : body, out);
    buffer_fini(&kept);
}

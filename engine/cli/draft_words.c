// Secrets in running text and in names: a body that is nearly JSON, a query in a string, a token for a parameter's
// name.

#include "cli/draft.h"

#include <string.h>

enum { WORD_LENGTH_MIN = 20, WORD_LETTERS_MIN = 2, WORD_DIGITS_MIN = 3, UUID_LENGTH = 36 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/// Letters and digits without a break, long, and of both.
static bool is_key_like(struct text word)
{
    size_t letters = 0, digits = 0;

    for (size_t i = 0; i < word.length; i++) {
        letters += is_letter(word.data[i]);
        digits += is_digit(word.data[i]);
    }
    return word.length >= WORD_LENGTH_MIN && letters >= WORD_LETTERS_MIN && digits >= WORD_DIGITS_MIN;
}

void draft_find_words(struct draft *draft, struct text text)
{
    for (size_t i = 0; i < text.length;) {
        size_t from = i;
        while (i < text.length && (is_letter(text.data[i]) || is_digit(text.data[i]))) {
            i++;
        }
        struct text word = { text.data + from, i - from };
        if (is_key_like(word)) {
            (void)draft_secret_of(draft, "key", word);
        }
        i += i == from ? 1 : 0;
    }
}

static bool is_around(char c)
{
    return c == ' ' || c == '"' || c == '\'' || c == '\\';
}

static bool is_in_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
}

/// The name before the `:` or `=` at `at`, without the quotes around it.
static struct text name_before(struct text text, size_t at)
{
    size_t end = at;

    while (end > 0 && is_around(text.data[end - 1])) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && is_in_name(text.data[begin - 1])) {
        begin--;
    }
    return (struct text){ text.data + begin, end - begin };
}

/// The value behind it: within its quotes, or up to what ends a value.
static struct text value_behind(struct text text, size_t at)
{
    size_t begin = at + 1;

    while (begin < text.length && is_around(text.data[begin])) {
        begin++;
    }
    bool is_quoted = text.data[begin - 1] == '"' || text.data[begin - 1] == '\'';
    size_t end = begin;
    while (end < text.length && strchr(is_quoted ? "\"'\\\r\n" : " \"'\\\r\n\t,;&)}]<>", text.data[end]) == NULL) {
        end++;
    }
    return (struct text){ text.data + begin, end - begin };
}

void draft_find_pairs(struct draft *draft, struct text text)
{
    for (size_t i = 1; i + 1 < text.length; i++) {
        if (text.data[i] != ':' && text.data[i] != '=') {
            continue;
        }
        struct draft_value value = { .where = DRAFT_BODY, .key = name_before(text, i), .value = value_behind(text, i) };
        if (value.key.length > 0 && value.value.length > 0) {
            (void)draft_take_secret(draft, &value);
        }
    }
}

/// 2030-01-08T13:06…
static bool is_moment(struct text value)
{
    static const char shape[] = "0000-00-00T00:00";
    bool is = value.length >= sizeof(shape) - 1;

    for (size_t i = 0; is && i < sizeof(shape) - 1; i++) {
        is = shape[i] == '0' ? value.data[i] >= '0' && value.data[i] <= '9' : value.data[i] == shape[i];
    }
    return is;
}

const char *draft_made_anew(struct text key, struct text value)
{
    size_t dashes = 0;

    for (size_t i = 0; i < value.length; i++) {
        dashes += value.data[i] == '-';
    }
    if (text_equals_c(key, "MessageID") && dashes == 4 && value.length >= UUID_LENGTH) {
        return text_starts_with(value, TEXT("urn:uuid:")) ? "\"urn:uuid:\" .. crypto.uuid()" : "crypto.uuid()";
    }
    if (text_equals_c(key, "EchoToken") && value.length > 0) {
        return "crypto.uuid()";
    }
    bool is_stamp = text_equals_c(key, "TimeStamp") || text_equals_c(key, "Timestamp");
    return is_stamp && is_moment(value) ? "ctx.now.iso" : NULL;
}

#include "cli/pasted_words.h"

#include "base/buffer.h"

#include <string.h>

enum { WORD_MAX = 1 << 20 };

struct splitter {
    struct arena *arena;
    struct text input;
    size_t at;
    struct buffer word;
    bool is_in_word; // also of an empty one: ''
    struct pasted_words *words;
    struct failure *why;
};

static bool has_more(const struct splitter *splitter)
{
    return splitter->at < splitter->input.length;
}

static char take(struct splitter *splitter)
{
    return splitter->input.data[splitter->at++];
}

static char peek(const struct splitter *splitter)
{
    return has_more(splitter) ? splitter->input.data[splitter->at] : '\0';
}

static enum status refuse(struct splitter *splitter, size_t at, const char *sentence, const char *help)
{
    uint32_t line = 1;

    for (size_t i = 0; i < at && i < splitter->input.length; i++) {
        line += splitter->input.data[i] == '\n';
    }
    failure_set(splitter->why, "%s", sentence);
    failure_help(splitter->why, "%s", help);
    splitter->why->line = line;
    return STATUS_INVALID;
}

static enum status end_word(struct splitter *splitter)
{
    if (!splitter->is_in_word) {
        return STATUS_OK;
    }
    if (splitter->words->count == PASTED_WORDS_MAX) {
        return refuse(splitter, splitter->at, "the command has more than 512 words", "paste one request");
    }
    struct text word = splitter->word.length == 0 ? TEXT("") : buffer_text(&splitter->word);
    struct text copy = arena_copy(splitter->arena, word);
    if (copy.data == NULL || splitter->word.is_full) {
        return STATUS_NO_MEMORY;
    }
    splitter->words->items[splitter->words->count++] = copy;
    splitter->is_in_word = false;
    buffer_clear(&splitter->word);
    return STATUS_OK;
}

static uint32_t digits_of(struct splitter *splitter, size_t most, uint32_t base)
{
    uint32_t value = 0;

    for (size_t i = 0; i < most && has_more(splitter); i++) {
        char c = peek(splitter);
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : base;
        if (digit >= base) {
            break;
        }
        value = value * base + digit;
        splitter->at++;
    }
    return value;
}

static void append_utf8(struct buffer *out, uint32_t code)
{
    if (code < 0x80) {
        buffer_append_byte(out, (char)code);
    } else if (code < 0x800) {
        buffer_append_byte(out, (char)(0xc0 | code >> 6));
        buffer_append_byte(out, (char)(0x80 | (code & 0x3f)));
    } else {
        buffer_append_byte(out, (char)(0xe0 | (code >> 12 & 0xf)));
        buffer_append_byte(out, (char)(0x80 | (code >> 6 & 0x3f)));
        buffer_append_byte(out, (char)(0x80 | (code & 0x3f)));
    }
}

/// What stands behind the backslash of $'…'.
static void take_escape(struct splitter *splitter)
{
    static const char NAMES[] = "nrtabfve", BYTES[] = "\n\r\t\a\b\f\v\x1b";
    char c = take(splitter);
    const char *name = strchr(NAMES, c);

    if (c == 'x') {
        buffer_append_byte(&splitter->word, (char)digits_of(splitter, 2, 16));
    } else if (c == 'u') {
        append_utf8(&splitter->word, digits_of(splitter, 4, 16));
    } else if (c >= '0' && c <= '7') {
        splitter->at--;
        buffer_append_byte(&splitter->word, (char)digits_of(splitter, 3, 8));
    } else {
        buffer_append_byte(&splitter->word, name != NULL && c != '\0' ? BYTES[name - NAMES] : c);
    }
}

/// From behind the opening quote to behind the closing one. `style`: ' as it is; " with some escapes; $ with those of
/// C.
static enum status take_quoted(struct splitter *splitter, char style)
{
    size_t began = splitter->at;
    char end = style == '"' ? '"' : '\'';

    splitter->is_in_word = true;
    while (has_more(splitter)) {
        char c = take(splitter);
        if (c == end) {
            return STATUS_OK;
        }
        bool escapes = c == '\\' && style != '\'' && has_more(splitter);
        if (escapes && style == '$') {
            take_escape(splitter);
        } else if (escapes && peek(splitter) == '\n') {
            splitter->at++; // the line goes on
        } else {
            bool is_escaped = escapes && strchr("\"\\$`", peek(splitter)) != NULL;
            buffer_append_byte(&splitter->word, is_escaped ? take(splitter) : c);
        }
    }
    return refuse(splitter, began, "a quote is opened here and never closed", "paste the whole command");
}

static enum status take_one(struct splitter *splitter)
{
    char c = take(splitter);

    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        return end_word(splitter);
    }
    if (c == '\'' || c == '"') {
        return take_quoted(splitter, c);
    }
    if (c == '$' && peek(splitter) == '\'') {
        splitter->at++;
        return take_quoted(splitter, '$');
    }
    if (c == '\\' && has_more(splitter)) {
        splitter->at += peek(splitter) == '\r' ? 1 : 0;
        c = has_more(splitter) ? take(splitter) : '\n';
        if (c == '\n') {
            return STATUS_OK; // the line goes on
        }
    } else if (!splitter->is_in_word && strchr("|;&>", c) != NULL) {
        splitter->words->has_more = true;
        splitter->at = splitter->input.length;
        return STATUS_OK;
    }
    splitter->is_in_word = true;
    buffer_append_byte(&splitter->word, c);
    return STATUS_OK;
}

/// On Windows `^` stands before each character that the shell shall leave alone. False: this is no such command.
static bool is_windows(struct text input)
{
    return memmem(input.data, input.length, "^\"", 2) != NULL || memmem(input.data, input.length, " ^\n", 3) != NULL ||
           memmem(input.data, input.length, " ^\r\n", 4) != NULL;
}

/// A caret goes, with the end of the line when that is what it stands before; a second end of a line is one.
static enum status without_carets(struct arena *arena, struct text input, struct text *plain)
{
    char *bytes = arena_alloc_raw(arena, input.length + 1);
    size_t length = 0;

    if (bytes == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < input.length; i++) {
        if (input.data[i] != '^' || i + 1 == input.length) {
            bytes[length++] = input.data[i];
            continue;
        }
        i++;
        i += input.data[i] == '\r' && i + 1 < input.length ? 1 : 0;
        if (input.data[i] != '\n') {
            bytes[length++] = input.data[i];
        }
    }
    *plain = (struct text){ bytes, length };
    return STATUS_OK;
}

enum status pasted_words_read(struct arena *arena, struct text input, struct pasted_words *words, struct failure *why)
{
    struct splitter splitter = { .arena = arena, .input = input, .words = words, .why = why };
    enum status status = STATUS_OK;

    *words = (struct pasted_words){ .items = arena_alloc_array(arena, PASTED_WORDS_MAX, sizeof(*words->items)) };
    if (words->items == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (input.length > 0 && is_windows(input)) {
        status = without_carets(arena, input, &splitter.input);
    }
    buffer_init(&splitter.word, WORD_MAX);
    while (status == STATUS_OK && has_more(&splitter)) {
        status = take_one(&splitter);
    }
    if (status == STATUS_OK) {
        status = end_word(&splitter);
    }
    buffer_fini(&splitter.word);
    return status;
}

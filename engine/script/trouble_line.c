#include "script/trouble_line.h"

#include "base/plain.h"
#include "base/redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 200 };
static const char CUT[] = "...";

static bool is_end(char byte)
{
    return byte == '\n' || byte == '\r';
}

/// Takes a line off, which ends by \n, \r, or both in either order.
static struct text take_line(struct text *rest)
{
    struct text line = { rest->data, 0 };

    while (line.length < rest->length && !is_end(line.data[line.length])) {
        line.length++;
    }
    size_t taken = line.length + (line.length < rest->length ? 1 : 0);
    bool is_pair = taken > line.length && taken < rest->length && is_end(rest->data[taken]) &&
                   rest->data[taken] != rest->data[taken - 1];
    taken += is_pair ? 1 : 0;
    *rest = (struct text){ rest->data + taken, rest->length - taken };
    return line;
}

struct text trouble_line_of(struct text source, uint32_t number)
{
    struct text rest = source, line = { NULL, 0 };

    for (uint32_t i = 0; i < number; i++) {
        if (rest.length == 0) {
            return (struct text){ NULL, 0 };
        }
        line = take_line(&rest);
    }
    return line;
}

static bool is_word(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

const char *trouble_line_find(struct text line, struct text word)
{
    const char *end = line.data + line.length;

    for (const char *at = line.data; word.length > 0 && at + word.length <= end; at++) {
        bool is_part = (at > line.data && is_word(at[-1]) && is_word(word.data[0])) ||
                       (at + word.length < end && is_word(at[word.length]) && is_word(word.data[word.length - 1]));
        if (!is_part && memcmp(at, word.data, word.length) == 0) {
            return at;
        }
    }
    return NULL;
}

/// Is the function called behind `return` on this line, by its whole name or as a method?
static bool has_tail(struct text line, struct text function)
{
    const char *begin = trouble_line_find(line, TEXT("return"));
    const char *dot = memrchr(function.data, '.', function.length);
    struct text method = function;

    if (begin == NULL || memmem(line.data, (size_t)(begin - line.data), "--", 2) != NULL) {
        return false;
    }
    if (dot != NULL) {
        method = (struct text){ dot + 1, (size_t)(function.data + function.length - dot - 1) };
    }
    struct text rest = { begin, (size_t)(line.data + line.length - begin) };
    const char *whole = trouble_line_find(rest, function), *last = trouble_line_find(rest, method);
    bool is_method = dot != NULL && last != NULL && last > rest.data && last[-1] == ':';
    const char *behind = whole != NULL ? whole + function.length : is_method ? last + method.length : NULL;
    return behind != NULL && behind < line.data + line.length && strchr(" ({\"'", *behind) != NULL;
}

uint32_t trouble_line_of_tail(struct text source, struct text function)
{
    struct text rest = source;
    uint32_t found = 0;

    for (uint32_t number = 1; rest.length > 0; number++) {
        if (has_tail(take_line(&rest), function)) {
            if (found != 0) {
                return 0;
            }
            found = number;
        }
    }
    return found;
}

/// The piece of a long line around a place in it, on whole characters of UTF-8.
static struct text piece_of(struct text line, size_t place)
{
    size_t length = SHOWN_MAX - 2 * strlen(CUT) - 1;
    size_t begin = place > length / 2 ? place - length / 2 : 0;

    begin = begin + length > line.length ? line.length - length : begin;
    while (begin > 0 && begin < line.length && ((unsigned char)line.data[begin] & 0xC0) == 0x80) {
        begin++;
        length--;
    }
    return (struct text){ line.data + begin, length };
}

/// Secrets go before the cut, which could leave a part of one. Where they did, the place is not known any more.
static void note_piece(struct failure *why, struct text text, uint32_t line, size_t place)
{
    char *whole = malloc(text.length + 1), shown[SHOWN_MAX];

    if (whole == NULL) {
        return;
    }
    memcpy(whole, text.data, text.length);
    struct text clean = { whole, redact_apply(whole, text.length, false) };
    bool is_whole = clean.length < SHOWN_MAX;
    struct text piece = is_whole ? clean : piece_of(clean, clean.length == text.length ? place : 0);
    memcpy(shown, piece.data, piece.length);
    for (size_t i = 0; i < piece.length; i++) {
        shown[i] = shown[i] == '\t' ? ' ' : shown[i];
    }
    plain_clean(shown, piece.length);
    failure_note(why, "%5u | %s%.*s%s", line, piece.data > clean.data ? CUT : "", (int)piece.length, shown,
                 piece.data + piece.length < clean.data + clean.length ? CUT : "");
    free(whole);
}

void trouble_note_line(struct failure *why, struct text source, uint32_t line, const char *at)
{
    struct text text = trouble_line_of(source, line);

    if (text.data != NULL && text_trim(text).length > 0) {
        bool is_within = at != NULL && at >= text.data && at < text.data + text.length;
        note_piece(why, text, line, is_within ? (size_t)(at - text.data) : 0);
    }
}

void trouble_note_line_first(struct failure *why, struct text source, const char *at)
{
    char notes[sizeof why->notes];
    struct text rest = text_of(memcpy(notes, why->notes, sizeof notes));

    why->notes[0] = '\0';
    trouble_note_line(why, source, why->line, at);
    for (struct text note = failure_next_note(&rest); note.data != NULL; note = failure_next_note(&rest)) {
        failure_note(why, "%.*s", TEXT_ARGS(note));
    }
}

#include "script/plan_source.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 40 };

struct scan {
    const char *at, *end;
    uint32_t line;
    struct text keys[DEPTH_MAX]; // the name that each open bracket stands behind; absent: none
    size_t depth;
    struct text name; // read last, before `=`
    bool is_key;      // … and `=` has come
};

static bool is_word_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

static void step(struct scan *scan)
{
    scan->line += *scan->at == '\n' ? 1 : 0;
    scan->at++;
}

static void pass_string(struct scan *scan, char quote)
{
    step(scan);
    while (scan->at < scan->end && *scan->at != quote && *scan->at != '\n') {
        if (*scan->at == '\\' && scan->at + 1 < scan->end) {
            step(scan);
        }
        step(scan);
    }
    if (scan->at < scan->end) {
        step(scan);
    }
}

/// `[[ … ]]` or `[==[ … ]==]`; false: it is a bracket.
static bool pass_long(struct scan *scan)
{
    const char *at = scan->at + 1;
    size_t level = 0;

    while (at < scan->end && *at == '=') {
        at++;
        level++;
    }
    if (at >= scan->end || *at != '[') {
        return false;
    }
    for (; scan->at < scan->end; step(scan)) {
        const char *close = scan->at;
        if (*close != ']' || (size_t)(scan->end - close) < level + 2 || close[level + 1] != ']') {
            continue;
        }
        size_t marks = 0;
        while (marks < level && close[marks + 1] == '=') {
            marks++;
        }
        if (marks == level) {
            scan->at += level + 2;
            return true;
        }
    }
    return true;
}

static void pass_comment(struct scan *scan)
{
    scan->at += 2;
    if (scan->at < scan->end && *scan->at == '[' && pass_long(scan)) {
        return;
    }
    while (scan->at < scan->end && *scan->at != '\n') {
        scan->at++;
    }
}

static void take_name(struct scan *scan)
{
    const char *begin = scan->at;

    while (scan->at < scan->end && is_word_byte(*scan->at)) {
        scan->at++;
    }
    scan->name = (struct text){ begin, (size_t)(scan->at - begin) };
    scan->is_key = false;
}

/// `["local"]`
static bool take_quoted_name(struct scan *scan)
{
    const char *begin = scan->at + 2;
    const char *at = begin;

    if (scan->end - scan->at < 4 || (scan->at[1] != '"' && scan->at[1] != '\'')) {
        return false;
    }
    while (at < scan->end && is_word_byte(*at)) {
        at++;
    }
    if (scan->end - at < 2 || *at != scan->at[1] || at[1] != ']') {
        return false;
    }
    scan->name = (struct text){ begin, (size_t)(at - begin) };
    scan->is_key = false;
    scan->at = at + 2;
    return true;
}

static void open_bracket(struct scan *scan)
{
    if (scan->depth < DEPTH_MAX) {
        scan->keys[scan->depth] = scan->is_key && *scan->at == '{' ? scan->name : (struct text){ NULL, 0 };
    }
    scan->depth++;
    scan->name = (struct text){ NULL, 0 };
    scan->is_key = false;
    scan->at++;
}

static void close_bracket(struct scan *scan)
{
    scan->depth -= scan->depth > 0 ? 1 : 0;
    scan->name = (struct text){ NULL, 0 };
    scan->is_key = false;
    scan->at++;
}

/// How many names of `place` the key in hand stands for; 0: it belongs to something else.
static size_t match(const struct scan *scan, struct text place)
{
    size_t count = 0;

    for (size_t i = 0; i <= scan->depth && i <= DEPTH_MAX; i++) {
        struct text key = i == scan->depth ? scan->name : scan->keys[i];
        if (key.data == NULL) {
            continue;
        }
        if (!text_equals(text_split(place, '.', &place), key)) {
            return 0;
        }
        count++;
    }
    return count;
}

/// One word or mark.
static void advance(struct scan *scan)
{
    char byte = *scan->at;

    if (is_word_byte(byte)) {
        take_name(scan);
    } else if (byte == '"' || byte == '\'') {
        pass_string(scan, byte);
    } else if (byte == '-' && scan->at + 1 < scan->end && scan->at[1] == '-') {
        pass_comment(scan);
    } else if (byte == '{' || byte == '(') {
        open_bracket(scan);
    } else if (byte == '}' || byte == ')') {
        close_bracket(scan);
    } else if (byte == '[' && (take_quoted_name(scan) || pass_long(scan))) {
        // passed
    } else if (byte == '=' && scan->at + 1 < scan->end && scan->at[1] == '=') {
        scan->at += 2;
    } else if (isspace((unsigned char)byte)) {
        step(scan);
    } else {
        scan->is_key = byte == '=' && scan->name.data != NULL;
        scan->name = byte == '=' ? scan->name : (struct text){ NULL, 0 };
        step(scan);
    }
}

uint32_t plan_source_line(struct text source, uint32_t line, const char *place)
{
    struct scan scan = { .at = source.data, .end = source.data + source.length, .line = 1 };
    uint32_t found = line;
    size_t best = 0;
    bool is_open = false;

    while (scan.at < scan.end && scan.line < line) {
        step(&scan);
    }
    const char *plan = scan.at < scan.end ? memmem(scan.at, (size_t)(scan.end - scan.at), "plan", 4) : NULL;
    const char *end_of_line = scan.at < scan.end ? memchr(scan.at, '\n', (size_t)(scan.end - scan.at)) : NULL;
    if (plan != NULL && (end_of_line == NULL || plan < end_of_line)) {
        scan.at = plan + 4;
    }
    while (scan.at < scan.end && (!is_open || scan.depth > 0)) {
        bool was_key = scan.is_key;
        advance(&scan);
        is_open = is_open || scan.depth > 0;
        if (!was_key && scan.is_key) {
            size_t count = match(&scan, text_of(place));
            found = count > best ? scan.line : found;
            best = count > best ? count : best;
        }
    }
    return found;
}

#include "script/script_uses.h"

#include <string.h>

/// What a text says of one name.
struct uses {
    const char *owner;
    struct text name;
    size_t quoted;
    bool is_read;
};

static bool is_word(char byte)
{
    return byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

/// Does the word begin at `at`, and end there too?
static bool stands_at(struct text source, size_t at, struct text word)
{
    return at + word.length <= source.length && memcmp(source.data + at, word.data, word.length) == 0 &&
           (at == 0 || !is_word(source.data[at - 1])) &&
           (at + word.length == source.length || !is_word(source.data[at + word.length]));
}

static size_t skip_blanks(struct text source, size_t at)
{
    while (at < source.length && (source.data[at] == ' ' || source.data[at] == '\t')) {
        at++;
    }
    return at;
}

/// Is the owner's word at `at` taken as a whole, or by a variable: `options[name]`, `pairs(ctx.options)`, `f(options)`?
static bool is_taken_whole(struct text source, size_t at, size_t length)
{
    size_t next = skip_blanks(source, at + length);
    char after = next < source.length ? source.data[next] : '\0';

    if (at == 0 || source.data[at - 1] != '.') {
        return after == '[' || after == ')' || after == ',';
    }
    if (after == '[') {
        next = skip_blanks(source, next + 1);
        return next < source.length && source.data[next] != '"' && source.data[next] != '\'';
    }
    return after == ')' || after == ',';
}

static void look(struct uses *uses, struct text source)
{
    struct text owner = text_of(uses->owner);
    bool is_comment = false;

    for (size_t i = 0; i < source.length && !uses->is_read; i++) {
        if (source.data[i] == '\n') {
            is_comment = false;
        } else if (source.data[i] == '-' && i + 1 < source.length && source.data[i + 1] == '-') {
            is_comment = true;
        }
        if (is_comment) {
            continue;
        }
        char before = i > 0 ? source.data[i - 1] : '\0';
        if (stands_at(source, i, uses->name)) {
            uses->is_read = before == '.';
            uses->quoted += before == '"' || before == '\'';
        } else if (stands_at(source, i, owner)) {
            uses->is_read = is_taken_whole(source, i, owner.length);
        }
    }
}

bool script_uses_field(const struct script_file *file, const char *owner, struct text name)
{
    struct uses uses = { .owner = owner, .name = name };

    look(&uses, file->source);
    for (size_t i = 0; file->shelf != NULL && i < script_shelf_count(file->shelf); i++) {
        const struct script_module *module = script_shelf_module(file->shelf, i);
        if (script_shelf_reached(file->shelf, file->source, module->file.name) == module) {
            look(&uses, module->file.source);
        }
    }
    return uses.is_read || uses.quoted > 1;
}

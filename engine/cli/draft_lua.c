// Values of a pasted call as Lua.

#include "cli/draft.h"

#include <stdio.h>
#include <string.h>

enum { SECRET_PART_MIN = 4, SECRET_NAME_MIN = 16 };

// --------------------------------------------------------------------------------------------------------------- texts

static void write_quoted(struct text text, struct buffer *out)
{
    buffer_append_byte(out, '"');
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '"' || c == '\\') {
            buffer_printf(out, "\\%c", c);
        } else if (c == '\n') {
            buffer_append_c(out, "\\n");
        } else if (c < ' ' || c == 0x7f) {
            buffer_printf(out, "\\%03u", c);
        } else {
            buffer_append_byte(out, (char)c);
        }
    }
    buffer_append_byte(out, '"');
}

/// The secret whose value begins here, the longest one; NULL: none does.
static const struct draft_secret *secret_at(const struct draft *draft, struct text rest)
{
    const struct draft_secret *found = NULL;

    for (size_t i = 0; i < draft->secret_count; i++) {
        const struct draft_secret *secret = &draft->secrets[i];
        if (secret->value.length >= SECRET_PART_MIN && text_starts_with(rest, secret->value) &&
            (found == NULL || secret->value.length > found->value.length)) {
            found = secret;
        }
    }
    return found;
}

void draft_write_text(const struct draft *draft, struct text text, struct buffer *out)
{
    size_t from = 0;
    const char *separator = "";

    for (size_t i = 0; i < text.length;) {
        const struct draft_secret *secret = secret_at(draft, (struct text){ text.data + i, text.length - i });
        if (secret == NULL) {
            i++;
            continue;
        }
        if (i > from) {
            buffer_append_c(out, separator);
            write_quoted((struct text){ text.data + from, i - from }, out);
            separator = " .. ";
        }
        buffer_printf(out, "%sctx.secret.%.*s", separator, TEXT_ARGS(secret->name));
        separator = " .. ";
        i += secret->value.length;
        from = i;
    }
    if (from < text.length || text.length == 0) {
        buffer_append_c(out, separator);
        write_quoted((struct text){ text.data + from, text.length - from }, out);
    }
}

/// The secret that is exactly this value; absent: none.
static struct text whole_secret(const struct draft *draft, struct text value)
{
    for (size_t i = 0; i < draft->secret_count; i++) {
        if (text_equals(draft->secrets[i].value, value)) {
            return draft->secrets[i].name;
        }
    }
    return (struct text){ 0 };
}

void draft_write_value(struct draft *draft, const struct draft_value *value, struct buffer *out)
{
    bool is_repeated = value->value.length >= SECRET_PART_MIN && whole_secret(draft, value->value).data != NULL;

    if (draft_take_secret(draft, value) || is_repeated) {
        buffer_printf(out, value->is_number ? "tonumber(ctx.secret.%.*s)" : "ctx.secret.%.*s",
                      TEXT_ARGS(whole_secret(draft, value->value)));
        return;
    }
    struct text field = draft_take_field(draft, value);
    if (field.data != NULL) {
        buffer_append_text(out, field);
    } else {
        if (value->differs) {
            draft_tell(draft, value, "differs from one to the next; each gets that of the first");
        } else {
            draft_tell_literal(draft, value);
        }
        if (value->is_number) {
            buffer_append_text(out, value->value);
        } else {
            draft_write_text(draft, value->value, out);
        }
    }
}

/// A name in which a secret stands; short ones are words of names, too.
static bool has_secret(const struct draft *draft, struct text key)
{
    for (size_t i = 0; i < key.length; i++) {
        const struct draft_secret *secret = secret_at(draft, (struct text){ key.data + i, key.length - i });
        if (secret != NULL && secret->value.length >= SECRET_NAME_MIN) {
            return true;
        }
    }
    return false;
}

void draft_write_key(const struct draft *draft, struct text key, struct buffer *out)
{
    static const char *const RESERVED[] = { "and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                            "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                            "repeat",   "return", "then", "true", "until",  "while" };
    bool is_plain = key.length > 0 && !(key.data[0] >= '0' && key.data[0] <= '9');

    for (size_t i = 0; i < key.length && is_plain; i++) {
        char c = key.data[i];
        is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    for (size_t i = 0; i < COUNT_OF(RESERVED) && is_plain; i++) {
        is_plain = !text_equals_c(key, RESERVED[i]);
    }
    if (has_secret(draft, key)) {
        buffer_append_byte(out, '[');
        draft_write_text(draft, key, out);
        buffer_append_byte(out, ']');
    } else if (is_plain) {
        buffer_append_text(out, key);
    } else {
        buffer_append_byte(out, '[');
        write_quoted(key, out);
        buffer_append_byte(out, ']');
    }
}

// ---------------------------------------------------------------------------------------------- headers, paths and
// bodies

void draft_write_header(struct draft *draft, const struct pasted_pair *header, struct buffer *out)
{
    struct text value = header->value, rest;
    struct text scheme = text_split(value, ' ', &rest);

    if (!text_equals_c(header->name, "authorization")) {
        draft_write_value(draft, &(struct draft_value){ .where = DRAFT_HEADER, .key = header->name, .value = value },
                          out);
        return;
    }
    struct text name = whole_secret(draft, rest.length > 0 ? rest : value);
    if (rest.length > 0) {
        buffer_printf(out, "\"%.*s \" .. ", TEXT_ARGS(scheme));
    }
    buffer_printf(out, "ctx.secret.%.*s", TEXT_ARGS(name));
}

static void append(const char *separator, struct text literal, const struct draft *draft, struct buffer *out)
{
    if (literal.length > 0) {
        buffer_append_c(out, separator);
        draft_write_text(draft, literal, out);
    }
}

/// What a value of a path or body becomes, when it is not what it is; absent: it stays.
static struct text replacement(struct draft *draft, const struct draft_value *value)
{
    if (!draft_take_secret(draft, value)) {
        return draft_take_field(draft, value);
    }
    char expression[160];
    (void)snprintf(expression, sizeof(expression), "ctx.secret.%.*s", TEXT_ARGS(whole_secret(draft, value->value)));
    return arena_copy(draft->arena, text_of(expression));
}

struct splicing {
    struct draft *draft;
    struct text whole;
    size_t from; // what stands before it is written
    bool has_any;
    struct buffer *out;
};

static void splice(void *context, const struct draft_value *value)
{
    struct splicing *splicing = context;
    struct text expression = replacement(splicing->draft, value);

    if (expression.data == NULL) {
        if (value->where == DRAFT_BODY && !text_starts_with(value->value, TEXT("http"))) {
            draft_tell_literal(splicing->draft, value);
        }
        return;
    }
    size_t at = (size_t)(value->value.data - splicing->whole.data);
    append(splicing->has_any ? " .. " : "", (struct text){ splicing->whole.data + splicing->from, at - splicing->from },
           splicing->draft, splicing->out);
    bool is_behind = splicing->has_any || at > splicing->from;
    buffer_printf(splicing->out, "%s%.*s", is_behind ? " .. " : "", TEXT_ARGS(expression));
    splicing->has_any = true;
    splicing->from = at + value->value.length;
}

static void end_splicing(struct splicing *splicing)
{
    struct text rest = { splicing->whole.data + splicing->from, splicing->whole.length - splicing->from };

    if (splicing->has_any) {
        append(" .. ", rest, splicing->draft, splicing->out);
    } else {
        draft_write_text(splicing->draft, rest, splicing->out);
    }
}

void draft_write_path(struct draft *draft, struct text path, struct buffer *out)
{
    struct splicing splicing = { .draft = draft, .whole = path, .out = out };

    for (struct text rest = path; rest.data != NULL;) {
        struct text segment = text_split(rest, '/', &rest);
        if (segment.length > 0) {
            splice(&splicing, &(struct draft_value){ .where = DRAFT_PATH, .value = segment });
        }
    }
    end_splicing(&splicing);
}

void draft_write_body(struct draft *draft, struct text body, struct buffer *out)
{
    struct splicing splicing = { .draft = draft, .whole = body, .out = out };

    draft_walk_body(body, splice, &splicing);
    end_splicing(&splicing);
}

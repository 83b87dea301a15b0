// `lastcall explain E0421`: what the table of codes says. `codes` lists it; `page` writes the end of
// suppliers/README.md.

#include "cli/cli.h"

#include "base/json_write.h"

#include <string.h>

enum { EXPLAIN_CODE_CAP = 256 * 1024 };

static const struct {
    unsigned family; // the first two digits
    const char *title;
} families[] = {
    { 1, "Settings" }, { 2, "A file and its contract" },      { 3, "Fixtures" },           { 4, "A script that runs" },
    { 5, "Limits" },   { 6, "Requests, secrets and logins" }, { 7, "Answers and offers" }, { 8, "A running engine" },
};

// What replies say of a supplier or a search, where one code is about it.
static const struct {
    const char *word;
    enum code code;
} outcomes[] = {
    { "script_error", CODE_RAISED },          { "script_timeout", CODE_TIMEOUT },   { "script_memory", CODE_MEMORY },
    { "too_large", CODE_BODY_TOO_LARGE },     { "failed", CODE_TRANSPORT },         { "rejected", CODE_REFUSED },
    { "offers_dropped", CODE_OFFER_DROPPED }, { "bad_query", CODE_SEARCH_INVALID },
};

/// The row of a code, its name, or a word of replies; NULL: it is none.
static const struct code_row *explain_row(struct text word)
{
    const struct code_row *row = code_named(word);

    for (size_t i = 0; row == NULL && i < COUNT_OF(outcomes); i++) {
        row = text_equals_c(word, outcomes[i].word) ? code_find(outcomes[i].code) : NULL;
    }
    return row;
}

/// Ids of searches begin with a digit, so that no code is one.
bool explain_is_code(struct text word)
{
    if (text_equals_c(word, "codes") || text_equals_c(word, "page") || code_named(word) != NULL) {
        return true;
    }
    bool has_letters_only = word.length > 0;
    for (size_t i = 0; i < word.length; i++) {
        char at = word.data[i];
        has_letters_only = has_letters_only && ((at >= 'a' && at <= 'z') || at == '_');
    }
    bool is_number = word.length >= 2 && word.length < 8 && (word.data[0] == 'E' || word.data[0] == 'e') &&
                     strspn(word.data + 1, "0123456789") == word.length - 1;
    return has_letters_only || is_number;
}

static void explain_write_row(struct json_writer *json, const struct code_row *row)
{
    char number[CODE_TEXT_SIZE];

    json_begin_object(json);
    json_field_c(json, "code", code_print(row->code, number));
    json_field_c(json, "name", row->name);
    json_field_c(json, "title", row->title);
    json_field_c(json, "meaning", row->meaning);
    json_end_object(json);
}

static void explain_write(struct buffer *out, const struct code_row *row)
{
    struct json_writer json;
    size_t count;
    const struct code_row *rows = code_rows(&count);

    json_writer_init(&json, out);
    if (row != NULL) {
        explain_write_row(&json, row);
    } else {
        json_begin_array(&json);
        for (size_t i = 0; i < count; i++) {
            explain_write_row(&json, &rows[i]);
        }
        json_end_array(&json);
    }
    buffer_append_byte(out, '\n');
}

/// A row of the page's table: pipes would part cells, and a newline would end the row.
static void explain_append_cell(struct buffer *out, const char *words)
{
    for (const char *at = words; *at != '\0'; at++) {
        if (*at == '|') {
            buffer_append_c(out, "\\|");
        } else if (*at != '\n') {
            buffer_append_byte(out, *at);
        } else if (at[1] != '\0') {
            buffer_append_byte(out, ' ');
        }
    }
}

/// Each family with its rows: for a terminal, or as Markdown.
static void explain_list(struct buffer *out, bool is_page)
{
    size_t count;
    const struct code_row *rows = code_rows(&count);
    unsigned family = 0;
    char number[CODE_TEXT_SIZE];

    for (size_t i = 0; i < count; i++) {
        if ((unsigned)rows[i].code / 100 != family) {
            const char *gap = family == 0 ? "" : "\n";
            family = (unsigned)rows[i].code / 100;
            buffer_printf(out, is_page ? "%s**%s**\n\n| code | what | meaning |\n|---|---|---|\n" : "%s%s\n", gap,
                          families[family - 1].title);
        }
        code_print(rows[i].code, number);
        if (!is_page) {
            buffer_printf(out, "  %s  %-24s %s\n", number, rows[i].name, rows[i].title);
            continue;
        }
        buffer_printf(out, "| `%s` | %s | ", number, rows[i].title);
        explain_append_cell(out, rows[i].meaning);
        buffer_append_c(out, " |\n");
    }
}

static int explain_unknown(const struct cli_options *options)
{
    struct failure why = { 0 };
    char place[64];
    const char *nearest = code_nearest(text_of(options->arguments[0]), place, sizeof(place));

    failure_set(&why, "there is no code `%.80s`", options->arguments[0]);
    if (nearest != NULL) {
        failure_help(&why, "did you mean `lastcall explain %s`?", nearest);
    } else {
        failure_help(&why, "`lastcall explain codes` lists them");
    }
    return cli_fail(options, &why, CLI_USAGE);
}

int explain_code(const struct cli_options *options)
{
    struct text word = text_of(options->arguments[0]);
    const struct code_row *row = explain_row(word);
    bool is_page = text_equals_c(word, "page");
    struct buffer out;
    char number[CODE_TEXT_SIZE];

    if (row == NULL && !is_page && !text_equals_c(word, "codes")) {
        return explain_unknown(options);
    }
    buffer_init(&out, EXPLAIN_CODE_CAP);
    if (options->is_json) {
        explain_write(&out, row);
    } else if (row != NULL) {
        buffer_printf(&out, "%s %s: %s\n\n%s", code_print(row->code, number), row->name, row->title, row->meaning);
    } else {
        explain_list(&out, is_page);
    }
    cli_flush(stdout, &out);
    buffer_fini(&out);
    return CLI_OK;
}

#include "app/generation_builder.h"
#include "app/settings_apply.h"

#include "base/json_read.h"
#include "model/exchange.h"

#include <stdio.h>
#include <string.h>

// One option of the script: its name and the JSON of its default.
struct option {
    struct text name;
    struct text json;
    enum json_token first;
    struct text string; // of a string: its value
};

struct options {
    struct option *items;
    size_t count;
};

static struct text value_span(struct text input, size_t from, size_t to)
{
    while (from < to && strchr(" \t\r\n:", input.data[from]) != NULL) {
        from++;
    }
    return (struct text){ input.data + from, to - from };
}

static enum status keep_unescaped(struct generation_builder *builder, const struct json_reader *reader,
                                  struct text *kept)
{
    struct buffer scratch;
    buffer_init(&scratch, 64 * 1024);
    struct text plain = json_unescape(reader, &scratch);
    *kept = scratch.is_full ? (struct text){ 0 } : arena_copy(&builder->arena, plain);
    buffer_fini(&scratch);
    return kept->data == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static enum status read_option(struct generation_builder *builder, struct json_reader *reader, struct options *options)
{
    struct option option = { 0 };
    enum status status = keep_unescaped(builder, reader, &option.name);
    size_t after_key = reader->offset;
    option.first = json_next(reader);
    if (status == STATUS_OK && option.first == JSON_STRING) {
        status = keep_unescaped(builder, reader, &option.string);
    }
    if (status != STATUS_OK || !json_skip(reader, option.first)) {
        return status != STATUS_OK ? status : STATUS_INVALID;
    }
    option.json = value_span(reader->input, after_key, reader->offset);
    struct option *grown = settings_grow(&builder->arena, options->items, options->count, sizeof(option));
    if (grown == NULL) {
        return STATUS_NO_MEMORY;
    }
    grown[options->count++] = option;
    options->items = grown;
    return STATUS_OK;
}

// The script's defaults. An empty Lua table may have come as a list.
static enum status read_options(struct generation_builder *builder, struct text json, struct options *options)
{
    struct json_reader reader;
    *options = (struct options){ 0 };
    if (json.length == 0 || text_equals_c(json, "[]")) {
        return STATUS_OK;
    }
    json_reader_init(&reader, json);
    if (json_next(&reader) != JSON_BEGIN_OBJECT) {
        return STATUS_INVALID;
    }
    for (;;) {
        enum json_token token = json_next(&reader);
        if (token == JSON_END_OBJECT) {
            return STATUS_OK;
        }
        enum status status = token == JSON_KEY ? read_option(builder, &reader, options) : STATUS_INVALID;
        if (status != STATUS_OK) {
            return status;
        }
    }
}

static bool is_number(struct text text)
{
    size_t offset = 0;
    const char *sentence = NULL;
    return text.length > 0 && (text.data[0] == '-' || (text.data[0] >= '0' && text.data[0] <= '9')) &&
           json_is_valid(text, &offset, &sentence);
}

static void find_kind(struct generation_builder *builder, const struct settings_pair *pair, const char *kind)
{
    generation_find(builder, pair->file, pair->line, pair->column, CODE_SETTING_VALUE, "",
                    "the script's option `%.*s` is %s, and `%.*s` is none", TEXT_ARGS(pair->key), kind,
                    TEXT_ARGS(pair->value));
}

// The settings' value in the kind of the script's default.
static void write_value(struct generation_builder *builder, const struct settings_pair *pair,
                        const struct option *option, struct json_writer *writer)
{
    switch (option->first) {
    case JSON_NUMBER:
        if (!pair->is_plain || !is_number(pair->value)) {
            find_kind(builder, pair, "a number");
            json_null(writer);
        } else {
            json_raw(writer, pair->value);
        }
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        if (!text_equals_c(pair->value, "true") && !text_equals_c(pair->value, "false")) {
            find_kind(builder, pair, "true or false");
        }
        json_bool(writer, text_equals_c(pair->value, "true"));
        break;
    case JSON_BEGIN_OBJECT:
    case JSON_BEGIN_ARRAY:
        find_kind(builder, pair, "a list or a map, which is set in the script only");
        json_null(writer);
        break;
    default:
        json_text(writer, pair->value);
        break;
    }
}

static enum status add_url_host(struct generation_builder *builder, struct text url, const struct settings_pair *pair,
                                struct script_account *account)
{
    struct url_parts parts;
    char host[300];
    if (!text_starts_with(url, TEXT("http://")) && !text_starts_with(url, TEXT("https://"))) {
        return STATUS_OK;
    }
    if (!url_split(url, &parts) || parts.host.length > 255) {
        if (pair != NULL) {
            generation_find(builder, pair->file, pair->line, pair->column, CODE_SETTING_VALUE,
                            "write it like https://api.acme.example or http://127.0.0.1:8080/path",
                            "the option `%.*s` is not a URL that can be used", TEXT_ARGS(pair->key));
        }
        return STATUS_OK;
    }
    bool is_v6 = memchr(parts.host.data, ':', parts.host.length) != NULL;
    int length = snprintf(host, sizeof(host), "%s%.*s%s", is_v6 ? "[" : "", TEXT_ARGS(parts.host), is_v6 ? "]" : "");
    if (parts.port != (parts.is_https ? 443 : 80)) {
        length += snprintf(host + length, sizeof(host) - (size_t)length, ":%u", parts.port);
    }
    for (int i = 0; i < length; i++) {
        host[i] = host[i] >= 'A' && host[i] <= 'Z' ? (char)(host[i] - 'A' + 'a') : host[i];
    }
    return generation_add_host(builder, account, (struct text){ host, (size_t)length });
}

static enum status find_unknown(struct generation_builder *builder, const struct script_supplier *script,
                                const struct options *options, const struct settings_account *settings)
{
    const char **names = arena_alloc_array(&builder->arena, options->count + 1, sizeof(*names));
    if (names == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < options->count; i++) {
        names[i] = options->items[i].name.data;
    }
    for (size_t i = 0; i < settings->option_count; i++) {
        const struct settings_pair *pair = &settings->options[i];
        bool is_known = false;
        for (size_t j = 0; j < options->count && !is_known; j++) {
            is_known = text_equals(options->items[j].name, pair->key);
        }
        if (!is_known) {
            const char *nearest = text_nearest(pair->key, names, options->count);
            char help[256];
            snprintf(help, sizeof(help),
                     nearest == NULL ? "its `options` are in the script's table%s" : "did you mean `%s`?",
                     nearest == NULL ? "" : nearest);
            generation_find(builder, pair->file, pair->line, pair->column, CODE_SETTING_UNKNOWN, help,
                            "the script of `%.*s` has no option `%.*s`", TEXT_ARGS(script->name), TEXT_ARGS(pair->key));
        }
    }
    return STATUS_OK;
}

enum status generation_write_options(struct generation_builder *builder, const struct script_supplier *script,
                                     const struct settings_account *settings, struct json_writer *writer,
                                     struct script_account *account)
{
    struct options options;
    enum status status = read_options(builder, script->options, &options);
    if (status == STATUS_INVALID) {
        generation_find(builder, script->file.data, 0, 0, CODE_SCRIPT_UNREADABLE, "",
                        "the options of `%.*s` cannot be read", TEXT_ARGS(script->name));
        return STATUS_OK;
    }
    for (size_t i = 0; i < options.count && status == STATUS_OK; i++) {
        const struct option *option = &options.items[i];
        const struct settings_pair *pair = NULL;
        for (size_t j = 0; settings != NULL && j < settings->option_count; j++) {
            if (text_equals(settings->options[j].key, option->name)) {
                pair = &settings->options[j];
            }
        }
        json_key_text(writer, option->name);
        if (pair == NULL) {
            json_raw(writer, option->json);
        } else {
            write_value(builder, pair, option, writer);
        }
        if (option->first == JSON_STRING) {
            status = add_url_host(builder, pair == NULL ? option->string : pair->value, pair, account);
        }
    }
    if (status == STATUS_OK && settings != NULL) {
        status = find_unknown(builder, script, &options, settings);
    }
    return status;
}

#include "cli/pasted_call.h"

#include "base/buffer.h"
#include "base/file.h"
#include "cli/pasted_options.h"
#include "cli/pasted_words.h"

#include <stdio.h>
#include <string.h>

struct taking {
    struct arena *arena;
    struct pasted_call *call;
    struct failure *why;
    struct pasted_words words;
    size_t at;
    struct text url, method;
    struct buffer data;
    bool is_query, is_head, is_json, is_out_of_memory;
};

static enum status refuse(struct taking *taking, const char *help, const char *format, ...) PRINTF_LIKE(3, 4);

static enum status refuse(struct taking *taking, const char *help, const char *format, ...)
{
    char sentence[400];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    failure_set(taking->why, "%s", sentence);
    failure_help(taking->why, "%s", help);
    return STATUS_INVALID;
}

static void note(struct taking *taking, const char *option, const char *sentence)
{
    char line[400];
    struct pasted_call *call = taking->call;

    (void)snprintf(line, sizeof(line), "%s: %s", option, sentence);
    if (call->note_count < PASTED_NOTES_MAX) {
        call->notes[call->note_count++] = arena_copy(taking->arena, text_of(line));
    }
}

static struct text keep(struct taking *taking, struct text text)
{
    struct text kept = text.length == 0 ? TEXT("") : arena_copy(taking->arena, text);

    taking->is_out_of_memory = taking->is_out_of_memory || kept.data == NULL;
    return kept;
}

static void add(struct taking *taking, struct pasted_list *list, struct text name, struct text value)
{
    if (list->items == NULL) {
        list->items = arena_alloc_array(taking->arena, PASTED_PAIRS_MAX, sizeof(*list->items));
    }
    if (list->items == NULL || list->count == PASTED_PAIRS_MAX) {
        taking->is_out_of_memory = true;
        return;
    }
    list->items[list->count++] = (struct pasted_pair){ keep(taking, name), keep(taking, value) };
}

// ------------------------------------------------------------------------------------------------------- query and
// form

static uint8_t digit_of(char c)
{
    return c >= '0' && c <= '9' ? (uint8_t)(c - '0') : (uint8_t)((c | 0x20) - 'a' + 10);
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/// "a%20b+c" -> "a b c"
static struct text decode(struct taking *taking, struct text text)
{
    char *bytes = arena_alloc(taking->arena, text.length + 1);
    size_t length = 0;

    if (bytes == NULL) {
        taking->is_out_of_memory = true;
        return TEXT("");
    }
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '%' && i + 2 < text.length && is_hex(text.data[i + 1]) && is_hex(text.data[i + 2])) {
            c = (char)(digit_of(text.data[i + 1]) << 4 | digit_of(text.data[i + 2]));
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        bytes[length++] = c;
    }
    return (struct text){ bytes, length };
}

/// "a=1&b=2" into a list.
static void split_pairs(struct taking *taking, struct text text, struct pasted_list *list)
{
    for (struct text rest = text; rest.data != NULL;) {
        struct text value, pair = text_split(rest, '&', &rest);
        struct text name = text_split(pair, '=', &value);
        if (pair.length > 0) {
            add(taking, list, decode(taking, name), value.data == NULL ? TEXT("") : decode(taking, value));
        }
    }
}

static void encode(struct text text, struct buffer *out)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (is_plain || (c != '\0' && strchr("-._~", c) != NULL)) {
            buffer_append_byte(out, (char)c);
        } else {
            buffer_printf(out, "%%%02X", c);
        }
    }
}

// --------------------------------------------------------------------------------------------------------------
// options

static enum status read_data_file(struct taking *taking, struct text name)
{
    struct file_facts facts;
    char help[] = "paste the body in place of @FILE, or run it where the file is";

    if (text_equals_c(name, "-")) {
        return refuse(taking, help, "the body is read from standard input");
    }
    struct text path = keep(taking, name); // terminated
    if (taking->is_out_of_memory) {
        return STATUS_NO_MEMORY;
    }
    if (file_read(path.data, &taking->data, &facts) != STATUS_OK) {
        return refuse(taking, help, "the body `%.200s` cannot be read: %s", path.data, facts.why);
    }
    return STATUS_OK;
}

/// curl joins what several options say by `&`.
static enum status take_data(struct taking *taking, struct text value, enum pasted_meaning meaning)
{
    if (taking->data.length > 0 && meaning != MEANS_DATA_JSON) {
        buffer_append_byte(&taking->data, '&');
    }
    taking->is_json = taking->is_json || meaning == MEANS_DATA_JSON;
    if (value.length > 0 && value.data[0] == '@' && (meaning == MEANS_DATA || meaning == MEANS_DATA_JSON)) {
        return read_data_file(taking, (struct text){ value.data + 1, value.length - 1 });
    }
    if (meaning != MEANS_DATA_URLENCODE) {
        buffer_append_text(&taking->data, value);
        return STATUS_OK;
    }
    struct text content, name = text_split(value, '=', &content);
    if (content.data == NULL) {
        content = name;
        name = (struct text){ 0 };
    }
    if (name.length > 0) {
        buffer_append_text(&taking->data, name); // curl takes it as it is
        buffer_append_byte(&taking->data, '=');
    }
    encode(content, &taking->data);
    return STATUS_OK;
}

static enum status take_header(struct taking *taking, struct text line)
{
    struct text value, name = text_trim(text_split(line, ':', &value));

    if (value.data == NULL) {
        name = text_trim(text_split(line, ';', &value)); // "Name;" is an empty one
    }
    if (name.length == 0) {
        return STATUS_OK; // ":authority: …" of HTTP/2
    }
    if (value.data == NULL) {
        return refuse(taking, "write it as -H 'Name: value'", "a header of the command has no colon");
    }
    char *lower = arena_alloc(taking->arena, name.length + 1);
    if (lower == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < name.length; i++) {
        lower[i] = name.data[i] >= 'A' && name.data[i] <= 'Z' ? (char)(name.data[i] | 0x20) : name.data[i];
    }
    add(taking, &taking->call->headers, (struct text){ lower, name.length }, text_trim(value));
    return STATUS_OK;
}

static enum status take_cookie(struct taking *taking, struct text value)
{
    if (memchr(value.data, '=', value.length) == NULL) {
        note(taking, "--cookie FILE", "cookies of a file are not read; a session is a `login`");
        return STATUS_OK;
    }
    add(taking, &taking->call->headers, TEXT("cookie"), value);
    return STATUS_OK;
}

static enum status take_url(struct taking *taking, struct text url)
{
    if (taking->url.data != NULL) {
        return refuse(taking, "paste one request; each further one is a part or a step of the script",
                      "the command has several URLs");
    }
    taking->url = url;
    return STATUS_OK;
}

static enum status take_option(struct taking *taking, const struct pasted_option *option, struct text value)
{
    struct pasted_call *call = taking->call;
    char dashed[40];

    (void)snprintf(dashed, sizeof(dashed), "--%s", option->name);
    switch (option->meaning) {
    case MEANS_PASSED_OVER:
        return STATUS_OK;
    case MEANS_NOTED:
        note(taking, dashed, option->note);
        return STATUS_OK;
    case MEANS_REFUSED:
        return refuse(taking, option->note, "a request with %s cannot be taken over", dashed);
    case MEANS_METHOD:
        taking->method = value;
        return STATUS_OK;
    case MEANS_HEADER:
        return take_header(taking, value);
    case MEANS_DATA:
    case MEANS_DATA_RAW:
    case MEANS_DATA_URLENCODE:
    case MEANS_DATA_JSON:
        return take_data(taking, value, option->meaning);
    case MEANS_USER:
        call->user = value;
        return STATUS_OK;
    case MEANS_BEARER: {
        struct buffer line;
        buffer_init(&line, PASTED_INPUT_MAX);
        buffer_printf(&line, "Bearer %.*s", TEXT_ARGS(value));
        add(taking, &call->headers, TEXT("authorization"), buffer_text(&line));
        buffer_fini(&line);
        return STATUS_OK;
    }
    case MEANS_COOKIE:
        return take_cookie(taking, value);
    case MEANS_AGENT:
        add(taking, &call->headers, TEXT("user-agent"), value);
        return STATUS_OK;
    case MEANS_REFERER:
        add(taking, &call->headers, TEXT("referer"), value);
        return STATUS_OK;
    case MEANS_QUERY:
        taking->is_query = true;
        return STATUS_OK;
    case MEANS_HEAD:
        taking->is_head = true;
        return STATUS_OK;
    case MEANS_URL:
        return take_url(taking, value);
    case MEANS_NEXT:
        return refuse(taking, "paste one request; each further one is a part or a step of the script",
                      "the command makes several requests");
    }
    return STATUS_OK;
}

static bool next_word(struct taking *taking, struct text *word)
{
    if (taking->at == taking->words.count) {
        return false;
    }
    *word = taking->words.items[taking->at++];
    return true;
}

static enum status take_named(struct taking *taking, struct text word)
{
    struct text name = { word.data + 2, word.length - 2 }, value = TEXT(""), url;
    bool is_negated = text_starts_with(name, TEXT("no-"));

    const struct pasted_option *option = pasted_option_named(name);
    if (option != NULL && option->takes_value && !next_word(taking, &value)) {
        return refuse(taking, "paste the whole command", "--%s has no value", option->name);
    }
    if (option != NULL) {
        return take_option(taking, option, value);
    }
    struct text ignored, shown = keep(taking, text_split(word, '=', &ignored)); // what follows may be a secret
    note(taking, shown.data == NULL ? "an option" : shown.data,
         is_negated ? "left out" : "an option that is not known here, left out");
    // Whether it takes a value is not known; a word that can be no URL is its value.
    if (!is_negated && taking->at < taking->words.count) {
        url = taking->words.items[taking->at];
        bool is_value = url.length > 0 && url.data[0] != '-' &&
                        (taking->url.data != NULL || memmem(url.data, url.length, "/", 1) == NULL);
        taking->at += is_value ? 1 : 0;
    }
    return STATUS_OK;
}

/// "-sSL", "-XPOST", "-H" "…"
static enum status take_letters(struct taking *taking, struct text word)
{
    enum status status = STATUS_OK;

    for (size_t at = 1; at < word.length && status == STATUS_OK; at++) {
        const struct pasted_option *option = pasted_option_lettered(word.data[at]);
        struct text value = TEXT("");
        if (option == NULL) {
            char letter[3] = { '-', word.data[at], '\0' };
            note(taking, letter, "an option that is not known here, left out");
            continue;
        }
        if (option->takes_value) {
            value = (struct text){ word.data + at + 1, word.length - at - 1 };
            at = word.length;
            if (value.length == 0 && !next_word(taking, &value)) {
                return refuse(taking, "paste the whole command", "--%s has no value", option->name);
            }
        }
        status = take_option(taking, option, value);
    }
    return status;
}

// ------------------------------------------------------------------------------------------------------- the whole of
// it

static struct text header_of(const struct pasted_call *call, const char *name)
{
    for (size_t i = 0; i < call->headers.count; i++) {
        if (text_equals_c(call->headers.items[i].name, name)) {
            return call->headers.items[i].value;
        }
    }
    return (struct text){ 0 };
}

static bool contains(struct text text, const char *part)
{
    return text.length > 0 && memmem(text.data, text.length, part, strlen(part)) != NULL;
}

static enum status read_body(struct taking *taking)
{
    struct pasted_call *call = taking->call;
    struct text body = keep(taking, buffer_text(&taking->data)), type = header_of(call, "content-type");
    struct text trimmed = text_trim(body);
    bool looks_json = trimmed.length > 0 && (trimmed.data[0] == '{' || trimmed.data[0] == '[');
    bool is_typed_json = taking->is_json || contains(type, "json");
    size_t offset;
    const char *sentence;

    if (taking->is_out_of_memory || taking->data.is_full) {
        return STATUS_NO_MEMORY;
    }
    if (taking->is_query) {
        split_pairs(taking, body, &call->query);
        return STATUS_OK;
    }
    if (body.length == 0) {
        return STATUS_OK;
    }
    if (is_typed_json || looks_json) {
        enum status status = json_tree_read(taking->arena, trimmed, &call->json, &offset, &sentence);
        if (status == STATUS_OK) {
            call->kind = PASTED_JSON;
            return STATUS_OK;
        }
        if (status == STATUS_NO_MEMORY) {
            return status;
        }
        note(taking, "--data", "it is not strict JSON, so it stays a text; with its mistake mended it becomes a table");
    }
    bool is_form = !is_typed_json && (type.data == NULL || contains(type, "x-www-form-urlencoded")) &&
                   contains(body, "=") && trimmed.data[0] != '<' && !looks_json;
    call->kind = is_form ? PASTED_FORM : PASTED_RAW;
    call->body = body;
    if (is_form) {
        split_pairs(taking, body, &call->form);
    }
    return STATUS_OK;
}

/// "https://user:pass@host/path?query#fragment"
static enum status read_url(struct taking *taking)
{
    struct pasted_call *call = taking->call;
    struct text url = taking->url, rest;
    const char *scheme = url.length == 0 ? NULL : memmem(url.data, url.length, "://", 3);

    if (url.length == 0) {
        return refuse(taking, "paste it as it was copied, from `curl` on", "the command has no URL");
    }
    if (!text_starts_with(url, TEXT("http://")) && !text_starts_with(url, TEXT("https://")) && scheme != NULL) {
        return refuse(taking, "a script asks over http:// or https://", "the URL is neither http nor https");
    }
    size_t skipped = scheme == NULL ? 0 : (size_t)(scheme - url.data) + 3;
    struct text after = { url.data + skipped, url.length - skipped };
    after = text_split(after, '#', &rest);
    size_t host_length = 0;
    while (host_length < after.length && strchr("/?", after.data[host_length]) == NULL) {
        host_length++;
    }
    struct text host = { after.data, host_length };
    const char *at = host_length == 0 ? NULL : memrchr(host.data, '@', host.length);
    if (at != NULL) {
        struct text user = { host.data, (size_t)(at - host.data) };
        call->user = call->user.data != NULL ? call->user : decode(taking, user);
        host = (struct text){ at + 1, host.length - user.length - 1 };
    }
    if (host.length == 0) {
        return refuse(taking, "paste it as it was copied, from `curl` on", "the URL names no host");
    }
    struct text query,
        path = text_split((struct text){ after.data + host_length, after.length - host_length }, '?', &query);
    struct buffer base;
    buffer_init(&base, PASTED_INPUT_MAX);
    buffer_printf(&base, "%.*s%.*s", (int)(skipped == 0 ? 7 : skipped), skipped == 0 ? "http://" : url.data,
                  TEXT_ARGS(host));
    call->base = keep(taking, buffer_text(&base));
    buffer_fini(&base);
    call->path = path.length == 0 ? TEXT("/") : keep(taking, path);
    if (query.data != NULL) {
        split_pairs(taking, query, &call->query);
    }
    return STATUS_OK;
}

static void read_method(struct taking *taking)
{
    bool has_body = taking->call->kind != PASTED_NOTHING || (taking->data.length > 0 && !taking->is_query);

    taking->call->method = taking->method.length > 0 ? taking->method
                           : taking->is_head         ? TEXT("HEAD")
                           : has_body                ? TEXT("POST")
                                                     : TEXT("GET");
}

static enum status take_words(struct taking *taking)
{
    enum status status = STATUS_OK;
    struct text word;

    while (status == STATUS_OK && next_word(taking, &word)) {
        if (word.length > 2 && text_starts_with(word, TEXT("--"))) {
            status = take_named(taking, word);
        } else if (word.length > 1 && word.data[0] == '-') {
            status = take_letters(taking, word);
        } else {
            status = take_url(taking, word);
        }
    }
    return status;
}

/// The words from `curl` on: a prompt may stand before it.
static enum status find_curl(struct taking *taking)
{
    struct text word;

    while (next_word(taking, &word)) {
        if (text_equals_c(word, "curl") || text_equals_c(word, "curl.exe")) {
            return STATUS_OK;
        }
        if (!text_equals_c(word, "$") && !text_equals_c(word, "%") && !text_equals_c(word, ">")) {
            break;
        }
    }
    return refuse(taking, "paste it as it was copied, from `curl` on", "this is no curl command");
}

enum status pasted_call_read(struct arena *arena, struct text input, struct pasted_call *call, struct failure *why)
{
    struct taking taking = { .arena = arena, .call = call, .why = why };

    *call = (struct pasted_call){ 0 };
    buffer_init(&taking.data, PASTED_INPUT_MAX);
    enum status status = pasted_words_read(arena, input, &taking.words, why);
    status = status == STATUS_OK ? find_curl(&taking) : status;
    status = status == STATUS_OK ? take_words(&taking) : status;
    status = status == STATUS_OK ? read_url(&taking) : status;
    status = status == STATUS_OK ? read_body(&taking) : status;
    if (status == STATUS_OK) {
        read_method(&taking);
        if (taking.words.has_more) {
            note(&taking, "behind the command",
                 "what the shell does then, or a second curl command: paste one at a time");
        }
    }
    buffer_fini(&taking.data);
    return status == STATUS_OK && taking.is_out_of_memory ? STATUS_NO_MEMORY : status;
}

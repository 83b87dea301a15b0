// The first look at a pasted call: which of its values are secrets, and which headers say nothing.

#include "cli/draft.h"

#include <string.h>

enum { NAME_SIZE = 80 };

static int value_of_base64(char c)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c == '\0' ? NULL : strchr(DIGITS, c);
    return at == NULL ? -1 : (int)(at - DIGITS);
}

/// Absent: it is none.
static struct text decode_base64(struct draft *draft, struct text text)
{
    char *bytes = arena_alloc(draft->arena, text.length + 1);
    uint32_t bits = 0, count = 0;
    size_t length = 0;

    for (size_t i = 0; bytes != NULL && i < text.length && text.data[i] != '='; i++) {
        int digit = value_of_base64(text.data[i]);
        if (digit < 0) {
            return (struct text){ 0 };
        }
        bits = bits << 6 | (uint32_t)digit;
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes[length++] = (char)(bits >> count & 0xff);
        }
    }
    return (struct text){ bytes, length };
}

/// "Bearer abc" -> "abc"; the whole when there is no scheme.
static struct text credentials_of(struct text value)
{
    struct text rest, scheme = text_split(value, ' ', &rest);
    (void)scheme;
    return rest.length > 0 ? rest : value;
}

static void find_user(struct draft *draft)
{
    struct text password, name = text_split(draft->user, ':', &password);

    (void)draft_secret_of(draft, "user", name);
    if (password.length > 0) {
        (void)draft_secret_of(draft, "password", password);
    }
}

static void find_in_header(struct draft *draft, const struct pasted_pair *header)
{
    bool is_authorization = text_equals_c(header->name, "authorization");

    if (is_authorization && text_starts_with(header->value, TEXT("Basic "))) {
        struct text user = decode_base64(draft, credentials_of(header->value));
        if (user.length > 0 && memchr(user.data, ':', user.length) != NULL) {
            draft->user = user;
            return;
        }
    }
    if (is_authorization && header->value.length > 0) {
        (void)draft_secret_of(draft, "token", credentials_of(header->value));
        return;
    }
    (void)draft_take_secret(
        draft, &(struct draft_value){ .where = DRAFT_HEADER, .key = header->name, .value = header->value });
}

static void find_in_json(struct draft *draft, const struct json_node *node, struct text key)
{
    if (node->kind == JSON_STRING || node->kind == JSON_NUMBER) {
        (void)draft_take_secret(
            draft, &(struct draft_value){
                       .where = DRAFT_JSON, .key = key, .value = node->text, .is_number = node->kind == JSON_NUMBER });
    }
    if (node->kind == JSON_STRING) {
        draft_find_words(draft, node->text);
        draft_find_pairs(draft, node->text);
    }
    for (const struct json_node *below = node->first; below != NULL; below = below->next) {
        draft_find_words(draft, below->key);
        find_in_json(draft, below, node->kind == JSON_BEGIN_OBJECT ? below->key : key);
    }
}

static void find_in_body(void *context, const struct draft_value *value)
{
    (void)draft_take_secret(context, value);
}

static void find_in_list(struct draft *draft, const struct pasted_list *list, enum draft_where where)
{
    for (size_t i = 0; i < list->count; i++) {
        (void)draft_take_secret(
            draft, &(struct draft_value){ .where = where, .key = list->items[i].name, .value = list->items[i].value });
    }
}

static void find_in_names(struct draft *draft, const struct pasted_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        draft_find_words(draft, list->items[i].name);
        draft_find_words(draft, list->items[i].value);
    }
}

void draft_find_secrets(struct draft *draft)
{
    const struct pasted_call *call = draft->call;

    draft->user = call->user;
    for (size_t i = 0; i < call->headers.count; i++) {
        if (!draft_is_header_left_out(draft, &call->headers.items[i])) {
            find_in_header(draft, &call->headers.items[i]);
        }
    }
    if (draft->user.length > 0) {
        find_user(draft);
    }
    find_in_list(draft, &call->query, DRAFT_QUERY);
    find_in_list(draft, &call->form, DRAFT_FORM);
    if (call->kind == PASTED_JSON) {
        find_in_json(draft, call->json, (struct text){ 0 });
    }
    if (draft->is_xml) {
        draft_find_in_xml(draft);
    } else if (call->kind == PASTED_RAW) {
        draft_walk_body(call->body, find_in_body, draft);
        draft_find_words(draft, call->body);
        if (text_trim(call->body).length > 0 && text_trim(call->body).data[0] != '<') {
            draft_find_pairs(draft, call->body);
        }
    }
    for (struct text rest = call->path; rest.data != NULL;) {
        struct text segment = text_split(rest, '/', &rest);
        if (!draft_take_secret(draft, &(struct draft_value){ .where = DRAFT_PATH, .value = segment })) {
            draft_find_pairs(draft, segment);
        }
    }
    find_in_names(draft, &call->query);
    find_in_names(draft, &call->headers);
    find_in_names(draft, &call->form);
}

static bool is_of_browser(struct text name, struct text value)
{
    static const char *const NAMES[] = { "accept-encoding",
                                         "accept-language",
                                         "cache-control",
                                         "connection",
                                         "content-length",
                                         "dnt",
                                         "host",
                                         "if-none-match",
                                         "origin",
                                         "pragma",
                                         "priority",
                                         "referer",
                                         "te",
                                         "transfer-encoding",
                                         "upgrade-insecure-requests",
                                         "expect",
                                         "keep-alive",
                                         "sec-gpc",
                                         "if-modified-since" };

    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        if (text_equals_c(name, NAMES[i])) {
            return true;
        }
    }
    return text_starts_with(name, TEXT("sec-")) ||
           (text_equals_c(name, "user-agent") && text_starts_with(value, TEXT("Mozilla/"))) ||
           (text_equals_c(name, "accept") && text_equals_c(value, "*/*"));
}

bool draft_is_header_left_out(struct draft *draft, const struct pasted_pair *header)
{
    const struct pasted_call *call = draft->call;
    bool is_type = text_equals_c(header->name, "content-type");

    // The engine writes these two itself.
    if (is_type && ((call->kind == PASTED_JSON && text_starts_with(header->value, TEXT("application/json"))) ||
                    call->kind == PASTED_FORM || call->kind == PASTED_NOTHING)) {
        return true;
    }
    if (!is_of_browser(header->name, header->value)) {
        return false;
    }
    for (size_t i = 0; i < draft->left_out_count; i++) {
        if (text_equals(draft->left_out[i], header->name)) {
            return true;
        }
    }
    if (draft->left_out_count < DRAFT_NOTES_MAX) {
        draft->left_out[draft->left_out_count++] = header->name;
    }
    return true;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// The name that ends before `end`, without a prefix.
static struct text name_before(struct text body, size_t end)
{
    size_t begin = end;

    while (begin > 0 && is_name(body.data[begin - 1])) {
        begin--;
    }
    return (struct text){ body.data + begin, end - begin };
}

/// The name of the element whose tag ends at `end`: "a:Key" in `<a:Key b="c">`.
static struct text element_before(struct text body, size_t end)
{
    size_t begin = end;

    while (begin > 0 && body.data[begin - 1] != '<') {
        begin--;
    }
    size_t stop = begin;
    while (stop < end && (is_name(body.data[stop]) || body.data[stop] == ':')) {
        stop++;
    }
    return name_before(body, stop);
}

void draft_walk_body(struct text body, void (*take)(void *context, const struct draft_value *value), void *context)
{
    for (size_t i = 1; i + 1 < body.length; i++) {
        char c = body.data[i];
        bool is_attribute = (c == '"' || c == '\'') && body.data[i - 1] == '=';
        if (!is_attribute && c != '>') {
            continue;
        }
        const char *end = memchr(body.data + i + 1, is_attribute ? c : '<', body.length - i - 1);
        if (end == NULL) {
            continue;
        }
        struct text whole = { body.data + i + 1, (size_t)(end - body.data) - i - 1 }, value = text_trim(whole);
        struct text key = is_attribute ? name_before(body, i - 1) : element_before(body, i);
        if (value.length > 0 && key.length > 0) {
            take(context, &(struct draft_value){ .where = DRAFT_BODY, .key = key, .value = value });
        }
        i += is_attribute ? whole.length + 1 : 0;
    }
}

// Doors: an option whose value is a URL can lead a supplier elsewhere. One door for each origin, so that paths stay
// what they are.

#include "app/mock_internal.h"

#include "model/exchange.h"

#include <string.h>

/// "https://api.acme.example/v2/" -> "https://api.acme.example" and "/v2". False: it is no URL.
static bool split_origin(struct text url, struct text *origin, struct text *path)
{
    struct url_parts parts;

    if (!url_split(url, &parts)) {
        return false;
    }
    size_t length = parts.target.data == NULL ? url.length : (size_t)(parts.target.data - url.data);
    *origin = (struct text){ url.data, length };
    *path = (struct text){ url.data + length, url.length - length };
    while (path->length > 0 && path->data[path->length - 1] == '/') {
        path->length--;
    }
    return true;
}

static struct mock_option *find_option(const struct mock_supplier *supplier, struct text key)
{
    for (size_t i = 0; i < supplier->option_count; i++) {
        if (text_equals(supplier->options[i].key, key)) {
            return &supplier->options[i];
        }
    }
    return NULL;
}

/// The door for an origin; SIZE_MAX: there are too many.
static size_t door_for(struct mock *mock, struct mock_supplier *supplier, struct text origin)
{
    for (size_t i = 0; i < mock->door_count; i++) {
        if (mock->doors[i].supplier == supplier && text_equals(mock->doors[i].origin, origin)) {
            return i;
        }
    }
    if (mock->door_count == MOCK_DOORS_MAX) {
        return SIZE_MAX;
    }
    mock->doors[mock->door_count] = (struct mock_door){ supplier, origin };
    return mock->door_count++;
}

/// Takes the option unless it is none that leads anywhere, or known. False: a finding was reported.
static bool add_option(struct mock *mock, struct mock_supplier *supplier, struct text key, struct text url)
{
    enum { OPTIONS_MAX = 16 };
    struct text origin, path;

    if (!split_origin(url, &origin, &path) || find_option(supplier, key) != NULL) {
        return true;
    }
    if (supplier->options == NULL) {
        supplier->options = arena_alloc_array(&mock->arena, OPTIONS_MAX, sizeof(*supplier->options));
    }
    struct text kept_key = arena_copy(&mock->arena, key), kept_url = arena_copy(&mock->arena, url);
    if (supplier->options == NULL || supplier->option_count == OPTIONS_MAX || kept_key.data == NULL ||
        kept_url.data == NULL || !split_origin(kept_url, &origin, &path)) {
        mock_find(mock, CODE_NONE, supplier->script->file.data, "", "`%.*s` has too many options that are URLs",
                  TEXT_ARGS(supplier->script->name));
        return false;
    }
    size_t door = door_for(mock, supplier, origin);
    if (door == SIZE_MAX) {
        mock_find(mock, CODE_NONE, NULL, "name the suppliers that you need: `lastcall mock NAME`",
                  "more than %d suppliers cannot be played at once", MOCK_DOORS_MAX);
        return false;
    }
    supplier->options[supplier->option_count++] =
        (struct mock_option){ .key = kept_key, .url = kept_url, .origin = origin, .path = path, .door = door };
    return true;
}

/// The string members of an object.
static bool add_options(struct mock *mock, struct mock_supplier *supplier, const struct json_node *object)
{
    bool is_fine = true;

    for (const struct json_node *at = object == NULL ? NULL : object->first; at != NULL && is_fine; at = at->next) {
        is_fine = at->kind != JSON_STRING || add_option(mock, supplier, at->key, at->text);
    }
    return is_fine;
}

static bool add_settings(struct mock *mock, struct mock_supplier *supplier)
{
    const struct settings_supplier *settings = mock_settings_of(mock->settings, supplier->script->name);
    bool is_fine = true;

    for (size_t i = 0; settings != NULL && i < settings->account_count; i++) {
        const struct settings_account *account = &settings->accounts[i];
        for (size_t j = 0; j < account->option_count && is_fine; j++) {
            is_fine = add_option(mock, supplier, account->options[j].key, account->options[j].value);
        }
    }
    return is_fine;
}

bool mock_open_doors(struct mock *mock, struct mock_supplier *supplier)
{
    struct json_node *defaults = NULL;
    const char *sentence;
    size_t offset;

    if (supplier->script->options.length > 0 &&
        json_tree_read(&mock->arena, supplier->script->options, &defaults, &offset, &sentence) != STATUS_OK) {
        defaults = NULL;
    }
    bool is_fine = add_options(mock, supplier, defaults) && add_settings(mock, supplier);
    for (size_t i = 0; i < supplier->fixture_count && is_fine; i++) {
        is_fine = add_options(mock, supplier, supplier->fixtures[i]->options);
    }
    return is_fine;
}

/// Does an option of the supplier lead where this URL goes, as the fixture has it?
static bool leads_to(const struct mock_supplier *supplier, const struct mock_play *play, struct text url)
{
    struct text origin, path, other;
    bool does_lead = !split_origin(url, &origin, &path); // what is no URL fits no request

    for (size_t i = 0; i < supplier->option_count && !does_lead; i++) {
        does_lead = split_origin(mock_option_url(play, &supplier->options[i]), &other, &path) &&
                    text_equals_nocase(other, origin);
    }
    return does_lead;
}

const struct json_node *mock_find_stray(const struct mock_supplier *supplier, const struct mock_play **play)
{
    for (size_t i = 0; i < supplier->play_count; i++) {
        *play = &supplier->plays[i];
        for (size_t j = 0; j < (*play)->exchanges.count; j++) {
            const struct json_node *url = json_tree_member((*play)->exchanges.items[j].expect, "url");
            if (url != NULL && url->kind == JSON_STRING && !leads_to(supplier, *play, url->text)) {
                return url;
            }
        }
    }
    return NULL;
}

struct text mock_option_url(const struct mock_play *play, const struct mock_option *option)
{
    const struct json_node *own = json_tree_member_text(play->fixture->options, option->key);
    struct text url = own != NULL && own->kind == JSON_STRING ? own->text : option->url;

    while (url.length > 0 && url.data[url.length - 1] == '/') {
        url.length--;
    }
    return url;
}

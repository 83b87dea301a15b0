#include "support/fold.h"

#include "base/json_read.h"

#include <stdlib.h>
#include <string.h>

void fold_init(struct fold *fold)
{
    *fold = (struct fold){ 0 };
    text_map_init(&fold->items);
    text_map_init(&fold->offers);
}

void fold_fini(struct fold *fold)
{
    for (size_t i = 0; i < fold->kept_count; i++) {
        free(fold->kept[i]);
    }
    free(fold->kept);
    struct text_map *maps[] = { &fold->items, &fold->offers };
    for (size_t i = 0; i < COUNT_OF(maps); i++) {
        for (size_t j = 0; j < maps[i]->capacity; j++) {
            free((void *)maps[i]->slots[j].value);
        }
        text_map_fini(maps[i]);
    }
}

/// The bytes of the value that comes next.
static struct text next_value(struct json_reader *reader)
{
    enum json_token token = json_next(reader);
    const char *begin = reader->input.data + reader->offset - 1;

    if (token == JSON_STRING) {
        begin = reader->value.data - 1;
    } else if (token == JSON_NUMBER) {
        begin = reader->value.data;
    } else if (token == JSON_TRUE || token == JSON_FALSE || token == JSON_NULL) {
        begin -= token == JSON_FALSE ? 4 : 3;
    }
    require(json_skip(reader, token));
    return (struct text){ begin, (size_t)(reader->input.data + reader->offset - begin) };
}

/// The value of a key of an object; absent when it has none.
static struct text field_of(struct text object, const char *key)
{
    struct json_reader reader;
    json_reader_init(&reader, object);
    require(json_next(&reader) == JSON_BEGIN_OBJECT);
    while (json_next(&reader) == JSON_KEY) {
        bool is_it = text_equals_c(reader.value, key);
        struct text value = next_value(&reader);
        if (is_it) {
            return value;
        }
    }
    return (struct text){ NULL, 0 };
}

static struct text unquoted(struct text value)
{
    require(value.length >= 2 && value.data[0] == '"');
    return (struct text){ value.data + 1, value.length - 2 };
}

/// Values are kept as texts in memory of their own, never moved.
static void put(struct text_map *map, struct text key, struct text value)
{
    struct text_map_slot *slot = text_map_insert(map, key);
    struct text *copy = malloc(sizeof(*copy));
    require(slot != NULL && copy != NULL);
    *copy = value;
    free((void *)slot->value);
    slot->value = copy;
}

static void take_offers(struct fold *fold, struct text event)
{
    struct json_reader reader;
    struct text items = field_of(event, "items");
    struct text offers = field_of(event, "offers");

    json_reader_init(&reader, items);
    require(json_next(&reader) == JSON_BEGIN_OBJECT);
    while (json_next(&reader) == JSON_KEY) {
        struct text key = reader.value;
        put(&fold->items, key, next_value(&reader));
    }
    for (const char *at = offers.data + 1; *at != ']';) {
        struct text rest = { at, (size_t)(offers.data + offers.length - at) };
        size_t depth = 0;
        size_t length = 0;
        do { // offers are objects whose strings hold no braces here
            depth += rest.data[length] == '{';
            depth -= rest.data[length] == '}';
            length++;
        } while (depth > 0);
        struct text offer = { at, length };
        put(&fold->offers, unquoted(field_of(offer, "id")), offer);
        at += length + (at[length] == ',');
    }
}

static void take_retract(struct fold *fold, struct text event)
{
    struct json_reader reader;
    json_reader_init(&reader, field_of(event, "ids"));
    require(json_next(&reader) == JSON_BEGIN_ARRAY);
    while (json_next(&reader) == JSON_STRING) {
        struct text_map_slot *slot = text_map_find(&fold->offers, reader.value);
        require(slot != NULL && slot->value != NULL);
        free((void *)slot->value);
        slot->value = NULL;
        fold->retracted++;
    }
}

void fold_take(struct fold *fold, enum search_event event, struct text json)
{
    size_t offset = 0;
    const char *sentence = NULL;
    uint64_t seq = 0;
    char *copy = strndup(json.data, json.length);
    fold->kept = realloc(fold->kept, (fold->kept_count + 1) * sizeof(*fold->kept));
    require(copy != NULL && fold->kept != NULL);
    fold->kept[fold->kept_count++] = copy;
    struct text kept = { copy, json.length };

    require(json_is_valid(kept, &offset, &sentence));
    require(text_to_u64(field_of(kept, "seq"), &seq) && seq == fold->last_seq + 1);
    require(field_of(kept, "coverage").data != NULL);
    fold->last_seq = seq;
    fold->seen[event]++;
    if (event == SEARCH_EVENT_OFFERS) {
        take_offers(fold, kept);
    } else if (event == SEARCH_EVENT_RETRACT) {
        take_retract(fold, kept);
    }
}

static void add_item(const struct fold *fold, struct text item, struct text_map *named, struct buffer *items)
{
    const struct text_map_slot *slot = text_map_find(&fold->items, item);
    struct text_map_slot *mine = text_map_insert(named, item);

    require(mine != NULL);
    if (slot != NULL && mine->number++ == 0) {
        const struct text *value = slot->value;
        buffer_printf(items, "%s\"%.*s\":%.*s", items->length > 0 ? "," : "", TEXT_ARGS(item), TEXT_ARGS(*value));
    }
}

char *fold_result(const struct fold *fold, struct text done)
{
    struct json_reader reader;
    struct buffer items, offers, result;
    struct text_map named;
    size_t held = 0;
    size_t ordered = 0;

    buffer_init(&items, 64 << 20);
    buffer_init(&offers, 64 << 20);
    buffer_init(&result, 64 << 20);
    text_map_init(&named);
    json_reader_init(&reader, field_of(done, "order"));
    require(json_next(&reader) == JSON_BEGIN_ARRAY);
    while (json_next(&reader) == JSON_STRING) {
        const struct text_map_slot *slot = text_map_find(&fold->offers, reader.value);
        require(slot != NULL && slot->value != NULL); // in the order, so it must be held
        const struct text *offer = slot->value;
        ordered++;
        add_item(fold, unquoted(field_of(*offer, "item")), &named, &items);
        buffer_printf(&offers, "%s%.*s", offers.length > 0 ? "," : "", TEXT_ARGS(*offer));
    }
    for (size_t i = 0; i < fold->offers.capacity; i++) {
        held += fold->offers.slots[i].value != NULL;
    }
    require(held == ordered); // the limits' victims were retracted
    buffer_printf(&result, "\"items\":{%.*s},\"offers\":[%.*s],\"facets\":%.*s", TEXT_ARGS(buffer_text(&items)),
                  TEXT_ARGS(buffer_text(&offers)), TEXT_ARGS(field_of(done, "facets")));
    text_map_fini(&named);
    buffer_fini(&items);
    buffer_fini(&offers);
    return buffer_take(&result);
}

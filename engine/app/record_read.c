#include "app/record_read.h"

#include "app/settings_value.h"

#include <stdio.h>

enum status record_refuse(const struct record_reading *reading, const struct json_node *node, const char *sentence)
{
    size_t offset = node != NULL ? (size_t)(node->source.data - reading->document.data) : 0;
    struct json_place place = json_place_of(reading->document, offset);

    if (reading->why != NULL) {
        reading->why->line = place.line;
        reading->why->column = place.column;
    }
    failure_set(reading->why, "%s", sentence);
    return STATUS_INVALID;
}

enum status record_read_root(const struct record_reading *reading, struct arena *arena, struct json_node **root)
{
    const char *sentence = NULL;
    size_t offset = 0;
    enum status status = json_tree_read(arena, reading->document, root, &offset, &sentence);

    if (status == STATUS_INVALID) {
        struct json_place place = json_place_of(reading->document, offset);
        failure_at(reading->why, "", place.line, place.column);
        failure_set(reading->why, "%s", sentence);
        return status;
    }
    if (status != STATUS_OK) {
        failure_set(reading->why, "there is no memory for it");
        return status;
    }
    return (*root)->kind == JSON_BEGIN_OBJECT ? STATUS_OK : record_refuse(reading, *root, "it is no object");
}

enum status record_read_number(const struct record_reading *reading, const struct json_node *object, const char *key,
                               bool is_needed, uint64_t *number)
{
    const struct json_node *member = json_tree_member(object, key);
    char sentence[96];

    if (member == NULL && !is_needed) {
        return STATUS_OK;
    }
    if (member == NULL || !json_tree_to_u64(member, number)) {
        (void)snprintf(sentence, sizeof(sentence), "`%s` is a whole number", key);
        return record_refuse(reading, member != NULL ? member : object, sentence);
    }
    return STATUS_OK;
}

enum status record_read_text(const struct record_reading *reading, const struct json_node *object, const char *key,
                             bool is_needed, char *place, size_t size)
{
    const struct json_node *member = json_tree_member(object, key);
    char sentence[96];

    place[0] = '\0';
    if (member == NULL && !is_needed) {
        return STATUS_OK;
    }
    bool is_text = member != NULL && member->kind == JSON_STRING && member->text.length < size;
    if (!is_text || (is_needed && member->text.length == 0) ||
        memchr(member->text.data, '\0', member->text.length) != NULL) {
        (void)snprintf(sentence, sizeof(sentence), "`%s` is a text of at most %zu bytes", key, size - 1);
        return record_refuse(reading, member != NULL ? member : object, sentence);
    }
    (void)snprintf(place, size, "%.*s", TEXT_ARGS(member->text));
    return STATUS_OK;
}

enum status record_read_name(const struct record_reading *reading, const struct json_node *object, const char *key,
                             bool is_needed, char *place, size_t size)
{
    struct value_problem problem;
    enum status status = record_read_text(reading, object, key, is_needed, place, size);

    if (status == STATUS_OK && place[0] != '\0' && !value_name(text_of(place), &problem)) {
        return record_refuse(reading, json_tree_member(object, key), "it is no name");
    }
    return status;
}

enum status record_read_list(const struct record_reading *reading, const struct json_node *object, const char *key,
                             size_t most, const struct json_node **list)
{
    const struct json_node *member = json_tree_member(object, key);
    char sentence[96];

    *list = member;
    if (member == NULL || member->kind != JSON_BEGIN_ARRAY || member->count > most) {
        (void)snprintf(sentence, sizeof(sentence), "`%s` is a list of at most %zu", key, most);
        return record_refuse(reading, member != NULL ? member : object, sentence);
    }
    return STATUS_OK;
}

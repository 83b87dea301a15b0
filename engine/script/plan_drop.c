// The walk has stopped at the place in the offer; the leaf is the plan's node there. The levels of lists are left by
// then, so the row has kept where they stood.

#include "script/plan_drop.h"

#include "script/body_keys.h"
#include "script/offers_walk.h"
#include "script/plan_read.h"
#include "script/plan_source.h"
#include "script/plan_where.h"
#include "script/trouble.h"
#include "script/trouble_line.h"
#include "script/xml_keys.h"
#include "script/xml_lists.h"

#include <stdio.h>
#include <string.h>

enum { PLACE_SIZE = 160, WHERE_SIZE = 200, KEYS_SIZE = 400, ABSENT_MAX = 4 };

static const struct plan_node *field_of(const struct plan_node *node, const char *name)
{
    for (size_t i = 0; i < node->field_count; i++) {
        if (text_equals_c(node->fields[i]->name, name)) {
            return node->fields[i];
        }
    }
    return NULL;
}

/// The leaf where the walk stands, or the innermost table of the plan around it; `place` names it.
static const struct plan_node *find_leaf(const struct walk *walk, char place[PLACE_SIZE])
{
    const struct plan_node *node = walk->row->plan->offer;
    size_t length = (size_t)snprintf(place, PLACE_SIZE, "offer");

    for (size_t i = 1; i < walk->depth && node != NULL; i++) {
        const struct walk_step *step = &walk->steps[i];
        bool is_table = node->op == PLAN_OBJECT || node->op == PLAN_LIST;
        const struct plan_node *inner = is_table && step->name != NULL ? field_of(node, step->name) : NULL;
        if (step->name == NULL) {
            node = node->op == PLAN_LIST && node->parts[0] != NULL ? node->parts[0] : node;
            continue;
        }
        if (length + strlen(step->name) + 2 < PLACE_SIZE) {
            length += (size_t)snprintf(place + length, PLACE_SIZE - length, ".%s", step->name);
        }
        if (inner == NULL) {
            return is_table ? NULL : node; // no leaf gives it, or a function gives more than one value
        }
        node = inner;
    }
    return node;
}

static bool is_there(const struct plan_row *row, const struct plan_path *path)
{
    const struct tape_node *found = plan_find(row, path);
    return found != NULL && found->kind != TAPE_NONE && found->kind != TAPE_NULL && found->kind != TAPE_EMPTY;
}

/// The path that the leaf reads: the first that finds nothing, else its first. NULL: it reads none.
static const struct plan_path *find_path(const struct plan_row *row, const struct plan_node *node)
{
    const struct plan_path *first = NULL;

    switch (node->op) {
    case PLAN_PATH:
    case PLAN_VALUES:
        return node->path.is_key ? NULL : &node->path;
    case PLAN_MONEY:
    case PLAN_MAP:
        return find_path(row, node->parts[0]);
    case PLAN_LIST:
        return &row->plan->levels[node->first_level].list;
    case PLAN_CALL:
    case PLAN_TIME:
    case PLAN_OBJECT:
        for (size_t i = 0; i < node->field_count; i++) {
            const struct plan_path *path = find_path(row, node->fields[i]);
            if (path != NULL && !is_there(row, path)) {
                return path;
            }
            first = first != NULL ? first : path;
        }
        return first;
    case PLAN_REF:
    case PLAN_ASKED:
    case PLAN_CONST:
        break;
    }
    return NULL;
}

/// Are the elements in hand that lead to it?
static bool is_in_hand(const struct plan_row *row, uint32_t level)
{
    for (; level != 0; level = row->plan->levels[level].list.level) {
        if (row->at[level] == 0) {
            return false;
        }
    }
    return true;
}

/// The names at `where` up to where the answer has it.
static void note_names(struct failure *why, const struct body_keys *found, const char *where)
{
    const char *names[BODY_KEYS_MAX];
    char keys[KEYS_SIZE];

    body_keys_print(found, keys, sizeof keys);
    failure_note(why, "%.*s is %s", (int)found->length, where, keys);
    for (size_t i = 0; i < found->count; i++) {
        names[i] = found->keys[i];
    }
    const char *wanted = where + found->length + 1;
    const char *nearest = where[found->length] != '.'
                              ? NULL
                              : text_nearest((struct text){ wanted, strcspn(wanted, ".[") }, names, found->count);
    if (nearest != NULL) {
        failure_help(why, "did you mean `%s`?", nearest);
    }
}

static void note_xml_names(struct failure *why, const struct plan *plan, struct text body, const char *where)
{
    struct xml_keys keys;

    if (!xml_keys_find(body, text_of(where), &plan->names, &keys) || where[keys.found.length] == '\0') {
        return;
    }
    if (keys.other[0] == '\0') {
        note_names(why, &keys.found, where);
        return;
    }
    failure_note(why, "%s", keys.other);
    failure_help(why, "mend `xmlns` of the plan: it is another version, or another thing");
}

/// Up to where the answer follows the path, and what is there.
static void note_keys(struct failure *why, const struct plan *plan, struct text body, const char *where)
{
    struct body_keys found;

    if (plan->is_xml) {
        note_xml_names(why, plan, body, where);
        return;
    }
    if (!body_keys_find(body, text_of(where), &found) || where[found.length] == '\0') {
        return;
    }
    if (strcmp(found.kind, "an object") != 0) {
        failure_note(why, "%.*s is %s", (int)found.length, where, found.kind);
        return;
    }
    note_names(why, &found, where);
}

static void note_where(struct failure *why, struct plan_row *row, const struct plan_node *leaf, const char *place)
{
    const struct plan_path *path = find_path(row, leaf);
    char where[WHERE_SIZE];

    if (path == NULL || !is_in_hand(row, path->level)) {
        return;
    }
    plan_where_path(row, path, where, sizeof where);
    failure_note(why, "`%s` reads %s", place, where);
    note_keys(why, row->plan, row->drop->body, where);
}

static void note_line(struct failure *why, lua_State *L, const struct plan *plan, const char *place)
{
    const struct trouble *trouble = sandbox_trouble(L);
    struct text path, source;

    if (plan->file.data == NULL) {
        return;
    }
    failure_at(why, plan->file.data, plan->line, 0);
    if (trouble != NULL && trouble->find_source != NULL &&
        trouble->find_source(trouble->context, plan->file, &path, &source)) {
        why->line = plan_source_line(source, plan->line, place);
        (void)snprintf(why->file, sizeof why->file, "%.*s", TEXT_ARGS(path));
        trouble_note_line(why, source, why->line, NULL);
    }
}

/// Does the plan look for an envelope of SOAP in an answer that has none?
static bool lacks_envelope(struct text body, const char *path)
{
    size_t first = strcspn(path, ".[");
    const char *local = memchr(path, ':', first);
    size_t skipped = local != NULL ? (size_t)(local + 1 - path) : 0;

    return first - skipped == strlen("Envelope") && strncmp(path + skipped, "Envelope", strlen("Envelope")) == 0 &&
           memmem(body.data, body.length, "Envelope", strlen("Envelope")) == NULL;
}

/// What an answer of XML has instead of the list at `path`.
static void note_xml(struct plan_row *row, const char *path)
{
    struct failure *why = &row->drop->why;
    char where[WHERE_SIZE], lists[XML_LISTS_SIZE] = "";

    (void)snprintf(where, sizeof where, "body.%s", path);
    note_xml_names(why, row->plan, row->drop->body, where);
    if (row->drop->is_watched) {
        xml_lists(row->drop->body, &row->plan->names, lists);
    }
    if (lists[0] != '\0') {
        failure_note(why, "%s", lists);
    }
    if (lacks_envelope(row->drop->body, path)) {
        failure_help(
            why, "the answer has no envelope, for libraries save the body alone; put it back around it: %s",
            "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body>…</e:Body></e:Envelope>");
    }
}

void plan_drop_refuse(struct plan_row *row, const char *place, const char *path)
{
    if (row->drop != NULL) {
        row->drop->why = (struct failure){ .code = CODE_UNPARSABLE };
        note_line(&row->drop->why, row->L, row->plan, place);
        failure_help(&row->drop->why,
                     "`each` names the list of offers, from the outside to the inside: data[].offers[]");
        if (row->plan->is_xml) { // of JSON the sentence tells the lists
            note_xml(row, path);
        }
    }
}

void plan_drop_tell_absent(const struct plan_row *row, struct failure *why)
{
    const struct plan_node *leaf = row->calling;
    char where[WHERE_SIZE], help[sizeof why->help];
    size_t count = 0;

    (void)snprintf(help, sizeof help, "%s", why->help);
    for (size_t i = 0; leaf != NULL && i < leaf->field_count && count < ABSENT_MAX; i++) {
        const struct plan_path *path = find_path(row, leaf->fields[i]);
        if (path == NULL || is_there(row, path) || !is_in_hand(row, path->level)) {
            continue;
        }
        count++;
        plan_where_path(row, path, where, sizeof where);
        failure_note(why, "the leaf's path %zu found nothing at %s", i + 1, where);
        if (row->drop != NULL) {
            note_keys(why, row->plan, row->drop->body, where);
        }
    }
    if (count > 1) { // which of them is meant, nobody knows
        (void)snprintf(why->help, sizeof why->help, "%s", help);
    }
}

void plan_drop_note_only(struct plan_drop *drop, const char *place, bool is_nil)
{
    size_t i = 0;

    while (i < drop->only_count && drop->onlies[i].place != place) {
        i++;
    }
    if (i == PLAN_DROP_ONLIES) {
        return;
    }
    if (i == drop->only_count) {
        drop->onlies[drop->only_count++] = (struct plan_drop_only){ .place = place };
    }
    drop->onlies[i].asked++;
    drop->onlies[i].nothing += is_nil ? 1 : 0;
}

const struct plan_drop_only *plan_drop_silent(const struct plan_drop *drop)
{
    for (size_t i = 0; i < drop->only_count; i++) {
        if (drop->onlies[i].nothing == drop->onlies[i].asked) {
            return &drop->onlies[i];
        }
    }
    return NULL;
}

void plan_drop_tell(struct walk *walk)
{
    struct plan_row *row = walk->row;
    char place[PLACE_SIZE];
    uint32_t at[PLAN_LEVELS_MAX];

    if (row == NULL || row->drop == NULL) {
        return;
    }
    struct failure *why = &row->drop->why;
    *why = (struct failure){ .code = CODE_OFFER_DROPPED };
    const struct plan_node *leaf = find_leaf(walk, place);
    note_line(why, walk->L, row->plan, place);
    if (leaf != NULL) {
        memcpy(at, row->at, sizeof at);
        if (row->has_failed) {
            memcpy(row->at, row->failed_at, sizeof at);
        }
        note_where(why, row, leaf, place);
        memcpy(row->at, at, sizeof at);
    }
}

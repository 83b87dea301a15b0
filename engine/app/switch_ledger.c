#include "app/switch_ledger.h"

#include "app/record_read.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEDGER_VERSION = 1, LEDGER_ARENA = 8 << 20 };

struct switch_ledger {
    size_t count;
    struct switch_word words[SWITCH_LEDGER_MAX];
    bool is_there[SWITCH_LEDGER_MAX]; // while a document is merged: it has the word, or a later one
};

/// One row, one action: its name in documents, what it is about, whether it takes back what was said of accounts.
static const struct {
    const char *name;
    enum switch_about about;
    bool covers;
} ACTIONS[SWITCH_ACTION_COUNT] = {
    [SWITCH_DISABLE] = { "disable", SWITCH_ABOUT_ASKING, false },
    [SWITCH_DRAIN] = { "drain", SWITCH_ABOUT_ASKING, false },
    [SWITCH_ENABLE] = { "enable", SWITCH_ABOUT_ASKING, true },
    [SWITCH_OPEN] = { "open", SWITCH_ABOUT_BREAKER, true },
    [SWITCH_CLOSE] = { "close", SWITCH_ABOUT_BREAKER, true },
    [SWITCH_RESET] = { "reset", SWITCH_ABOUT_BREAKER, true },
    [SWITCH_SET_CEILING] = { "set_ceiling", SWITCH_ABOUT_CEILING, false },
    [SWITCH_DROP_CEILING] = { "drop_ceiling", SWITCH_ABOUT_CEILING, true },
    [SWITCH_PURGE] = { NULL, SWITCH_ABOUT_ASKING, false }, // done where all see it: in the store
};

struct switch_word switch_word_of_item(const struct switch_item *item, uint64_t now_us, uint64_t wall_us)
{
    static const enum switch_action SAID[SWITCH_KIND_COUNT] = {
        [SWITCH_DISABLED] = SWITCH_DISABLE,    [SWITCH_DRAINING] = SWITCH_DRAIN,
        [SWITCH_BREAKER_OPEN] = SWITCH_OPEN,   [SWITCH_BREAKER_CLOSED] = SWITCH_CLOSE,
        [SWITCH_CEILING] = SWITCH_SET_CEILING,
    };
    struct switch_word word = { .action = SAID[item->kind],
                                .said_us = item->since_wall_us,
                                .ceiling_us = item->ceiling_us };

    (void)snprintf(word.supplier, sizeof(word.supplier), "%s", item->supplier);
    (void)snprintf(word.account, sizeof(word.account), "%s", item->account);
    (void)snprintf(word.who, sizeof(word.who), "%s", item->who);
    (void)snprintf(word.why, sizeof(word.why), "%s", item->why);
    if (item->until_us != SWITCH_NEVER) {
        word.until_us = wall_us + (item->until_us > now_us ? item->until_us - now_us : 0);
    }
    return word;
}

struct switch_word switch_word_of_request(const struct switch_request *request, uint64_t wall_us)
{
    struct switch_word word = { .action = request->action,
                                .said_us = request->said_us,
                                .ceiling_us = request->ceiling_us };

    (void)snprintf(word.supplier, sizeof(word.supplier), "%s", request->supplier);
    (void)snprintf(word.account, sizeof(word.account), "%s", request->account);
    (void)snprintf(word.who, sizeof(word.who), "%s", request->who);
    (void)snprintf(word.why, sizeof(word.why), "%s", request->why);
    word.until_us = request->for_us != 0 ? wall_us + request->for_us : 0;
    return word;
}

bool switch_word_is_past(const struct switch_word *word, uint64_t wall_us)
{
    bool is_lasting = word->action == SWITCH_DISABLE || word->action == SWITCH_DRAIN ||
                      word->action == SWITCH_SET_CEILING ||
                      ((word->action == SWITCH_OPEN || word->action == SWITCH_CLOSE) && word->until_us != 0);

    return !is_lasting || (word->until_us != 0 && wall_us >= word->until_us);
}

enum status switch_ledger_create(struct switch_ledger **ledger)
{
    *ledger = calloc(1, sizeof(**ledger));
    return *ledger != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

void switch_ledger_destroy(struct switch_ledger **ledger)
{
    free(*ledger);
    *ledger = NULL;
}

size_t switch_ledger_count(const struct switch_ledger *ledger)
{
    return ledger->count;
}

uint64_t switch_ledger_latest_us(const struct switch_ledger *ledger)
{
    uint64_t latest_us = 0;

    for (size_t i = 0; i < ledger->count; i++) {
        latest_us = ledger->words[i].said_us > latest_us ? ledger->words[i].said_us : latest_us;
    }
    return latest_us;
}

// ----------------------------------------------------------------------------------------------------------- the order

static bool is_of_same(const struct switch_word *a, const struct switch_word *b)
{
    return ACTIONS[a->action].about == ACTIONS[b->action].about && strcmp(a->supplier, b->supplier) == 0 &&
           strcmp(a->account, b->account) == 0;
}

/// Above 0: `a` was said later. Of two words of one moment all engines take the same one.
static int compare(const struct switch_word *a, const struct switch_word *b)
{
    if (a->said_us != b->said_us) {
        return a->said_us > b->said_us ? 1 : -1;
    }
    if (a->action != b->action) {
        return a->action > b->action ? 1 : -1;
    }
    if (a->ceiling_us != b->ceiling_us) {
        return a->ceiling_us > b->ceiling_us ? 1 : -1;
    }
    int order = strcmp(a->who, b->who);
    return order != 0 ? order : strcmp(a->why, b->why);
}

/// Was the word, about an account, taken back with all of its supplier?
static bool is_covered_by(const struct switch_word *word, const struct switch_word *later)
{
    return word->account[0] != '\0' && later->account[0] == '\0' && ACTIONS[later->action].covers &&
           ACTIONS[word->action].about == ACTIONS[later->action].about &&
           strcmp(word->supplier, later->supplier) == 0 && later->said_us >= word->said_us;
}

static void take_out(struct switch_ledger *ledger, size_t index)
{
    size_t behind = ledger->count - index - 1;

    memmove(&ledger->words[index], &ledger->words[index + 1], behind * sizeof(ledger->words[0]));
    memmove(&ledger->is_there[index], &ledger->is_there[index + 1], behind * sizeof(ledger->is_there[0]));
    ledger->count--;
}

/// False: all of them are in force.
static bool make_room(struct switch_ledger *ledger, uint64_t wall_us)
{
    size_t oldest = ledger->count;

    for (size_t i = 0; i < ledger->count; i++) {
        if (switch_word_is_past(&ledger->words[i], wall_us) &&
            (oldest == ledger->count || ledger->words[i].said_us < ledger->words[oldest].said_us)) {
            oldest = i;
        }
    }
    if (oldest == ledger->count) {
        return false;
    }
    take_out(ledger, oldest);
    return true;
}

static void drop_covered(struct switch_ledger *ledger, const struct switch_word *word)
{
    for (size_t i = ledger->count; i-- > 0;) {
        if (is_covered_by(&ledger->words[i], word)) {
            take_out(ledger, i);
        }
    }
}

static bool put(struct switch_ledger *ledger, const struct switch_word *word, uint64_t wall_us, bool is_read)
{
    for (size_t i = 0; i < ledger->count; i++) {
        struct switch_word *known = &ledger->words[i];
        if (is_covered_by(word, known)) {
            return false;
        }
        if (!is_of_same(word, known)) {
            continue;
        }
        int order = compare(word, known);
        ledger->is_there[i] = order > 0 ? is_read : (is_read && order == 0) || ledger->is_there[i];
        if (order <= 0) {
            return false;
        }
        *known = *word;
        struct switch_word copy = *word;
        drop_covered(ledger, &copy);
        return true;
    }
    drop_covered(ledger, word);
    if (ledger->count < SWITCH_LEDGER_MAX || make_room(ledger, wall_us)) {
        ledger->words[ledger->count] = *word;
        ledger->is_there[ledger->count] = is_read;
        ledger->count++;
    }
    return true;
}

bool switch_ledger_put(struct switch_ledger *ledger, const struct switch_word *word, uint64_t wall_us)
{
    struct switch_word plain = *word;

    plain.ceiling_us = word->action == SWITCH_SET_CEILING ? word->ceiling_us : 0; // as it is read again
    return put(ledger, &plain, wall_us, false);
}

// -------------------------------------------------------------------------------------------------------- the document

static enum status read_action(const struct record_reading *reading, const struct json_node *object,
                               enum switch_action *action)
{
    const struct json_node *said = json_tree_member(object, "said");

    for (size_t i = 0; said != NULL && said->kind == JSON_STRING && i < SWITCH_ACTION_COUNT; i++) {
        if (ACTIONS[i].name != NULL && text_equals_c(said->text, ACTIONS[i].name)) {
            *action = (enum switch_action)i;
            return STATUS_OK;
        }
    }
    return record_refuse(reading, said != NULL ? said : object, "`said` is nothing that this version knows");
}

static enum status read_word(const struct record_reading *reading, const struct json_node *object,
                             struct switch_word *word)
{
    *word = (struct switch_word){ 0 };
    enum status status = read_action(reading, object, &word->action);
    if (status == STATUS_OK) {
        status = record_read_name(reading, object, "supplier", true, word->supplier, sizeof(word->supplier));
    }
    if (status == STATUS_OK) {
        status = record_read_name(reading, object, "account", false, word->account, sizeof(word->account));
    }
    if (status == STATUS_OK) {
        status = record_read_text(reading, object, "who", false, word->who, sizeof(word->who));
    }
    if (status == STATUS_OK) {
        status = record_read_text(reading, object, "why", false, word->why, sizeof(word->why));
    }
    if (status == STATUS_OK) {
        status = record_read_number(reading, object, "said_us", true, &word->said_us);
    }
    if (status == STATUS_OK) {
        status = record_read_number(reading, object, "until_us", false, &word->until_us);
    }
    bool needs_ceiling = word->action == SWITCH_SET_CEILING;
    if (status == STATUS_OK) {
        status = record_read_number(reading, object, "ceiling_us", needs_ceiling, &word->ceiling_us);
    }
    bool is_no_ceiling = needs_ceiling && (word->ceiling_us == 0 || word->ceiling_us > SWITCH_CEILING_MOST_US);
    if (status == STATUS_OK && is_no_ceiling) {
        status = record_refuse(reading, object, "`ceiling_us` is none or above 5 minutes");
    }
    return status;
}

static enum status read_list(const struct record_reading *reading, const struct json_node *root,
                             const struct json_node **list)
{
    uint64_t version = 0;
    enum status status = record_read_number(reading, root, "version", true, &version);

    if (status == STATUS_OK && version != LEDGER_VERSION) {
        status = record_refuse(reading, json_tree_member(root, "version"), "it is of another version of lastcall");
    }
    return status == STATUS_OK ? record_read_list(reading, root, "words", SWITCH_LEDGER_MAX, list) : status;
}

/// All of it is checked before any of it counts.
static enum status merge_root(struct switch_ledger *ledger, const struct record_reading *reading,
                              const struct json_node *root, uint64_t wall_us,
                              void (*on_news)(void *context, const struct switch_word *word), void *context)
{
    const struct json_node *list = NULL;
    struct switch_word word;
    enum status status = read_list(reading, root, &list);

    for (const struct json_node *node = status == STATUS_OK ? list->first : NULL; node != NULL; node = node->next) {
        enum status fine = read_word(reading, node, &word);
        if (fine != STATUS_OK) {
            return fine;
        }
    }
    for (const struct json_node *node = status == STATUS_OK ? list->first : NULL; node != NULL; node = node->next) {
        if (read_word(reading, node, &word) == STATUS_OK && put(ledger, &word, wall_us, true)) {
            on_news(context, &word);
        }
    }
    return status;
}

enum status switch_ledger_merge(struct switch_ledger *ledger, struct text document, uint64_t wall_us,
                                void (*on_news)(void *context, const struct switch_word *word), void *context,
                                bool *lacks, struct failure *why)
{
    struct record_reading reading = { document, why };
    struct json_node *root = NULL;
    enum status status = STATUS_OK;
    struct arena arena;

    memset(ledger->is_there, 0, sizeof(ledger->is_there));
    arena_init(&arena, LEDGER_ARENA);
    if (document.data != NULL) {
        status = record_read_root(&reading, &arena, &root);
    }
    if (status == STATUS_OK && root != NULL) {
        status = merge_root(ledger, &reading, root, wall_us, on_news, context);
    }
    arena_fini(&arena);
    *lacks = false;
    for (size_t i = 0; i < ledger->count; i++) {
        *lacks = *lacks || !ledger->is_there[i];
    }
    return status;
}

static void write_word(const struct switch_word *word, struct json_writer *json)
{
    json_begin_object(json);
    json_field_c(json, "supplier", word->supplier);
    if (word->account[0] != '\0') {
        json_field_c(json, "account", word->account);
    }
    json_field_c(json, "said", ACTIONS[word->action].name);
    json_field_u64(json, "said_us", word->said_us);
    if (word->until_us != 0) {
        json_field_u64(json, "until_us", word->until_us);
    }
    if (word->action == SWITCH_SET_CEILING) {
        json_field_u64(json, "ceiling_us", word->ceiling_us);
    }
    if (word->who[0] != '\0') {
        json_field_c(json, "who", word->who);
    }
    if (word->why[0] != '\0') {
        json_field_c(json, "why", word->why);
    }
    json_end_object(json);
}

void switch_ledger_write(struct switch_ledger *ledger, uint64_t wall_us, struct buffer *out)
{
    struct json_writer json;

    for (size_t i = ledger->count; i-- > 0;) {
        const struct switch_word *word = &ledger->words[i];
        if (switch_word_is_past(word, wall_us) && wall_us > word->said_us + SWITCH_WORD_KEPT_US) {
            take_out(ledger, i);
        }
    }
    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_u64(&json, "version", LEDGER_VERSION);
    json_key(&json, "words");
    json_begin_array(&json);
    for (size_t i = 0; i < ledger->count; i++) {
        write_word(&ledger->words[i], &json);
    }
    json_end_array(&json);
    json_end_object(&json);
}

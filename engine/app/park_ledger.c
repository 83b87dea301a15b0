#include "app/park_ledger.h"

#include "app/record_read.h"

#include <stdlib.h>

enum { LEDGER_VERSION = 1, LEDGER_ARENA = 4 << 20 };
#define SAME_US UINT64_C(1000000)
#define AUTH_KEPT_US (UINT64_C(3600) * 1000000) // longer than credentials are ever parked

struct park_ledger {
    size_t count;
    struct park_word words[PARK_LEDGER_MAX];
    bool is_there[PARK_LEDGER_MAX];
};

static const char *const KINDS[] = { [PARK_QUOTA] = "quota", [PARK_AUTH] = "auth" };

enum status park_ledger_create(struct park_ledger **ledger)
{
    *ledger = calloc(1, sizeof(**ledger));
    return *ledger != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

void park_ledger_destroy(struct park_ledger **ledger)
{
    free(*ledger);
    *ledger = NULL;
}

size_t park_ledger_count(const struct park_ledger *ledger)
{
    return ledger->count;
}

static bool is_of_same(const struct park_word *a, const struct park_word *b)
{
    return a->kind == b->kind && strcmp(a->supplier, b->supplier) == 0 && strcmp(a->account, b->account) == 0 &&
           strcmp(a->mark, b->mark) == 0;
}

/// Above 0: `a` counts. While a supplier goes on saying so, its end moves a little with each answer: that is no news.
static int compare(const struct park_word *a, const struct park_word *b)
{
    if (a->kind == PARK_AUTH && a->said_us != b->said_us) {
        return a->said_us > b->said_us ? 1 : -1;
    }
    if (a->until_us + SAME_US > b->until_us && b->until_us + SAME_US > a->until_us) {
        return 0;
    }
    return a->until_us > b->until_us ? 1 : -1;
}

static uint64_t kept_until_us(const struct park_word *word)
{
    return word->kind == PARK_QUOTA ? word->until_us : word->said_us + AUTH_KEPT_US;
}

static void take_out(struct park_ledger *ledger, size_t index)
{
    ledger->count--;
    ledger->words[index] = ledger->words[ledger->count];
    ledger->is_there[index] = ledger->is_there[ledger->count];
}

static void make_room(struct park_ledger *ledger)
{
    size_t first = 0;

    for (size_t i = 1; i < ledger->count; i++) {
        first = kept_until_us(&ledger->words[i]) < kept_until_us(&ledger->words[first]) ? i : first;
    }
    take_out(ledger, first);
}

static bool put(struct park_ledger *ledger, const struct park_word *word, bool is_read)
{
    for (size_t i = 0; i < ledger->count; i++) {
        if (!is_of_same(word, &ledger->words[i])) {
            continue;
        }
        int order = compare(word, &ledger->words[i]);
        ledger->is_there[i] = order > 0 ? is_read : (is_read && order == 0) || ledger->is_there[i];
        if (order > 0) {
            ledger->words[i] = *word;
        }
        return order > 0;
    }
    if (ledger->count == PARK_LEDGER_MAX) {
        make_room(ledger);
    }
    ledger->words[ledger->count] = *word;
    ledger->is_there[ledger->count] = is_read;
    ledger->count++;
    return true;
}

bool park_ledger_put(struct park_ledger *ledger, const struct park_word *word)
{
    return put(ledger, word, false);
}

static enum status read_kind(const struct record_reading *reading, const struct json_node *object, enum park_kind *kind)
{
    struct text name = json_tree_text(object, "kind");

    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        if (text_equals_c(name, KINDS[i])) {
            *kind = (enum park_kind)i;
            return STATUS_OK;
        }
    }
    return record_refuse(reading, object, "`kind` is none that this version knows");
}

static enum status read_word(const struct record_reading *reading, const struct json_node *object,
                             struct park_word *word)
{
    uint64_t parks = 0;

    *word = (struct park_word){ 0 };
    enum status status = read_kind(reading, object, &word->kind);
    if (status == STATUS_OK) {
        status = record_read_name(reading, object, "supplier", true, word->supplier, sizeof(word->supplier));
    }
    if (status == STATUS_OK) {
        status = record_read_name(reading, object, "account", true, word->account, sizeof(word->account));
    }
    if (status == STATUS_OK) {
        status = record_read_text(reading, object, "mark", word->kind == PARK_AUTH, word->mark, sizeof(word->mark));
    }
    if (status == STATUS_OK) {
        status = record_read_number(reading, object, "until_us", true, &word->until_us);
    }
    if (status == STATUS_OK) {
        status = record_read_number(reading, object, "said_us", true, &word->said_us);
    }
    if (status == STATUS_OK) {
        status = record_read_number(reading, object, "parks", false, &parks);
    }
    word->parks = parks < UINT32_MAX ? (uint32_t)parks : UINT32_MAX;
    return status;
}

/// All of it is checked before any of it counts.
static enum status merge_root(struct park_ledger *ledger, const struct record_reading *reading,
                              const struct json_node *root, uint64_t wall_us,
                              void (*on_news)(void *context, const struct park_word *word), void *context)
{
    const struct json_node *list = NULL;
    struct park_word word;
    uint64_t version = 0;
    enum status status = record_read_number(reading, root, "version", true, &version);

    if (status == STATUS_OK && version != LEDGER_VERSION) {
        status = record_refuse(reading, root, "it is of another version of lastcall");
    }
    if (status == STATUS_OK) {
        status = record_read_list(reading, root, "parks", PARK_LEDGER_MAX, &list);
    }
    for (const struct json_node *node = status == STATUS_OK ? list->first : NULL; node != NULL; node = node->next) {
        enum status fine = read_word(reading, node, &word);
        if (fine != STATUS_OK) {
            return fine;
        }
    }
    for (const struct json_node *node = status == STATUS_OK ? list->first : NULL; node != NULL; node = node->next) {
        if (read_word(reading, node, &word) == STATUS_OK && kept_until_us(&word) > wall_us &&
            put(ledger, &word, true)) {
            on_news(context, &word);
        }
    }
    return status;
}

enum status park_ledger_merge(struct park_ledger *ledger, struct text document, uint64_t wall_us,
                              void (*on_news)(void *context, const struct park_word *word), void *context, bool *lacks,
                              struct failure *why)
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
        *lacks = *lacks || (!ledger->is_there[i] && kept_until_us(&ledger->words[i]) > wall_us);
    }
    return status;
}

static void write_word(const struct park_word *word, struct json_writer *json)
{
    json_begin_object(json);
    json_field_c(json, "kind", KINDS[word->kind]);
    json_field_c(json, "supplier", word->supplier);
    json_field_c(json, "account", word->account);
    if (word->kind == PARK_AUTH) {
        json_field_c(json, "mark", word->mark);
        json_field_u64(json, "parks", word->parks);
    }
    json_field_u64(json, "until_us", word->until_us);
    json_field_u64(json, "said_us", word->said_us);
    json_end_object(json);
}

void park_ledger_write(struct park_ledger *ledger, uint64_t wall_us, struct buffer *out)
{
    struct json_writer json;

    for (size_t i = ledger->count; i-- > 0;) {
        if (kept_until_us(&ledger->words[i]) <= wall_us) {
            take_out(ledger, i);
        }
    }
    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_u64(&json, "version", LEDGER_VERSION);
    json_key(&json, "parks");
    json_begin_array(&json);
    for (size_t i = 0; i < ledger->count; i++) {
        write_word(&ledger->words[i], &json);
    }
    json_end_array(&json);
    json_end_object(&json);
}

#include "store/lmdb_keeper.h"

#include "model/offer_pack.h"
#include "store/store_queue.h"

#include <string.h>

enum {
    ANSWER_MAX = 4 << 20,
    SHARE_PERCENT = 70,
    NOTES_PERCENT = 20, // of that share
    EVICT_MAX = 2000,   // in a turn
    PURGE_TURN = 500,   // answers that are forgotten in a turn
    PURGE_LOOKS = 20000,
    SWEEP_TURN = 500,
    MAKE_ROOM_PART = 10 // of the answers
};

// -------------------------------------------------------------------------------------------------------------- sizes

static uint64_t measure(struct lmdb_turn *turn, uint64_t *entries)
{
    struct lmdb_sizes sizes;
    uint64_t bytes = 0;

    lmdb_sizes(turn, &sizes);
    for (size_t i = 0; i < LMDB_TABLES; i++) {
        bytes += sizes.bytes[i];
    }
    *entries = sizes.entries[LMDB_HEADS];
    return bytes;
}

/// What is told of the tables is what can be read.
static enum status commit(struct lmdb_keeper *keeper, struct lmdb_turn *turn)
{
    uint64_t entries = 0;
    uint64_t bytes = measure(turn, &entries);
    enum status status = lmdb_commit(turn);

    if (status == STATUS_OK) {
        atomic_store(&keeper->entries, entries);
        atomic_store(&keeper->bytes, bytes);
    }
    return status;
}

enum status lmdb_keeper_look(struct lmdb_keeper *keeper)
{
    struct lmdb_turn turn;
    struct text last;
    uint64_t number = 0;
    enum status status = lmdb_write(keeper->file, &turn);

    if (status != STATUS_OK) {
        return status;
    }
    status = lmdb_last(&turn, LMDB_ANSWERS, &last);
    if (status == STATUS_OK) {
        status = lmdb_number_read(last, &number) ? STATUS_OK : STATUS_INVALID;
    } else if (status == STATUS_NOT_FOUND) {
        status = STATUS_OK;
    }
    keeper->next_number = number + 1;
    keeper->swept.length = keeper->swept_note.length = 0;
    uint64_t entries = 0;
    atomic_store(&keeper->bytes, measure(&turn, &entries));
    atomic_store(&keeper->entries, entries);
    lmdb_end(&turn);
    return status;
}

enum status lmdb_keeper_init(struct lmdb_keeper *keeper, struct lmdb_file *file, uint64_t max_bytes)
{
    *keeper = (struct lmdb_keeper){ .file = file, .most_bytes = max_bytes / 100 * SHARE_PERCENT };
    buffer_init(&keeper->packed, ANSWER_MAX);
    return lmdb_keeper_look(keeper);
}

void lmdb_keeper_fini(struct lmdb_keeper *keeper)
{
    buffer_fini(&keeper->packed);
}

// -----------------------------------------------------------------------------------------------------------
// forgetting

/// What is not there any more is as good as deleted.
static enum status delete_any(struct lmdb_turn *turn, enum lmdb_table table, struct text key)
{
    enum status status = lmdb_delete(turn, table, key);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status delete_answer(struct lmdb_turn *turn, struct text head)
{
    struct lmdb_head kept;

    if (!lmdb_head_read(head, &kept)) {
        return STATUS_OK; // its answer goes when it is the oldest
    }
    struct lmdb_number number = lmdb_number_of(kept.number);
    return delete_any(turn, LMDB_ANSWERS, lmdb_number_text(&number));
}

/// Both of them; `name` must not lie within the file.
static enum status delete_both(struct lmdb_turn *turn, struct text name, struct text head)
{
    enum status status = delete_answer(turn, head);
    return status == STATUS_OK ? delete_any(turn, LMDB_HEADS, name) : status;
}

/// The oldest answer, and its head if that has no newer one. STATUS_NOT_FOUND: there is none.
static enum status evict_oldest(struct lmdb_turn *turn)
{
    struct text key, value, name, packed, head;
    struct lmdb_name copy = { .length = 0 };
    struct lmdb_head kept;
    uint64_t number = 0;
    enum status status = lmdb_seek(turn, LMDB_ANSWERS, (struct text){ 0 }, &key, &value);

    if (status != STATUS_OK) {
        return status;
    }
    if (!lmdb_number_read(key, &number)) {
        return STATUS_INVALID;
    }
    if (lmdb_answer_read(value, &name, &packed) && name.length <= sizeof copy.bytes) {
        memcpy(copy.bytes, name.data, name.length);
        copy.length = name.length;
    }
    struct lmdb_number own = lmdb_number_of(number);
    status = lmdb_delete(turn, LMDB_ANSWERS, lmdb_number_text(&own));
    if (status != STATUS_OK || copy.length == 0) {
        return status;
    }
    status = lmdb_get(turn, LMDB_HEADS, lmdb_name_text(&copy), &head);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    bool is_its = !lmdb_head_read(head, &kept) || kept.number == number;
    return is_its ? delete_any(turn, LMDB_HEADS, lmdb_name_text(&copy)) : STATUS_OK;
}

/// Until the tables fit into their share once more.
static enum status evict(struct lmdb_keeper *keeper, struct lmdb_turn *turn)
{
    enum status status = STATUS_OK;
    uint64_t evicted = 0, entries = 0;

    while (status == STATUS_OK && measure(turn, &entries) > keeper->most_bytes && evicted < EVICT_MAX) {
        status = evict_oldest(turn);
        evicted += status == STATUS_OK;
    }
    atomic_fetch_add(&keeper->evicted, evicted);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status lmdb_keeper_make_room(struct lmdb_keeper *keeper)
{
    struct lmdb_turn turn;
    uint64_t most = atomic_load(&keeper->entries) / MAKE_ROOM_PART + 1, evicted = 0;
    enum status status = lmdb_write(keeper->file, &turn);

    if (status != STATUS_OK) {
        return status;
    }
    while (status == STATUS_OK && evicted < most) {
        status = evict_oldest(&turn);
        evicted += status == STATUS_OK;
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        lmdb_end(&turn);
        return status;
    }
    status = commit(keeper, &turn);
    atomic_fetch_add(&keeper->evicted, status == STATUS_OK ? evicted : 0);
    return status;
}

// --------------------------------------------------------------------------------------------------------------
// keeping

/// True: there is a newer answer, by a clock that can be believed.
static bool has_newer(struct text head, const struct store_call *call)
{
    struct lmdb_head kept;

    return lmdb_head_read(head, &kept) && kept.head.observed_ms > call->entries[0].head.observed_ms &&
           !lmdb_head_is_over(&kept.head, call->now_ms);
}

static enum status put_answer(struct lmdb_keeper *keeper, struct lmdb_turn *turn, const struct lmdb_name *name,
                              const struct last_known_head *head)
{
    struct lmdb_number number = lmdb_number_of(keeper->next_number);
    uint16_t length = (uint16_t)name->length;
    struct lmdb_head kept;
    char *room = NULL;
    enum status status = lmdb_put_room(turn, LMDB_ANSWERS, lmdb_number_text(&number),
                                       sizeof length + name->length + keeper->packed.length, &room);

    if (status != STATUS_OK) {
        return status;
    }
    memcpy(room, &length, sizeof length);
    memcpy(room + sizeof length, name->bytes, name->length);
    memcpy(room + sizeof length + name->length, keeper->packed.data, keeper->packed.length);
    lmdb_head_fill(&kept, head, keeper->next_number++);
    return lmdb_put(turn, LMDB_HEADS, lmdb_name_text(name), (struct text){ (const char *)&kept, sizeof kept });
}

/// Puts one answer in the place of the one before.
static enum status keep(struct lmdb_keeper *keeper, struct lmdb_turn *turn, struct store_call *call)
{
    uint8_t digest[STORE_DIGEST];
    struct lmdb_name name;
    struct text before;
    struct last_known_head *head = &call->entries[0].head;

    call->entries[0].state = call->state = STORE_FAULT;
    store_digest(call, digest);
    buffer_clear(&keeper->packed);
    if (call->query.data == NULL || !lmdb_name_make(&name, &call->entries[0], digest) ||
        offer_pack(call->parts, call->part_count, &keeper->packed, head) != STATUS_OK) {
        return STATUS_OK; // this one cannot be kept; the others can
    }
    enum status status = lmdb_get(turn, LMDB_HEADS, lmdb_name_text(&name), &before);
    if (status == STATUS_OK && has_newer(before, call)) {
        call->entries[0].state = call->state = STORE_ABSENT;
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = delete_answer(turn, before);
    } else if (status == STATUS_NOT_FOUND) {
        status = STATUS_OK;
    }
    if (status == STATUS_OK) {
        status = put_answer(keeper, turn, &name, head);
    }
    if (status == STATUS_OK) {
        call->entries[0].state = call->state = STORE_FOUND;
    }
    return status;
}

static bool note_fits(struct lmdb_keeper *keeper, struct lmdb_turn *turn, const struct store_call *call)
{
    struct lmdb_sizes sizes;

    lmdb_sizes(turn, &sizes);
    return call->name.length > 0 && call->name.length <= LMDB_KEY_MAX && call->value != NULL &&
           sizes.bytes[LMDB_NOTES] + block_text(call->value).length < keeper->most_bytes / 100 * NOTES_PERCENT;
}

static enum status put_note(struct lmdb_keeper *keeper, struct lmdb_turn *turn, struct store_call *call)
{
    struct text before, says = block_text(call->value);
    uint64_t until_ms = call->now_ms + call->life_ms;
    char *room = NULL;

    call->state = STORE_FAULT;
    if (!note_fits(keeper, turn, call)) {
        return STATUS_OK;
    }
    enum status status = lmdb_get(turn, LMDB_NOTES, call->name, &before);
    struct text ignored;
    if (status == STATUS_OK && call->wants_absent && lmdb_note_read(before, call->now_ms, &ignored)) {
        call->state = STORE_ABSENT;
        return STATUS_OK;
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    status = lmdb_put_room(turn, LMDB_NOTES, call->name, sizeof until_ms + says.length, &room);
    if (status == STATUS_OK) {
        memcpy(room, &until_ms, sizeof until_ms);
        if (says.length > 0) {
            memcpy(room + sizeof until_ms, says.data, says.length);
        }
        call->state = STORE_FOUND;
    }
    return status;
}

static enum status delete_note(struct lmdb_turn *turn, struct store_call *call)
{
    struct text before, ignored;

    call->state = STORE_ABSENT;
    if (call->name.length == 0 || call->name.length > LMDB_KEY_MAX) {
        return STATUS_OK;
    }
    enum status status = lmdb_get(turn, LMDB_NOTES, call->name, &before);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    call->state = lmdb_note_read(before, call->now_ms, &ignored) ? STORE_FOUND : STORE_ABSENT;
    return lmdb_delete(turn, LMDB_NOTES, call->name);
}

static enum status do_one(struct lmdb_keeper *keeper, struct lmdb_turn *turn, struct store_call *call)
{
    switch (call->job) {
    case STORE_KEEP:
        return keep(keeper, turn, call);
    case STORE_NOTE_PUT:
        return put_note(keeper, turn, call);
    default:
        return delete_note(turn, call);
    }
}

enum status lmdb_keeper_do(struct lmdb_keeper *keeper, struct list *calls)
{
    struct lmdb_turn turn;
    uint64_t first_number = keeper->next_number, evicted = atomic_load(&keeper->evicted);
    enum status status = lmdb_write(keeper->file, &turn);

    if (status != STATUS_OK) {
        return status;
    }
    LIST_FOR_EACH (node, calls) {
        if (status == STATUS_OK) {
            status = do_one(keeper, &turn, store_call_of(node));
        }
    }
    if (status == STATUS_OK) {
        status = evict(keeper, &turn);
    }
    if (status == STATUS_OK) {
        status = commit(keeper, &turn);
    } else {
        lmdb_end(&turn);
    }
    if (status != STATUS_OK) {
        keeper->next_number = first_number;
        atomic_store(&keeper->evicted, evicted);
    }
    return status;
}

// --------------------------------------------------------------------------------------------------------------
// purging

/// How far one has come through all heads, for they are not in the order of suppliers.
struct purge {
    const struct store_entry *of;
    struct lmdb_name at;
    uint64_t count; // in this turn
    bool is_end;
};

static enum status purge_some(struct lmdb_turn *turn, struct purge *purge)
{
    struct text key, head;

    for (size_t i = 0; i < PURGE_LOOKS && purge->count < PURGE_TURN; i++) {
        enum status status = lmdb_seek(turn, LMDB_HEADS, lmdb_name_text(&purge->at), &key, &head);
        if (status == STATUS_NOT_FOUND) {
            purge->is_end = true;
            return STATUS_OK;
        }
        if (status != STATUS_OK || key.length >= sizeof purge->at.bytes) {
            return status != STATUS_OK ? status : STATUS_INVALID;
        }
        memcpy(purge->at.bytes, key.data, key.length);
        purge->at.length = key.length;
        if (lmdb_name_is_of(lmdb_name_text(&purge->at), purge->of->supplier, purge->of->account)) {
            status = delete_both(turn, lmdb_name_text(&purge->at), head);
            purge->count++;
        }
        if (status != STATUS_OK) {
            return status;
        }
        purge->at.bytes[purge->at.length++] = '\0'; // the next key that can be
    }
    return STATUS_OK;
}

static enum status purge_turn(struct lmdb_keeper *keeper, struct purge *purge)
{
    struct lmdb_turn turn;
    enum status status = lmdb_write(keeper->file, &turn);

    if (status != STATUS_OK) {
        return status;
    }
    purge->count = 0;
    status = purge_some(&turn, purge);
    if (status != STATUS_OK || purge->count == 0) {
        lmdb_end(&turn);
        return status;
    }
    return commit(keeper, &turn);
}

enum status lmdb_keeper_purge(struct lmdb_keeper *keeper, struct store_call *call)
{
    struct purge purge = { .of = call->entries };
    enum status status = STATUS_OK;

    call->state = STORE_FAULT;
    call->count = 0;
    if (call->entry_count == 0 || call->entries[0].supplier.length == 0) {
        return STATUS_OK;
    }
    while (status == STATUS_OK && !purge.is_end) {
        status = purge_turn(keeper, &purge);
        call->count += status == STATUS_OK ? purge.count : 0;
        atomic_fetch_add(&keeper->purged, status == STATUS_OK ? purge.count : 0);
    }
    if (status == STATUS_OK) {
        call->state = call->count > 0 ? STORE_FOUND : STORE_ABSENT;
    }
    return status;
}

enum status lmdb_keeper_forget(struct lmdb_keeper *keeper, const struct lmdb_name *name)
{
    struct lmdb_turn turn;
    struct text head;
    enum status status = lmdb_write(keeper->file, &turn);

    if (status != STATUS_OK) {
        return status;
    }
    status = lmdb_get(&turn, LMDB_HEADS, lmdb_name_text(name), &head);
    if (status == STATUS_OK) {
        status = delete_both(&turn, lmdb_name_text(name), head);
    }
    if (status != STATUS_OK) {
        lmdb_end(&turn);
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    return commit(keeper, &turn);
}

// -------------------------------------------------------------------------------------------------------------
// sweeping

static bool is_over(enum lmdb_table table, struct text value, uint64_t now_ms)
{
    struct lmdb_head kept;
    struct text ignored;

    if (table == LMDB_NOTES) {
        return !lmdb_note_read(value, now_ms, &ignored);
    }
    return !lmdb_head_read(value, &kept) || lmdb_head_is_over(&kept.head, now_ms);
}

/// Goes on behind `at`, which is empty again at the end of the table.
static enum status sweep_table(struct lmdb_turn *turn, enum lmdb_table table, struct lmdb_name *at, uint64_t now_ms,
                               uint64_t *gone)
{
    struct text key, value;

    for (size_t i = 0; i < SWEEP_TURN; i++) {
        enum status status = lmdb_seek(turn, table, lmdb_name_text(at), &key, &value);
        if (status == STATUS_NOT_FOUND || key.length >= sizeof at->bytes) {
            at->length = 0;
            return status == STATUS_NOT_FOUND ? STATUS_OK : status;
        }
        if (status != STATUS_OK) {
            return status;
        }
        memcpy(at->bytes, key.data, key.length);
        at->length = key.length;
        if (is_over(table, value, now_ms)) {
            ++*gone;
            status = table == LMDB_NOTES ? lmdb_delete(turn, table, lmdb_name_text(at))
                                         : delete_both(turn, lmdb_name_text(at), value);
        }
        if (status != STATUS_OK) {
            return status;
        }
        at->bytes[at->length++] = '\0'; // the next key that can be
    }
    return STATUS_OK;
}

enum status lmdb_keeper_sweep(struct lmdb_keeper *keeper, uint64_t now_ms, bool *is_round)
{
    struct lmdb_turn turn;
    uint64_t gone = 0;
    enum status status = lmdb_write(keeper->file, &turn);

    if (status != STATUS_OK) {
        return status;
    }
    status = sweep_table(&turn, LMDB_HEADS, &keeper->swept, now_ms, &gone);
    if (status == STATUS_OK) {
        status = sweep_table(&turn, LMDB_NOTES, &keeper->swept_note, now_ms, &gone);
    }
    *is_round = keeper->swept.length == 0;
    if (status != STATUS_OK || gone == 0) {
        lmdb_end(&turn);
        return status;
    }
    return commit(keeper, &turn);
}

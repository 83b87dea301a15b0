#include "store/redis_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    HEX = 2 * STORE_DIGEST,
    SCAN_COUNT = 500,  // names that Redis looks at in one go
    UNLINK_MOST = 24,  // names in one command
    NOTE_LIFE_MIN = 1, // ms: never an entry without an end
};

static const char NOTE_MARK = '1'; // before a note's value: an empty one is told from none by it

/// A name of Redis.
struct key {
    char bytes[REDIS_NAME_MAX];
    size_t length;
    size_t prefix; // so many of them
    bool is_whole;
};

static void add(struct key *key, struct text text)
{
    key->is_whole = key->is_whole && text.length <= sizeof key->bytes - key->length;
    if (key->is_whole && text.length > 0) {
        memcpy(key->bytes + key->length, text.data, text.length);
        key->length += text.length;
    }
}

static struct text key_text(const struct key *key)
{
    return (struct text){ key->bytes, key->length };
}

/// Under which a value was stored, whatever the prefix of the deployment.
static struct text key_name(const struct key *key)
{
    return (struct text){ key->bytes + key->prefix, key->length - key->prefix };
}

static void begin_key(struct key *key, const struct redis_terms *terms, struct text kind)
{
    key->length = 0;
    key->is_whole = true;
    add(key, terms->prefix);
    key->prefix = key->length;
    add(key, kind);
}

static bool make_answer_key(struct key *key, const struct redis_terms *terms, const struct redis_job *job, size_t entry)
{
    static const char DIGITS[] = "0123456789abcdef";
    const struct store_entry *named = &job->call->entries[entry];
    char hex[HEX];

    for (size_t i = 0; i < STORE_DIGEST; i++) {
        hex[2 * i] = DIGITS[job->digest[i] >> 4];
        hex[2 * i + 1] = DIGITS[job->digest[i] & 15];
    }
    begin_key(key, terms, TEXT(":a:"));
    add(key, named->supplier);
    add(key, TEXT(":"));
    add(key, named->account);
    add(key, TEXT(":"));
    add(key, (struct text){ hex, HEX });
    return key->is_whole;
}

static bool make_note_key(struct key *key, const struct redis_terms *terms, struct text name)
{
    begin_key(key, terms, TEXT(":n:"));
    add(key, name);
    return key->is_whole;
}

static bool ask(struct redis_job *job, const struct text *arguments, size_t count)
{
    if (!redis_command(&job->commands, arguments, count)) {
        return false;
    }
    job->order.replies++;
    return true;
}

// ------------------------------------------------------------------------------------------------------------ answers

static bool ask_ranges(struct redis_job *job, const struct redis_terms *terms, size_t most)
{
    char last[24];
    struct key key;

    snprintf(last, sizeof last, "%zu", most - 1);
    for (size_t i = 0; i < job->call->entry_count; i++) {
        // A bound for values as well: nothing that stands there makes a reply of any length.
        if (!make_answer_key(&key, terms, job, i) ||
            !ask(job, (struct text[]){ TEXT("GETRANGE"), key_text(&key), TEXT("0"), text_of(last) }, 4)) {
            return false;
        }
    }
    return job->order.replies > 0;
}

static bool put_keep(struct redis_job *job, const struct redis_terms *terms, struct buffer *value)
{
    const struct store_call *call = job->call;
    const struct last_known_head *head = &call->entries[0].head;
    struct key key;
    char life[24];

    if (head->until_ms <= call->now_ms || !make_answer_key(&key, terms, job, 0) ||
        store_value_write(call, key_name(&key), terms->press_above, terms->packing, value) != STATUS_OK) {
        return false;
    }
    snprintf(life, sizeof life, "%" PRIu64, head->until_ms - call->now_ms);
    return ask(job, (struct text[]){ TEXT("SET"), key_text(&key), buffer_text(value), TEXT("PX"), text_of(life) }, 5);
}

void redis_job_keep(struct redis_job *job, const struct redis_terms *terms)
{
    struct buffer value;

    buffer_init(&value, STORE_VALUE_HEAD + STORE_VALUE_RAW_MAX);
    job->is_spoiled = !put_keep(job, terms, &value);
    buffer_fini(&value);
}

static enum redis_taken take_range(struct redis_job *job, const struct redis_terms *terms,
                                   const struct redis_reply *reply)
{
    struct store_call *call = job->call;
    size_t number = job->replied;
    struct store_entry *entry = &call->entries[number];
    struct last_known_head head;
    struct key key;

    if (reply->kind == REDIS_ERROR) {
        return text_starts_with(reply->text, TEXT("WRONGTYPE")) ? TAKEN_BAD : TAKEN_REFUSED;
    }
    if (reply->kind != REDIS_BULK || !make_answer_key(&key, terms, job, number)) {
        return TAKEN_WRONG;
    }
    if (reply->text.length == 0) {
        entry->state = STORE_ABSENT;
        return TAKEN_WELL;
    }
    if (!store_value_read_head(reply->text, key_name(&key), &head)) {
        return TAKEN_BAD;
    }
    if (!store_is_current(call, entry, &head)) {
        entry->state = STORE_ABSENT;
        return TAKEN_WELL;
    }
    if (call->job == STORE_READ) {
        enum status status = store_value_read(reply->text, key_name(&key), entry->status, call->now_ms,
                                              terms->unpacking, &head, &entry->offers);
        if (status != STATUS_OK) {
            return status == STATUS_INVALID ? TAKEN_BAD : TAKEN_WELL; // without memory it is a fault
        }
    }
    entry->head = head;
    entry->state = STORE_FOUND;
    return TAKEN_WELL;
}

bool redis_job_forget(struct redis_job *job, const struct redis_terms *terms, const struct redis_job *of, size_t entry)
{
    struct key key;

    return make_answer_key(&key, terms, of, entry) && ask(job, (struct text[]){ TEXT("UNLINK"), key_text(&key) }, 2);
}

// -------------------------------------------------------------------------------------------------------------- purge

/// As a pattern of Redis that fits it alone.
static void add_plain(struct key *key, struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (strchr("*?[]^-\\", text.data[i]) != NULL && text.data[i] != '\0') {
            add(key, TEXT("\\"));
        }
        add(key, (struct text){ text.data + i, 1 });
    }
}

static bool ask_scan(struct redis_job *job, const struct redis_terms *terms)
{
    const struct store_entry *entry = &job->call->entries[0];
    struct key pattern = { .is_whole = true };
    char count[16];

    add_plain(&pattern, terms->prefix);
    add(&pattern, TEXT(":a:"));
    add_plain(&pattern, entry->supplier);
    add(&pattern, TEXT(":"));
    if (entry->account.data != NULL) {
        add_plain(&pattern, entry->account);
        add(&pattern, TEXT(":"));
    }
    add(&pattern, TEXT("*"));
    snprintf(count, sizeof count, "%d", SCAN_COUNT);
    return pattern.is_whole && ask(job,
                                   (struct text[]){ TEXT("SCAN"), text_of(job->cursor), TEXT("MATCH"),
                                                    key_text(&pattern), TEXT("COUNT"), text_of(count) },
                                   6);
}

static bool ask_unlink(struct redis_job *job, const struct redis_terms *terms, const struct redis_reply *names)
{
    struct text arguments[1 + UNLINK_MOST] = { TEXT("UNLINK") };
    size_t count = 1;

    for (size_t i = 0; i < names->count; i++) {
        const struct redis_reply *name = names->elements[i];
        if (name->kind != REDIS_BULK || !text_starts_with(name->text, terms->prefix)) {
            return false; // not ours
        }
        arguments[count++] = name->text;
        if (count == COUNT_OF(arguments) || i + 1 == names->count) {
            if (!ask(job, arguments, count)) {
                return false;
            }
            count = 1;
        }
    }
    return true;
}

// A round: what the last one found is forgotten, and more is looked for.
static enum redis_taken take_purge(struct redis_job *job, const struct redis_terms *terms,
                                   const struct redis_reply *reply)
{
    struct store_call *call = job->call;

    if (reply->kind == REDIS_ERROR) {
        return TAKEN_REFUSED;
    }
    if (reply->kind == REDIS_INTEGER) {
        call->count += reply->integer > 0 ? (uint64_t)reply->integer : 0;
        call->state = job->cursor[0] == '\0' && job->order.replies == 0 ? STORE_FOUND : call->state;
        return TAKEN_WELL;
    }
    if (reply->kind != REDIS_ARRAY || reply->count != 2 || reply->elements[0]->kind != REDIS_BULK ||
        reply->elements[1]->kind != REDIS_ARRAY || reply->elements[0]->text.length >= sizeof job->cursor ||
        job->order.replies != 0) {
        return TAKEN_WRONG;
    }
    struct text cursor = reply->elements[0]->text;
    bool is_end = text_equals_c(cursor, "0");
    memcpy(job->cursor, cursor.data, cursor.length);
    job->cursor[is_end ? 0 : cursor.length] = '\0';
    if (!ask_unlink(job, terms, reply->elements[1]) || (!is_end && !ask_scan(job, terms))) {
        return TAKEN_WRONG;
    }
    call->state = redis_job_goes_on(job) ? call->state : STORE_FOUND;
    return TAKEN_WELL;
}

// -------------------------------------------------------------------------------------------------------------- notes

static bool ask_note(struct redis_job *job, const struct redis_terms *terms)
{
    const struct store_call *call = job->call;
    struct text value = block_text(call->value);
    struct key key;
    char life[24];

    if (!make_note_key(&key, terms, call->name) || value.length > REDIS_NOTE_MAX) {
        return false;
    }
    if (call->job == STORE_NOTE_GET) {
        char last[16];
        snprintf(last, sizeof last, "%d", REDIS_NOTE_MAX + 1);
        return ask(job, (struct text[]){ TEXT("GETRANGE"), key_text(&key), TEXT("0"), text_of(last) }, 4);
    }
    if (call->job == STORE_NOTE_DELETE) {
        return ask(job, (struct text[]){ TEXT("UNLINK"), key_text(&key) }, 2);
    }
    struct buffer marked;
    buffer_init(&marked, REDIS_NOTE_MAX + 1);
    buffer_append_byte(&marked, NOTE_MARK);
    buffer_append_text(&marked, value);
    snprintf(life, sizeof life, "%" PRIu64, call->life_ms > NOTE_LIFE_MIN ? call->life_ms : NOTE_LIFE_MIN);
    struct text arguments[] = {
        TEXT("SET"), key_text(&key), buffer_text(&marked), TEXT("PX"), text_of(life), TEXT("NX")
    };
    bool is_asked = !marked.is_full && ask(job, arguments, call->wants_absent ? 6 : 5);
    buffer_fini(&marked);
    return is_asked;
}

static enum redis_taken take_note(struct store_call *call, const struct redis_reply *reply)
{
    if (reply->kind == REDIS_ERROR) {
        return TAKEN_REFUSED;
    }
    if (reply->kind != REDIS_BULK) {
        return TAKEN_WRONG;
    }
    struct text value = reply->text;
    call->state = STORE_ABSENT;
    if (value.length > 0 && value.length <= REDIS_NOTE_MAX + 1 && value.data[0] == NOTE_MARK) {
        call->value = block_create((struct text){ value.data + 1, value.length - 1 });
        call->state = call->value != NULL ? STORE_FOUND : STORE_FAULT;
    }
    return TAKEN_WELL;
}

/// Of commands that say whether they did it.
static enum redis_taken take_deed(enum store_state *state, const struct redis_reply *reply)
{
    if (reply->kind == REDIS_ERROR) {
        return TAKEN_REFUSED;
    }
    if (reply->kind != REDIS_STATUS && reply->kind != REDIS_NIL && reply->kind != REDIS_INTEGER) {
        return TAKEN_WRONG;
    }
    bool is_done = reply->kind == REDIS_STATUS || reply->integer > 0;
    *state = is_done ? STORE_FOUND : STORE_ABSENT;
    return TAKEN_WELL;
}

// --------------------------------------------------------------------------------------------------------------- jobs

struct redis_job *redis_job_create(struct store_call *call)
{
    struct redis_job *job = calloc(1, sizeof *job);

    if (job == NULL) {
        return NULL;
    }
    job->call = call;
    list_init(&job->node);
    list_init(&job->order.node);
    list_init(&job->message.node);
    buffer_init(&job->commands, REDIS_COMMANDS_MAX);
    job->is_write = call == NULL || (call->job != STORE_INDEX && call->job != STORE_READ);
    job->is_write = job->is_write && !(call != NULL && call->job == STORE_NOTE_GET);
    if (call != NULL && call->query.data != NULL) {
        store_digest(call, job->digest);
    }
    return job;
}

void redis_job_destroy(struct redis_job **job)
{
    struct redis_job *gone = *job;

    *job = NULL;
    require(gone->call == NULL && list_is_empty(&gone->node) && !gone->is_out);
    buffer_fini(&gone->commands);
    free(gone);
}

bool redis_job_begin(struct redis_job *job, const struct redis_terms *terms)
{
    switch (job->call->job) {
    case STORE_INDEX:
        return ask_ranges(job, terms, STORE_VALUE_HEAD);
    case STORE_READ:
        return ask_ranges(job, terms, STORE_VALUE_MAX + 1);
    case STORE_KEEP:
        return !job->is_spoiled;
    case STORE_PURGE:
        memcpy(job->cursor, "0", 2);
        return ask_scan(job, terms);
    case STORE_NOTE_GET:
    case STORE_NOTE_PUT:
    case STORE_NOTE_DELETE:
        return ask_note(job, terms);
    }
    return false;
}

enum redis_taken redis_job_take(struct redis_job *job, const struct redis_terms *terms, const struct redis_reply *reply)
{
    struct store_call *call = job->call;

    switch (call->job) {
    case STORE_INDEX:
    case STORE_READ:
        return take_range(job, terms, reply);
    case STORE_KEEP:
        return take_deed(&call->entries[0].state, reply);
    case STORE_PURGE:
        return take_purge(job, terms, reply);
    case STORE_NOTE_GET:
        return take_note(call, reply);
    case STORE_NOTE_PUT:
    case STORE_NOTE_DELETE:
        return take_deed(&call->state, reply);
    }
    return TAKEN_WRONG;
}

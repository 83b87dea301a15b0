#include "app/trials.h"

#include <stdlib.h>

void trials_init(struct trials *trials)
{
    *trials = (struct trials){ 0 };
}

static void drop(struct trials *trials, size_t index)
{
    free(trials->items[index].name);
    script_set_drop(&trials->items[index].fallback);
    trials->count--;
    memmove(&trials->items[index], &trials->items[index + 1], (trials->count - index) * sizeof(*trials->items));
}

void trials_fini(struct trials *trials)
{
    while (trials->count > 0) {
        drop(trials, trials->count - 1);
    }
    free(trials->items);
    trials_init(trials);
}

/// The index of the `nth` trial of this supplier, from its first on; `count` when there are fewer.
static size_t find(const struct trials *trials, struct text name, size_t nth)
{
    for (size_t i = 0; i < trials->count; i++) {
        if (text_equals_c(name, trials->items[i].name) && nth-- == 0) {
            return i;
        }
    }
    return trials->count;
}

static size_t depth_of(const struct trials *trials, struct text name)
{
    size_t depth = 0;

    while (find(trials, name, depth) < trials->count) {
        depth++;
    }
    return depth;
}

/// Ends the trials of this supplier but for its first `kept`. The name may be one of theirs, so it is not looked at
/// once the first has ended.
static void cut(struct trials *trials, struct text name, size_t kept)
{
    size_t depth = depth_of(trials, name);
    size_t ending[TRIALS_DEEP];

    for (size_t i = kept; i < depth; i++) {
        ending[i] = find(trials, name, i);
    }
    for (size_t i = depth; i > kept; i--) {
        drop(trials, ending[i - 1]);
    }
}

void trials_end(struct trials *trials, struct text name)
{
    cut(trials, name, 0);
}

/// A place for one more; NULL without memory.
static struct trial *append(struct trials *trials, struct text name)
{
    if (trials->count == trials->room) {
        size_t room = trials->room == 0 ? 8 : 2 * trials->room;
        struct trial *grown = realloc(trials->items, room * sizeof(*grown));
        if (grown == NULL) {
            return NULL;
        }
        trials->items = grown;
        trials->room = room;
    }
    char *kept = strndup(name.data, name.length);
    if (kept == NULL) {
        return NULL;
    }
    trials->items[trials->count] = (struct trial){ .name = kept };
    return &trials->items[trials->count++];
}

/// The digest of this supplier's version; NULL: the set has none.
static const unsigned char *digest_of(const struct script_set *set, struct text name)
{
    ptrdiff_t index = script_set_find_supplier(set, name);
    return index < 0 ? NULL : script_set_supplier_digest(set, (size_t)index);
}

static bool is_same(const unsigned char *a, const unsigned char *b)
{
    return a != NULL && b != NULL && memcmp(a, b, SCRIPT_DIGEST) == 0;
}

/// Ends what is over now that this version runs. True: it is on trial already, or is one that needs none.
static bool settle(struct trials *trials, struct text name, const unsigned char *digest)
{
    size_t depth = depth_of(trials, name);

    for (size_t i = depth; i > 0; i--) {
        if (is_same(trials->items[find(trials, name, i - 1)].digest, digest)) {
            cut(trials, name, i);
            return true;
        }
    }
    bool is_first = depth > 0 && is_same(digest_of(trials->items[find(trials, name, 0)].fallback, name), digest);
    if (is_first) {
        cut(trials, name, 0);
    }
    return is_first;
}

static enum status begin(struct trials *trials, struct script_set *before, struct text name,
                         const unsigned char *digest)
{
    if (settle(trials, name, digest)) {
        return STATUS_OK;
    }
    if (depth_of(trials, name) == TRIALS_DEEP) {
        drop(trials, find(trials, name, 0));
    }
    struct trial *trial = append(trials, name);
    if (trial == NULL) {
        return STATUS_NO_MEMORY;
    }
    trial->fallback = script_set_hold(before);
    memcpy(trial->digest, digest, SCRIPT_DIGEST);
    return STATUS_OK;
}

/// Ends the trials of suppliers that are gone.
static void forget_gone(struct trials *trials, const struct script_set *now)
{
    for (size_t i = trials->count; i > 0; i--) {
        if (script_set_find_supplier(now, text_of(trials->items[i - 1].name)) < 0) {
            drop(trials, i - 1);
        }
    }
}

enum status trials_begin(struct trials *trials, struct script_set *before, struct script_set *now)
{
    enum status status = STATUS_OK;

    forget_gone(trials, now);
    for (size_t i = 0; i < script_set_supplier_count(now); i++) {
        struct text name = script_set_supplier(now, i)->name;
        const unsigned char *digest = script_set_supplier_digest(now, i);
        const unsigned char *old = digest_of(before, name);
        if (old != NULL && !is_same(digest, old) && begin(trials, before, name, digest) != STATUS_OK) {
            status = STATUS_NO_MEMORY;
        }
    }
    return status;
}

void trials_follow(struct trials *trials, const struct script_set *now)
{
    forget_gone(trials, now);
    for (size_t i = 0; i < script_set_supplier_count(now); i++) {
        struct text name = script_set_supplier(now, i)->name;
        if (!settle(trials, name, script_set_supplier_digest(now, i))) {
            cut(trials, name, 0);
        }
    }
}

/// "acme.lua:12: sentence" taken apart, as it was put together.
static void place_of(const char *first, struct failure *failure)
{
    const char *colon = strchr(first, ':');
    size_t digits = colon == NULL ? 0 : strspn(colon + 1, "0123456789");
    uint64_t line = 0;

    if (digits > 0 && colon[1 + digits] == ':' && (size_t)(colon - first) < sizeof(failure->file) &&
        text_to_u64((struct text){ colon + 1, digits }, &line)) {
        char file[sizeof(failure->file)];
        memcpy(file, first, (size_t)(colon - first));
        file[colon - first] = '\0';
        failure_at(failure, file, (uint32_t)line, 0);
        first = colon + 1 + digits + 1;
        first += strspn(first, " ");
    }
    failure_set(failure, "%s", first);
}

static void help_retry(struct trial_lost *lost)
{
    failure_help(&lost->because,
                 "mend the script: it is tried again when its file changes, or with `lastcall reload "
                 "--retry %.*s`",
                 TEXT_ARGS(lost->name));
}

static void explain(const struct script_set *now, struct script_id script, struct trial_lost *lost)
{
    char why[256];

    lost->because = (struct failure){ 0 };
    if (lost->seen.first[0] != '\0') {
        place_of(lost->seen.first, &lost->because);
    } else if (script_set_tell_quarantine(now, script, why, sizeof(why))) {
        failure_set(&lost->because, "%s", why);
    } else {
        failure_set(&lost->because, "its calls failed");
    }
    help_retry(lost);
}

/// The version of this supplier that runs: did it lose its trial? One that passed is good, and so none before it needs
/// its trial any more.
static bool is_lost(struct trials *trials, const struct script_set *now, const struct trial_limits *limits,
                    struct trial *trial, struct trial_lost *lost)
{
    struct text name = text_of(trial->name);
    struct script_id script = { .index = (size_t)script_set_find_supplier(now, name) };

    *lost = (struct trial_lost){ .name = name, .fallback = trial->fallback };
    script_set_trial(now, script, &lost->seen);
    if (script_trial_errors_within(&lost->seen, limits->calls) >= limits->errors ||
        script_set_is_quarantined(now, script)) {
        explain(now, script, lost);
        return true;
    }
    if (lost->seen.calls >= limits->calls) {
        cut(trials, name, 0);
    }
    return false;
}

static bool is_found(const struct trial_lost *lost, size_t count, struct text name)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equals(lost[i].name, name)) {
            return true;
        }
    }
    return false;
}

/// One of the lost whose version is of the same file and says the same; NULL: none is.
static const struct trial_lost *find_twin(const struct script_set *now, struct text name, const struct trial_lost *lost,
                                          size_t count)
{
    ptrdiff_t index = script_set_find_supplier(now, name);
    const struct script_file *file = script_set_supplier_file(now, (size_t)index);
    const unsigned char *digest = script_set_supplier_digest(now, (size_t)index);

    for (size_t i = 0; i < count; i++) {
        ptrdiff_t other = script_set_find_supplier(now, lost[i].name);
        if (is_same(digest, script_set_supplier_digest(now, (size_t)other)) &&
            text_equals(file->path, script_set_supplier_file(now, (size_t)other)->path)) {
            return &lost[i];
        }
    }
    return NULL;
}

/// What one supplier of a file lost is lost for all others of it that have not passed it: it is the same script.
static size_t add_twins(const struct trials *trials, const struct script_set *now, struct trial_lost *lost,
                        size_t count, size_t most)
{
    size_t found = count;

    for (size_t i = trials->count; i > 0 && found < most; i--) {
        const struct trial *trial = &trials->items[i - 1];
        struct text name = text_of(trial->name);
        if (!is_same(trial->digest, digest_of(now, name)) || is_found(lost, found, name)) {
            continue;
        }
        const struct trial_lost *twin = find_twin(now, name, lost, count);
        if (twin != NULL) {
            struct script_id script = { .index = (size_t)script_set_find_supplier(now, name) };
            lost[found] = (struct trial_lost){ .name = name, .fallback = trial->fallback, .because = twin->because };
            script_set_trial(now, script, &lost[found].seen);
            failure_set(&lost[found].because, "%.*s, of the same file, failed: %s", TEXT_ARGS(twin->name),
                        twin->because.message);
            help_retry(&lost[found]);
            found++;
        }
    }
    return found;
}

size_t trials_find_lost(struct trials *trials, const struct script_set *now, const struct trial_limits *limits,
                        struct trial_lost *lost, size_t most)
{
    size_t count = 0;

    if (limits->calls == 0) {
        while (trials->count > 0) {
            drop(trials, trials->count - 1);
        }
    }
    // From the end, for each trial that ends takes some away; of a supplier the last one is of what runs.
    for (size_t i = trials->count; i > 0 && count < most; i = i - 1 < trials->count ? i - 1 : trials->count) {
        struct trial *trial = &trials->items[i - 1];
        if (is_same(trial->digest, digest_of(now, text_of(trial->name))) &&
            is_lost(trials, now, limits, trial, &lost[count])) {
            count++;
        }
    }
    return add_twins(trials, now, lost, count, most);
}

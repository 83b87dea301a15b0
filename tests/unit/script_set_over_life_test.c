// A load over the set that runs: what is counted of a script goes on as long as it does not change; versions that must
// not run; many loads, and readers meanwhile.

#include "script/state.h"
#include "unit/script_over_support.h"

#include <pthread.h>

static struct over_world world;

static int open_world(void **state)
{
    (void)state;
    over_open(&world);
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-1\" }\n");
    over_add(&world, "alpha", "local tool = require(\"tool\")", "display_name = \"alpha-1 \" .. tool.word");
    over_add(&world, "bravo", "", "display_name = \"bravo-1\"");
    over_load(&world);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    over_close(&world);
    return 0;
}

static bool is_called(const char *name, const char *display_name)
{
    return text_equals_c(over_version(world.set, name)->declared.display_name, display_name);
}

static struct script_id id_of(const char *name)
{
    return (struct script_id){ .index = (size_t)script_set_find_supplier(world.set, text_of(name)) };
}

static void quarantine_survives_other_changes_and_ends_with_the_files_own(void **state)
{
    char why[128];

    (void)state;
    assert_true(script_set_quarantine(world.set, id_of("bravo")));
    assert_true(script_set_quarantine(world.set, (struct script_id){ .is_product = true }));
    script_set_note_limit(world.set, id_of("bravo"), SCRIPT_LIMIT_TIME, 3);
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-2\" }\n");
    over_write_supplier(&world, "alpha", "", "");
    over_load_on(&world);
    assert_true(script_set_tell_quarantine(world.set, id_of("bravo"), why, sizeof why));
    assert_non_null(strstr(why, "stuck inside a function of C"));
    assert_int_equal(script_set_limit_count(world.set, id_of("bravo"), SCRIPT_LIMIT_TIME), 3);
    over_write_product(&world, "{ \"size\", \"text\" },", "");
    over_load_on(&world);
    assert_true(script_set_is_quarantined(world.set, id_of("bravo"))); // checked again, the same file
    assert_false(script_set_is_quarantined(world.set, (struct script_id){ .is_product = true }));
    over_write_supplier(&world, "bravo", "-- mended", "");
    over_load_on(&world);
    assert_false(script_set_is_quarantined(world.set, id_of("bravo")));
    assert_int_equal(script_set_limit_count(world.set, id_of("bravo"), SCRIPT_LIMIT_TIME), 0);
}

static void calls_are_counted_until_a_script_changes_and_its_first_error_is_kept(void **state)
{
    struct script_trial trial;

    (void)state;
    script_set_note_trial(world.set, id_of("alpha"), SCRIPT_OK, NULL);
    script_set_note_trial(world.set, id_of("alpha"), SCRIPT_FAIL_SUPPLIER, "not of the script");
    script_set_note_trial(world.set, id_of("alpha"), SCRIPT_UNPARSABLE, "nor this");
    script_set_note_trial(world.set, id_of("alpha"), SCRIPT_DROPPED, NULL); // it never ran
    script_set_note_trial(world.set, id_of("alpha"), SCRIPT_ERROR, "alpha.lua:7: boom");
    script_set_note_trial(world.set, id_of("alpha"), SCRIPT_TIMEOUT, "alpha.lua:9: too long");
    over_write_supplier(&world, "bravo", "", "");
    over_load_on(&world);
    script_set_note_trial(world.set, id_of("alpha"), SCRIPT_MEMORY, NULL);
    script_set_trial(world.set, id_of("alpha"), &trial);
    assert_int_equal(trial.calls, 6);
    assert_int_equal(trial.errors, 3);
    assert_string_equal(trial.first, "alpha.lua:7: boom");
    assert_int_equal(trial.at[0], 4);
    assert_int_equal(script_trial_errors_within(&trial, 3), 0);
    assert_int_equal(script_trial_errors_within(&trial, 5), 2);
    assert_int_equal(script_trial_errors_within(&trial, 200), 3);
    over_write_supplier(&world, "alpha", "", "");
    over_load_on(&world);
    script_set_trial(world.set, id_of("alpha"), &trial);
    assert_int_equal(trial.calls + trial.errors, 0);
    assert_string_equal(trial.first, "");
}

static void what_is_counted_in_a_set_apart_is_counted_nowhere_else(void **state)
{
    struct script_trial trial;
    struct script_set *apart = script_set_apart(world.set);

    (void)state;
    assert_non_null(apart);
    assert_true(text_equals_c(over_version(apart, "alpha")->declared.display_name, "alpha-1 tool-1"));
    script_set_note_trial(apart, id_of("alpha"), SCRIPT_ERROR, "x");
    assert_true(script_set_quarantine(apart, id_of("alpha")));
    assert_false(script_set_is_quarantined(world.set, id_of("alpha")));
    script_set_trial(world.set, id_of("alpha"), &trial);
    assert_int_equal(trial.calls, 0);
    assert_ptr_not_equal(script_set_drift(apart, 0), script_set_drift(world.set, 0));
    script_set_release(&apart);
}

// ---- modules of what runs

static struct state *lua;
static char words[2][32];

/// Loads both suppliers, then calls `skip` of each, which requires its module only then.
static int call_skips(lua_State *L)
{
    lua_settop(L, 0);
    for (size_t i = 0; i < 2; i++) {
        state_push_supplier(L, lua, i);
    }
    for (size_t i = 0; i < 2; i++) {
        lua_getfield(L, (int)i + 1, "skip");
        lua_call(L, 0, 1);
        snprintf(words[i], sizeof words[i], "%s", lua_tostring(L, -1));
    }
    return 0;
}

static void each_script_requires_from_its_own_shelf_whenever_it_does(void **state)
{
    static const char more[] = "local function word() return require(\"tool\").word end";

    (void)state;
    over_write_supplier(&world, "alpha", more, "skip = word");
    over_write_supplier(&world, "bravo", more, "skip = word");
    over_load_on(&world);
    over_write(&world, "scripts/tool.lua", "return { word = \"tool-2\" }\n");
    over_write_supplier(&world, "alpha", more, "skip = 7");
    over_load_on(&world);
    lua = state_create(world.set, 1 << 20);
    assert_non_null(lua);
    assert_int_equal(sandbox_call(lua->sandbox, call_skips, NULL, NULL), SANDBOX_OK);
    assert_string_equal(words[0], "tool-1");
    assert_string_equal(words[1], "tool-2");
    state_destroy(&lua);
}

// ---- versions that must not run

struct refusal {
    const char *name;
    unsigned char digest[SCRIPT_DIGEST];
    bool keeps_vanished;
    size_t asked;
};

static bool refuses(void *context, enum script_kind kind, struct text name, const unsigned char *digest,
                    struct failure *because)
{
    struct refusal *refusal = context;

    refusal->asked++;
    if (kind != SCRIPT_KIND_SUPPLIER || !text_equals_c(name, refusal->name)) {
        return false;
    }
    failure_set(because, "it went back");
    return digest == NULL ? refusal->keeps_vanished : memcmp(digest, refusal->digest, SCRIPT_DIGEST) == 0;
}

static void refuse(struct refusal *refusal, const char *name)
{
    *refusal = (struct refusal){ .name = name };
    memcpy(refusal->digest, over_version(world.set, name)->digest, SCRIPT_DIGEST);
    world.order.refuses = refuses;
    world.order.refuses_context = refusal;
}

static void a_refused_version_goes_back_to_an_older_one_until_the_file_changes(void **state)
{
    struct refusal refusal;

    (void)state;
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    struct script_set *first = over_load(&world);
    refuse(&refusal, "bravo");
    world.order.candidate = first;
    over_write_supplier(&world, "alpha", "", "display_name = \"alpha-2\"");
    struct script_set *second = over_load(&world);
    assert_true(is_called("bravo", "bravo-1"));
    assert_ptr_equal(over_version(world.set, "bravo"), over_version(first, "bravo"));
    assert_true(is_called("alpha", "alpha-2"));
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_KEPT, "it went back");
    const struct script_change *change = over_change(&world, SCRIPT_KIND_SUPPLIER, "bravo");
    assert_true(text_equals(change->on_disk, over_version(second, "bravo")->label));
    assert_true(text_equals(change->before, change->on_disk));
    assert_true(text_equals(change->running, over_version(first, "bravo")->label));
    assert_memory_equal(change->on_disk_digest, refusal.digest, SCRIPT_DIGEST);
    assert_int_equal(world.changes.count, 2);
    script_set_release(&second);
    script_set_release(&first);
    world.order.candidate = NULL;
    // It stays so as long as the file does.
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_KEPT, "it went back");
    script_set_release(&before);
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-3\"");
    over_load_on(&world);
    assert_true(is_called("bravo", "bravo-3"));
}

static void what_runs_is_not_refused_in_favour_of_nothing(void **state)
{
    struct refusal refusal;

    (void)state;
    refuse(&refusal, "bravo");
    struct script_set *before = over_load(&world); // it runs, and it is what lies on the disk
    assert_ptr_equal(world.set, before);
    assert_int_equal(world.changes.count, 0);
    assert_int_equal(world.findings.count, 0);
    script_set_release(&before);
    // A candidate that has just the same is nothing to go back to.
    world.order.candidate = script_set_acquire(world.set);
    over_write_supplier(&world, "alpha", "", "display_name = \"alpha-2\"");
    over_load_on(&world);
    assert_int_equal(script_set_supplier_count(world.set), 2);
    assert_int_equal(world.changes.count, 1);
    script_set_release(&world.order.candidate);
    // It stays also when the file is broken, and is another one once it is not.
    over_write(&world, "suppliers/bravo.lua", "return {");
    over_load_on(&world);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_KEPT, "expected");
    assert_true(is_called("bravo", "bravo-1"));
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    over_load_on(&world);
    assert_true(is_called("bravo", "bravo-2"));
    // One that ran before is refused.
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-1\"");
    over_load_on(&world);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_KEPT, "it went back");
    assert_true(is_called("bravo", "bravo-2"));
}

static void changes_have_room_for_a_folder_of_ten_thousand_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < 10000; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%zu", i);
        const struct script_change change = { .name = text_of(name), .file = TEXT("suppliers/any.lua") };
        assert_true(script_changes_add(&world.changes, &change));
    }
    assert_int_equal(world.changes.count, 10000);
}

static void a_folder_of_files_that_hang_does_not_hold_the_others_up_for_long(void **state)
{
    enum { HANGING = 12 };
    char name[16], more[64];
    size_t seconds = 0, hurried = 0, untried = 0;
    (void)state;
    over_add(&world, "a-new", "", "");
    for (int i = 0; i < HANGING; i++) {
        snprintf(name, sizeof name, "hang%02d", i);
        snprintf(more, sizeof more, "while true do end -- %d of %d", i, (int)getpid());
        over_add(&world, name, more, "");
    }
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    over_load_on(&world);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "a-new", SCRIPT_ADDED, "");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED, "");
    for (int i = 0; i < HANGING; i++) {
        snprintf(name, sizeof name, "hang%02d", i);
        over_expect(&world, SCRIPT_KIND_SUPPLIER, name, SCRIPT_LEFT_OUT, "");
        const char *why = over_change(&world, SCRIPT_KIND_SUPPLIER, name)->because.message;
        seconds += strstr(why, "more than 2 s") != NULL ? 1 : 0;
        hurried += strstr(why, "more than 0.25 s") != NULL ? 1 : 0;
        untried += strstr(why, "not tried: 10 files") != NULL ? 1 : 0;
    }
    assert_int_equal(seconds, 2);
    assert_int_equal(hurried, 8);
    assert_int_equal(untried, 2);
    // The first two are known now, and cost nothing; a mended one runs.
    over_write_supplier(&world, "hang11", "", "");
    for (int i = 2; i < HANGING - 1; i++) {
        snprintf(name, sizeof name, "hang%02d", i);
        over_write_supplier(&world, name, "error(\"no\")", "");
    }
    over_load_on(&world);
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "hang00", SCRIPT_LEFT_OUT, "more than 2 s");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "hang11", SCRIPT_ADDED, "");
}

static void versions_of_a_candidate_are_not_checked_again(void **state)
{
    struct refusal refusal = { .name = "alpha" };

    (void)state;
    struct script_set *running = script_set_acquire(world.set);
    over_write_supplier(&world, "alpha", "", "display_name = \"alpha-2\"");
    over_write_supplier(&world, "bravo", "", "display_name = \"bravo-2\"");
    over_load_on(&world);
    // The fixtures of alpha failed, say: the same load again, without it.
    struct script_set *candidate = world.set;
    memcpy(refusal.digest, over_version(candidate, "alpha")->digest, SCRIPT_DIGEST);
    world.order.refuses = refuses;
    world.order.refuses_context = &refusal;
    world.order.candidate = candidate;
    world.set = running;
    over_load_on(&world);
    assert_ptr_equal(over_version(world.set, "bravo"), over_version(candidate, "bravo"));
    assert_true(is_called("alpha", "alpha-1 tool-1"));
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "alpha", SCRIPT_KEPT, "it went back");
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "bravo", SCRIPT_CHANGED, "");
    assert_true(refusal.asked > 0);
    world.order.candidate = NULL;
    script_set_release(&candidate);
}

static void a_vanished_supplier_can_be_kept(void **state)
{
    struct refusal refusal;

    (void)state;
    refuse(&refusal, "alpha");
    memset(refusal.digest, 0, sizeof refusal.digest);
    refusal.keeps_vanished = true;
    world.sources[0] = world.sources[1];
    world.count = 1;
    struct script_set *before = over_load(&world);
    assert_ptr_equal(world.set, before); // in its place too
    over_expect(&world, SCRIPT_KIND_SUPPLIER, "alpha", SCRIPT_KEPT, "it went back");
    script_set_release(&before);
}

// ---- many

enum { MANY_LOADS = 1000 };

static void many_loads_leave_nothing_behind(void **state)
{
    char text[64];
    size_t live = script_version_count_live();
    size_t kept = 0;

    (void)state;
    for (int i = 0; i < MANY_LOADS; i++) {
        snprintf(text, sizeof text, "display_name = %s\"alpha-%d\"", i % 10 == 9 ? "- " : "", i);
        over_write_supplier(&world, "alpha", "local tool = require(\"tool\")", text);
        if (i % 7 == 3) {
            snprintf(text, sizeof text, "return { word = \"tool-%d\" }\n", i);
            over_write(&world, "scripts/tool.lua", text);
        }
        over_load_on(&world);
        kept += over_change(&world, SCRIPT_KIND_SUPPLIER, "alpha")->fate == SCRIPT_KEPT ? 1 : 0;
        assert_int_equal(script_version_count_live(), live);
    }
    assert_int_equal(kept, MANY_LOADS / 10);
}

struct reading {
    pthread_mutex_t lock; // of `set`
    struct script_set *set;
    atomic_bool is_over;
    _Atomic uint64_t reads;
};

static void *read_sets(void *context)
{
    struct reading *reading = context;
    char why[128];

    while (!atomic_load(&reading->is_over)) {
        pthread_mutex_lock(&reading->lock);
        struct script_set *set = script_set_acquire(reading->set);
        pthread_mutex_unlock(&reading->lock);
        struct script_set *held = script_set_hold(set);
        for (size_t i = 0; i < script_set_supplier_count(set); i++) {
            const struct script_id id = { .index = i };
            require(script_set_supplier(set, i)->label.length > 5);
            require(script_set_find_product(set, script_set_supplier(set, i)->product) == 0);
            script_set_note_trial(set, id, SCRIPT_ERROR, "alpha.lua:1: boom");
            (void)script_set_note_timeout(set, id, "alpha.lua:1", 1);
            (void)script_set_tell_quarantine(set, id, why, sizeof why);
            struct script_trial trial;
            script_set_trial(set, id, &trial);
        }
        script_set_release(&set);
        require(script_set_supplier_file(held, 0)->source.length > 0);
        script_set_drop(&held);
        atomic_fetch_add(&reading->reads, 1);
    }
    return NULL;
}

static void sets_are_read_while_others_are_loaded_over_them(void **state)
{
    struct reading reading = { .lock = PTHREAD_MUTEX_INITIALIZER, .set = script_set_acquire(world.set) };
    pthread_t threads[3];
    char text[64];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_sets, &reading), 0);
    }
    for (int i = 0; i < 40 || atomic_load(&reading.reads) < 40; i++) {
        snprintf(text, sizeof text, "display_name = \"alpha-%d\"", i);
        over_write_supplier(&world, "alpha", "", text);
        if (i % 5 == 0) {
            over_write_product(&world, "", i % 2 == 0 ? "--[[two]]" : "--[[one]]");
        }
        over_load_on(&world);
        pthread_mutex_lock(&reading.lock);
        struct script_set *old = reading.set;
        reading.set = script_set_acquire(world.set);
        pthread_mutex_unlock(&reading.lock);
        script_set_release(&old);
    }
    atomic_store(&reading.is_over, true);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    script_set_release(&reading.set);
}

int main(void)
{
#define OVER(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)
    const struct CMUnitTest tests[] = {
        OVER(quarantine_survives_other_changes_and_ends_with_the_files_own),
        OVER(calls_are_counted_until_a_script_changes_and_its_first_error_is_kept),
        OVER(what_is_counted_in_a_set_apart_is_counted_nowhere_else),
        OVER(each_script_requires_from_its_own_shelf_whenever_it_does),
        OVER(a_refused_version_goes_back_to_an_older_one_until_the_file_changes),
        OVER(what_runs_is_not_refused_in_favour_of_nothing),
        OVER(changes_have_room_for_a_folder_of_ten_thousand_files),
        OVER(a_folder_of_files_that_hang_does_not_hold_the_others_up_for_long),
        OVER(versions_of_a_candidate_are_not_checked_again),
        OVER(a_vanished_supplier_can_be_kept),
        OVER(many_loads_leave_nothing_behind),
        OVER(sets_are_read_while_others_are_loaded_over_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

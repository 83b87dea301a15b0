// The file of a supplier is loaded together with its product's, which its answers need: then a state without the one
// has lost both, and one look is enough. What became of the product shows in the section that wants it.

#include "script/run_load.h"

#include "base/clock.h"
#include "script/script_check.h"

#include <stdio.h>

enum { LOAD_AGAIN_US = 60000000 }; // after a load that used up its time

struct load_work {
    struct run_work work;
    struct script_id script;
};

static int load_script(lua_State *L)
{
    const struct load_work *work = lua_touserdata(L, 1);
    struct state *state = work->work.run->state;

    lua_settop(L, 0);
    if (work->script.is_product) {
        state_push_product(L, state, work->script.index);
    } else {
        state_push_supplier(L, state, work->script.index);
    }
    return 0;
}

/// True: the section has nothing to load, or it tried a moment ago and has the failure already.
static bool load_is_held_off(struct run *run, struct script_id script)
{
    bool is_held_off = !script.is_product && clock_now_us() < run->state->load_again_us[script.index];

    if (is_held_off) {
        run->failure = (struct run_failure){ .verdict = SCRIPT_TIMEOUT, .is_of_load = true };
        snprintf(run->failure.message, sizeof run->failure.message,
                 "its file took more than %d s to load: it is tried again in a while", SCRIPT_CHECK_RUN_US / 1000000);
    }
    return is_held_off;
}

static enum run_end load_one(struct run *run, const struct guard_blame *blame, struct script_id script)
{
    struct load_work work = { .script = script };

    if (load_is_held_off(run, script)) {
        return RUN_FAILED;
    }
    enum run_end end = run_guarded(run, blame, RUN_LOADS, SCRIPT_CHECK_RUN_US, load_script, &work.work);
    if (end == RUN_FAILED) {
        run->failure.is_of_load = true;
        if (run->failure.verdict == SCRIPT_TIMEOUT && !script.is_product) {
            run->state->load_again_us[script.index] = clock_now_us() + LOAD_AGAIN_US;
        }
    }
    return end;
}

/// A supplier's calls need its product, too.
static enum run_end load_product_of(struct run *run, const struct guard_blame *blame)
{
    const struct script_set *set = run->state->set;
    ptrdiff_t found = script_set_find_product(set, script_set_supplier(set, blame->script.index)->product);
    struct script_id product = { .is_product = true, .index = found < 0 ? 0 : (size_t)found };

    if (found < 0 || state_has_loaded(run->state, product) || script_set_is_quarantined(set, product)) {
        return RUN_DONE;
    }
    return load_one(run, blame, product);
}

enum run_end run_load(struct run *run, const struct guard_blame *blame)
{
    if (state_has_loaded(run->state, blame->script)) {
        return RUN_DONE;
    }
    if (!blame->script.is_product) {
        enum run_end end = load_product_of(run, blame);
        // Out of memory began the state afresh, so what the call had prepared in it is gone.
        if (end == RUN_LOST || (end == RUN_FAILED && run->failure.verdict == SCRIPT_MEMORY)) {
            return end;
        }
    }
    return load_one(run, blame, blame->script);
}

// Each file is a call of its own in the sandbox, with the growth that any call may have. Out of memory ends the Lua
// state, so a fresh one is filled, without that file; not for ever, for it may be the machine that has none.

#include "script/state_fill.h"

#include "base/clock.h"

#include <stdlib.h>

enum { FILL_RENEWALS_MAX = 4 };

struct fill_job {
    struct state_fill *fill;
    struct state *state;
    struct script_id script;
};

static size_t fill_count(const struct script_set *set)
{
    return script_set_product_count(set) + script_set_supplier_count(set) + script_set_shadow_count(set);
}

bool state_fill_init(struct state_fill *fill, const struct script_set *set)
{
    size_t count = fill_count(set);

    atomic_init(&fill->in_hand, STATE_FILL_NOTHING);
    fill->is_left_out = calloc(count + 1, sizeof *fill->is_left_out);
    return fill->is_left_out != NULL;
}

void state_fill_fini(struct state_fill *fill)
{
    free(fill->is_left_out);
}

struct script_id state_fill_script(const struct script_set *set, size_t index)
{
    size_t products = script_set_product_count(set);

    return (struct script_id){ .is_product = index < products, .index = index < products ? index : index - products };
}

static int fill_load(lua_State *L)
{
    const struct fill_job *job = lua_touserdata(L, 1);

    lua_settop(L, 0);
    sandbox_bound(L, job->fill->file_limit_us);
    if (job->script.is_product) {
        state_push_product(L, job->state, job->script.index);
    } else {
        state_push_supplier(L, job->state, job->script.index);
    }
    return 0;
}

static enum sandbox_result fill_file(struct state_fill *fill, struct state *state, size_t index)
{
    struct fill_job job = { .fill = fill, .state = state, .script = state_fill_script(state->set, index) };
    struct sandbox *sandbox = state->sandbox;

    fill->on_file(fill->context);
    atomic_store(&fill->in_hand, index);
    sandbox->log_most = 0; // its check has logged what it has to say
    uint64_t begun_us = clock_thread_cpu_us();
    enum sandbox_result result = sandbox_call(sandbox, fill_load, NULL, &job);
    uint64_t load_us = clock_thread_cpu_us() - begun_us;
    fill->file_count++;
    fill->files_us += load_us;
    if (load_us > fill->slowest_us) {
        fill->slowest = index;
        fill->slowest_us = load_us;
    }
    sandbox->log_most = SANDBOX_LOG_LINES;
    sandbox_unbound(sandbox);
    atomic_store(&fill->in_hand, STATE_FILL_NOTHING);
    return result;
}

static bool fill_is_over(const struct state_fill *fill)
{
    return fill->is_hurried(fill->context) || clock_now_us() >= fill->end_us;
}

/// False: out of memory, the state has nothing left.
static bool fill_all(struct state_fill *fill, struct state *state)
{
    size_t count = fill_count(state->set);

    for (size_t i = 0; i < count && !fill_is_over(fill); i++) {
        if (script_set_is_quarantined(state->set, state_fill_script(state->set, i))) {
            continue; // nobody will call it
        }
        enum sandbox_result result = fill->is_left_out[i] ? SANDBOX_OK : fill_file(fill, state, i);
        if (result != SANDBOX_OK) {
            fill->is_left_out[i] = true;
        }
        if (result == SANDBOX_OUT_OF_MEMORY) {
            return false;
        }
    }
    sandbox_collect(state->sandbox); // or the first call would have to
    return true;
}

bool state_fill_run(struct state_fill *fill, struct state *state)
{
    bool is_done = fill_all(fill, state);

    for (uint32_t i = 0; i < FILL_RENEWALS_MAX && !is_done; i++) {
        is_done = state_renew(state) && fill_all(fill, state);
        if (state->sandbox == NULL) {
            return false;
        }
    }
    return is_done || state_renew(state);
}

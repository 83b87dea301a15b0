// Decoded things stay in the registry under references kept here; a renewed state starts with none of them. An
// account's hosts and base URL are copied into a userdata beside its table, because a section must not read what the
// call owns.

#include "script/state.h"
#include "model/data_set.h"
#include "script/bind.h"
#include "script/field_watch.h"
#include "script/freeze.h"
#include "script/offers.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STATE_SECRETS_MAX = 64 };

/// Shadows are suppliers like the others here.
static size_t state_supplier_count(const struct script_set *set)
{
    return script_set_supplier_count(set) + script_set_shadow_count(set);
}

static void state_forget(struct state *state)
{
    for (size_t i = 0; i < script_set_product_count(state->set); i++) {
        state->products[i] = LUA_NOREF;
    }
    for (size_t i = 0; i < state_supplier_count(state->set); i++) {
        state->suppliers[i] = LUA_NOREF;
        state->abilities[i] = 0;
    }
    for (size_t i = 0; i < STATE_SEARCHES; i++) {
        block_release(&state->searches[i].facts);
        state->searches[i] = (struct state_search){ .reference = LUA_NOREF };
    }
    state->accounts = LUA_NOREF;
    state->account_count = 0;
    state->now = LUA_NOREF;
}

bool state_renew(struct state *state)
{
    sandbox_destroy(&state->sandbox);
    state_forget(state);
    state->renewals++;
    state->sandbox = sandbox_create(state->growth_cap, script_shelf_on_require, NULL);
    if (state->sandbox != NULL) {
        state->sandbox->data = state->data;
        state->sandbox->seed.value = state->seed;
        state->sandbox->trouble.find_source = script_set_find_source;
        state->sandbox->trouble.context = state->set;
    }
    return state->sandbox != NULL;
}

void state_refresh(struct state *state)
{
    if (state->sandbox != NULL && heap_is_worn(&state->sandbox->heap)) {
        (void)state_renew(state); // without memory for it the next section says so
    }
}

void state_use_data(struct state *state, struct data_set *data)
{
    if (data != state->data) {
        data_set_release(&state->data);
        state->data = data_set_acquire(data);
    }
    if (state->sandbox != NULL) {
        state->sandbox->data = data;
    }
}

void state_use_seed(struct state *state, uint64_t seed)
{
    state->seed = seed;
    if (state->sandbox != NULL) {
        state->sandbox->seed = (struct crypto_seed){ .value = seed };
    }
}

struct state *state_create(struct script_set *set, size_t growth_cap)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        return NULL;
    }
    state->set = script_set_hold(set);
    state->growth_cap = growth_cap;
    state->products = calloc(script_set_product_count(set) + 1, sizeof *state->products);
    state->suppliers = calloc(state_supplier_count(set) + 1, sizeof *state->suppliers);
    state->abilities = calloc(state_supplier_count(set) + 1, sizeof *state->abilities);
    if (state->products == NULL || state->suppliers == NULL || state->abilities == NULL || !state_renew(state)) {
        state_destroy(&state);
    }
    return state;
}

void state_destroy(struct state **state)
{
    if (*state == NULL) {
        return;
    }
    sandbox_destroy(&(*state)->sandbox);
    for (size_t i = 0; i < STATE_SEARCHES; i++) {
        block_release(&(*state)->searches[i].facts);
    }
    data_set_release(&(*state)->data);
    script_set_drop(&(*state)->set);
    free((*state)->products);
    free((*state)->suppliers);
    free((*state)->abilities);
    free(*state);
    *state = NULL;
}

/// Runs a file that returns a table and keeps that.
static void state_load(lua_State *L, struct state *state, const struct script_file *file, int *reference)
{
    state->loads++;
    bind_time_set_places(L, script_set_places(state->set));
    if (!script_shelf_load(L, file)) {
        lua_error(L);
    }
    lua_call(L, 0, 1);
    if (!lua_istable(L, -1)) {
        luaL_error(L, "%s must return a table", file->path.data);
    }
    lua_pushvalue(L, -1);
    *reference = luaL_ref(L, LUA_REGISTRYINDEX);
}

void state_push_product(lua_State *L, struct state *state, size_t index)
{
    if (state->products[index] != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, state->products[index]);
        return;
    }
    state_load(L, state, script_set_product_file(state->set, index), &state->products[index]);
    if (!offers_compile_product(L, lua_gettop(L))) {
        luaL_unref(L, LUA_REGISTRYINDEX, state->products[index]);
        state->products[index] = LUA_NOREF;
        lua_error(L);
    }
}

void state_push_supplier(lua_State *L, struct state *state, size_t index)
{
    if (state->suppliers[index] != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, state->suppliers[index]);
        return;
    }
    state_load(L, state, script_set_supplier_file(state->set, index), &state->suppliers[index]);
    int able = STATE_LOADED;
    lua_getfield(L, -1, "skip");
    able |= lua_isfunction(L, -1) ? STATE_SKIP : 0;
    lua_getfield(L, -2, "ceiling");
    able |= lua_isfunction(L, -1) ? STATE_CEILING : 0;
    lua_getfield(L, -3, "sign");
    able |= lua_isfunction(L, -1) ? STATE_SIGN : 0;
    lua_pop(L, 3);
    state->abilities[index] = (uint8_t)able;
}

bool state_may_have(const struct state *state, size_t supplier, enum state_ability ability)
{
    return (state->abilities[supplier] & STATE_LOADED) == 0 || (state->abilities[supplier] & ability) != 0;
}

bool state_is_loaded(const struct state *state, struct script_id script)
{
    return (script.is_product ? state->products : state->suppliers)[script.index] != LUA_NOREF;
}

static void state_forget_search(lua_State *L, struct state_search *slot)
{
    luaL_unref(L, LUA_REGISTRYINDEX, slot->reference);
    slot->reference = LUA_NOREF;
    block_release(&slot->facts);
}

/// Searches that are over are held by us alone; kept, they would only cost the collector time.
static void state_forget_old_searches(lua_State *L, struct state *state)
{
    for (size_t i = 0; i < STATE_SEARCHES; i++) {
        struct state_search *slot = &state->searches[i];
        if (slot->reference != LUA_NOREF && !block_is_shared(slot->facts)) {
            state_forget_search(L, slot);
        }
    }
}

static struct state_search *state_search_slot(lua_State *L, struct state *state)
{
    struct state_search *oldest = &state->searches[0];

    state_forget_old_searches(L, state);
    for (size_t i = 0; i < STATE_SEARCHES; i++) {
        struct state_search *slot = &state->searches[i];
        if (slot->reference == LUA_NOREF) {
            return slot;
        }
        if (slot->used_at < oldest->used_at) {
            oldest = slot;
        }
    }
    state_forget_search(L, oldest);
    return oldest;
}

/// The plain search is on top.
static void state_watch_search(lua_State *L, const struct state *state)
{
    lua_getfield(L, -1, "product");
    const char *name = lua_tostring(L, -1);
    ptrdiff_t product = name != NULL ? script_set_find_product(state->set, text_of(name)) : -1;
    lua_pop(L, 1);
    if (product >= 0) {
        field_watch_search(L, script_set_product_file(state->set, (size_t)product));
    }
}

void state_push_search(lua_State *L, struct state *state, struct block *facts)
{
    state->uses++;
    for (size_t i = 0; i < STATE_SEARCHES; i++) {
        struct state_search *slot = &state->searches[i];
        if (slot->facts == facts && slot->reference != LUA_NOREF) {
            slot->used_at = state->uses;
            lua_rawgeti(L, LUA_REGISTRYINDEX, slot->reference);
            return;
        }
    }
    if (!bind_json_decode(L, block_text(facts))) {
        lua_error(L);
    }
    if (state->watches_fields) {
        state_watch_search(L, state);
    }
    freeze_deep(L);
    struct state_search *slot = state_search_slot(L, state);
    lua_pushvalue(L, -1);
    slot->reference = luaL_ref(L, LUA_REGISTRYINDEX);
    slot->facts = block_acquire(facts);
    slot->used_at = state->uses;
}

void state_push_now(lua_State *L, struct state *state, uint64_t wall_us)
{
    char iso[32];
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm parts;

    if (state->now != LUA_NOREF && state->now_us == wall_us) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, state->now);
        return;
    }
    gmtime_r(&seconds, &parts);
    strftime(iso, sizeof iso, "%Y-%m-%dT%H:%M:%SZ", &parts);
    lua_createtable(L, 0, 3);
    lua_pushnumber(L, (lua_Number)seconds);
    lua_setfield(L, -2, "s");
    uint64_t wall_ms = wall_us / 1000;
    lua_pushnumber(L, (lua_Number)wall_ms);
    lua_setfield(L, -2, "ms");
    lua_pushstring(L, iso);
    lua_setfield(L, -2, "iso");
    freeze_shallow(L);
    luaL_unref(L, LUA_REGISTRYINDEX, state->now);
    state->now = LUA_NOREF;
    lua_pushvalue(L, -1);
    state->now = luaL_ref(L, LUA_REGISTRYINDEX);
    state->now_us = wall_us;
}

void state_trim_accounts(lua_State *L, struct state *state)
{
    if (state->account_count >= STATE_ACCOUNTS_MAX) {
        luaL_unref(L, LUA_REGISTRYINDEX, state->accounts);
        state->accounts = LUA_NOREF;
        state->account_count = 0;
    }
}

static void state_push_accounts(lua_State *L, struct state *state)
{
    if (state->accounts == LUA_NOREF) {
        lua_newtable(L);
        state->accounts = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, state->accounts);
}

/// Pushes the entry of a known account and returns true, or pushes nothing.
static bool state_push_entry(lua_State *L, struct state *state, uint64_t serial)
{
    if (state->accounts == LUA_NOREF) {
        return false;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, state->accounts);
    lua_pushnumber(L, (lua_Number)serial);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return false;
    }
    return true;
}

static size_t state_account_bytes(const struct script_account *account, size_t base_length)
{
    size_t bytes = sizeof(struct state_account) + account->host_count * sizeof(struct text) + base_length;
    for (size_t i = 0; i < account->host_count; i++) {
        bytes += account->hosts[i].length;
    }
    return bytes;
}

static char *state_copy_text(char *place, struct text from, struct text *to)
{
    memcpy(place, from.data, from.length);
    *to = (struct text){ place, from.length };
    return place + from.length;
}

/// Pushes the userdata with the hosts and base URL; `options` is the index of the decoded options.
static void state_push_details(lua_State *L, const struct script_account *account, int options)
{
    struct text base = { NULL, 0 };

    if (lua_istable(L, options)) {
        lua_getfield(L, options, "base_url");
        if (lua_type(L, -1) == LUA_TSTRING) {
            base.data = lua_tolstring(L, -1, &base.length); // stays alive in its table
        }
        lua_pop(L, 1);
    }
    struct state_account *details = lua_newuserdata(L, state_account_bytes(account, base.length));
    *details = (struct state_account){ .host_count = account->host_count };
    char *place = (char *)&details->hosts[account->host_count];
    for (size_t i = 0; i < account->host_count; i++) {
        place = state_copy_text(place, account->hosts[i], &details->hosts[i]);
    }
    if (base.data != NULL) {
        state_copy_text(place, base, &details->base_url);
    }
}

/// A secret that the script did not declare; it would be left out of a signature in silence.
static int state_on_unknown_secret(lua_State *L)
{
    const char *names[STATE_SECRETS_MAX];
    size_t count = 0;
    const char *wanted = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";

    lua_settop(L, 2);
    for (lua_pushnil(L); count < STATE_SECRETS_MAX && lua_next(L, 1) != 0; lua_pop(L, 1)) {
        names[count++] = lua_tostring(L, -2);
    }
    const char *nearest = text_nearest(text_of(wanted), names, count);
    trouble_code(L, CODE_SECRET_MISSING);
    if (nearest != NULL) {
        return luaL_error(L, "there is no secret \"%s\": did you mean \"%s\"?", wanted, nearest);
    }
    return luaL_error(L, "there is no secret \"%s\": the script's `secrets` do not name it", wanted);
}

/// Of the decoded context on top.
static void state_guard_secrets(lua_State *L)
{
    lua_getfield(L, -1, "secret");
    if (lua_istable(L, -1)) {
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, state_on_unknown_secret);
        lua_setfield(L, -2, "__index");
        lua_setmetatable(L, -2);
    }
    lua_pop(L, 1);
}

/// Of the decoded context on top. The settings may give base_url, whether the script has it or not.
static void state_watch_options(lua_State *L)
{
    static const char *const optional[] = { "base_url" };

    lua_getfield(L, -1, "options");
    if (lua_istable(L, -1)) {
        field_watch_known(L, "ctx.options", optional, 1);
    }
    lua_pop(L, 1);
}

void state_learn_account(lua_State *L, struct state *state, const struct script_account *account)
{
    if (state_push_entry(L, state, account->serial)) {
        lua_pop(L, 1);
        return;
    }
    int top = lua_gettop(L);
    state_push_accounts(L, state);
    lua_pushnumber(L, (lua_Number)account->serial);
    lua_createtable(L, 0, 4);
    int entry = lua_gettop(L);
    if (!bind_json_decode(L, account->context)) {
        lua_error(L);
    }
    int decoded = lua_gettop(L);
    luaL_checktype(L, decoded, LUA_TTABLE);
    lua_getfield(L, decoded, "options");
    state_push_details(L, account, lua_gettop(L));
    lua_setfield(L, entry, "details");
    lua_pop(L, 1);
    state_guard_secrets(L);
    if (state->watches_fields) {
        state_watch_options(L);
    }
    freeze_deep(L);
    lua_getfield(L, decoded, "account");
    lua_setfield(L, entry, "account");
    lua_getfield(L, decoded, "options");
    lua_setfield(L, entry, "options");
    lua_getfield(L, decoded, "secret");
    lua_setfield(L, entry, "secret");
    lua_settop(L, entry);
    lua_rawset(L, entry - 2);
    state->account_count++;
    lua_settop(L, top);
}

bool state_push_account(lua_State *L, struct state *state, uint64_t serial)
{
    return state_push_entry(L, state, serial);
}

const struct state_account *state_find_account(lua_State *L, struct state *state, uint64_t serial)
{
    if (!state_push_entry(L, state, serial)) {
        return NULL;
    }
    lua_getfield(L, -1, "details");
    const struct state_account *details = lua_touserdata(L, -1);
    lua_pop(L, 2); // the entry keeps it
    return details;
}

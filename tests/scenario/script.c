#include "scenario/script.h"

#include "base/json_read.h"
#include "policy/traffic.h"
#include "scenario/allocations.h"
#include "scenario/play.h"
#include "scenario/script_account.h"
#include "scenario/script_extra.h"
#include "scenario/script_health.h"
#include "scenario/script_patience.h"
#include "scenario/script_rules.h"
#include "scenario/script_store.h"

#include <glob.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16 };

struct script {
    lua_State *lua;
};

// ------------------------------------------------------------------------------------------------------ table -> play

static uint64_t get_number(lua_State *lua, const char *key, uint64_t otherwise)
{
    lua_getfield(lua, -1, key);
    uint64_t number = lua_isnil(lua, -1) ? otherwise : (uint64_t)luaL_checknumber(lua, -1);
    lua_pop(lua, 1);
    return number;
}

static bool get_flag(lua_State *lua, const char *key)
{
    lua_getfield(lua, -1, key);
    bool flag = lua_toboolean(lua, -1) != 0;
    lua_pop(lua, 1);
    return flag;
}

/// The table keeps the string alive; NULL: absent.
static const char *get_string(lua_State *lua, const char *key)
{
    lua_getfield(lua, -1, key);
    const char *string = lua_tostring(lua, -1);
    lua_pop(lua, 1);
    return string;
}

typedef const char *(*name_function)(int number);

static const char *verdict_name(int number)
{
    return script_verdict_name((enum script_verdict)number);
}

static const char *name_of_phase(int number)
{
    return number < PHASE_COUNT ? phase_name((enum phase)number) : "unknown";
}

static const char *name_of_outcome(int number)
{
    return number < OUTCOME_COUNT ? outcome_name((enum outcome)number) : "unknown";
}

static const char *result_name(int number)
{
    static const char *const NAMES[] = {
        [FETCH_OK] = "ok",
        [FETCH_DNS_FAILED] = "dns",
        [FETCH_CONNECT_FAILED] = "connect",
        [FETCH_TLS_FAILED] = "tls",
        [FETCH_SEND_FAILED] = "send",
        [FETCH_RECEIVE_FAILED] = "receive",
        [FETCH_TOO_LARGE] = "too_large",
        [FETCH_REFUSED] = "refused",
        [FETCH_ENDED] = "ended",
        [FETCH_NO_MEMORY] = "no_memory",
        [FETCH_LOST] = "lost",
    };
    return number < (int)COUNT_OF(NAMES) ? NAMES[number] : "unknown";
}

static const char *name_of_sort(int number)
{
    return number < SORT_COUNT ? sort_name((enum sort)number) : "unknown";
}

static const char *name_of_breaker(int number)
{
    return number <= BREAKER_RAMP ? breaker_state_name((enum breaker_state)number) : "unknown";
}

static const char *name_of_mode(int number)
{
    return number <= MODE_TEST ? mode_name((enum mode)number) : "unknown";
}

static const char *merge_name(int number)
{
    static const char *const NAMES[] = { [MERGE_ADD] = "add", [MERGE_REPLACE] = "replace", [MERGE_KEEP] = "keep" };
    return number < (int)COUNT_OF(NAMES) ? NAMES[number] : "unknown";
}

/// The number that has this name; 0 when the key is absent.
static int get_named(lua_State *lua, const char *key, name_function name_of)
{
    const char *wanted = get_string(lua, key);

    for (int i = 0; wanted != NULL; i++) {
        const char *name = name_of(i);
        if (name != NULL && strcmp(name, "unknown") == 0) {
            luaL_error(lua, "%s: there is no %s", key, wanted);
        }
        if (name != NULL && strcmp(name, wanted) == 0) {
            return i;
        }
    }
    return 0;
}

static void read_exchange(lua_State *lua, struct virtual_step *step)
{
    step->result = (enum fetch_result)get_named(lua, "result", result_name);
    step->status = (uint16_t)get_number(lua, "status", 200);
    step->phase = (enum phase)get_named(lua, "phase", name_of_phase);
    step->after_us = get_number(lua, "after_us", 0);
    step->hangs = get_flag(lua, "hangs");
    step->normalise = (enum script_verdict)get_named(lua, "verdict", verdict_name);
    step->normalise_us = get_number(lua, "script_us", 100);
    step->first_id = (uint32_t)get_number(lua, "first_id", 0);
    step->offers = (uint32_t)get_number(lua, "offers", 0);
    step->merge = (enum merge_kind)get_named(lua, "merge", merge_name);
    step->is_incomplete = get_flag(lua, "is_incomplete");
    step->next_after_us = get_number(lua, "next_us", UINT64_MAX >> 12);
    step->has_next = step->next_after_us != UINT64_MAX >> 12;
    step->dropped = (uint32_t)get_number(lua, "dropped", 0);
    step->warnings = (uint32_t)get_number(lua, "warnings", 0);
    step->retry_after_ms = get_number(lua, "retry_ms", 0);
    step->is_told_empty = get_flag(lua, "is_told_empty");
    step->is_quota_used = get_flag(lua, "is_quota_used");
    step->code = get_string(lua, "code");
    step->message = get_string(lua, "message");
    step->refused_logins = (uint32_t)get_number(lua, "refused_logins", 0);
    step->connect_us = get_number(lua, "connect_us", 0);
    step->says_wait = get_flag(lua, "says_wait");
}

static void read_step(lua_State *lua, struct play *play)
{
    uint32_t part = (uint32_t)get_number(lua, "part", 1);
    struct virtual_step *step = play_add_step(play, part, (uint32_t)get_number(lua, "step", 1));
    struct virtual_step second = { .part = 0 };

    read_exchange(lua, step);
    lua_getfield(lua, -1, "second");
    if (lua_istable(lua, -1)) {
        read_exchange(lua, &second);
        step->second = script_second_of(&second);
    }
    lua_pop(lua, 1);
}

/// The list at `again`: what the ceiling says when it is asked again.
static void read_again(lua_State *lua, struct play_supplier *supplier)
{
    lua_getfield(lua, -1, "again");
    for (int i = 1; lua_istable(lua, -1) && i <= (int)lua_objlen(lua, -1); i++) {
        require(supplier->again_count < PLAY_AGAIN_MAX);
        lua_rawgeti(lua, -1, i);
        supplier->again[supplier->again_count++] = (struct virtual_ceiling){
            .after_us = get_number(lua, "after_us", 0),
            .offers = (uint32_t)get_number(lua, "offers", 0),
            .answered = (uint32_t)get_number(lua, "answered", 0),
            .ceiling_us = get_number(lua, "ceiling_us", 0),
            .fails = get_flag(lua, "fails"),
        };
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
}

static void read_supplier(lua_State *lua, struct play *play)
{
    struct play_supplier *supplier = play_add_supplier(play, get_string(lua, "name"));
    struct virtual_supplier *behaviour = &supplier->behaviour;

    supplier->is_disabled = get_flag(lua, "is_disabled");
    supplier->is_left_out = get_flag(lua, "is_left_out");
    supplier->rule_us = get_number(lua, "rule_us", 0);
    supplier->display = get_string(lua, "display");
    behaviour->because = get_string(lua, "because");
    behaviour->start = (enum script_verdict)get_named(lua, "start", verdict_name);
    behaviour->ceiling_us = get_number(lua, "ceiling_us", 0);
    behaviour->cheapest_micros = (int64_t)get_number(lua, "cheapest", 100) * OFFER_MICROS;
    behaviour->item_prefix = get_string(lua, "item");
    behaviour->minutes = (uint32_t)get_number(lua, "minutes", 0);
    behaviour->flag = (uint32_t)get_number(lua, "flag", 0);
    behaviour->is_odd = get_flag(lua, "is_odd");
    script_read_account(lua, behaviour);
    script_read_extra(lua, behaviour);
    behaviour->breaker = (enum breaker_state)get_named(lua, "breaker", name_of_breaker);
    behaviour->lingers = get_flag(lua, "lingers");
    behaviour->off = get_string(lua, "off");
    behaviour->off_after_us = get_number(lua, "off_after_us", 0);
    script_read_past(lua, supplier);
    script_read_stored(lua, supplier);
    behaviour->logs_in = get_flag(lua, "logs_in");
    behaviour->has_login = get_flag(lua, "has_login");
    behaviour->login_hangs = get_flag(lua, "login_hangs");
    behaviour->login_after_us = get_number(lua, "login_us", 0);
    behaviour->login_life_us = get_number(lua, "login_life_us", 0);
    behaviour->login_outcome = (enum outcome)get_named(lua, "login_outcome", name_of_outcome);
    behaviour->signs = get_flag(lua, "signs");
    behaviour->rebuilt = (enum script_verdict)get_named(lua, "rebuilt", verdict_name);
    behaviour->rebuild_us = get_number(lua, "rebuild_us", 100);
    supplier->mode = (enum mode)get_named(lua, "mode", name_of_mode);
    supplier->account_mode = (enum mode)get_named(lua, "account", name_of_mode);
    supplier->traffic = get_number(lua, "traffic", TRAFFIC_ALL);
    read_again(lua, supplier);
    lua_getfield(lua, -1, "steps");
    for (int i = 1; i <= (int)lua_objlen(lua, -1); i++) {
        lua_rawgeti(lua, -1, i);
        read_step(lua, play);
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
}

static void read_machine(lua_State *lua, struct virtual_machine *machine)
{
    machine->seed = get_number(lua, "seed", 0);
    machine->workers = (uint32_t)get_number(lua, "workers", 0);
    machine->late_us = get_number(lua, "late_us", 0);
    machine->turn_us = get_number(lua, "turn_us", 0);
    machine->long_turn_us = get_number(lua, "long_turn_us", 0);
    machine->offer_ns = get_number(lua, "offer_ns", 0);
    machine->byte_ns = get_number(lua, "byte_ns", 0);
    machine->event_byte_ns = get_number(lua, "event_byte_ns", 0);
    machine->script_percent = (uint32_t)get_number(lua, "script_percent", 0);
    machine->fetch_ends_first = get_flag(lua, "fetch_ends_first");
    machine->rung = (uint32_t)get_number(lua, "rung", 0);
    machine->refused_call = (uint32_t)get_number(lua, "refused_call", 0);
    machine->refused_fetch = (uint32_t)get_number(lua, "refused_fetch", 0);
    machine->refused_timer = (uint32_t)get_number(lua, "refused_timer", 0);
}

static void read_lists(lua_State *lua, struct play *play)
{
    lua_getfield(lua, -1, "suppliers");
    for (int i = 1; i <= (int)lua_objlen(lua, -1); i++) {
        lua_rawgeti(lua, -1, i);
        read_supplier(lua, play);
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    lua_getfield(lua, -1, "moments");
    for (int i = 1; i <= (int)lua_objlen(lua, -1) && i <= PLAY_MOMENTS_MAX; i++) {
        lua_rawgeti(lua, -1, i);
        play->moments_us[play->moment_count++] = (uint64_t)lua_tonumber(lua, -1);
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
}

/// The table on top of the stack.
static void read_play(lua_State *lua, struct play *play)
{
    play_init(play);
    play->budget_us = get_number(lua, "budget_us", play->budget_us);
    play->reserve_us = get_number(lua, "reserve_us", play->reserve_us);
    play->max_items = (uint32_t)get_number(lua, "max_items", play->max_items);
    play->max_offers_per_item = (uint32_t)get_number(lua, "max_offers_per_item", play->max_offers_per_item);
    play->sort = (enum sort)get_named(lua, "sort", name_of_sort);
    play->whole_or_nothing = get_flag(lua, "whole_or_nothing");
    play->has_choice = get_flag(lua, "has_choice");
    play->is_public = get_flag(lua, "is_public");
    play->is_test = get_flag(lua, "is_test");
    play->reask_us = get_number(lua, "reask_us", play->reask_us);
    play->leaves_us = get_number(lua, "leaves_us", UINT64_MAX >> 12);
    if (play->leaves_us == UINT64_MAX >> 12) {
        play->leaves_us = UINT64_MAX;
    }
    play->start_us = get_number(lua, "start_us", play->start_us);
    play->queue_us = get_number(lua, "queue_us", 0);
    play->product = (enum script_verdict)get_named(lua, "product", verdict_name);
    play->has_default_budget = get_flag(lua, "has_default_budget");
    script_read_extra_settings(lua, play);
    read_machine(lua, &play->machine);
    script_read_patience(lua, play);
    script_read_store(lua, play);
    read_lists(lua, play);
    script_read_rules(lua, play);
}

// ---------------------------------------------------------------------------------------------------- result -> table

static void set_number(lua_State *lua, const char *key, uint64_t number)
{
    lua_pushnumber(lua, (lua_Number)number);
    lua_setfield(lua, -2, key);
}

static void set_flag(lua_State *lua, const char *key, bool flag)
{
    lua_pushboolean(lua, flag);
    lua_setfield(lua, -2, key);
}

/// NULL and the empty string stay absent.
static void set_string(lua_State *lua, const char *key, const char *string, size_t length)
{
    if (string != NULL && length > 0) {
        lua_pushlstring(lua, string, length);
        lua_setfield(lua, -2, key);
    }
}

static void set_name(lua_State *lua, const char *key, const char *name)
{
    set_string(lua, key, name, name != NULL ? strlen(name) : 0);
}

static void push_json(lua_State *lua, struct json_reader *reader, enum json_token token);

static void push_string(lua_State *lua, struct json_reader *reader)
{
    struct buffer scratch;

    buffer_init(&scratch, TEXT_MAX);
    struct text text = json_unescape(reader, &scratch);
    lua_pushlstring(lua, text.data != NULL ? text.data : "", text.length);
    buffer_fini(&scratch);
}

static void push_members(lua_State *lua, struct json_reader *reader, bool is_object)
{
    int count = 0;

    lua_newtable(lua);
    for (;;) {
        enum json_token token = json_next(reader);
        if (token == JSON_END_OBJECT || token == JSON_END_ARRAY || token == JSON_ERROR) {
            return;
        }
        if (is_object) {
            push_string(lua, reader);
            push_json(lua, reader, json_next(reader));
            lua_rawset(lua, -3);
        } else {
            push_json(lua, reader, token);
            lua_rawseti(lua, -2, ++count);
        }
    }
}

static void push_json(lua_State *lua, struct json_reader *reader, enum json_token token)
{
    luaL_checkstack(lua, 8, "json");
    if (token == JSON_BEGIN_OBJECT || token == JSON_BEGIN_ARRAY) {
        push_members(lua, reader, token == JSON_BEGIN_OBJECT);
    } else if (token == JSON_STRING) {
        push_string(lua, reader);
    } else if (token == JSON_NUMBER) {
        lua_pushnumber(lua, strtod(reader->value.data, NULL));
    } else if (token == JSON_TRUE || token == JSON_FALSE) {
        lua_pushboolean(lua, token == JSON_TRUE);
    } else {
        lua_pushnil(lua);
    }
}

static void set_json(lua_State *lua, const char *key, const char *json)
{
    struct json_reader reader;

    if (json != NULL) {
        json_reader_init(&reader, text_of(json));
        push_json(lua, &reader, json_next(&reader));
        lua_setfield(lua, -2, key);
    }
}

static const char *breaker_name(enum outcome_breaker breaker)
{
    static const char *const NAMES[] = {
        [BREAKER_SUCCESS] = "success", [BREAKER_FAILURE] = "failure", [BREAKER_SLOW] = "slow",
        [BREAKER_BY_KIND] = "by_kind", [BREAKER_SCRIPT] = "script",   [BREAKER_IGNORED] = "ignored",
    };
    return NAMES[breaker];
}

static void push_entry(lua_State *lua, const struct search_record_entry *entry)
{
    lua_newtable(lua);
    set_name(lua, "outcome", outcome_name(entry->outcome));
    set_name(lua, "mode", mode_name(entry->mode));
    set_name(lua, "bound", bound_name(entry->bound));
    set_name(lua, "phase", phase_name(entry->phase));
    set_name(lua, "kind", entry->rejection != REJECTION_NONE ? rejection_name(entry->rejection) : NULL);
    set_name(lua, "breaker", breaker_name(outcome_row(entry->outcome)->breaker));
    set_string(lua, "detail", entry->detail.data, entry->detail.length);
    set_string(lua, "code", entry->code.data, entry->code.length);
    set_flag(lua, "partial", entry->is_partial);
    set_flag(lua, "asked", entry->was_asked);
    set_number(lua, "offers", entry->offers);
    set_number(lua, "dropped", entry->dropped);
    set_number(lua, "last", entry->last_offers);
    set_number(lua, "age", entry->last_age_ms);
    set_number(lua, "http_status", entry->http_status);
    set_number(lua, "retry_ms", entry->retry_after_ms);
    set_number(lua, "requests", entry->requests);
    set_number(lua, "retries", entry->retries);
    set_name(lua, "hedge", !entry->has_hedge ? "none" : entry->has_hedge_won ? "won" : "lost");
    set_number(lua, "parts", entry->parts_sent);
    set_number(lua, "ok", entry->parts_ok);
    set_number(lua, "failed", entry->parts_failed);
    if (entry->ceiling_us != UINT64_MAX) {
        set_number(lua, "ceiling", entry->ceiling_us / 1000);
        set_name(lua, "ceiling_from", ceiling_from_name(entry->ceiling_from));
    }
    lua_newtable(lua);
    for (int i = 0; i < CEILING_RULES_MAX && entry->rules[i].data != NULL; i++) {
        lua_pushlstring(lua, entry->rules[i].data, entry->rules[i].length);
        lua_rawseti(lua, -2, i + 1);
    }
    lua_setfield(lua, -2, "rules");
}

/// {name -> entry}, or false without a record.
static void push_record(lua_State *lua, const struct search_record *record)
{
    if (record == NULL) {
        lua_pushboolean(lua, 0);
        return;
    }
    lua_newtable(lua);
    for (size_t i = 0; i < record->entry_count; i++) {
        lua_pushlstring(lua, record->entries[i].name.data, record->entries[i].name.length);
        push_entry(lua, &record->entries[i]);
        lua_rawset(lua, -3);
    }
}

static void set_lists(lua_State *lua, const struct play *play, const struct play_result *result)
{
    push_record(lua, result->record);
    lua_setfield(lua, -2, "entries");
    lua_newtable(lua);
    for (size_t i = 0; i < play->moment_count; i++) {
        push_record(lua, result->moments[i]);
        lua_rawseti(lua, -2, (int)i + 1);
    }
    lua_setfield(lua, -2, "moments");
    lua_newtable(lua);
    for (size_t i = 0; i < result->event_count; i++) {
        lua_newtable(lua);
        set_name(lua, "name", search_event_name(result->events[i].event));
        set_number(lua, "at_us", result->events[i].at_us);
        set_json(lua, "data", result->events[i].json);
        lua_rawseti(lua, -2, (int)i + 1);
    }
    lua_setfield(lua, -2, "events");
}

static void push_result(lua_State *lua, const struct play *play, const struct play_result *result)
{
    lua_newtable(lua);
    set_flag(lua, "was_started", result->was_started);
    set_flag(lua, "is_complete", result->is_complete);
    set_flag(lua, "was_cut_by_budget", result->was_cut_by_budget);
    set_flag(lua, "early", result->record != NULL && result->record->saved_us > 0);
    set_number(lua, "replies", result->replies);
    set_number(lua, "status", result->status);
    set_number(lua, "sent_us", result->sent_us);
    set_number(lua, "requests", result->requests);
    set_number(lua, "logins", result->logins);
    set_number(lua, "reasks", result->reasks);
    set_number(lua, "troubles", result->troubles);
    set_number(lua, "fetches", result->fetches);
    set_number(lua, "timers", result->timers);
    set_number(lua, "calls", result->calls);
    set_number(lua, "references", result->references);
    set_number(lua, "permits", result->permits);
    script_set_health(lua, play, result);
    script_push_extra(lua, play, result);
    script_set_store(lua, play, result);
    set_json(lua, "body", result->body);
    set_lists(lua, play, result);
    struct text violations = buffer_text(&result->violations);
    lua_pushlstring(lua, violations.data != NULL ? violations.data : "", violations.length);
    lua_setfield(lua, -2, "violations");
}

/// play(table) -> the result as a single reply, the result as a stream, pieces of memory lost
static int lua_play(lua_State *lua)
{
    static struct play play;
    struct play_result single, stream;

    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 1);
    read_play(lua, &play);
    long before = allocations_live();
    play_run(&play, false, &single);
    play_run(&play, true, &stream);
    if (play.machine.event_byte_ns == 0) {
        play_compare(&single, &stream);
    }
    push_result(lua, &play, &single);
    push_result(lua, &play, &stream);
    play_result_fini(&single);
    play_result_fini(&stream);
    lua_pushnumber(lua, (lua_Number)(allocations_live() - before));
    return 3;
}

// -------------------------------------------------------------------------------------------------------------- script

struct script *script_create(void)
{
    struct script *script = calloc(1, sizeof(*script));

    if (script == NULL) {
        return NULL;
    }
    script->lua = luaL_newstate();
    if (script->lua == NULL) {
        free(script);
        return NULL;
    }
    luaL_openlibs(script->lua);
    lua_pushcfunction(script->lua, lua_play);
    lua_setglobal(script->lua, "play_once");
    if (luaL_loadfile(script->lua, "tests/scenario/words.lua") != 0 || lua_pcall(script->lua, 0, 1, 0) != 0) {
        printf("# %s\n", lua_tostring(script->lua, -1));
        script_destroy(&script);
        return NULL;
    }
    return script; // the module stays on the stack
}

void script_destroy(struct script **script)
{
    if (*script != NULL) {
        lua_close((*script)->lua);
        free(*script);
        *script = NULL;
    }
}

static size_t call_word(struct script *script, const char *function, const char *path)
{
    lua_State *lua = script->lua;

    lua_getfield(lua, 1, function);
    lua_pushstring(lua, path);
    if (lua_pcall(lua, 1, 1, 0) != 0) {
        printf("not ok %s\n# %s\n", path, lua_tostring(lua, -1));
        lua_pop(lua, 1);
        return 1;
    }
    size_t failed = (size_t)lua_tointeger(lua, -1);
    lua_pop(lua, 1);
    return failed;
}

size_t script_play_file(struct script *script, const char *path)
{
    return call_word(script, "play_file", path);
}

size_t script_check_errors(struct script *script, const char *folder)
{
    char pattern[256];
    glob_t found = { 0 };
    size_t failed = 0;

    snprintf(pattern, sizeof(pattern), "%s/*.lua", folder);
    if (glob(pattern, 0, NULL, &found) != 0) {
        printf("not ok there_are_wrong_plays_in_%s\n", folder);
        return 1;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        failed += call_word(script, "check_error", found.gl_pathv[i]);
    }
    globfree(&found);
    return failed;
}

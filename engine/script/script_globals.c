// jit.util shows the instructions of a function and of the functions within it. Which instruction reads a global is
// learned from a chunk that does nothing else, so the numbers of a LuaJIT version are nowhere written down.
//
// A field is read by the instruction right behind the one that its table came by, in the same register. Where a jump
// leads between the two, as in `(a and fail or crypto).quota`, the table may be another one, and nothing is told.

#include "script/script_globals.h"

#include <lauxlib.h>
#include <lualib.h>

static const char walker[] =
    "local source, tell = ...\n"
    "local util = require('jit.util')\n"
    "local function code(chunk, pc) return bit.band((util.funcbc(chunk, pc)), 255) end\n"
    "local READ, SET = code(loadstring('return probe'), 1), code(loadstring('probe = nil'), 2)\n"
    "local function register(instruction) return bit.band(bit.rshift(instruction, 8), 255) end\n"
    "local function constant(chunk, instruction) return util.funck(chunk, -bit.rshift(instruction, 16) - 1) end\n"
    "local call = loadstring('probe(\\'text\\')')\n" // its text comes right after its function, so many registers on
    "local TEXT, STEP = code(call, 2), register((util.funcbc(call, 2))) - register((util.funcbc(call, 1)))\n"
    "local function argument(chunk, pc, base)\n"
    "  local instruction = util.funcbc(chunk, pc + 1) or 0\n"
    "  local is_text = bit.band(instruction, 255) == TEXT and register(instruction) == base + STEP\n"
    "  return is_text and constant(chunk, instruction) or nil\n"
    "end\n"
    "local FIELD, JUMP = code(loadstring('return probe.field'), 2), code(loadstring('if probe then probe() end'), 3)\n"
    "local function field(chunk, pc, base, jumps)\n"
    "  local instruction = util.funcbc(chunk, pc + 1) or 0\n"
    "  local is_field = bit.band(instruction, 255) == FIELD and bit.rshift(instruction, 24) == base\n"
    "  if not is_field or jumps[pc + 1] then return nil end\n"
    "  return util.funck(chunk, -bit.band(bit.rshift(instruction, 16), 255) - 1)\n"
    "end\n"
    "local seen, uses = {}, {}\n"
    "local function note_field(chunk, pc, name, jumps)\n"
    "  local member = field(chunk, pc, register((util.funcbc(chunk, pc))), jumps)\n"
    "  if not member then return end\n"
    "  local line, key = util.funcinfo(chunk, pc + 1).currentline, name .. '.' .. member\n"
    "  if not seen[key] then\n"
    "    seen[key] = { name = name, line = line, is_set = false, field = member }\n"
    "    uses[#uses + 1] = seen[key]\n"
    "  elseif line < seen[key].line then\n"
    "    seen[key].line = line\n"
    "  end\n"
    "end\n"
    "local function note(chunk, pc, instruction)\n"
    "  local name = constant(chunk, instruction)\n"
    "  local is_set = bit.band(instruction, 255) == SET\n"
    "  local line = util.funcinfo(chunk, pc).currentline\n"
    "  local key, table = name .. (is_set and '=' or ''), nil\n"
    "  if key == 'lookup' then\n"
    "    table = argument(chunk, pc, register(instruction))\n"
    "    key = key .. ' ' .. (table or '')\n"
    "  end\n"
    "  if not seen[key] then\n"
    "    seen[key] = { name = name, line = line, is_set = is_set, table = table }\n"
    "    uses[#uses + 1] = seen[key]\n"
    "  elseif line < seen[key].line then\n"
    "    seen[key].line = line\n"
    "  end\n"
    "end\n"
    "local function jumps_of(chunk)\n"
    "  local jumps, pc, instruction = {}, 1, util.funcbc(chunk, 1)\n"
    "  while instruction do\n"
    "    if bit.band(instruction, 255) == JUMP then jumps[pc + 1 + bit.rshift(instruction, 16) - 32768] = true end\n"
    "    pc = pc + 1\n"
    "    instruction = util.funcbc(chunk, pc)\n"
    "  end\n"
    "  return jumps\n"
    "end\n"
    "local function walk(chunk)\n"
    "  local jumps, pc, instruction = jumps_of(chunk), 1, util.funcbc(chunk, 1)\n"
    "  while instruction do\n"
    "    local operation = bit.band(instruction, 255)\n"
    "    if operation == READ or operation == SET then note(chunk, pc, instruction) end\n"
    "    if operation == READ then note_field(chunk, pc, constant(chunk, instruction), jumps) end\n"
    "    if operation == FIELD and field(chunk, pc - 1, bit.rshift(instruction, 24), {}) == 'secret' then\n"
    "      note_field(chunk, pc, '', jumps)\n"
    "    end\n"
    "    pc = pc + 1\n"
    "    instruction = util.funcbc(chunk, pc)\n"
    "  end\n"
    "  local about = util.funcinfo(chunk)\n"
    "  for index = -1, about.children and -about.gcconsts or 0, -1 do\n"
    "    local constant = util.funck(chunk, index)\n"
    "    if type(constant) == 'proto' then walk(constant) end\n"
    "  end\n"
    "end\n"
    "walk(assert(loadstring(source)))\n"
    "table.sort(uses, function(a, b) return a.line < b.line or (a.line == b.line and a.name < b.name) end)\n"
    "tell(#uses)\n"
    "for _, use in ipairs(uses) do tell(use.name, use.line, use.is_set, use.table, use.field) end\n";

struct globals_job {
    struct text source;
    struct arena *arena;
    struct script_global *globals;
    size_t count, room;
    bool is_out_of_memory;
};

/// Called with the number of uses first, then with each.
static int globals_tell(lua_State *L)
{
    struct globals_job *job = lua_touserdata(L, lua_upvalueindex(1));

    if (job->globals == NULL) {
        job->room = (size_t)lua_tointeger(L, 1);
        job->globals = arena_alloc_array(job->arena, job->room + 1, sizeof(*job->globals));
        job->is_out_of_memory = job->globals == NULL;
    } else if (job->count < job->room) {
        struct text name = arena_copy(job->arena, text_of(lua_tostring(L, 1)));
        struct text table = arena_copy(job->arena, text_of(lua_tostring(L, 4)));
        struct text field = arena_copy(job->arena, text_of(lua_tostring(L, 5)));
        job->is_out_of_memory = name.data == NULL || (table.data == NULL && lua_isstring(L, 4)) ||
                                (field.data == NULL && lua_isstring(L, 5));
        job->globals[job->count++] = (struct script_global){
            .name = name.data,
            .line = (uint32_t)lua_tointeger(L, 2),
            .is_set = lua_toboolean(L, 3) != 0,
            .table = table,
            .field = field.data,
        };
    }
    return job->is_out_of_memory ? luaL_error(L, "not enough memory") : 0;
}

static int globals_call(lua_State *L)
{
    struct globals_job *job = lua_touserdata(L, 1);

    luaL_openlibs(L);
    if (luaL_loadbuffer(L, walker, sizeof(walker) - 1, "=globals") != 0) {
        return lua_error(L);
    }
    lua_pushlstring(L, job->source.data, job->source.length);
    lua_pushlightuserdata(L, job);
    lua_pushcclosure(L, globals_tell, 1);
    lua_call(L, 2, 0);
    return 0;
}

enum status script_globals_list(struct text source, struct arena *arena, struct script_global **globals, size_t *count)
{
    struct globals_job job = { .source = source, .arena = arena };
    lua_State *L = luaL_newstate();

    *globals = NULL;
    *count = 0;
    if (L == NULL) {
        return STATUS_NO_MEMORY;
    }
    int status = lua_cpcall(L, globals_call, &job);
    lua_close(L);
    if (status != 0) {
        return status == LUA_ERRMEM || job.is_out_of_memory ? STATUS_NO_MEMORY : STATUS_INVALID;
    }
    *globals = job.globals;
    *count = job.count;
    return STATUS_OK;
}

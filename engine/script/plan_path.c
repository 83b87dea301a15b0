// Paths become steps of places, and what they name becomes the declared tree.

#include "script/bind_support.h"
#include "script/plan_compiler.h"

#include <stdlib.h>
#include <string.h>

void plan_failed(struct plan_compiler *compiler, const char *format, const char *word)
{
    lua_State *L = compiler->L;

    luaL_where(L, 1);
    lua_pushfstring(L, "plan: %s: ", compiler->place);
    lua_pushfstring(L, format, word);
    lua_concat(L, 3);
    lua_error(L);
    abort();
}

void *plan_alloc(struct plan_compiler *compiler, size_t count, size_t size)
{
    void *made = arena_alloc_array(&compiler->plan->arena, count, size);

    if (made == NULL) {
        plan_failed(compiler, "the plan is too large%s", "");
    }
    return made;
}

struct text plan_copy(struct plan_compiler *compiler, struct text text)
{
    char *made = plan_alloc(compiler, text.length + 1, 1);

    memcpy(made, text.data, text.length);
    return (struct text){ made, text.length };
}

static void check_declared(struct plan_compiler *compiler, enum declared_result result, const char *path)
{
    if (result == DECLARED_CONFLICT) {
        plan_failed(compiler, "`%s` is a list here and an object elsewhere", path);
    }
    if (result != DECLARED_OK) {
        plan_failed(compiler, "`%s`: too many names, or one of more than 128 bytes", path);
    }
}

/// The steps of a path while it is read.
struct path_reader {
    struct plan_compiler *compiler;
    const char *whole; // for errors
    struct declared *node;
    struct plan_step steps[PLAN_STEPS_MAX];
    uint32_t count;
};

static void add_step(struct path_reader *reader, struct plan_step step)
{
    if (reader->count == PLAN_STEPS_MAX) {
        plan_failed(reader->compiler, "`%s`: too many steps", reader->whole);
    }
    reader->steps[reader->count++] = step;
}

static void step_to_member(struct path_reader *reader, struct text name)
{
    struct arena *arena = &reader->compiler->plan->arena;
    struct declared *member = NULL;

    if (name.length == 0) {
        plan_failed(reader->compiler, "`%s`: a name is missing", reader->whole);
    }
    check_declared(reader->compiler, declared_member(arena, reader->node, name, &member), reader->whole);
    require(member != NULL);
    reader->node = member;
    add_step(reader, (struct plan_step){ .place = (uint16_t)member->place });
}

static void step_to_element(struct path_reader *reader, struct text number)
{
    struct arena *arena = &reader->compiler->plan->arena;
    struct declared *element = NULL;
    bool is_from_end = number.length > 0 && number.data[0] == '-';
    uint64_t value = 0;

    if (is_from_end) {
        number = (struct text){ number.data + 1, number.length - 1 };
    }
    if (!text_to_u64(number, &value) || value == 0 || value > 1000) {
        plan_failed(reader->compiler, "`%s`: in brackets stands a number from 1 on, or from the end: -1",
                    reader->whole);
    }
    check_declared(reader->compiler, declared_element(arena, reader->node, DECLARED_LIST, &element), reader->whole);
    reader->node = element;
    add_step(reader, (struct plan_step){ .index = (int16_t)(is_from_end ? -(int)value : (int)value) });
}

static void reader_begin(struct path_reader *reader, struct plan_compiler *compiler, struct text whole, uint32_t level)
{
    *reader = (struct path_reader){ .compiler = compiler,
                                    .whole = whole.data,
                                    .node = compiler->plan->levels[level].element };
}

static void reader_end(struct path_reader *reader, struct text text, uint32_t level, struct plan_path *path)
{
    *path = (struct plan_path){
        .level = level, .count = reader->count, .declared = reader->node, .text = plan_copy(reader->compiler, text)
    };
    path->steps = plan_alloc(reader->compiler, reader->count + 1, sizeof(struct plan_step));
    memcpy(path->steps, reader->steps, reader->count * sizeof(struct plan_step));
}

/// Reads up to the first `[]` or the end. What is left.
static struct text read_steps(struct path_reader *reader, struct text text)
{
    bool is_first = true;

    while (text.length > 0) {
        if (text_starts_with(text, TEXT("[]"))) {
            return text;
        }
        if (text.data[0] == '[') {
            struct text rest;
            struct text number = text_split((struct text){ text.data + 1, text.length - 1 }, ']', &rest);
            if (rest.data == NULL) {
                plan_failed(reader->compiler, "`%s`: a ] is missing", reader->whole);
            }
            step_to_element(reader, number);
            text = rest;
        } else {
            if (!is_first && text.data[0] != '.') {
                plan_failed(reader->compiler, "`%s`: a point is missing", reader->whole);
            }
            size_t start = text.data[0] == '.' ? 1 : 0;
            size_t end = start;
            while (end < text.length && text.data[end] != '.' && text.data[end] != '[') {
                end++;
            }
            step_to_member(reader, (struct text){ text.data + start, end - start });
            text = (struct text){ text.data + end, text.length - end };
        }
        is_first = false;
    }
    return text;
}

void plan_compile_path(struct plan_compiler *compiler, struct text text, uint32_t level, struct plan_path *path)
{
    struct path_reader reader;

    if (text.length == 0) {
        plan_failed(compiler, "an empty path: the element itself is `.`%s", "");
    }
    reader_begin(&reader, compiler, text, level);
    if (!text_equals_c(text, ".") && read_steps(&reader, text).length > 0) {
        plan_failed(compiler, "`%s`: lists of lists belong into `each`", text.data);
    }
    reader_end(&reader, text, level, path);
}

uint32_t plan_compile_each(struct plan_compiler *compiler, struct text text, uint32_t level)
{
    struct plan *plan = compiler->plan;
    struct text rest = text;

    if (text.length < 2 || text.data[text.length - 1] != ']' || text.data[text.length - 2] != '[') {
        plan_failed(compiler, "`each = \"%s\"` must end with []", text.data);
    }
    while (rest.length > 0) {
        struct path_reader reader;
        struct declared *element = NULL;
        reader_begin(&reader, compiler, text, level);
        if (rest.data[0] == '.' && rest.data != text.data) {
            rest = (struct text){ rest.data + 1, rest.length - 1 };
        } else if (rest.data[0] != '[' && rest.data != text.data) {
            plan_failed(compiler, "`each = \"%s\"`: a point is missing", text.data);
        }
        struct text behind = read_steps(&reader, rest);
        if (behind.length < 2 || plan->level_count == PLAN_LEVELS_MAX) {
            plan_failed(compiler, "`each = \"%s\"`: too many levels, or something behind the last []", text.data);
        }
        check_declared(compiler, declared_element(&plan->arena, reader.node, DECLARED_LIST, &element), text.data);
        struct plan_level *made = &plan->levels[plan->level_count];
        made->outer = level;
        made->element = element;
        reader_end(&reader, text, level, &made->list);
        level = plan->level_count++;
        rest = (struct text){ behind.data + 2, behind.length - 2 };
    }
    return level;
}

void plan_compile_values(struct plan_compiler *compiler, struct text text, uint32_t level, struct plan_path *path)
{
    struct declared *element = NULL;

    plan_compile_path(compiler, plan_copy(compiler, (struct text){ text.data, text.length - 2 }), level, path);
    check_declared(compiler, declared_element(&compiler->plan->arena, path->declared, DECLARED_LIST, &element),
                   text.data);
}

uint32_t plan_compile_reference(struct plan_compiler *compiler, struct text list, struct text key, struct text path,
                                uint32_t level)
{
    struct plan *plan = compiler->plan;
    struct plan_level *made = &plan->levels[plan->level_count];

    if (plan->level_count == PLAN_LEVELS_MAX) {
        plan_failed(compiler, "`%s`: too many levels", list.data);
    }
    made->outer = level;
    made->is_reference = true;
    plan_compile_path(compiler, list, 0, &made->list);
    check_declared(compiler, declared_element(&plan->arena, made->list.declared, DECLARED_LIST, &made->element),
                   list.data);
    plan->level_count++;
    plan_compile_path(compiler, key, plan->level_count - 1, &made->key);
    plan_compile_path(compiler, path, level, &made->reference);
    return plan->level_count - 1;
}

// The tree of the plan is walked beside that of the schema.

#include "script/plan_check.h"

#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/plan_only.h"

#include <stdio.h>
#include <string.h>

enum { CHOICES_MAX = 64 };

struct checking {
    lua_State *L;
    int search; // stack index of an example; 0: there is none
    plan_on_finding on_finding;
    void *context;
    char place[160]; // `offer.price.total`
};

/// Room for a finding's help.
struct hint {
    char text[sizeof((struct plan_finding *)0)->help];
};

/// "did you mean `word`?", of the name or path that is nearest; else one that begins with what was written.
static struct hint hint_at(struct text written, const char *const *names, size_t count)
{
    struct hint hint = { "" };
    const char *nearest = text_nearest(written, names, count);

    for (size_t i = 0; i < count && nearest == NULL && written.length > 0; i++) {
        struct text name = text_of(names[i]);
        bool goes_on = text_starts_with(name, written) && name.length > written.length;
        nearest = goes_on && name.data[written.length] == '_' ? names[i] : NULL;
    }
    if (nearest != NULL) {
        (void)snprintf(hint.text, sizeof hint.text, "did you mean `%s`?", nearest);
    }
    return hint;
}

/// The words that there are, as many as have room.
static struct hint hint_words(const char *const *names, size_t count)
{
    struct hint hint = { "it is one of: " };
    size_t length = strlen(hint.text);

    for (size_t i = 0; i < count; i++) {
        size_t needed = strlen(names[i]) + (i > 0 ? 2 : 0);
        if (length + needed + sizeof ", …" > sizeof hint.text) {
            (void)snprintf(hint.text + length, sizeof hint.text - length, ", …");
            break;
        }
        (void)snprintf(hint.text + length, sizeof hint.text - length, "%s%s", i > 0 ? ", " : "", names[i]);
        length += needed;
    }
    return hint;
}

static void tell(struct checking *checking, const char *help, const char *format, ...) PRINTF_LIKE(3, 4);

static void tell(struct checking *checking, const char *help, const char *format, ...)
{
    struct plan_finding finding = { .place = checking->place };
    va_list arguments;
    int length = snprintf(finding.message, sizeof finding.message, "plan: `%s` ", checking->place);

    va_start(arguments, format);
    if (length > 0 && (size_t)length < sizeof finding.message) {
        (void)vsnprintf(finding.message + length, sizeof finding.message - (size_t)length, format, arguments);
    }
    va_end(arguments);
    if (help != NULL) {
        (void)snprintf(finding.help, sizeof finding.help, "%s", help);
    }
    checking->on_finding(checking->context, &finding);
}

/// Adds a name to the place; what takes it away again.
static size_t enter(struct checking *checking, const char *name)
{
    size_t before = strlen(checking->place);

    (void)snprintf(checking->place + before, sizeof checking->place - before, before > 0 ? ".%s" : "%s", name);
    return before;
}

static void leave(struct checking *checking, size_t before)
{
    checking->place[before] = '\0';
}

static void check_choice(struct checking *checking, const struct schema_field *field,
                         const struct plan_constant *constant)
{
    const char *names[CHOICES_MAX];
    size_t count = 0;
    struct hint hint;

    if (constant->kind == TAPE_NONE || field->kind != SCHEMA_ENUM) {
        return;
    }
    for (; count < field->value_count && count < CHOICES_MAX; count++) {
        names[count] = field->values[count].data;
        if (constant->kind == TAPE_TEXT && text_equals(constant->text, field->values[count])) {
            return;
        }
    }
    struct text shown = constant->kind == TAPE_TRUE    ? TEXT("true")
                        : constant->kind == TAPE_FALSE ? TEXT("false")
                                                       : constant->text;
    hint = hint_at(shown, names, count);
    if (hint.text[0] == '\0') {
        hint = hint_words(names, count);
    }
    tell(checking, hint.text, "is never \"%.*s\"", TEXT_ARGS(shown));
}

/// A text is always a path, so a word without `const` finds nothing, in every answer.
static void check_word(struct checking *checking, const struct plan_node *node, const struct schema_field *field)
{
    for (size_t i = 0; field->kind == SCHEMA_ENUM && i < field->value_count; i++) {
        if (text_equals(node->path.text, field->values[i])) {
            struct hint hint;
            (void)snprintf(hint.text, sizeof hint.text, "write const \"%.60s\"", field->values[i].data);
            tell(checking, hint.text, "is the path \"%s\" here, though that is one of its words",
                 field->values[i].data);
        }
    }
}

static void check_object(struct checking *checking, const struct plan_node *node, const struct schema_object *object);

static void check_element(struct checking *checking, const struct plan_node *list, const struct schema_field *field);

static void check_value(struct checking *checking, const struct plan_node *node, const struct schema_field *field)
{
    bool is_object = field->kind == SCHEMA_OBJECT;
    bool is_list = field->kind == SCHEMA_LIST;
    const char *what = is_object ? "an object" : is_list ? "a list" : "a value";

    switch (node->op) {
    case PLAN_CALL:
        break; // it may give anything
    case PLAN_OBJECT:
        if (is_object) {
            check_object(checking, node, field->object);
        } else {
            tell(checking, NULL, "is %s, not an object", what);
        }
        break;
    case PLAN_LIST:
        if (is_list) {
            check_element(checking, node, field->element);
        } else {
            tell(checking, NULL, "is %s, not a list", what);
        }
        break;
    case PLAN_VALUES: // never a leaf
        break;
    case PLAN_PATH:
    case PLAN_CONST:
    case PLAN_REF:
    case PLAN_ASKED:
    case PLAN_TIME:
    case PLAN_MONEY:
    case PLAN_MAP:
        if (is_object || is_list) {
            tell(checking, NULL, "is %s: write a table%s, or a function that makes one", what,
                 is_list ? " with `each`" : "");
        } else if (node->op == PLAN_CONST || node->op == PLAN_MAP) {
            check_choice(checking, field, &node->value);
        } else if (node->op == PLAN_PATH) {
            check_word(checking, node, field);
        }
        for (size_t i = 0; node->op == PLAN_MAP && !is_object && !is_list && i < node->entry_count; i++) {
            check_choice(checking, field, &node->entries[i].value);
        }
        break;
    }
}

static void check_element(struct checking *checking, const struct plan_node *list, const struct schema_field *field)
{
    if (list->parts[0] != NULL) {
        check_value(checking, list->parts[0], field);
    } else if (field->kind == SCHEMA_OBJECT) {
        check_object(checking, list, field->object);
    } else {
        tell(checking, NULL, "is a list of values: { each = …, \"path\" }");
    }
}

static const struct schema_field *find_field(const struct schema_object *object, struct text name)
{
    for (size_t i = 0; i < object->count; i++) {
        if (text_equals_c(name, object->fields[i].name)) {
            return &object->fields[i];
        }
    }
    return NULL;
}

static void check_fields(struct checking *checking, const struct plan_node *node, const struct schema_object *object)
{
    const char *names[SCHEMA_FIELDS_MAX];

    for (size_t i = 0; i < object->count; i++) {
        names[i] = object->fields[i].name;
    }
    for (size_t i = 0; i < node->field_count; i++) {
        const struct plan_node *leaf = node->fields[i];
        const struct schema_field *field = find_field(object, leaf->name);
        size_t before = enter(checking, leaf->name.data);
        if (field != NULL) {
            check_value(checking, leaf, field);
        } else {
            struct hint hint = hint_at(leaf->name, names, object->count);
            tell(checking, hint.text, "is no field of the offer");
        }
        leave(checking, before);
    }
}

/// A `money` term brings the currency along.
static bool brings_currency(const struct plan_node *node)
{
    for (size_t i = 0; i < node->field_count; i++) {
        if (node->fields[i]->op == PLAN_MONEY) {
            return true;
        }
    }
    return false;
}

static void check_object(struct checking *checking, const struct plan_node *node, const struct schema_object *object)
{
    check_fields(checking, node, object);
    for (size_t i = 0; i < object->count; i++) {
        const struct schema_field *field = &object->fields[i];
        bool is_there = (int)i == object->currency && brings_currency(node);
        for (size_t k = 0; k < node->field_count && !is_there; k++) {
            is_there = text_equals_c(node->fields[k]->name, field->name);
        }
        if (field->is_required && !is_there) {
            size_t before = enter(checking, field->name);
            tell(checking, NULL, "is required, but nothing in the plan gives it");
            leave(checking, before);
        }
    }
}

// ---- what is asked of the search
// -------------------------------------------------------------------------------------

/// The name in the table on top that is meant by `name`, or NULL; the table keeps it.
static const char *nearest_key(lua_State *L, struct text name)
{
    const char *names[CHOICES_MAX];
    size_t count = 0;
    int top = lua_gettop(L);

    for (lua_pushnil(L); count < CHOICES_MAX && lua_next(L, top) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            names[count++] = lua_tostring(L, -2);
        }
    }
    lua_settop(L, top);
    return text_nearest(name, names, count);
}

/// An example need not have all that a search may say, so only what is nearly one of its names is told.
static void check_path_asked(struct checking *checking, const struct plan_node *node)
{
    lua_State *L = checking->L;
    int top = lua_gettop(L);
    struct text path = node->value.text;
    struct text rest = path;

    lua_pushvalue(L, checking->search);
    while (rest.length > 0 && freeze_raw(L, lua_gettop(L))) {
        struct text name = text_split(rest, '.', &rest);
        bind_push_text(L, name);
        lua_rawget(L, -2);
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            const char *nearest = nearest_key(L, name);
            if (nearest != NULL) {
                struct hint hint;
                (void)snprintf(hint.text, sizeof hint.text, "did you mean `%.*s%.60s`?", (int)(name.data - path.data),
                               path.data, nearest);
                tell(checking, hint.text, "asks for \"%.*s\", which the product's example lacks", TEXT_ARGS(path));
            }
            break;
        }
    }
    lua_settop(L, top);
}

static void check_asked(struct checking *checking, const struct plan_node *node);

static void check_only(struct checking *checking, const struct plan_only *only)
{
    size_t before = enter(checking, "only");

    if (only != NULL) {
        check_asked(checking, only->leaf);
    }
    leave(checking, before);
}

static void check_asked(struct checking *checking, const struct plan_node *node)
{
    size_t before = strlen(checking->place);

    if (node->name.data != NULL) {
        (void)enter(checking, node->name.data);
    }
    if (node->op == PLAN_ASKED) {
        check_path_asked(checking, node);
    }
    for (size_t i = 0; i < node->field_count; i++) {
        check_asked(checking, node->fields[i]);
    }
    for (size_t i = 0; i < COUNT_OF(node->parts); i++) {
        if (node->parts[i] != NULL) {
            check_asked(checking, node->parts[i]);
        }
    }
    check_only(checking, node->only);
    leave(checking, before);
}

void plan_check(lua_State *L, const struct plan *plan, const struct schema *schema, int search,
                plan_on_finding on_finding, void *context)
{
    struct checking checking = {
        .L = L, .search = search, .on_finding = on_finding, .context = context, .place = "offer"
    };

    check_object(&checking, plan->offer, &schema->root);
    if (search != 0) {
        luaL_checkstack(L, 32, "a plan's check");
        check_asked(&checking, plan->offer);
        checking.place[0] = '\0';
        check_only(&checking, plan->only);
    }
}

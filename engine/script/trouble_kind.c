// Errors of the interpreter itself are known by its own words, which the function of Lua that runs has raised; errors
// of C functions by the function's name among the globals, unless they gave a code.

#include "script/trouble_kind.h"

#include "base/redact.h"
#include "script/plan_drop.h"
#include "script/progress.h"
#include "script/sandbox_globals.h"
#include "script/trouble_chain.h"
#include "script/trouble_line.h"
#include "script/trouble_path.h"

#include <stdio.h>
#include <string.h>

enum { TROUBLE_GUESS = CHAIN_TEXT + 64 };

/// What the interpreter could not do, in its words.
static const struct operation {
    const char *words;
    enum code code;
    enum chain_place place;
} operations[] = {
    { "attempt to index ", CODE_NIL_FIELD, CHAIN_INDEXED },
    { "attempt to call ", CODE_NIL_CALL, CHAIN_CALLED },
    { "attempt to perform arithmetic on ", CODE_ARITHMETIC, CHAIN_RECKONED },
    { "attempt to concatenate ", CODE_CONCATENATION, CHAIN_JOINED },
    { "attempt to compare ", CODE_COMPARISON, CHAIN_COMPARED },
    { "attempt to get length of ", CODE_LENGTH, CHAIN_MEASURED },
};

/// Helpers that raise for one reason, mostly; by the beginning of their names.
static const struct {
    const char *name;
    enum code code;
} helpers[] = {
    { "error", CODE_RAISED },
    { "assert", CODE_RAISED },
    { "require", CODE_MODULE_MISSING },
    { "money.", CODE_MONEY_AMOUNT },
    { "time.", CODE_TIME_FORMAT },
    { "json.", CODE_JSON },
    { "xml.", CODE_XML },
    { "soap.", CODE_XML },
    { "crypto.", CODE_CRYPTO },
    { "url.", CODE_URL },
    { "form.", CODE_URL },
    { "lookup", CODE_LOOKUP },
    { "map_of", CODE_SHAPE },
    { "plan", CODE_PLAN },
    { "up", CODE_PLAN },
    { "const", CODE_PLAN },
    { "ref", CODE_PLAN },
    { "asked", CODE_PLAN },
};

static const struct {
    enum code code;
    const char *help;
} remedies[] = {
    { CODE_RAISED, "what a supplier did wrong is told by fail.…; an error is a bug of the script" },
    { CODE_FROZEN,
      "what scripts are given is read-only: copy what you change into a table of your own, `local query = {}`" },
    { CODE_GLOBAL_UNKNOWN, "mend the name, or declare it with `local`" },
    { CODE_GLOBAL_WRITTEN, "write `local` before it" },
    { CODE_NIL_FIELD, "guard what may be missing: `a and a.b`" },
    { CODE_NAME_UNKNOWN, "mend the name: the fields stand in scripts/README.md, those of a search in its product" },
    { CODE_NIL_CALL, "mend the name, or define the function before it is called" },
    { CODE_ARITHMETIC, "guard it, or convert it with `tonumber`; amounts go through `money`" },
    { CODE_CONCATENATION, "guard it, or convert it with `tostring`" },
    { CODE_COMPARISON, "guard it: both sides must be there, and both be numbers or both be texts" },
    { CODE_LENGTH, "guard it: `#(list or {})`" },
    { CODE_NOT_A_TABLE, "the answer is not built as the script thinks: look at it with `type`" },
    { CODE_ARGUMENT, "look at what is given to it; a nil is most often a field that is missing" },
    { CODE_MONEY_FLOAT,
      "read the amount as `decimal` or `text` of a shape, response:json { … }, or use money.scaled for whole cents" },
    { CODE_CURRENCY, "give a code of ISO 4217, such as \"EUR\"" },
    { CODE_MONEY_AMOUNT, "give a decimal text, such as \"412.30\"" },
    { CODE_TIME_FORMAT, "use the function of `time` that reads this format, see scripts/README.md" },
    { CODE_PLACE, "give the IATA code of an airport; a city has none" },
    { CODE_JSON, "see `json` in scripts/README.md" },
    { CODE_XML, "see `xml` in scripts/README.md" },
    { CODE_LOOKUP, "name the table in `data` of the settings, and give all its keys" },
    { CODE_CRYPTO, "see `crypto` in scripts/README.md" },
    { CODE_URL, "see `url` and `form` in scripts/README.md" },
    { CODE_PATTERN, "these are Lua's patterns, no regular expressions: `%d`, not `\\d`" },
    { CODE_SHAPE, "a shape names fields and leaves: { offers = { { id = text } } }" },
    { CODE_PLAN, "see `plan` in scripts/README.md: what it is made of" },
    { CODE_MODULE_MISSING,
      "modules are files of scripts/, not of its folders: require(\"dates\") is scripts/dates.lua" },
    { CODE_RETURNED, "return what the message names; a forgotten `return` gives nil" },
    { CODE_IMPURE, "give the same answer every time: use only the arguments" },
    { CODE_HOST_NOT_ALLOWED, "add the host to `hosts`, or mend the URL" },
    { CODE_SECRET_MISSING, "name it in `secrets`, and set its environment variable" },
    { CODE_REQUEST_MALFORMED, "return { method=, url= or path=, query=, headers=, json= | form= | body= }" },
    { CODE_STATE_TOO_LARGE, "keep a cursor or a page number, not the answer" },
    { CODE_TOO_DEEP, "look for a function that calls itself without end" },
    { CODE_LOGIN_FAILED, "return { value =, expires_in_s = }, or fail.auth(message)" },
};

/// The words of the interpreter about one value: "local 'f' (a nil value)", "a nil value".
struct complaint_words {
    const struct operation *operation;
    char name[CHAIN_TEXT]; // of the variable or field; empty: not told
    bool is_variable;
    char type[24];
    char function[CHAIN_TEXT]; // that was given it; empty: an operation met it
    uint32_t argument;
};

static bool read_words(const char *words, struct complaint_words *out)
{
    *out = (struct complaint_words){ .operation = NULL };
    for (size_t i = 0; i < COUNT_OF(operations) && out->operation == NULL; i++) {
        size_t length = strlen(operations[i].words);
        if (strncmp(words, operations[i].words, length) == 0) {
            out->operation = &operations[i];
            words += length;
        }
    }
    if (out->operation == NULL) {
        return false;
    }
    char kind[16];
    if (sscanf(words, "%15s '%95[^']' (a %23s value)", kind, out->name, out->type) == 3) {
        out->is_variable = strcmp(kind, "local") == 0 || strcmp(kind, "upvalue") == 0;
    } else if (out->operation->code == CODE_COMPARISON) {
        // "nil with number", "two nil values", "two table values"
        char left[24] = "", right[24] = "";
        bool is_two = sscanf(words, "two %23s values", out->type) == 1;
        if (!is_two && sscanf(words, "%23s with %23s", left, right) == 2) {
            (void)snprintf(out->type, sizeof out->type, "%s", strcmp(right, "nil") == 0 ? right : left);
        }
    } else {
        (void)sscanf(words, "a %23s value", out->type);
    }
    return true;
}

/// What scripts call the function of C that raised; ours may have called another one. "?": no name of theirs.
static void find_helper(lua_State *L, char helper[CHAIN_TEXT])
{
    lua_Debug where;

    (void)snprintf(helper, CHAIN_TEXT, "?");
    for (int level = 1; level <= 2 && strcmp(helper, "?") == 0; level++) {
        if (lua_getstack(L, level, &where) == 0 || lua_getinfo(L, "Sf", &where) == 0) {
            return;
        }
        if (where.what[0] == 'C') {
            sandbox_globals_push_name(L, lua_gettop(L));
            (void)snprintf(helper, CHAIN_TEXT, "%s", lua_tostring(L, -1));
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
        if (where.what[0] != 'C') {
            return;
        }
    }
}

/// The code of a function of C that raised, by its name.
static enum code code_of_helper(lua_State *L, const char *words, char helper[CHAIN_TEXT])
{
    lua_Debug where;
    enum code code = CODE_NONE;

    if (lua_getstack(L, 1, &where) == 0 || lua_getinfo(L, "S", &where) == 0) {
        return CODE_RAISED;
    }
    if (where.what[0] != 'C') {
        return strncmp(words, "stack overflow", 14) == 0 ? CODE_TOO_DEEP : CODE_ARGUMENT;
    }
    find_helper(L, helper);
    bool is_argument = strncmp(words, "bad argument", 12) == 0 || strncmp(words, "calling '", 9) == 0;
    for (size_t i = 0; i < COUNT_OF(helpers) && code == CODE_NONE; i++) {
        if (strncmp(helper, helpers[i].name, strlen(helpers[i].name)) == 0) {
            code = helpers[i].code;
        }
    }
    bool is_pattern = strncmp(helper, "string.", 7) == 0 && strstr(words, "pattern") != NULL;
    bool is_of_argument = is_argument && code != CODE_LOOKUP && code != CODE_MODULE_MISSING;
    return is_pattern ? CODE_PATTERN : is_of_argument || code == CODE_NONE ? CODE_ARGUMENT : code;
}

/// "f is body.offers[2]: { bounds, id }"; the path is kept for the remedy. True: keys that nobody declared are not
/// among them, though the document may have them.
static bool note_owner(struct trouble_scene *scene, const struct chain_fault *fault, struct failure *why,
                       char path[TROUBLE_PATH])
{
    char keys[TROUBLE_KEYS];
    bool is_declared = false;

    trouble_keys(scene->L, fault->table, keys);
    if (!trouble_path(scene->L, scene->trouble, fault->table, scene->level, path, &is_declared)) {
        failure_note(why, "%s is %s", fault->owner, keys);
        return false;
    }
    const char *of_what = is_declared ? ", of which is read" : "";
    if (strcmp(path, fault->owner) != 0) {
        failure_note(why, "%s is %s%s: %s", fault->owner, path, of_what, keys);
    } else {
        failure_note(why, "%s is %s%s", fault->owner, is_declared ? "read as " : "", keys);
    }
    return is_declared;
}

/// The field behind what it is of, as Lua writes it, or in a text within quotes.
static void write_field(const struct chain_fault *fault, const char *owner, char quote, char *place, size_t size)
{
    if (fault->name[0] == '[') {
        (void)snprintf(place, size, "%s%s", owner, fault->name);
    } else if (chain_is_name(text_of(fault->name))) {
        (void)snprintf(place, size, "%s%s%s", owner, owner[0] != '\0' ? "." : "", fault->name);
    } else {
        (void)snprintf(place, size, "%s[%c%s%c]", owner, quote, fault->name, quote);
    }
}

static void help_guard(const struct chain_fault *fault, struct failure *why, const char *guess)
{
    char whole[2 * CHAIN_TEXT + 8];

    write_field(fault, fault->owner, '"', whole, sizeof whole);
    if (fault->after[0] != '\0') {
        failure_help(why, "%sguard it: `%s and %s%s`", guess, whole, whole, fault->after);
    } else {
        failure_help(why, "%sguard it: `if %s then`", guess, whole);
    }
}

/// The remedy for a field that is not there: its neighbour, a guard, or the supplier's fault with its path.
static void help_field(struct trouble_scene *scene, const struct chain_fault *fault, struct failure *why,
                       const char *path, bool is_declared)
{
    char nearest[64], guess[TROUBLE_GUESS] = "";
    const char *inner = strncmp(path, "body.", 5) == 0 ? path + 5 : strncmp(path, "body", 4) == 0 ? path + 4 : NULL;
    char place[TROUBLE_PATH + CHAIN_TEXT + 8];

    if (trouble_nearest(scene->L, fault->table, fault->name, nearest, sizeof nearest)) {
        (void)snprintf(guess, sizeof guess, "did you mean `%s`? Else ", nearest);
    } else if (is_declared && fault->name[0] != '[') {
        (void)snprintf(guess, sizeof guess, "if the answer has it, declare `%s` in the shape or plan; else ",
                       fault->name);
    }
    if (inner != NULL) {
        write_field(fault, inner, '\'', place, sizeof place);
        failure_help(why, "%sguard it, or return fail.unexpected(\"%s\")", guess, place);
        return;
    }
    help_guard(fault, why, guess);
}

/// What was there instead, for people: "is missing", "is a string".
static void tell_type(const char *type, char *place, size_t size)
{
    if (strcmp(type, "nil") == 0) {
        (void)snprintf(place, size, "is missing");
    } else if (strcmp(type, "userdata") == 0) {
        (void)snprintf(place, size, "is a table");
    } else {
        (void)snprintf(place, size, "is a %s", type);
    }
}

/// Finds what came to nothing on the line. True: notes, remedy and `subject` ("field `total` is missing") are there.
static bool tell_fault(struct trouble_scene *scene, const struct complaint_words *said, struct failure *why,
                       char *subject, size_t size)
{
    struct chain_wish wish = { .name = said->name[0] != '\0' ? text_of(said->name) : (struct text){ NULL, 0 },
                               .is_variable = said->is_variable,
                               .place = said->operation != NULL ? said->operation->place : CHAIN_GIVEN,
                               .type = said->type,
                               .argument = said->argument };
    struct chain_fault fault;
    char path[TROUBLE_PATH] = "", is_what[40];

    if (scene->source_line.data == NULL || said->type[0] == '\0') {
        return false;
    }
    wish.function = said->operation == NULL ? text_of(said->function) : (struct text){ NULL, 0 };
    enum chain_count count = chain_find(scene->L, scene->level, scene->source, scene->source_line, &wish, &fault);
    if (count == CHAIN_MANY && why->help[0] == '\0') {
        failure_help(why, "more than one value on this line may be it: give each a line of its own, and guard it");
    }
    if (count != CHAIN_ONE) {
        return false;
    }
    tell_type(said->type, is_what, sizeof is_what);
    scene->at = fault.at;
    if (fault.table == 0 && fault.owner[0] != '\0') {
        (void)snprintf(subject, size, "field `%s` %s", fault.name, is_what);
        progress_tell_fields(path, sizeof path);
        failure_note(why, "%s has %s; what is not known yet is nil", fault.owner, path);
        help_guard(&fault, why, "");
        return true;
    }
    if (fault.table == 0) {
        (void)snprintf(subject, size, "`%s` %s", fault.name, strcmp(is_what, "is missing") == 0 ? "is nil" : is_what);
        return true;
    }
    (void)snprintf(subject, size, "%s `%s` %s", fault.name[0] == '[' ? "item" : "field", fault.name, is_what);
    bool is_declared = note_owner(scene, &fault, why, path);
    if (strcmp(said->type, "nil") == 0) {
        help_field(scene, &fault, why, path, is_declared);
    }
    return true;
}

/// An error of the interpreter.
static void tell_operation(struct trouble_scene *scene, const struct complaint_words *said, struct failure *why)
{
    char subject[160], words[sizeof why->message];

    why->code = said->operation->code;
    if (said->operation->place == CHAIN_INDEXED && strcmp(said->type, "nil") != 0) {
        why->code = CODE_NOT_A_TABLE;
    }
    if (!tell_fault(scene, said, why, subject, sizeof subject)) {
        return;
    }
    if (why->code == CODE_NIL_FIELD) {
        failure_set(why, "%s here", subject);
        return;
    }
    (void)snprintf(words, sizeof words, "%.300s: %s", why->message, subject);
    failure_set(why, "%s", words);
}

/// An argument that is nil is most often a field that is not there.
static void tell_argument(struct trouble_scene *scene, struct failure *why)
{
    struct complaint_words said = { .operation = NULL, .type = "nil" };
    char subject[160], words[sizeof why->message], name[CHAIN_TEXT];
    size_t length = strlen(scene->words);

    if (length <= 8 || strcmp(scene->words + length - 8, "got nil)") != 0 ||
        sscanf(scene->words, "bad argument #%u to '%95[^']'", &said.argument, name) != 2) {
        return;
    }
    const char *inner = strrchr(name, '.'); // of "money.parse"
    (void)snprintf(said.function, sizeof said.function, "%s", inner != NULL ? inner + 1 : name);
    if (tell_fault(scene, &said, why, subject, sizeof subject)) {
        (void)snprintf(words, sizeof words, "%.300s: %s", why->message, subject);
        failure_set(why, "%s", words);
    }
}

/// "'for' limit must be a number", of a loop over numbers. False: it is something else.
static bool tell_loop(struct trouble_scene *scene, struct failure *why)
{
    static const char *const parts[] = { "initial", "limit", "step" };
    struct complaint_words said = { .operation = NULL, .type = "nil", .function = "for" };
    char part[16], subject[160], words[sizeof why->message];

    if (sscanf(scene->words, "'for' %15s", part) != 1) {
        return false;
    }
    for (uint32_t i = 0; i < COUNT_OF(parts); i++) {
        said.argument = strcmp(part, parts[i]) == 0 ? i + 1 : said.argument;
    }
    why->code = CODE_ARITHMETIC;
    if (said.argument > 0 && tell_fault(scene, &said, why, subject, sizeof subject)) {
        (void)snprintf(words, sizeof words, "%.300s: %s", why->message, subject);
        failure_set(why, "%s", words);
    }
    return true;
}

/// The interpreter does not know what functions of ours are called.
static void name_helper(struct trouble_scene *scene, struct failure *why, const char *name)
{
    char words[sizeof why->message];
    char *at = strstr(why->message, " to '?' ");

    if (at != NULL && strcmp(name, "?") != 0) {
        (void)snprintf(words, sizeof words, "%.*s to '%s' %s", (int)(at - why->message), why->message, name,
                       at + strlen(" to '?' "));
        failure_set(why, "%s", words);
    }
    if (scene->level == 0 && strcmp(name, "?") != 0) { // `return name(...)`: the function that said so is gone
        failure_note(why, TROUBLE_TAIL "%s(...)`, which leaves no line", name);
    }
}

void trouble_part_help(struct failure *why)
{
    static const char *const beginnings[] = { ": did you mean ", ": declare it with local", " to scripts: use " };

    for (size_t i = 0; i < COUNT_OF(beginnings); i++) {
        char *at = strstr(why->message, beginnings[i]);
        if (at != NULL) {
            char *colon = strchr(at, ':');
            failure_help(why, "%s", colon + 2);
            *colon = '\0';
            return;
        }
    }
}

void trouble_help(struct failure *why)
{
    if (why->help[0] == '\0') {
        trouble_part_help(why);
    }
    if (why->code == CODE_RETURNED && strncmp(why->message, "normalise", 9) == 0 && why->help[0] == '\0') {
        failure_help(why, "`return offers`, a list; {} or \"empty\" when there is nothing for sale");
    }
    for (size_t i = 0; i < COUNT_OF(remedies) && why->help[0] == '\0'; i++) {
        if (remedies[i].code == why->code) {
            failure_help(why, "%s", remedies[i].help);
        }
    }
}

/// Where the first name that the message has in quotes stands on the line: that is most likely what it is about.
static const char *find_quoted(const struct trouble_scene *scene)
{
    const char *open = strchr(scene->words, '\''), *close = open == NULL ? NULL : strchr(open + 1, '\'');

    if (close == NULL || scene->source_line.data == NULL) {
        return NULL;
    }
    return trouble_line_find(scene->source_line, (struct text){ open + 1, (size_t)(close - open - 1) });
}

void trouble_tell_kind(struct trouble_scene *scene, struct failure *why)
{
    struct complaint_words said;
    int top = lua_gettop(scene->L);
    char helper[CHAIN_TEXT] = "?";

    scene->at = find_quoted(scene);
    if (scene->trouble->raised != CODE_NONE) {
        why->code = scene->trouble->raised;
    } else if (scene->level == 1 && read_words(scene->words, &said)) {
        tell_operation(scene, &said, why);
        if (scene->trouble->row != NULL && strcmp(said.type, "nil") == 0) {
            plan_drop_tell_absent(scene->trouble->row, why);
        }
    } else if (scene->level != 1 || !tell_loop(scene, why)) {
        why->code = code_of_helper(scene->L, scene->words, helper);
        if (why->code == CODE_ARGUMENT) {
            tell_argument(scene, why);
        }
        name_helper(scene, why, helper);
    }
    lua_settop(scene->L, top);
    trouble_help(why);
    why->message[redact_apply(why->message, strlen(why->message), false)] = '\0';
    why->notes[redact_apply(why->notes, strlen(why->notes), false)] = '\0';
    why->help[redact_apply(why->help, strlen(why->help), false)] = '\0';
}

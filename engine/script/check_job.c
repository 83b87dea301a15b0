// One function is run in one protected call. A count hook bounds its CPU time; one that is stuck inside a function of C
// never gets there, and is its caller's affair (check_task.h).

#include "script/check_job.h"

#include "base/clock.h"
#include "script/trouble.h"
#include "script/trouble_line.h"

#include <stdio.h>
#include <string.h>

enum { CHECK_MEMORY = 32 << 20 };

/// What is most likely wrong with a line that is no Lua; `help` may be filled for it.
static const char *check_syntax_help(const struct script_file *file, uint32_t line, const char *message, char help[96])
{
    static const char *const words[] = { "and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                         "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                         "repeat",   "return", "then", "true", "until",  "while" };
    struct failure shown = { .code = CODE_NONE };

    if (strstr(message, "escape sequence") != NULL) {
        return "a backslash in a text is written `\\\\`; Lua's patterns have `%` for it: `%d`, not `\\d`";
    }
    trouble_note_line(&shown, file->source, line, NULL);
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        char near[24], before[24];
        size_t length = (size_t)snprintf(near, sizeof near, "%s =", words[i]);
        (void)snprintf(before, sizeof before, "near '%s'", words[i]);
        const char *at = strstr(shown.notes, near);
        bool is_name = at != NULL && at > shown.notes && at[length] != '=' && strchr(" {,", at[-1]) != NULL;
        if (is_name && (strstr(message, before) != NULL || strstr(message, "near '='") != NULL)) {
            (void)snprintf(help, 96, "`%s` is a word of Lua: write [\"%s\"] =", words[i], words[i]);
            return help;
        }
    }
    return "look at the end of the line above, too: a comma, quote, bracket, `then` or `end` is missing";
}

/// Reports Lua's own message, its "path:line: " turned into a place.
static void check_report_message(struct script_check *check, const struct script_file *file, enum code code,
                                 const char *message)
{
    const char *help = code == CODE_NO_TABLE ? "end it with `return { name = …, … }`" : NULL;
    char place[96];

    for (const char *colon = strchr(message, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        unsigned line = 0;
        int consumed = 0;
        if (sscanf(colon, ":%u: %n", &line, &consumed) == 1 && consumed > 0) {
            help = code == CODE_SYNTAX ? check_syntax_help(file, line, colon + consumed, place) : help;
            script_check_report(check, file, line, code, help, "%s", colon + consumed);
            return;
        }
    }
    script_check_report(check, file, 0, code, help, "%s", message);
}

/// The source of the file in hand, or of a module.
static bool check_find_source(void *context, struct text shown, struct text *path, struct text *source)
{
    const struct check_job *job = context;
    const struct script_file *file =
        script_file_is(job->file, shown) ? job->file : script_shelf_shown(job->file->shelf, shown);

    if (file == NULL || file->source.data == NULL) {
        return false;
    }
    *path = file->path;
    *source = file->source;
    return true;
}

/// An error of the file itself, with all that was found out where it was raised. False: it is another's.
static bool check_report_trouble(const struct check_job *job, const struct failure *trouble)
{
    struct script_check *check = job->check;

    if (trouble->code == CODE_NONE || trouble->line == 0 || !text_equals_c(job->file->path, trouble->file)) {
        return false;
    }
    check->findings++;
    check->report(check->context, trouble);
    return true;
}

static void check_on_error(lua_State *L, void *context)
{
    struct check_job *job = context;
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "raised something that is no message";
    const struct trouble *trouble = sandbox_trouble(L);
    bool is_told = job->code == CODE_RAISED && trouble != NULL && trouble->failure.code != CODE_NONE;

    if (is_told && check_report_trouble(job, &trouble->failure)) {
        return;
    }
    check_report_message(job->check, job->file, is_told ? trouble->failure.code : job->code, message);
}

void *check_job_begin(lua_State *L)
{
    struct check_job *job = lua_touserdata(L, 1);

    lua_settop(L, 0);
    sandbox_bound(L, job->limit_us);
    return job->work;
}

void check_job_run(lua_State *L, struct check_job *job)
{
    sandbox_bound(L, job->limit_us);
    job->code = CODE_SYNTAX;
    if (!script_shelf_load(L, job->file)) {
        lua_error(L);
    }
    job->code = CODE_RAISED;
    lua_call(L, 0, 1);
}

void check_job_call(struct check_job *job, lua_CFunction function)
{
    struct script_check *check = job->check;
    struct sandbox *sandbox = sandbox_create(CHECK_MEMORY, script_shelf_on_require, NULL);

    if (sandbox == NULL) {
        script_check_report(check, job->file, 0, CODE_MEMORY, NULL, "not enough memory to load the file");
        return;
    }
    sandbox->trouble.find_source = check_find_source;
    sandbox->trouble.context = job;
    switch (sandbox_call(sandbox, function, check_on_error, job)) {
    case SANDBOX_OK:
    case SANDBOX_ERROR: // reported
        break;
    case SANDBOX_STOPPED:
        if (job->work != NULL) {
            script_check_report(check, job->file, script_check_line_of(job->file, "ceiling", 1), CODE_TIMEOUT, NULL,
                                "ceiling runs for more than %d ms", (int)(job->limit_us / 1000));
            break;
        }
        check->is_overdue = true;
        script_check_report(check, job->file, 0, CODE_TIMEOUT,
                            "move the work into a function that runs when it is needed",
                            "the file runs for more than %g s while it is loaded", (double)job->limit_us / 1e6);
        break;
    case SANDBOX_OUT_OF_MEMORY:
        script_check_report(check, job->file, 0, CODE_MEMORY, NULL, "the file uses up its memory while it is loaded");
        break;
    }
    sandbox_destroy(&sandbox);
}

// The name of a recorded fixture: is it one, is it free, and does what came of the search fit it?

#include "app/try_record.h"

#include "base/redact.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_MAX_BYTES = 64, BODY_NAME = 96 };

/// Is it fit for a file, and for a fixture?
static bool is_name(const char *name)
{
    size_t length = strlen(name);
    bool is_fit = length < NAME_MAX_BYTES && (strncmp(name, "ok-", 3) == 0 || strncmp(name, "odd-", 4) == 0);

    for (size_t i = 0; i < length && is_fit; i++) {
        is_fit = isalnum((unsigned char)name[i]) || strchr("-_", name[i]) != NULL;
    }
    return is_fit && name[length - 1] != '-';
}

bool try_record_body_path(const struct try_recording *recording, size_t number, char path[TRY_PATH_SIZE])
{
    static const char *const ENDS[] = { "json", "xml" };
    const char *slash = strrchr(recording->path, '/');
    char middle[32] = "";

    if (number / COUNT_OF(ENDS) > 0) {
        (void)snprintf(middle, sizeof(middle), ".%zu", number / COUNT_OF(ENDS));
    }
    (void)snprintf(path, TRY_PATH_SIZE, "%.*s/%s%s.body.%s", (int)(slash - recording->path), recording->path,
                   recording->name, middle, ENDS[number % COUNT_OF(ENDS)]);
    return number < COUNT_OF(ENDS) * (FIXTURE_EXCHANGES_MAX + 1);
}

/// A file that would be written over; also a link that leads nowhere.
static bool find_taken(const struct try_recording *recording, char path[TRY_PATH_SIZE])
{
    struct stat facts;

    (void)snprintf(path, TRY_PATH_SIZE, "%s", recording->path);
    bool is_taken = lstat(path, &facts) == 0;
    for (size_t number = 0; !is_taken && try_record_body_path(recording, number, path); number++) {
        is_taken = lstat(path, &facts) == 0;
    }
    return is_taken;
}

bool try_record_check(struct try_recording *recording, struct failure *why)
{
    static const char LUA[] = ".lua";
    char path[TRY_PATH_SIZE];
    struct text file = recording->subject->script->file;

    if (!is_name(recording->name)) {
        failure_code(why, CODE_FIXTURE_NAME);
        failure_set(why, "`%s` is no name for a fixture", recording->name);
        failure_help(why, "letters, digits, - and _: --as ok-one-way for what must not fail, --as odd-sold-out for all "
                          "else");
        return false;
    }
    int length = snprintf(recording->path, sizeof(recording->path), "%.*s.test/%s.json",
                          (int)(file.length - strlen(LUA)), file.data, recording->name);
    if (length >= (int)sizeof(recording->path) - BODY_NAME) {
        failure_set(why, "the fixture's path is too long");
        return false;
    }
    if (!recording->is_forced && find_taken(recording, path)) {
        bool is_body = strcmp(path, recording->path) != 0;
        failure_at(why, path, 0, 0);
        failure_set(why, is_body ? "there is a body of that name already" : "there is a fixture of that name already");
        failure_help(why, "give another one with --as, or --force to replace it");
        return false;
    }
    return true;
}

/// Why an outcome is what it is, as far as the reply tells.
static void print_reason(const struct try_run *run, char *place, size_t size)
{
    static const char *const MEMBERS[] = { "detail", "reason", "kind" };
    struct text reason = { 0 };

    for (size_t i = 0; i < COUNT_OF(MEMBERS) && reason.length == 0; i++) {
        reason = json_tree_text(try_report(run), MEMBERS[i]);
    }
    (void)redact_copy(place, size, reason);
}

bool try_record_fits(const struct try_recording *recording, struct failure *why)
{
    struct text outcome = try_outcome(recording->run);
    bool is_ok = strncmp(recording->name, "ok-", 3) == 0;
    char reason[300];

    if (!is_ok || (text_equals(outcome, TEXT("answered")) && recording->run->misses == 0)) {
        return true;
    }
    if (try_is_mistake(recording->run) && try_failure(recording->run, recording->subject, why)) {
        failure_note(why, "so there is nothing to keep as %s", recording->name);
        return false;
    }
    print_reason(recording->run, reason, sizeof(reason));
    *why = (struct failure){ .code = CODE_FIXTURE_NAME };
    failure_set(why, "the outcome is %.*s%s%s, so it is no ok fixture", TEXT_ARGS(outcome),
                reason[0] == '\0' ? "" : ": ", reason);
    failure_help(why, "--as odd-%s keeps it as what may happen", recording->name + 3);
    return false;
}

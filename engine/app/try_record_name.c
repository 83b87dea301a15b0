// The name of a recorded fixture: is it one, is it free, and does what came of the search fit it?

#include "app/try_record.h"

#include "base/redact.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 64, BODY_NAME = 96 };

/// Is it fit for a file, and for a fixture?
static bool is_name(const char *name)
{
    size_t length = strlen(name);
    bool is_fit = length < NAME_MAX_BYTES && (strncmp(name, "ok-", 3) == 0 || strncmp(name, "odd-", 4) == 0);

    for (size_t i = 0; i < length && is_fit; i++) {
        is_fit = isalnum((unsigned char)name[i]) || strchr("-_.", name[i]) != NULL;
    }
    return is_fit;
}

bool try_record_check(struct try_recording *recording, struct failure *why)
{
    static const char LUA[] = ".lua";
    struct text file = recording->subject->script->file;

    if (!is_name(recording->name)) {
        failure_code(why, CODE_FIXTURE_NAME);
        failure_set(why, "`%s` is no name for a fixture", recording->name);
        failure_help(why, "--as ok-one-way for what must not fail, --as odd-sold-out for all else");
        return false;
    }
    int length = snprintf(recording->path, sizeof(recording->path), "%.*s.test/%s.json",
                          (int)(file.length - strlen(LUA)), file.data, recording->name);
    if (length >= (int)sizeof(recording->path) - BODY_NAME) {
        failure_set(why, "the fixture's path is too long");
        return false;
    }
    if (!recording->is_forced && access(recording->path, F_OK) == 0) {
        failure_at(why, recording->path, 0, 0);
        failure_set(why, "there is a fixture of that name already");
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

// The name of a recorded fixture: is it one, is it free, and does what came of the search fit it?

#include "app/try_record.h"

#include "base/redact.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { BODY_NAME = 96, SEARCH_ARENA = 16 << 20 };

/// Of an answer: by what was asked for.
static const char *name_of_answer(const struct json_node *query)
{
    const struct json_node *slices = json_tree_member(query, "slices");
    const struct json_node *first = json_tree_element(slices, 0), *second = json_tree_element(slices, 1);

    if (slices == NULL) {
        return json_tree_member(query, "check_in") != NULL ? "ok-stay" : "ok-answer";
    }
    bool is_back = slices->count == 2 &&
                   text_equals(json_tree_text(first, "origin"), json_tree_text(second, "destination")) &&
                   text_equals(json_tree_text(first, "destination"), json_tree_text(second, "origin"));
    return slices->count == 1 ? "ok-one-way" : is_back ? "ok-return" : "ok-multi-city";
}

/// Of what is no answer: by what it is instead.
static const char *name_of_trouble(const struct json_node *report)
{
    static const struct {
        const char *member, *value, *name;
    } ROWS[] = {
        { "outcome", "empty", "odd-nothing" },
        { "kind", "auth", "odd-key-refused" },
        { "kind", "quota", "odd-quota" },
        { "kind", "busy", "odd-busy" },
        { "outcome", "rejected", "odd-refused" },
        { "outcome", "cut", "odd-cut" },
        { "outcome", "unparsable", "odd-unreadable" },
        { "outcome", "skipped", "odd-skipped" },
    };

    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        if (text_equals_c(json_tree_text(report, ROWS[i].member), ROWS[i].value)) {
            return ROWS[i].name;
        }
    }
    return "odd-failed";
}

const char *try_record_name_of(const struct try_run *run)
{
    struct arena arena;
    struct json_node *root = NULL;
    const char *sentence, *name = "ok-answer";
    size_t offset;

    if (!text_equals(try_outcome(run), TEXT("answered"))) {
        return name_of_trouble(try_report(run));
    }
    arena_init(&arena, SEARCH_ARENA);
    if (json_tree_read(&arena, run->search, &root, &offset, &sentence) == STATUS_OK) {
        name = name_of_answer(json_tree_member(root, "query"));
    }
    arena_fini(&arena);
    return name;
}

void try_record_choose(struct try_recording *recording)
{
    (void)snprintf(recording->chosen, sizeof(recording->chosen), "%s", try_record_name_of(recording->run));
    recording->name = recording->chosen;
}

/// Is it fit for a file, and for a fixture?
static bool is_name(const char *name)
{
    size_t length = strlen(name);
    bool is_fit = length < TRY_NAME_SIZE && (strncmp(name, "ok-", 3) == 0 || strncmp(name, "odd-", 4) == 0);

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
    if (!recording->is_forced && !fixture_is_invented_at(recording->path) && find_taken(recording, path)) {
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

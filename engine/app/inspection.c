#include "app/inspection.h"

#include "app/fixture_suite.h"
#include "script/drift.h"
#include "script/script_check.h"
#include "script/script_uses.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS_MAX = 64 };

bool inspection_init(struct inspection *inspection, const struct settings *settings, const struct catalogue *catalogue)
{
    size_t count = script_set_supplier_count(catalogue->set);

    *inspection = (struct inspection){ .settings = settings, .catalogue = catalogue };
    inspection->seen = calloc(count + 1, sizeof(*inspection->seen));
    for (size_t i = 0; i < count && inspection->seen != NULL; i++) {
        inspection->seen[i].least_us = inspection->seen[i].ceiling_us = UINT64_MAX;
    }
    return inspection->seen != NULL;
}

void inspection_fini(struct inspection *inspection)
{
    free(inspection->seen);
    inspection->seen = NULL;
}

void inspection_note(struct inspection *inspection, const struct script_supplier *script, const struct fixture *fixture)
{
    ptrdiff_t index = script_set_find_supplier(inspection->catalogue->set, script->name);

    if (index < 0) {
        return;
    }
    struct inspection_seen *seen = &inspection->seen[index];
    seen->fixtures++;
    seen->odd += fixture->must_not_fail ? 0 : 1;
    seen->hosts_asked |= fixture->hosts_asked;
    if (fixture->ceiling_us > 0 && fixture->ceiling_us < seen->ceiling_us) {
        seen->ceiling_us = fixture->ceiling_us;
    }
    if (fixture->must_not_fail && fixture->needs_us > 0 && fixture->needs_us < seen->least_us) {
        seen->least_us = fixture->needs_us;
    }
}

// ---- for its parts

void inspection_tell(const struct inspection *inspection, enum inspection_weight weight, enum code code,
                     struct settings_place place, const char *help, const char *format, ...)
{
    struct failure failure = { 0 };
    va_list arguments;

    va_start(arguments, format);
    failure_fill(&failure, code, help, format, arguments);
    va_end(arguments);
    failure_at(&failure, place.file, place.line, place.column);
    inspection->tell(inspection->context, weight, &failure);
}

bool inspection_is_about(const struct inspection *inspection, struct text name)
{
    return fixture_suite_is_named(inspection->names, inspection->name_count, name);
}

struct settings_place inspection_place(const struct inspection *inspection, size_t index, const char *word)
{
    const struct script_file *file = script_set_supplier_file(inspection->catalogue->set, index);

    return (struct settings_place){ file->path.data, script_check_line_of(file, word, 1), 0 };
}

const struct settings_supplier *inspection_settings_of(const struct inspection *inspection, struct text name)
{
    const struct settings *settings = inspection->settings;

    for (size_t i = 0; i < settings->supplier_count; i++) {
        if (text_equals(settings->suppliers[i].name, name)) {
            return &settings->suppliers[i];
        }
    }
    return NULL;
}

const struct inspection_seen *inspection_seen_of(const struct inspection *inspection, size_t index)
{
    const struct script_set *set = inspection->catalogue->set;
    struct text file = script_set_supplier_file(set, index)->path;

    for (size_t i = 0; i < script_set_supplier_count(set); i++) {
        if (inspection->seen[i].fixtures > 0 && text_equals(script_set_supplier_file(set, i)->path, file)) {
            return &inspection->seen[i];
        }
    }
    return &inspection->seen[index];
}

// ---- what a script declares

static bool is_alias(const struct script_supplier *script)
{
    return !text_equals(script_check_basename(script->file), script->name);
}

static void tell_tests(const struct inspection *inspection, size_t index, const struct script_supplier *script)
{
    const struct inspection_seen *seen = &inspection->seen[index];
    const struct settings_place place = { script->file.data, 0, 0 };

    if (seen->fixtures == 0) {
        inspection_tell(inspection, INSPECTION_HINT, CODE_FIXTURE_MISSING, place,
                        "`lastcall record` makes one of a live answer", "`%.*s` has no fixtures",
                        TEXT_ARGS(script->name));
    } else if (seen->odd == 0) {
        inspection_tell(inspection, INSPECTION_HINT, CODE_FIXTURE_MISSING, place,
                        "add one for an error or an empty answer, such as odd-401.json",
                        "`%.*s` has no odd-… fixture: nobody knows what it makes of trouble", TEXT_ARGS(script->name));
    }
    if (!script->has_docs) {
        inspection_tell(inspection, INSPECTION_HINT, CODE_FIELD_MISSING, inspection_place(inspection, index, "owner"),
                        "docs = \"https://…\", for whoever has to mend it", "field `docs` is missing");
    } else if (script->has_made_docs) {
        inspection_tell(inspection, INSPECTION_HINT, CODE_FIELD_MISSING, inspection_place(inspection, index, "docs"),
                        "where the supplier's documentation is, for whoever has to mend it",
                        "field `docs` is what `lastcall new` made up");
    }
    if (script->has_made_owner) {
        inspection_tell(inspection, INSPECTION_HINT, CODE_FIELD_MISSING, inspection_place(inspection, index, "owner"),
                        "whom to ask when it fails at night", "field `owner` is what `lastcall new` made up");
    }
}

static void tell_unused_secrets(const struct inspection *inspection, size_t index, const struct script_supplier *script)
{
    const struct script_file *file = script_set_supplier_file(inspection->catalogue->set, index);

    for (size_t i = 0; i < script->secret_count; i++) {
        if (!script_uses_field(file, "secret", script->secrets[i])) {
            inspection_tell(inspection, INSPECTION_HINT, CODE_UNUSED, inspection_place(inspection, index, "secrets"),
                            "take it out, or use it as ctx.secret.NAME", "secret %.*s is declared and never read",
                            TEXT_ARGS(script->secrets[i]));
        }
    }
}

/// `base_url` is read by the engine.
static void tell_unused_options(const struct inspection *inspection, size_t index, const struct script_supplier *script)
{
    const struct script_file *file = script_set_supplier_file(inspection->catalogue->set, index);
    struct json_node *options = NULL;
    struct arena arena;
    size_t offset;
    const char *why;

    arena_init(&arena, 1 << 20);
    if (json_tree_read(&arena, script->options, &options, &offset, &why) != STATUS_OK) {
        options = NULL;
    }
    for (const struct json_node *at = options == NULL ? NULL : options->first; at != NULL; at = at->next) {
        bool is_named = at->key.data != NULL && !text_equals(at->key, TEXT("base_url"));
        if (is_named && !script_uses_field(file, "options", at->key)) {
            inspection_tell(inspection, INSPECTION_HINT, CODE_UNUSED, inspection_place(inspection, index, "options"),
                            "take it out, or use it as ctx.options.NAME", "option `%.*s` is declared and never read",
                            TEXT_ARGS(at->key));
        }
    }
    arena_fini(&arena);
}

static void tell_unused_hosts(const struct inspection *inspection, size_t index, const struct script_supplier *script)
{
    const struct inspection_seen *seen = &inspection->seen[index];

    for (size_t i = 0; i < script->host_count && i < HOSTS_MAX && seen->fixtures > 0; i++) {
        if ((seen->hosts_asked & (UINT64_C(1) << i)) == 0) {
            inspection_tell(inspection, INSPECTION_HINT, CODE_UNUSED, inspection_place(inspection, index, "hosts"),
                            "take it out, or add a fixture that asks it", "no fixture ever asks the host %.*s",
                            TEXT_ARGS(script->hosts[i]));
        }
    }
}

struct unseen {
    const struct inspection *inspection;
    size_t index;
};

/// Does the word that begins at `at` name a part of a path, `"departure.at"`, or a field of a shape, `at = text`?
static bool is_written_at(struct text source, size_t at, struct text name)
{
    size_t end = at + name.length;

    if (end >= source.length || memcmp(source.data + at, name.data, name.length) != 0) {
        return false;
    }
    if (strchr("\"'.", source.data[at - 1]) != NULL) {
        return strchr("\"'.[{:", source.data[end]) != NULL; // `:` as in "error:present"
    }
    while (end + 1 < source.length && source.data[end] == ' ') {
        end++;
    }
    bool is_alone = strchr(" \t\n{,", source.data[at - 1]) != NULL;
    return is_alone && source.data[end] == '=' && source.data[end + 1] != '=';
}

/// The line where the last name of a path is written; 0: it is put together.
static uint32_t line_of_path(const struct script_file *file, const char *path)
{
    const char *point = strrchr(path, '.');
    struct text name = text_of(point == NULL ? path : point + 1);
    uint32_t line = 1;

    while (name.length > 2 && (name.data[name.length - 1] == ']' || name.data[name.length - 1] == '}')) {
        name.length -= 2; // `[]`
    }
    for (size_t i = 0; i < file->source.length && name.length > 0; i++) {
        line += file->source.data[i] == '\n' ? 1 : 0;
        if (i > 0 && is_written_at(file->source, i, name)) {
            return line;
        }
    }
    return 0;
}

static void tell_unseen(void *context, const char *path, uint64_t since_wall_us)
{
    const struct unseen *unseen = context;

    (void)since_wall_us;
    struct settings_place place = inspection_place(unseen->inspection, unseen->index, "normalise");
    uint32_t line = line_of_path(script_set_supplier_file(unseen->inspection->catalogue->set, unseen->index), path);
    place.line = line != 0 ? line : place.line;
    inspection_tell(unseen->inspection, INSPECTION_HINT, CODE_SHAPE, place,
                    "is it misspelt? Then it reads nothing, and nobody says so. Else keep an answer that has it: "
                    "lastcall record NAME SEARCH --body FILE",
                    "no fixture has `%s`, which the script reads", path);
}

/// What is optional in a plan or shape is missed by nobody, so a misspelt path would never be noticed.
static void tell_unseen_paths(const struct inspection *inspection, size_t index)
{
    struct unseen unseen = { inspection, index };

    if (inspection->seen[index].fixtures > 0) {
        drift_list_unseen(script_set_drift(inspection->catalogue->set, index), tell_unseen, &unseen);
    }
}

void inspection_run(const struct inspection *inspection)
{
    const struct script_set *set = inspection->catalogue->set;

    inspection_run_addresses(inspection);
    inspection_run_ceilings(inspection);
    inspection_run_secrets(inspection);
    for (size_t i = 0; i < script_set_supplier_count(set); i++) {
        const struct script_supplier *script = script_set_supplier(set, i);
        if (is_alias(script) || !inspection_is_about(inspection, script->name)) {
            continue;
        }
        tell_tests(inspection, i, script);
        tell_unused_secrets(inspection, i, script);
        tell_unused_options(inspection, i, script);
        tell_unused_hosts(inspection, i, script);
        tell_unseen_paths(inspection, i);
    }
}

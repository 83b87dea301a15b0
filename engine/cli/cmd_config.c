#include "cli/cli_commands.h"

#include "app/generation.h"
#include "base/json_tree.h"
#include "cli/config_print.h"
#include "cli/findings.h"
#include "script/script_set.h"
#include "script/script_version.h"

#include <stdio.h>
#include <string.h>

enum { CONFIG_OUTPUT_CAP = 64 << 20, CONFIG_ARENA = 16 << 20 };

static void config_ignore(void *context, const struct failure *failure)
{
    (void)context;
    (void)failure;
}

// ---------------------------------------------------------------------------------------------------- what scripts say

struct saying {
    struct settings_shown *shown;
    const char *file;
    struct setting_path path;
};

static void say(const struct saying *saying, struct text section, struct text key, struct text value, bool is_plain)
{
    struct setting_path path = saying->path;

    if (section.data != NULL) {
        path.parts[path.count++] = section;
    }
    path.parts[path.count++] = key;
    settings_shown_add_script(saying->shown, &path, saying->file, value, is_plain);
}

static void say_options(const struct saying *saying, struct text options)
{
    struct arena arena;
    struct json_node *root = NULL;
    size_t offset;
    const char *sentence;

    arena_init(&arena, CONFIG_ARENA);
    if (json_tree_read(&arena, options, &root, &offset, &sentence) == STATUS_OK) {
        for (const struct json_node *option = root->first; option != NULL; option = option->next) {
            bool is_text = option->kind == JSON_STRING;
            say(saying, TEXT("options"), option->key, is_text ? option->text : option->source, !is_text);
        }
    }
    arena_fini(&arena);
}

static void say_limits(const struct saying *saying, const struct request_limits *limits)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = { { "rps", limits->per_second },
                 { "per_minute", limits->per_minute },
                 { "per_day", limits->per_day },
                 { "concurrent", limits->concurrent } };
    char digits[24];

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].value > 0) {
            (void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)rows[i].value);
            say(saying, TEXT("limits"), text_of(rows[i].name), text_of(digits), true);
        }
    }
}

/// What a script says that the settings could say otherwise.
static void say_supplier(struct settings_shown *shown, const struct catalogue *catalogue, size_t index)
{
    const struct catalogue_supplier *supplier = &catalogue->suppliers[index];
    const struct script_supplier *script = script_set_supplier(catalogue->set, supplier->account->supplier);
    struct text terminated = arena_copy(&shown->arena, script->file);
    struct saying saying = { .shown = shown, .file = terminated.data == NULL ? "a script" : terminated.data };

    saying.path = (struct setting_path){ .parts = { TEXT("suppliers"), supplier->name }, .count = 2 };
    if (script->display_name.length > 0 && !text_equals(script->display_name, script->name)) {
        say(&saying, (struct text){ 0 }, TEXT("display_name"), script->display_name, false);
    }
    for (size_t i = 0; i < catalogue_account_count(supplier); i++) {
        saying.path = (struct setting_path){
            .parts = { TEXT("suppliers"), supplier->name, TEXT("accounts"), supplier->account[i].name }, .count = 4
        };
        say_options(&saying, script->options);
        say_limits(&saying, &script->limits);
    }
}

/// False: they cannot be loaded.
static bool say_scripts(struct settings_shown *shown, struct settings *settings)
{
    struct generation *generation = NULL;

    if (generation_build(settings, config_ignore, NULL, &generation) != STATUS_OK) {
        return false;
    }
    const struct catalogue *catalogue = generation_catalogue(generation);
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        say_supplier(shown, catalogue, i);
    }
    generation_release(&generation);
    return true;
}

static void print(const struct cli_options *options, const struct settings_shown *shown)
{
    struct json_writer json;
    struct buffer out;

    buffer_init(&out, CONFIG_OUTPUT_CAP);
    if (options->is_json) {
        json_writer_init(&json, &out);
        config_print_json(shown, options->has_origin, &json);
        buffer_append_byte(&out, '\n');
    } else {
        config_print_yaml(shown, options->has_origin, &out);
    }
    cli_flush(stdout, &out);
    buffer_fini(&out);
}

int cmd_config(const struct cli_options *options)
{
    struct settings_shown shown;
    struct settings *settings = NULL;
    int code = CLI_OK;

    if (strcmp(options->arguments[0], "show") != 0) {
        return cli_usage_error("usage: lastcall config show [--origin] [-c FILE]...", "`lastcall config` cannot `%s`",
                               options->arguments[0]);
    }
    settings_shown_init(&shown);
    struct findings findings;
    findings_begin(&findings, options);
    enum status status =
        settings_read_shown(options->files, options->file_count, findings_tell, &findings, &shown, &settings);
    findings_end(&findings);
    if (status != STATUS_OK) {
        code = CLI_CANNOT_LOAD;
    } else {
        if (options->has_origin && !say_scripts(&shown, settings)) {
            fputs("note: the scripts cannot be loaded, so what they say is left out; `lastcall check` tells why\n",
                  stderr);
        }
        print(options, &shown);
    }
    settings_release(&settings);
    settings_shown_fini(&shown);
    return code;
}

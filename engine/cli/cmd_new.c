#include "cli/cli_commands.h"

#include "app/pretty.h"
#include "app/settings_value.h"
#include "base/json_write.h"
#include "cli/draft.h"
#include "cli/findings.h"
#include "cli/new_files.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { NEW_ARENA = 64 << 20, NEW_OUTPUT_CAP = 16 << 20, PATH_SIZE = 512, FILES_MAX = 5 };

struct new_file {
    char path[PATH_SIZE];
    bool is_kept; // it was there, and was left as it is
};

struct new_order {
    const struct cli_options *options;
    struct arena arena;
    struct settings *settings;
    struct pasted_call call;
    struct draft draft;
    struct new_files written;
    struct buffer out;
    struct findings findings; // what stands in the way
    struct new_file files[FILES_MAX];
    size_t file_count;
    bool is_product_guessed;
};

static void new_report(void *context, const struct failure *failure)
{
    struct new_order *order = context;
    findings_tell(&order->findings, failure);
}

static int refuse(const struct new_order *order, int code, const char *help, const char *format, ...) PRINTF_LIKE(4, 5);

static int refuse(const struct new_order *order, int code, const char *help, const char *format, ...)
{
    struct failure why = { 0 };
    va_list arguments;

    va_start(arguments, format);
    failure_fill(&why, CODE_NONE, help, format, arguments);
    va_end(arguments);
    new_report((void *)(uintptr_t)order, &why);
    return code;
}

// -------------------------------------------------------------------------------------------------- what is asked for

static int check_name(const struct new_order *order)
{
    const char *name = order->options->arguments[0];
    struct value_problem problem = { 0 };
    char path[PATH_SIZE];

    if (!value_name(text_of(name), &problem)) {
        return refuse(order, CLI_USAGE, problem.help, "`%.80s` cannot be a supplier's name: it %s", name,
                      problem.sentence);
    }
    for (size_t i = 0; i < order->settings->suppliers_dir_count; i++) {
        static const char *const ENDS[] = { "lua", "test" };
        for (size_t end = 0; end < COUNT_OF(ENDS); end++) {
            (void)snprintf(path, sizeof(path), "%.*s/%s.%s", TEXT_ARGS(order->settings->suppliers_dirs[i]), name,
                           ENDS[end]);
            if (access(path, F_OK) == 0) {
                return refuse(order, CLI_USAGE, "nothing is written over; take another name, or move it away first",
                              "%s is there already", path);
            }
        }
    }
    for (size_t i = 0; i < order->settings->supplier_count; i++) {
        const struct settings_supplier *supplier = &order->settings->suppliers[i];
        if (text_equals_c(supplier->name, name) && !text_equals(supplier->uses, supplier->name)) {
            return refuse(order, CLI_USAGE, "take another name, or take the supplier out of the settings first",
                          "%s:%u has a supplier `%s` already, played by %.*s.lua", supplier->file, supplier->line, name,
                          TEXT_ARGS(supplier->uses));
        }
    }
    return CLI_OK;
}

/// Nothing runs without what comes with lastcall in `scripts_dir`; a draft could not even be tried.
static int check_scripts(const struct new_order *order)
{
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof(path), "%.*s/products", TEXT_ARGS(order->settings->scripts_dir));
    if (access(path, F_OK) == 0) {
        return CLI_OK;
    }
    return refuse(order, CLI_CANNOT_LOAD,
                  order->options->file_count > 0
                      ? "`scripts_dir` of the settings is the folder scripts/ that comes with lastcall; mend it there"
                      : "work in the root of the repository, or write a lastcall.yaml here with a line that leads to "
                        "its folder: `scripts_dir: /PATH/TO/lastcall/scripts`",
                  "nothing was written: the scripts that come with lastcall are not in %.*s, %s",
                  TEXT_ARGS(order->settings->scripts_dir),
                  order->options->file_count > 0 ? "where the settings say they are"
                                                 : "and there is no lastcall.yaml that says where they are");
}

/// The whole file, or standard input for "-".
static int read_call(struct new_order *order)
{
    struct buffer input;
    struct failure why = { 0 };
    const char *from = order->options->from;
    int code = CLI_OK;

    buffer_init(&input, PASTED_INPUT_MAX);
    if (!cli_read_input(from, &input, &why)) {
        failure_help(&why, "give the file that you pasted the curl command into, or - for standard input");
        code = CLI_CANNOT_LOAD;
    } else {
        // The call keeps pointing into it.
        struct text copy = arena_copy(&order->arena, buffer_text(&input));
        enum status status =
            copy.data == NULL ? STATUS_NO_MEMORY : pasted_call_read(&order->arena, copy, &order->call, &why);
        if (status == STATUS_NO_MEMORY) {
            failure_set(&why, "the command is too large");
        }
        uint32_t line = why.line;
        failure_at(&why, from, line, 0);
        code = status == STATUS_OK ? CLI_OK : CLI_CANNOT_LOAD;
    }
    if (code != CLI_OK) {
        new_report(order, &why);
    }
    buffer_fini(&input);
    return code;
}

static bool mentions(const struct pasted_list *list, const char *word)
{
    for (size_t i = 0; i < list->count; i++) {
        if (memmem(list->items[i].name.data, list->items[i].name.length, word, strlen(word)) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_in(struct text text, const char *word)
{
    return text.length > 0 && memmem(text.data, text.length, word, strlen(word)) != NULL;
}

/// Does the pasted call speak of hotels?
static bool is_of_hotels(const struct pasted_call *call)
{
    static const char *const WORDS[] = { "hotel", "Hotel", "checkin", "check_in", "checkIn", "CheckIn", "check-in" };

    for (size_t i = 0; i < COUNT_OF(WORDS); i++) {
        struct text json = call->kind == PASTED_JSON ? call->json->source : call->body;
        if (is_in(call->path, WORDS[i]) || is_in(json, WORDS[i]) || mentions(&call->query, WORDS[i]) ||
            mentions(&call->form, WORDS[i])) {
            return true;
        }
    }
    return false;
}

static int read_order(struct new_order *order)
{
    const struct cli_options *options = order->options;
    bool is_hotels = options->product != NULL && strcmp(options->product, "hotels") == 0;

    if (options->product != NULL && !is_hotels && strcmp(options->product, "flights") != 0) {
        return refuse(order, CLI_USAGE, "one of: flights, hotels", "there is no template for the product `%.80s`",
                      options->product);
    }
    if (settings_read(options->files, options->file_count, new_report, order, &order->settings) != STATUS_OK) {
        return CLI_CANNOT_LOAD;
    }
    int code = check_scripts(order);
    code = code == CLI_OK ? check_name(order) : code;
    if (code == CLI_OK && options->from != NULL) {
        code = read_call(order);
        order->is_product_guessed = options->product == NULL;
        is_hotels = order->is_product_guessed ? is_of_hotels(&order->call) : is_hotels;
    }
    draft_init(&order->draft, &order->arena, text_of(options->arguments[0]), is_hotels,
               code == CLI_OK && options->from != NULL ? &order->call : NULL);
    return code;
}

// -------------------------------------------------------------------------------------------------------------
// drafting

static void ignore(void *context, const struct failure *failure)
{
    (void)context;
    (void)failure;
}

static bool try_draft(struct new_order *order, settings_finding report)
{
    struct new_files *written = &order->written;

    buffer_clear(&written->ok);
    buffer_clear(&written->odd);
    draft_write_fixture(&order->draft, false, &written->ok);
    draft_write_fixture(&order->draft, true, &written->odd);
    return new_files_try(order->options, &order->draft, written, report, order);
}

/// In lines, as one writes them.
static void reformat_fixture(struct buffer *fixture)
{
    struct buffer lines;

    buffer_init(&lines, DRAFT_FILE_MAX);
    pretty_json(buffer_text(fixture), &lines);
    buffer_append_byte(&lines, '\n');
    if (!lines.is_full) {
        buffer_clear(fixture);
        buffer_append_text(fixture, buffer_text(&lines));
    }
    buffer_fini(&lines);
}

static int make_draft(struct new_order *order)
{
    struct draft *draft = &order->draft;

    draft_write_script(draft, &order->written.script);
    if (draft->is_out_of_memory) {
        return refuse(order, CLI_CANNOT_LOAD, "paste a smaller request, or start from the template",
                      "the pasted request is too large for a draft, or has more than %d secrets", DRAFT_SECRETS_MAX);
    }
    // What the documentation searches for may be over, or be no search of ours: the fixture then has one of its own.
    if (draft->call == NULL || !try_draft(order, ignore)) {
        if (draft->call != NULL) {
            draft_forget_search(draft);
        }
        if (!try_draft(order, new_report)) {
            return refuse(order, CLI_CANNOT_LOAD,
                          draft->call == NULL
                              ? "nothing was written; mend what stands above, and try again"
                              : "nothing was written; change the pasted command where it stands above, and try again",
                          "the draft of `%.*s` does not pass its own test", TEXT_ARGS(draft->name));
        }
    }
    reformat_fixture(&order->written.ok);
    reformat_fixture(&order->written.odd);
    return CLI_OK;
}

// --------------------------------------------------------------------------------------------------------------
// writing

/// STATUS_INVALID, it exists, is no failure where `may_exist`.
static int write_file(struct new_order *order, const char *path, struct text bytes, bool may_exist)
{
    struct failure why = { 0 };
    enum status status = new_files_write(path, bytes, &why);
    struct new_file *file = &order->files[order->file_count];

    if (status == STATUS_OK || (status == STATUS_INVALID && may_exist)) {
        (void)snprintf(file->path, sizeof(file->path), "%s", path);
        file->is_kept = status == STATUS_INVALID;
        order->file_count++;
        return CLI_OK;
    }
    if (status == STATUS_INVALID) {
        failure_set(&why, "%s is there already", path);
    }
    new_report(order, &why);
    return CLI_CANNOT_LOAD;
}

/// The folder in which editors are opened: that of lastcall.yaml.
static void root_of(const struct new_order *order, char root[PATH_SIZE])
{
    const struct cli_options *options = order->options;
    const char *file = options->file_count > 0 ? options->files[options->file_count - 1] : "";
    const char *slash = strrchr(file, '/');

    (void)snprintf(root, PATH_SIZE, "%.*s",
                   slash == NULL   ? 1
                   : slash == file ? 1
                                   : (int)(slash - file),
                   slash == NULL ? "." : file);
}

/// A folder as it is called from the root: relative when it lies in it.
static struct text path_from(struct new_order *order, const char *root, struct text folder)
{
    if (strcmp(root, ".") == 0) {
        return folder; // as it is written: relative to here, or absolute
    }
    char *whole_root = realpath(root, NULL), *whole = realpath(folder.data, NULL);
    size_t length = whole_root == NULL ? 0 : strlen(whole_root);
    const char *path = folder.data;

    if (whole != NULL && whole_root != NULL) {
        bool is_inside = strncmp(whole, whole_root, length) == 0 && whole[length] == '/';
        path = is_inside ? whole + length + 1 : whole;
    }
    struct text kept = arena_copy(&order->arena, text_of(path));
    free(whole);
    free(whole_root);
    return kept.data == NULL ? folder : kept;
}

static int write_editor_files(struct new_order *order)
{
    char root[PATH_SIZE], path[PATH_SIZE + 16];
    struct buffer text;

    root_of(order, root);
    struct text scripts = path_from(order, root, order->settings->scripts_dir);
    struct text suppliers = path_from(order, root, order->settings->suppliers_dirs[0]);
    const char *prefix = strcmp(root, ".") == 0 ? "" : root;
    buffer_init(&text, DRAFT_FILE_MAX);
    draft_write_luarc(scripts, &text);
    (void)snprintf(path, sizeof(path), "%s%s.luarc.json", prefix, prefix[0] != '\0' ? "/" : "");
    int code = write_file(order, path, buffer_text(&text), true);
    buffer_clear(&text);
    draft_write_luacheckrc(suppliers, scripts, &text);
    (void)snprintf(path, sizeof(path), "%s%s.luacheckrc", prefix, prefix[0] != '\0' ? "/" : "");
    code = code == CLI_OK ? write_file(order, path, buffer_text(&text), true) : code;
    buffer_fini(&text);
    return code;
}

/// The script last: an engine that watches the folder then finds its fixture beside it.
static int write_files(struct new_order *order)
{
    char path[PATH_SIZE];
    struct text folder = order->settings->suppliers_dirs[0];
    const struct {
        const char *name;
        const struct buffer *bytes;
    } fixtures[] = { { draft_ok_name(&order->draft), &order->written.ok },
                     { draft_odd_name(&order->draft), &order->written.odd } };
    int code = CLI_OK;
    for (size_t i = 0; i < COUNT_OF(fixtures) && code == CLI_OK; i++) {
        (void)snprintf(path, sizeof(path), "%.*s/%.*s.test/%s", TEXT_ARGS(folder), TEXT_ARGS(order->draft.name),
                       fixtures[i].name);
        code = write_file(order, path, buffer_text(fixtures[i].bytes), false);
    }
    (void)snprintf(path, sizeof(path), "%.*s/%.*s.lua", TEXT_ARGS(folder), TEXT_ARGS(order->draft.name));
    code = code == CLI_OK ? write_file(order, path, buffer_text(&order->written.script), false) : code;
    return code == CLI_OK ? write_editor_files(order) : code;
}

/// What was written and made before something could not be: nothing half is left behind.
static void take_back(const struct new_order *order, const char *const folders[2])
{
    for (size_t i = 0; i < order->file_count; i++) {
        if (!order->files[i].is_kept) {
            (void)unlink(order->files[i].path);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        if (folders[i] != NULL) {
            (void)rmdir(folders[i]);
        }
    }
}

static int write_folders_and_files(struct new_order *order)
{
    char path[PATH_SIZE];
    struct text folder = order->settings->suppliers_dirs[0];
    struct failure why = { 0 };

    (void)snprintf(path, sizeof(path), "%.*s/%.*s.test", TEXT_ARGS(folder), TEXT_ARGS(order->draft.name));
    const char *const made[] = { access(path, F_OK) != 0 ? path : NULL,
                                 access(folder.data, F_OK) != 0 ? folder.data : NULL }; // the inner one first
    bool is_made = new_files_make_folder(folder.data, &why) && new_files_make_folder(path, &why);
    if (!is_made) {
        new_report(order, &why);
    }
    int code = is_made ? write_files(order) : CLI_CANNOT_LOAD;
    if (code != CLI_OK) {
        take_back(order, made);
    }
    return code;
}

// --------------------------------------------------------------------------------------------------------------
// telling

enum { COMMANDS_MAX = 8 };

/// What to type next, each as a line.
static size_t next_commands(struct new_order *order, struct text commands[COMMANDS_MAX])
{
    const struct cli_options *options = order->options;
    const char *fixture = order->files[0].path, *script = order->files[2].path;
    struct buffer files;
    size_t count = 0;

    buffer_init(&files, NEW_OUTPUT_CAP);
    for (size_t i = 0; i < options->file_count; i++) {
        bool is_found = options->file_count == 1 && strcmp(options->files[i], "lastcall.yaml") == 0;
        if (!is_found) {
            buffer_printf(&files, " -c %s", options->files[i]);
        }
    }
    struct text with = buffer_text(&files);
    struct buffer line;
    buffer_init(&line, NEW_OUTPUT_CAP);
    for (size_t i = 0; i < 6; i++) {
        buffer_clear(&line);
        if (i == 0) {
            buffer_printf(&line, "lastcall test %.*s%.*s", TEXT_ARGS(order->draft.name), TEXT_ARGS(with));
        } else if (i == 1) {
            buffer_printf(&line, "$EDITOR %s", script);
        } else if (i == 2) { // a saved answer needs neither keys nor network
            buffer_printf(&line, "lastcall try %.*s %s --body ANSWER%.*s", TEXT_ARGS(order->draft.name), fixture,
                          TEXT_ARGS(with));
        } else if (i == 3) {
            for (size_t j = 0; j < order->draft.secret_count; j++) {
                buffer_printf(&line, "%s%.*s=…", j == 0 ? "export " : " ", TEXT_ARGS(order->draft.secrets[j].name));
            }
        } else if (i == 4) {
            buffer_printf(&line, "lastcall try %.*s %s%.*s", TEXT_ARGS(order->draft.name), fixture, TEXT_ARGS(with));
        } else {
            buffer_printf(&line, "lastcall check%.*s", TEXT_ARGS(with));
        }
        if (line.length > 0) {
            commands[count++] = arena_copy(&order->arena, buffer_text(&line));
        }
    }
    buffer_fini(&line);
    buffer_fini(&files);
    return count;
}

static void write_texts(struct json_writer *json, const char *key, const struct text *texts, size_t count)
{
    json_key(json, key);
    json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        json_text(json, texts[i]);
    }
    json_end_array(json);
}

static void tell_json(struct new_order *order)
{
    const struct draft *draft = &order->draft;
    struct text commands[COMMANDS_MAX], secrets[DRAFT_SECRETS_MAX];
    struct json_writer json;

    json_writer_init(&json, &order->out);
    json_begin_object(&json);
    json_field_text(&json, "name", draft->name);
    json_field_c(&json, "product", draft->is_hotels ? "hotels" : "flights");
    json_key(&json, "files");
    json_begin_array(&json);
    for (size_t i = 0; i < order->file_count; i++) {
        json_begin_object(&json);
        json_field_c(&json, "path", order->files[i].path);
        json_field_bool(&json, "written", !order->files[i].is_kept);
        json_end_object(&json);
    }
    json_end_array(&json);
    for (size_t i = 0; i < draft->secret_count; i++) {
        secrets[i] = draft->secrets[i].name;
    }
    write_texts(&json, "secrets", secrets, draft->secret_count);
    write_texts(&json, "guesses", draft->guesses, draft->guess_count);
    write_texts(&json, "as_pasted", draft->literals, draft->literal_count);
    write_texts(&json, "headers_left_out", draft->left_out, draft->left_out_count);
    write_texts(&json, "notes", order->call.notes, order->call.note_count);
    size_t count = next_commands(order, commands);
    write_texts(&json, "next", commands, count);
    json_end_object(&json);
    buffer_append_byte(&order->out, '\n');
}

static void tell_call(struct new_order *order)
{
    const struct draft *draft = &order->draft;
    struct buffer *out = &order->out;

    buffer_printf(out, "\nTaken from the pasted request, for a supplier of %s%s:\n",
                  draft->is_hotels ? "hotels" : "flights",
                  order->is_product_guessed ? " (say --product if it is not one)" : "");
    for (size_t i = 0; i < draft->secret_count; i++) {
        buffer_printf(out, "  secret   %.*s; its value is in no file\n", TEXT_ARGS(draft->secrets[i].name));
    }
    for (size_t i = 0; i < draft->guess_count; i++) {
        buffer_printf(out, "  guessed  %.*s\n", TEXT_ARGS(draft->guesses[i]));
    }
    for (size_t i = 0; i < draft->literal_count; i++) {
        buffer_printf(out, "  as it is %.*s, whatever is searched for\n", TEXT_ARGS(draft->literals[i]));
    }
    for (size_t i = 0; i < draft->left_out_count; i++) {
        buffer_printf(out, "  left out header %.*s\n", TEXT_ARGS(draft->left_out[i]));
    }
    for (size_t i = 0; i < order->call.note_count; i++) {
        buffer_printf(out, "  left out %.*s\n", TEXT_ARGS(order->call.notes[i]));
    }
}

static void tell(struct new_order *order)
{
    struct text commands[COMMANDS_MAX];
    struct buffer *out = &order->out;

    for (size_t i = 0; i < order->file_count; i++) {
        buffer_printf(out, "%s %s\n", order->files[i].is_kept ? "left as it is" : "wrote", order->files[i].path);
    }
    if (order->draft.call != NULL) {
        tell_call(order);
    }
    buffer_append_c(out, "\nNext:\n");
    size_t count = next_commands(order, commands);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "  %.*s\n", TEXT_ARGS(commands[i]));
    }
}

int cmd_new(const struct cli_options *options)
{
    struct new_order *order = calloc(1, sizeof(*order));

    require(order != NULL);
    order->options = options;
    arena_init(&order->arena, NEW_ARENA);
    buffer_init(&order->written.script, DRAFT_FILE_MAX);
    buffer_init(&order->written.ok, DRAFT_FILE_MAX);
    buffer_init(&order->written.odd, DRAFT_FILE_MAX);
    buffer_init(&order->out, NEW_OUTPUT_CAP);
    findings_begin(&order->findings, options);
    int code = read_order(order);
    code = code == CLI_OK ? make_draft(order) : code;
    code = code == CLI_OK ? write_folders_and_files(order) : code;
    if (code == CLI_OK) {
        if (options->is_json) {
            tell_json(order);
        } else {
            tell(order);
        }
        cli_flush(stdout, &order->out);
    }
    findings_end(&order->findings);
    settings_release(&order->settings);
    draft_fini(&order->draft);
    buffer_fini(&order->out);
    buffer_fini(&order->written.odd);
    buffer_fini(&order->written.ok);
    buffer_fini(&order->written.script);
    arena_fini(&order->arena);
    free(order);
    return code;
}

#include "cli/new_files.h"

#include "app/fixture_suite.h"
#include "app/generation.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 512 };

/// A folder that lives as long as the trial.
struct stage {
    char root[PATH_SIZE / 4], script[PATH_SIZE], folder[PATH_SIZE], ok[PATH_SIZE], odd[PATH_SIZE];
    struct text suppliers_dir; // that the files are for
    settings_finding report;
    void *context;
    size_t findings;
};

bool new_files_make_folder(const char *path, struct failure *why)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) {
        return true;
    }
    failure_at(why, path, 0, 0);
    failure_set(why, "the folder cannot be made: %s", strerror(errno));
    failure_help(why, "make it by hand, with those above it, and try again");
    return false;
}

enum status new_files_write(const char *path, struct text bytes, struct failure *why)
{
    size_t written = 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) {
        return STATUS_INVALID;
    }
    while (fd >= 0 && written < bytes.length) {
        ssize_t count = write(fd, bytes.data + written, bytes.length - written);
        if (count < 0 && errno != EINTR) {
            break;
        }
        written += count > 0 ? (size_t)count : 0;
    }
    bool is_whole = fd >= 0 && written == bytes.length;
    int error = errno;
    if (fd >= 0 && close(fd) != 0) {
        is_whole = false;
        error = errno;
    }
    if (!is_whole) {
        failure_at(why, path, 0, 0);
        failure_set(why, "the file cannot be written: %s", strerror(error));
        if (fd >= 0) {
            (void)unlink(path);
        }
    }
    return is_whole ? STATUS_OK : STATUS_IO;
}

/// `text` with the suppliers directory in place of the stage's.
static void move_paths(const struct stage *stage, const char *text, char *out, size_t size)
{
    const char *found = strstr(text, stage->root);

    if (found == NULL) {
        (void)snprintf(out, size, "%s", text);
    } else {
        (void)snprintf(out, size, "%.*s%.*s%s", (int)(found - text), text, TEXT_ARGS(stage->suppliers_dir),
                       found + strlen(stage->root));
    }
}

/// With the paths that the files would have.
static void stage_report(void *context, const struct failure *failure)
{
    struct stage *stage = context;
    struct failure moved = *failure;

    stage->findings++;
    if (stage->root[0] != '\0') {
        move_paths(stage, failure->file, moved.file, sizeof(moved.file));
        move_paths(stage, failure->message, moved.message, sizeof(moved.message));
        move_paths(stage, failure->help, moved.help, sizeof(moved.help));
        move_paths(stage, failure->notes, moved.notes, sizeof(moved.notes));
    }
    stage->report(stage->context, &moved);
}

static bool stage_open(struct stage *stage, const struct draft *draft, const struct new_files *files)
{
    const char *temporary = getenv("TMPDIR");
    struct failure why = { 0 };

    (void)snprintf(stage->root, sizeof(stage->root), "%.90s/lastcall-new-XXXXXX",
                   temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
    if (mkdtemp(stage->root) == NULL) {
        failure_at(&why, stage->root, 0, 0);
        failure_set(&why, "a folder to try the draft in cannot be made: %s", strerror(errno));
        failure_help(&why, "set TMPDIR to a folder that you may write to");
        stage->root[0] = '\0';
    } else {
        (void)snprintf(stage->script, sizeof(stage->script), "%s/%.*s.lua", stage->root, TEXT_ARGS(draft->name));
        (void)snprintf(stage->folder, sizeof(stage->folder), "%s/%.*s.test", stage->root, TEXT_ARGS(draft->name));
        (void)snprintf(stage->ok, sizeof(stage->ok), "%.255s/%s", stage->folder, draft_ok_name(draft));
        (void)snprintf(stage->odd, sizeof(stage->odd), "%.255s/%s", stage->folder, draft_odd_name(draft));
        if (new_files_make_folder(stage->folder, &why) &&
            new_files_write(stage->ok, buffer_text(&files->ok), &why) == STATUS_OK &&
            new_files_write(stage->odd, buffer_text(&files->odd), &why) == STATUS_OK &&
            new_files_write(stage->script, buffer_text(&files->script), &why) == STATUS_OK) {
            return true;
        }
    }
    stage->findings++;
    stage->report(stage->context, &why);
    return false;
}

static void stage_close(struct stage *stage)
{
    if (stage->root[0] != '\0') {
        (void)unlink(stage->ok);
        (void)unlink(stage->odd);
        (void)unlink(stage->script);
        (void)rmdir(stage->folder);
        (void)rmdir(stage->root);
    }
}

/// Only this supplier: what the settings say of others, of tables and of rates is no concern of its draft.
static void keep_only(struct settings *settings, struct text *root)
{
    settings->suppliers_dirs = root;
    settings->suppliers_dir_count = 1;
    settings->supplier_count = 0;
    settings->rule_count = 0;
    settings->table_count = 0;
    settings->fx_file = (struct text){ 0 };
}

/// Twice: the first run fills in what the fixture leaves open, the second one finds nothing.
static void stage_run(struct stage *stage, struct settings *settings)
{
    struct generation *generation = NULL;

    if (generation_build(settings, stage_report, stage, &generation) == STATUS_OK) {
        for (int run = 0; run < 2 && stage->findings == 0; run++) {
            struct fixture_suite suite = { .settings = settings,
                                           .catalogue = generation_catalogue(generation),
                                           .is_updating = run == 0,
                                           .report = stage_report,
                                           .context = stage };
            fixture_suite_run(&suite);
        }
    } else if (stage->findings == 0) {
        stage_report(stage, &(struct failure){ .message = "the draft could not be loaded: out of memory" });
    }
    generation_release(&generation);
}

bool new_files_try(const struct cli_options *options, const struct draft *draft, struct new_files *files,
                   settings_finding report, void *context)
{
    struct stage stage = { .report = report, .context = context };
    struct settings *settings = NULL;

    if (settings_read(options->files, options->file_count, report, context, &settings) != STATUS_OK) {
        return false;
    }
    stage.suppliers_dir = settings->suppliers_dirs[0];
    if (stage_open(&stage, draft, files)) {
        struct text root = text_of(stage.root);
        keep_only(settings, &root);
        stage_run(&stage, settings);
        buffer_clear(&files->ok);
        if (stage.findings == 0 && file_read(stage.ok, &files->ok, NULL) != STATUS_OK) {
            stage_report(&stage, &(struct failure){ .message = "the fixture could not be read again" });
        }
    }
    stage_close(&stage);
    settings_release(&settings);
    return stage.findings == 0;
}

#include "cli/cli.h"

#include "app/engine.h"
#include "app/settings.h"
#include "app/shutdown.h"
#include "base/log.h"

static void serve_report(void *context, const struct failure *failure)
{
    const struct cli_options *options = context;

    cli_print_failure(stderr, failure, options->is_colourless);
}

/// The settings allow these four names only.
static enum log_level serve_log_level(struct text name)
{
    static const char *const names[] = { "debug", "info", "warning", "error" };

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (text_equals_c(name, names[i])) {
            return (enum log_level)i;
        }
    }
    return LOG_INFO;
}

_Static_assert((int)SHUTDOWN_EXIT_STUCK == (int)CLI_THRESHOLD, "one exit code, one meaning");

int cmd_serve(const struct cli_options *options)
{
    struct settings *settings = NULL;
    struct failure why = { 0 };

    engine_let_signals_wait();
    if (settings_read(options->files, options->file_count, serve_report, (void *)(uintptr_t)options, &settings) !=
        STATUS_OK) {
        return CLI_CANNOT_LOAD;
    }
    if (log_start(serve_log_level(settings->log_level)) != STATUS_OK) {
        failure_set(&why, "the thread of the log could not be started");
        cli_print_failure(stderr, &why, options->is_colourless);
        settings_release(&settings);
        return CLI_CANNOT_LOAD;
    }
    enum status status = engine_run(settings, serve_report, (void *)(uintptr_t)options, &why);
    log_stop();
    shutdown_is_over();
    if (status != STATUS_OK && why.message[0] != '\0') {
        cli_print_failure(stderr, &why, options->is_colourless);
    }
    settings_release(&settings);
    return status == STATUS_OK ? CLI_OK : CLI_CANNOT_LOAD;
}

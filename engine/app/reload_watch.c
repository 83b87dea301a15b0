// The watch over files, as the builder keeps it.

#include "app/file_watch.h"
#include "app/reload_internal.h"
#include "app/watch_list.h"
#include "base/clock.h"
#include "base/log.h"

static enum status set_paths(struct reload *reload, const struct settings *settings)
{
    struct watch_list list;

    enum status status = watch_list_init(&list, settings);
    if (status == STATUS_OK) {
        status = file_watch_set(reload->watch, list.items, list.count, clock_now_us());
    }
    watch_list_fini(&list);
    return status;
}

static enum status look_at_running(struct reload *reload)
{
    struct generation *running = engine_generation(reload->engine);
    enum status status = set_paths(reload, generation_settings(running));

    generation_release(&running);
    reload_ask(reload, RELOAD_WATCH); // what changed since they were read
    return status;
}

enum status reload_watch_open(struct reload *reload)
{
    const struct settings *settings = reload->engine->settings;
    struct file_watch_options options = {
        .settle_us = settings->reload_settle_us,
        .scan_us = settings->reload_scan_us,
    };

    if (!settings->reload_watches) {
        return STATUS_OK;
    }
    enum status status = file_watch_create(&options, &reload->watch);
    return status == STATUS_OK ? look_at_running(reload) : status;
}

void reload_watch_close(struct reload *reload)
{
    file_watch_destroy(&reload->watch);
}

void reload_watch_follow(struct reload *reload)
{
    if (reload->watch != NULL && look_at_running(reload) != STATUS_OK) {
        log_line(LOG_ERROR, "reload", "no memory to watch the files of the new settings: the old ones are watched on");
    }
}

int reload_watch_fd(const struct reload *reload)
{
    return reload->watch != NULL ? file_watch_fd(reload->watch) : -1;
}

uint64_t reload_watch_next_us(const struct reload *reload)
{
    return reload->watch != NULL ? file_watch_next_us(reload->watch) : UINT64_MAX;
}

void reload_watch_step(struct reload *reload)
{
    if (reload->watch != NULL && !atomic_load(&reload->is_draining) &&
        file_watch_step(reload->watch, clock_now_us()) == FILE_WATCH_CHANGED) {
        struct text path = file_watch_changed(reload->watch);
        log_line(LOG_DEBUG, "reload", "changed file=%.*s", TEXT_ARGS(path));
        reload_ask(reload, RELOAD_WATCH);
    }
}

#include "app/file_events.h"

#include "base/log.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EVENTS_READ = 16 * 1024,
    EVENTS_LINKS = 40, // on one way, as many as the kernel follows
    EVENTS_PLACES_FIRST = 64,
    EVENTS_MASK = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                  IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK,
    EVENTS_CLOSED = IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO,
};

static void events_warn(struct file_events *events, int error)
{
    if (!events->has_told) {
        events->has_told = true;
        log_line(LOG_WARNING, "watch",
                 "the system refuses to tell of changed files (%s): they are looked at now and "
                 "then instead; see fs.inotify.max_user_watches and max_user_instances",
                 strerror(error));
    }
}

void file_events_init(struct file_events *events, bool wants_events, size_t most)
{
    *events = (struct file_events){ .fd = -1, .most = most };
    if (wants_events) {
        events->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (events->fd < 0) {
            events_warn(events, errno);
        }
    }
}

void file_events_fini(struct file_events *events)
{
    if (events->fd >= 0) {
        close(events->fd);
    }
    free(events->places);
    free(events->found);
    *events = (struct file_events){ .fd = -1 };
}

// ------------------------------------------------------------------------------------------------------------- places

static bool has_watch(const struct file_event_place *places, size_t count, int watch)
{
    for (size_t i = 0; i < count; i++) {
        if (places[i].watch == watch) {
            return true;
        }
    }
    return false;
}

static size_t count_watches(const struct file_event_place *places, size_t count)
{
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        different += has_watch(places, i, places[i].watch) ? 0 : 1;
    }
    return different;
}

/// The kernel's number for a folder; the same one again when it is watched already. Negative: it is not.
static int events_watch(struct file_events *events, const char *folder)
{
    int watch = inotify_add_watch(events->fd, folder, EVENTS_MASK);
    int error = errno;
    bool is_over = watch >= 0 && events->most > 0 && !has_watch(events->found, events->found_count, watch) &&
                   count_watches(events->found, events->found_count) >= events->most;

    if (is_over) {
        (void)inotify_rm_watch(events->fd, watch);
        watch = -1;
        error = ENOSPC;
    }
    if (watch < 0 && (error == ENOSPC || error == ENOMEM)) {
        events->is_refused = true;
        events_warn(events, error);
    }
    return watch;
}

static bool is_same_place(const struct file_event_place *a, const struct file_event_place *b)
{
    return a->watch == b->watch && a->name == b->name && a->kind == b->kind && a->owner == b->owner;
}

static void events_add(struct file_events *events, const char *folder, const char *name, enum file_walk_kind kind,
                       size_t owner)
{
    struct file_event_place place = { .kind = kind, .owner = owner };

    place.watch = events_watch(events, folder);
    if (place.watch < 0) {
        return;
    }
    place.name = name != NULL ? text_hash(text_of(name)) : 0;
    for (size_t i = 0; i < events->found_count; i++) {
        if (is_same_place(&events->found[i], &place)) {
            return;
        }
    }
    if (events->found_count == events->found_room) {
        size_t room = events->found_room > 0 ? 2 * events->found_room : EVENTS_PLACES_FIRST;
        struct file_event_place *grown = realloc(events->found, room * sizeof(*grown));
        if (grown == NULL) {
            return; // the regular look still sees it
        }
        events->found = grown;
        events->found_room = room;
    }
    events->found[events->found_count++] = place;
}

/// A way that is walked name by name.
struct way {
    char at[PATH_MAX];   // the folder reached, free of links
    char rest[PATH_MAX]; // what is still to walk
    char name[NAME_MAX + 1];
    unsigned links;
};

static bool way_take_name(struct way *way)
{
    size_t blank = strspn(way->rest, "/");
    size_t length = strcspn(way->rest + blank, "/");

    if (length == 0 || length >= sizeof(way->name)) {
        return false;
    }
    memcpy(way->name, way->rest + blank, length);
    way->name[length] = '\0';
    memmove(way->rest, way->rest + blank + length, strlen(way->rest + blank + length) + 1);
    return true;
}

static bool way_has_more(const struct way *way)
{
    return way->rest[strspn(way->rest, "/")] != '\0';
}

static bool way_join(const struct way *way, char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "%s/%s", strcmp(way->at, "/") == 0 ? "" : way->at, way->name) < PATH_MAX;
}

/// The rest of the way goes where the link points.
static bool way_follow_link(struct way *way, const char *link)
{
    char target[PATH_MAX];
    char rest[PATH_MAX];
    ssize_t length = readlink(link, target, sizeof(target) - 1);

    if (length <= 0 || ++way->links > EVENTS_LINKS) {
        return false;
    }
    target[length] = '\0';
    if (snprintf(rest, sizeof(rest), "%s/%s", target, way->rest) >= (int)sizeof(rest)) {
        return false;
    }
    memcpy(way->rest, rest, strlen(rest) + 1);
    if (target[0] == '/') {
        memcpy(way->at, "/", sizeof("/"));
    }
    return true;
}

/// One name further. False: the way ends here.
static bool way_step(struct file_events *events, struct way *way, size_t owner)
{
    char next[PATH_MAX];
    struct stat info;

    if (!way_join(way, next)) {
        return false;
    }
    bool is_there = lstat(next, &info) == 0;
    bool is_link = is_there && S_ISLNK(info.st_mode);
    if (!is_there || is_link || !way_has_more(way)) {
        events_add(events, way->at, way->name, FILE_WALK_FILE, owner);
    }
    if (is_link) {
        return way_follow_link(way, next);
    }
    if (is_there) {
        memcpy(way->at, next, strlen(next) + 1);
    }
    return is_there;
}

void file_events_follow(struct file_events *events, const char *path, enum file_walk_kind kind, size_t owner)
{
    struct way way = { .at = "." };

    if (events->fd < 0 || strlen(path) >= sizeof(way.rest)) {
        return;
    }
    memcpy(way.rest, path, strlen(path) + 1);
    if (path[0] == '/') {
        memcpy(way.at, "/", sizeof("/"));
    }
    while (way_take_name(&way)) {
        if (strcmp(way.name, ".") != 0 && !way_step(events, &way, owner)) {
            return;
        }
    }
    if (kind != FILE_WALK_FILE) {
        events_add(events, way.at, NULL, kind, owner);
    }
}

void file_events_begin(struct file_events *events)
{
    events->found_count = 0;
    events->is_refused = false;
}

void file_events_end(struct file_events *events)
{
    struct file_event_place *before = events->places;

    for (size_t i = 0; i < events->place_count; i++) {
        int watch = before[i].watch;
        if (!has_watch(events->found, events->found_count, watch) && !has_watch(before, i, watch)) {
            (void)inotify_rm_watch(events->fd, watch); // of a folder that is gone it is let go already
        }
    }
    events->places = events->found;
    events->place_count = events->found_count;
    events->found = NULL;
    events->found_count = events->found_room = 0;
    free(before);
}

// ------------------------------------------------------------------------------------------------------------ writers

static void writers_note(struct file_events *events, const struct inotify_event *event, uint64_t name, size_t owner,
                         uint64_t now_us)
{
    struct file_event_writer *place = NULL;

    for (size_t i = 0; i < FILE_EVENTS_WRITERS; i++) {
        struct file_event_writer *writer = &events->writers[i];
        bool is_it = writer->watch == event->wd && writer->name == name && writer->owner == owner;
        if (writer->last_us > 0 && is_it) {
            place = writer;
            break;
        }
        if (place == NULL || writer->last_us < place->last_us) {
            place = writer; // a free one, else the one that was quiet for longest
        }
    }
    *place = (struct file_event_writer){ event->wd, name, owner, now_us };
    if ((event->mask & EVENTS_CLOSED) != 0) {
        place->last_us = 0;
    }
}

bool file_events_is_written(const struct file_events *events, size_t owner, uint64_t now_us, uint64_t patience_us)
{
    for (size_t i = 0; i < FILE_EVENTS_WRITERS; i++) {
        const struct file_event_writer *writer = &events->writers[i];
        if (writer->last_us > 0 && writer->owner == owner && now_us - writer->last_us < patience_us) {
            return true;
        }
    }
    return false;
}

// ------------------------------------------------------------------------------------------------------------- events

static bool is_about(const struct file_event_place *place, const struct inotify_event *event, uint64_t name)
{
    if (place->watch != event->wd) {
        return false;
    }
    if (event->len == 0) {
        return true; // of the folder itself
    }
    return place->name != 0 ? place->name == name : file_walk_takes(place->kind, event->name);
}

static bool events_take(struct file_events *events, const struct inotify_event *event, uint64_t now_us)
{
    uint64_t name = event->len > 0 ? text_hash(text_of(event->name)) : 0;
    bool is_any = false;

    if ((event->mask & IN_Q_OVERFLOW) != 0) {
        memset(events->writers, 0, sizeof(events->writers)); // their ends may be among what was lost
        return true;
    }
    for (size_t i = 0; i < events->place_count; i++) {
        const struct file_event_place *place = &events->places[i];
        if (!is_about(place, event, name)) {
            continue;
        }
        is_any = true;
        if ((event->mask & (IN_MODIFY | EVENTS_CLOSED)) != 0) {
            writers_note(events, event, name, place->owner, now_us);
        }
    }
    return is_any;
}

bool file_events_read(struct file_events *events, uint64_t now_us)
{
    _Alignas(struct inotify_event) char bytes[EVENTS_READ];
    bool is_any = false;

    while (events->fd >= 0) {
        ssize_t length = read(events->fd, bytes, sizeof(bytes));
        if (length < 0 && errno == EINTR) {
            continue;
        }
        if (length <= 0) {
            break;
        }
        for (size_t at = 0; at < (size_t)length;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)(bytes + at);
            is_any = events_take(events, event, now_us) || is_any;
            at += sizeof(*event) + event->len;
        }
    }
    return is_any;
}

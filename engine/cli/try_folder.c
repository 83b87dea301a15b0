// Old folders are taken by their name, their owner and their age, never through a link; a folder in which somebody put
// something else than files stays.

#include "cli/try_folder.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_NAME "lastcall-try-"
enum { OLD_S = TRY_FOLDER_DAYS * 24 * 3600, RANDOM_LENGTH = 6 };

static const char *temporary(void)
{
    const char *place = getenv("TMPDIR");

    return place == NULL || place[0] == '\0' ? "/tmp" : place;
}

static void remove_files(int folder)
{
    int copy = dup(folder);
    DIR *opened = copy < 0 ? NULL : fdopendir(copy);

    if (opened == NULL) {
        if (copy >= 0) {
            (void)close(copy);
        }
        return;
    }
    for (const struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        (void)unlinkat(folder, entry->d_name, 0); // a folder is not unlinked so
    }
    (void)closedir(opened);
}

static void remove_old(int place, const char *name)
{
    struct stat facts;
    int folder = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder < 0) {
        return;
    }
    bool is_own = fstat(folder, &facts) == 0 && facts.st_uid == geteuid() && (facts.st_mode & 077) == 0;
    int64_t now_s = (int64_t)(clock_wall_us() / 1000000);
    if (is_own && now_s - facts.st_mtime > OLD_S) {
        remove_files(folder);
        (void)unlinkat(place, name, AT_REMOVEDIR);
    }
    (void)close(folder);
}

static void remove_all_old(void)
{
    DIR *opened = opendir(temporary());

    if (opened == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        size_t length = strlen(entry->d_name);
        if (length == sizeof(OWN_NAME) - 1 + RANDOM_LENGTH &&
            strncmp(entry->d_name, OWN_NAME, sizeof(OWN_NAME) - 1) == 0) {
            remove_old(dirfd(opened), entry->d_name);
        }
    }
    (void)closedir(opened);
}

bool try_folder_make(const char *keep, char folder[TRY_FOLDER_SIZE], struct failure *why)
{
    struct stat facts;
    bool is_made;

    if (keep != NULL) {
        int length = snprintf(folder, TRY_FOLDER_SIZE, "%s", keep);
        is_made = length < TRY_FOLDER_SIZE - 64 && (mkdir(folder, 0700) == 0 || errno == EEXIST);
        if (is_made && stat(folder, &facts) == 0 && !S_ISDIR(facts.st_mode)) {
            is_made = false;
            errno = ENOTDIR;
        }
    } else {
        remove_all_old();
        (void)snprintf(folder, TRY_FOLDER_SIZE, "%.4000s/" OWN_NAME "XXXXXX", temporary());
        is_made = mkdtemp(folder) != NULL;
    }
    if (!is_made) {
        failure_set(why, "the folder %s for the bodies cannot be made: %s", folder, strerror(errno));
        failure_help(why, "say where else: --keep DIR");
    }
    return is_made;
}

void try_folder_leave(const char *keep, const char *folder)
{
    if (keep == NULL) {
        (void)rmdir(folder); // fails where something was saved
    }
}

#include "store/lmdb_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <lmdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// LMDB trusts its file: a damaged page can make it read beyond its map, and the process dies. So the tables are walked
// once before they are used, by a child, whose death says that they are damaged. Values are not read then: each has a
// checksum of its own, and is looked at only where it lies within the file.

enum { DIRECTORY_MODE = 0750, FILE_MODE = 0640, CHECK_S = 60, READERS = 8, NAME_ROOM = 32 };

static const char *const NAMES[LMDB_TABLES] = { "heads", "answers", "notes" };

struct lmdb_file {
    char directory[PATH_MAX - NAME_ROOM];
    uint64_t max_bytes;
    int lock_fd; // holds the lock of the directory
    MDB_env *environment;
    MDB_dbi tables[LMDB_TABLES];
    MDB_txn *look;         // of the reader, kept between turns; NULL: there is none yet
    pthread_rwlock_t swap; // held by looks; taken to put another environment in
    atomic_int trouble;
};

// ------------------------------------------------------------------------------------------------------------ troubles

static enum status note(struct lmdb_file *file, int result)
{
    if (result != MDB_SUCCESS && result != MDB_NOTFOUND) {
        atomic_store(&file->trouble, result);
    }
    switch (result) {
    case MDB_SUCCESS:
        return STATUS_OK;
    case MDB_NOTFOUND:
        return STATUS_NOT_FOUND;
    case MDB_MAP_FULL:
    case MDB_TXN_FULL:
    case MDB_CURSOR_FULL:
        return STATUS_FULL;
    case MDB_PAGE_NOTFOUND:
    case MDB_CORRUPTED:
    case MDB_PANIC:
    case MDB_VERSION_MISMATCH:
    case MDB_INVALID:
    case MDB_INCOMPATIBLE:
    case MDB_BAD_TXN:
        return STATUS_INVALID;
    case ENOMEM:
        return STATUS_NO_MEMORY;
    default:
        return STATUS_IO;
    }
}

const char *lmdb_trouble(const struct lmdb_file *file)
{
    int trouble = atomic_load(&file->trouble);
    return trouble == 0 ? "" : trouble > 0 ? strerrordesc_np(trouble) : mdb_strerror(trouble);
}

// --------------------------------------------------------------------------------------------------------- environment

static void path_of(const struct lmdb_file *file, const char *name, char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "%s/%s", file->directory, name);
}

static int open_tables(struct lmdb_file *file, unsigned flags)
{
    MDB_txn *transaction = NULL;
    int result = mdb_txn_begin(file->environment, NULL, flags, &transaction);

    for (size_t i = 0; result == MDB_SUCCESS && i < LMDB_TABLES; i++) {
        result = mdb_dbi_open(transaction, NAMES[i], flags == MDB_RDONLY ? 0 : MDB_CREATE, &file->tables[i]);
    }
    if (result != MDB_SUCCESS) {
        mdb_txn_abort(transaction);
        return result;
    }
    return mdb_txn_commit(transaction);
}

static void close_environment(struct lmdb_file *file)
{
    if (file->look != NULL) {
        mdb_txn_abort(file->look);
        file->look = NULL;
    }
    mdb_env_close(file->environment);
    file->environment = NULL;
}

static int open_environment(struct lmdb_file *file, unsigned flags)
{
    int dead = 0;
    int result = mdb_env_create(&file->environment);

    if (result != MDB_SUCCESS) {
        file->environment = NULL;
        return result;
    }
    (void)mdb_env_set_maxdbs(file->environment, LMDB_TABLES);
    (void)mdb_env_set_maxreaders(file->environment, READERS);
    result = mdb_env_set_mapsize(file->environment, file->max_bytes);
    if (result == MDB_SUCCESS) {
        result = mdb_env_open(file->environment, file->directory, MDB_NOTLS | MDB_NOMETASYNC | MDB_NORDAHEAD | flags,
                              FILE_MODE);
    }
    if (result == MDB_SUCCESS && (flags & MDB_RDONLY) == 0) {
        (void)mdb_reader_check(file->environment, &dead); // of those who were killed
    }
    if (result == MDB_SUCCESS) {
        result = open_tables(file, flags & MDB_RDONLY);
    }
    if (result != MDB_SUCCESS) {
        close_environment(file);
    }
    return result;
}

/// Empties the directory; a damaged file stays beside, for whoever wants to know.
static void put_aside(const struct lmdb_file *file, bool is_kept)
{
    char path[PATH_MAX], aside[PATH_MAX];

    path_of(file, "data.mdb", path);
    path_of(file, "data.mdb.damaged", aside);
    if (!is_kept || rename(path, aside) != 0) {
        (void)unlink(path);
    }
    path_of(file, "lock.mdb", path);
    (void)unlink(path);
}

// --------------------------------------------------------------------------------------------------------------- check

/// Where the file is mapped, and how much of it is there. LMDB does not tell; the system does. False: nobody does.
static bool find_map(const struct lmdb_file *file, uintptr_t *start, size_t *bytes)
{
    char line[PATH_MAX + 128], path[PATH_MAX];
    struct stat facts, mapped;
    FILE *maps = fopen("/proc/self/maps", "re");
    bool is_found = false;

    path_of(file, "data.mdb", path);
    if (maps == NULL || stat(path, &facts) != 0) {
        return false;
    }
    while (!is_found && fgets(line, sizeof line, maps) != NULL) {
        char *name = strchr(line, '/');
        if (name != NULL) {
            name[strcspn(name, "\n")] = '\0';
            is_found = stat(name, &mapped) == 0 && mapped.st_ino == facts.st_ino && mapped.st_dev == facts.st_dev &&
                       sscanf(line, "%" SCNxPTR, start) == 1;
        }
    }
    (void)fclose(maps);
    *bytes = (size_t)facts.st_size;
    return is_found;
}

/// Every entry can be reached, and lies within the file.
static bool walk(MDB_txn *transaction, MDB_dbi table, uintptr_t start, size_t bytes)
{
    MDB_cursor *cursor = NULL;
    MDB_val key, value;

    if (mdb_cursor_open(transaction, table, &cursor) != MDB_SUCCESS) {
        return false;
    }
    int result = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
    while (result == MDB_SUCCESS) {
        uintptr_t at = (uintptr_t)value.mv_data - start;
        if ((uintptr_t)value.mv_data < start || at > bytes || value.mv_size > bytes - at) {
            return false;
        }
        result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    return result == MDB_NOTFOUND;
}

// The file may be shorter than its last page says: what was taken and given back at its end was never written.
static bool is_whole(struct lmdb_file *file)
{
    MDB_txn *transaction = NULL;
    uintptr_t start = 0;
    size_t bytes = 0;
    int result = open_environment(file, MDB_RDONLY | MDB_NOLOCK);

    if (result == MDB_NOTFOUND) {
        return true; // it has no tables yet
    }
    if (result != MDB_SUCCESS || !find_map(file, &start, &bytes) ||
        mdb_txn_begin(file->environment, NULL, MDB_RDONLY, &transaction) != MDB_SUCCESS) {
        return false;
    }
    for (size_t i = 0; i < LMDB_TABLES; i++) {
        if (!walk(transaction, file->tables[i], start, bytes)) {
            return false;
        }
    }
    return true;
}

/// In the child: only this thread is left of the process. It leaves without any of its ends.
_Noreturn static void check_in_child(struct lmdb_file *file)
{
    static const int DEADLY[] = { SIGSEGV, SIGBUS, SIGABRT, SIGALRM, SIGTERM };
    const struct rlimit no_core = { 0, 0 };

    for (size_t i = 0; i < COUNT_OF(DEADLY); i++) {
        (void)signal(DEADLY[i], SIG_DFL);
    }
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)alarm(CHECK_S);
    _exit(is_whole(file) ? 0 : 1);
}

/// Is what stands there fit to be used? Also when nothing does.
static bool is_fit(struct lmdb_file *file)
{
    char path[PATH_MAX];
    struct stat facts;
    int ended = 0;

    path_of(file, "data.mdb", path);
    if (stat(path, &facts) != 0 || facts.st_size == 0) {
        return true;
    }
    pid_t child = fork();
    if (child == 0) {
        check_in_child(file);
    }
    if (child < 0) {
        return true; // nobody could look
    }
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

static bool is_too_large(const struct lmdb_file *file)
{
    char path[PATH_MAX];
    struct stat facts;

    path_of(file, "data.mdb", path);
    return stat(path, &facts) == 0 && (uint64_t)facts.st_size > file->max_bytes;
}

// ------------------------------------------------------------------------------------------------------- open and
// close

static enum status refuse(const struct lmdb_file *file, const char *what, int error, struct failure *why)
{
    failure_set(why, "store.path: %s: %s: %s", file->directory, what,
                error > 0 ? strerrordesc_np(error) : mdb_strerror(error));
    failure_help(why, "see to it that the engine can write there, or name another directory");
    return STATUS_IO;
}

/// One process at a time: two would each believe that they are alone.
static enum status lock_directory(struct lmdb_file *file, struct failure *why)
{
    char path[PATH_MAX], owner[24] = "";

    if (mkdir(file->directory, DIRECTORY_MODE) != 0 && errno != EEXIST) {
        return refuse(file, "it cannot be made", errno, why);
    }
    path_of(file, "owner", path);
    file->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    if (file->lock_fd < 0) {
        return refuse(file, "nothing can be written there", errno, why);
    }
    if (flock(file->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        ssize_t length = pread(file->lock_fd, owner, sizeof owner - 1, 0);
        owner[length > 0 ? (size_t)length : 0] = '\0';
        owner[strspn(owner, "0123456789")] = '\0';
        failure_set(why, "store.path: %s: another engine has it (process %s)", file->directory,
                    owner[0] != '\0' ? owner : "unknown");
        failure_help(why, "give each engine a directory of its own; engines that share answers need `backend: redis`");
        return STATUS_INVALID;
    }
    int length = snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
    if (ftruncate(file->lock_fd, 0) != 0 || pwrite(file->lock_fd, owner, (size_t)length, 0) != length) {
        return refuse(file, "nothing can be written there", errno, why);
    }
    return STATUS_OK;
}

static enum status open_checked(struct lmdb_file *file, bool *was_begun_anew, struct failure *why)
{
    bool is_large = is_too_large(file);

    *was_begun_anew = is_large || !is_fit(file);
    if (*was_begun_anew) {
        put_aside(file, !is_large);
    }
    int result = open_environment(file, 0);
    bool is_damaged = note(file, result) == STATUS_INVALID;
    if (is_damaged && !*was_begun_anew) {
        *was_begun_anew = true;
        put_aside(file, true);
        result = open_environment(file, 0);
    }
    return result == MDB_SUCCESS ? STATUS_OK : refuse(file, "the store cannot be opened", result, why);
}

enum status lmdb_file_open(const char *directory, uint64_t max_bytes, struct lmdb_file **file, bool *was_begun_anew,
                           struct failure *why)
{
    struct lmdb_file *made = calloc(1, sizeof *made);

    *file = NULL;
    if (made == NULL) {
        failure_set(why, "out of memory");
        return STATUS_NO_MEMORY;
    }
    made->lock_fd = -1;
    made->max_bytes = max_bytes;
    require(pthread_rwlock_init(&made->swap, NULL) == 0);
    enum status status = STATUS_IO;
    if (strlen(directory) >= sizeof made->directory) {
        failure_set(why, "store.path: its name is too long");
    } else {
        memcpy(made->directory, directory, strlen(directory) + 1);
        status = lock_directory(made, why);
    }
    if (status == STATUS_OK) {
        status = open_checked(made, was_begun_anew, why);
    }
    if (status == STATUS_OK) {
        *file = made;
    } else {
        lmdb_file_close(&made);
    }
    return status;
}

void lmdb_file_close(struct lmdb_file **file)
{
    struct lmdb_file *gone = *file;

    *file = NULL;
    if (gone == NULL) {
        return;
    }
    if (gone->environment != NULL) {
        (void)mdb_env_sync(gone->environment, 1);
        close_environment(gone);
    }
    if (gone->lock_fd >= 0) {
        close(gone->lock_fd);
    }
    (void)pthread_rwlock_destroy(&gone->swap);
    free(gone);
}

enum status lmdb_file_begin_anew(struct lmdb_file *file)
{
    int result = MDB_SUCCESS;

    pthread_rwlock_wrlock(&file->swap);
    if (file->environment != NULL) {
        close_environment(file);
    }
    put_aside(file, false);
    result = open_environment(file, 0);
    pthread_rwlock_unlock(&file->swap);
    return note(file, result);
}

enum status lmdb_file_sync(struct lmdb_file *file)
{
    return file->environment != NULL ? note(file, mdb_env_sync(file->environment, 1)) : STATUS_IO;
}

// --------------------------------------------------------------------------------------------------------------- turns

static enum status begin_look(struct lmdb_file *file)
{
    if (file->environment == NULL) {
        return STATUS_IO;
    }
    if (file->look != NULL) {
        return note(file, mdb_txn_renew(file->look));
    }
    return note(file, mdb_txn_begin(file->environment, NULL, MDB_RDONLY, &file->look));
}

enum status lmdb_read(struct lmdb_file *file, struct lmdb_turn *turn)
{
    pthread_rwlock_rdlock(&file->swap);
    enum status status = begin_look(file);
    *turn = (struct lmdb_turn){ .file = file, .transaction = file->look };
    if (status != STATUS_OK) {
        pthread_rwlock_unlock(&file->swap);
    }
    return status;
}

enum status lmdb_write(struct lmdb_file *file, struct lmdb_turn *turn)
{
    MDB_txn *transaction = NULL;

    if (file->environment == NULL) { // it could not be begun anew
        return STATUS_INVALID;
    }
    enum status status = note(file, mdb_txn_begin(file->environment, NULL, 0, &transaction));
    *turn = (struct lmdb_turn){ .file = file, .transaction = transaction, .is_write = true };
    return status;
}

void lmdb_end(struct lmdb_turn *turn)
{
    if (turn->is_write) {
        mdb_txn_abort(turn->transaction);
        return;
    }
    mdb_txn_reset(turn->transaction);
    pthread_rwlock_unlock(&turn->file->swap);
}

enum status lmdb_commit(struct lmdb_turn *turn)
{
    return note(turn->file, mdb_txn_commit(turn->transaction));
}

// ------------------------------------------------------------------------------------------------------------- entries

static MDB_val value_of(struct text text)
{
    return (MDB_val){ .mv_size = text.length, .mv_data = (void *)(uintptr_t)text.data };
}

static struct text text_of_value(MDB_val value)
{
    return (struct text){ value.mv_data, value.mv_size };
}

enum status lmdb_get(struct lmdb_turn *turn, enum lmdb_table table, struct text key, struct text *value)
{
    MDB_val asked = value_of(key), found = { 0 };
    int result = mdb_get(turn->transaction, turn->file->tables[table], &asked, &found);

    *value = result == MDB_SUCCESS ? text_of_value(found) : (struct text){ 0 };
    return note(turn->file, result);
}

static enum status at_cursor(struct lmdb_turn *turn, enum lmdb_table table, MDB_val key, MDB_cursor_op operation,
                             struct text *found, struct text *value)
{
    MDB_cursor *cursor = NULL;
    MDB_val entry = { 0 };
    int result = mdb_cursor_open(turn->transaction, turn->file->tables[table], &cursor);

    if (result == MDB_SUCCESS) {
        result = mdb_cursor_get(cursor, &key, &entry, operation);
        mdb_cursor_close(cursor);
    }
    *found = result == MDB_SUCCESS ? text_of_value(key) : (struct text){ 0 };
    *value = result == MDB_SUCCESS ? text_of_value(entry) : (struct text){ 0 };
    return note(turn->file, result);
}

enum status lmdb_seek(struct lmdb_turn *turn, enum lmdb_table table, struct text key, struct text *found,
                      struct text *value)
{
    return at_cursor(turn, table, value_of(key), key.length > 0 ? MDB_SET_RANGE : MDB_FIRST, found, value);
}

enum status lmdb_last(struct lmdb_turn *turn, enum lmdb_table table, struct text *found)
{
    struct text value;
    return at_cursor(turn, table, (MDB_val){ 0 }, MDB_LAST, found, &value);
}

enum status lmdb_put(struct lmdb_turn *turn, enum lmdb_table table, struct text key, struct text value)
{
    MDB_val name = value_of(key), entry = value_of(value);
    return note(turn->file, mdb_put(turn->transaction, turn->file->tables[table], &name, &entry, 0));
}

enum status lmdb_put_room(struct lmdb_turn *turn, enum lmdb_table table, struct text key, size_t length, char **room)
{
    MDB_val name = value_of(key), entry = { .mv_size = length };
    int result = mdb_put(turn->transaction, turn->file->tables[table], &name, &entry, MDB_RESERVE);

    *room = entry.mv_data;
    return note(turn->file, result);
}

enum status lmdb_delete(struct lmdb_turn *turn, enum lmdb_table table, struct text key)
{
    MDB_val name = value_of(key);
    return note(turn->file, mdb_del(turn->transaction, turn->file->tables[table], &name, NULL));
}

void lmdb_sizes(struct lmdb_turn *turn, struct lmdb_sizes *sizes)
{
    for (size_t i = 0; i < LMDB_TABLES; i++) {
        MDB_stat shape = { 0 };
        (void)mdb_stat(turn->transaction, turn->file->tables[i], &shape);
        sizes->entries[i] = shape.ms_entries;
        sizes->bytes[i] =
            (uint64_t)shape.ms_psize * (shape.ms_branch_pages + shape.ms_leaf_pages + shape.ms_overflow_pages);
    }
}

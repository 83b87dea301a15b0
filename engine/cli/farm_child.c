#include "cli/farm_child.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, READ_AT_ONCE = 64 << 10, PATIENCE_MS = 5000, PAUSE_MS = 5 };

extern char **environ;

// ---- where it is

/// The folder of this program; false: the system does not say.
static bool own_folder(char folder[PATH_SIZE])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_SIZE - 1);

    if (length <= 0) {
        return false;
    }
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return true;
}

static bool find_program(char path[PATH_SIZE + 32], struct failure *why)
{
    static const char *const places[] = { "lastcall-farm", "examples/farm/farm" };
    const char *given = getenv("LASTCALL_FARM");
    char folder[PATH_SIZE];

    if (given != NULL && given[0] != '\0') {
        (void)snprintf(path, PATH_SIZE + 32, "%s", given);
        if (access(path, X_OK) == 0) {
            return true;
        }
        failure_set(why, "the farm program cannot be run: %s: %s", given, strerror(errno));
        failure_help(why, "LASTCALL_FARM names it; without that it is looked for beside this program");
        return false;
    }
    bool has_folder = own_folder(folder);
    for (size_t i = 0; has_folder && i < COUNT_OF(places); i++) {
        (void)snprintf(path, PATH_SIZE + 32, "%s/%s", folder, places[i]);
        if (access(path, X_OK) == 0) {
            return true;
        }
    }
    failure_set(why, "the farm program, which plays the answers, is not there");
    failure_help(why,
                 "build the target `farm`, put it as `lastcall-farm` beside `lastcall`, or name it in LASTCALL_FARM");
    return false;
}

// ---- start and end

/// Its input is the socket; what it prints goes to standard error. It gets no signal mask of ours.
static int spawn(const char *path, char *const *arguments, int socket, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;

    sigemptyset(&none);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
        error = error != 0 ? error : posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
        error = error != 0 ? error : posix_spawnattr_setsigmask(&attributes, &none);
        error = error != 0 ? error : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        error = error != 0 ? error : posix_spawn(pid, path, &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

enum status farm_child_start(struct farm_child *farm, const char *const *arguments, struct failure *why)
{
    char path[PATH_SIZE + 32];
    const char *all[FARM_ARGUMENTS_MAX + 2] = { path };
    int sockets[2];
    size_t count = 0;

    *farm = (struct farm_child){ .fd = -1 };
    buffer_init(&farm->input, (size_t)FRAME_MAX * 2);
    if (!find_program(path, why)) {
        return STATUS_NOT_FOUND;
    }
    for (; arguments[count] != NULL; count++) {
        require(count < FARM_ARGUMENTS_MAX);
        all[count + 1] = arguments[count];
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
        failure_set(why, "no socket for the farm: %s", strerror(errno));
        return STATUS_IO;
    }
    int error = spawn(path, (char *const *)(uintptr_t)all, sockets[1], &farm->pid);
    close(sockets[1]);
    farm->fd = sockets[0];
    if (error != 0) {
        farm->pid = 0;
        failure_set(why, "the farm program cannot be run: %s: %s", path, strerror(error));
        return STATUS_IO;
    }
    return STATUS_OK;
}

static bool is_gone_within(pid_t pid, int patience_ms)
{
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
    bool is_gone = waitpid(pid, NULL, WNOHANG) != 0;

    for (int waited_ms = 0; !is_gone && waited_ms < patience_ms; waited_ms += PAUSE_MS) {
        (void)nanosleep(&pause, NULL);
        is_gone = waitpid(pid, NULL, WNOHANG) != 0;
    }
    return is_gone;
}

void farm_child_stop(struct farm_child *farm)
{
    if (farm->fd >= 0) {
        close(farm->fd);
        farm->fd = -1;
    }
    if (farm->pid > 0 && !is_gone_within(farm->pid, PATIENCE_MS)) {
        (void)kill(farm->pid, SIGKILL);
        while (waitpid(farm->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    farm->pid = 0;
    buffer_fini(&farm->input);
}

// ---- messages

bool farm_child_read(struct farm_child *farm)
{
    struct buffer *input = &farm->input;

    if (farm->taken > 0) {
        memmove(input->data, input->data + farm->taken, input->length - farm->taken);
        input->length -= farm->taken;
        farm->taken = 0;
    }
    if (!buffer_reserve(input, READ_AT_ONCE)) {
        return false;
    }
    ssize_t got = recv(farm->fd, input->data + input->length, READ_AT_ONCE, MSG_DONTWAIT);
    input->length += got > 0 ? (size_t)got : 0;
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

bool farm_child_next(struct farm_child *farm, struct frame *frame, bool *is_broken)
{
    if (farm->taken == farm->input.length) {
        return false;
    }
    struct text rest = { farm->input.data + farm->taken, farm->input.length - farm->taken };
    enum frame_verdict verdict = frame_read(frame, rest);
    *is_broken = verdict == FRAME_BROKEN;
    farm->taken += verdict == FRAME_WHOLE ? frame->length : 0;
    return verdict == FRAME_WHOLE;
}

bool farm_child_send(struct farm_child *farm, struct text json, struct text bytes)
{
    struct buffer out;
    size_t sent = 0;

    buffer_init(&out, (size_t)FRAME_MAX * 2);
    frame_append(&out, json, bytes);
    bool is_open = !out.is_full;
    // The farm never waits for us, so it is no harm to wait for the farm.
    while (is_open && sent < out.length) {
        ssize_t more = send(farm->fd, out.data + sent, out.length - sent, MSG_NOSIGNAL);
        is_open = more > 0 || (more < 0 && errno == EINTR);
        sent += more > 0 ? (size_t)more : 0;
    }
    buffer_fini(&out);
    return is_open;
}

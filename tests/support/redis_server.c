#include "support/redis_server.h"

#include "base/check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 32, STARTS_MAX = 600 };

bool redis_server_is_installed(void)
{
    return access("/usr/bin/redis-server", X_OK) == 0;
}

uint16_t redis_server_free_port(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    require(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    require(getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    close(fd);
    return ntohs(address.sin_port);
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    require(fd >= 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

const char *redis_server_say(const struct redis_server *server, const char *line, char *reply, size_t size)
{
    int fd = connect_to(server->path);
    size_t length = 0;

    reply[0] = '\0';
    if (fd < 0) {
        return reply;
    }
    require(dprintf(fd, "%s\r\nQUIT\r\n", line) > 0);
    while (length + 1 < size) { // it closes after QUIT
        ssize_t taken = read(fd, reply + length, size - 1 - length);
        if (taken <= 0) {
            break;
        }
        length += (size_t)taken;
    }
    reply[length] = '\0';
    close(fd);
    return reply;
}

static void run(const struct redis_server *server, const char *const *options)
{
    char port[16];
    const char *words[WORDS_MAX] = {
        "redis-server",    "--port",      port, "--bind",       "127.0.0.1", "--unixsocket", server->path, "--dir",
        server->directory, "--save",      "",   "--appendonly", "no",        "--daemonize",  "no",         "--logfile",
        "/dev/null",       "--databases", "16"
    };
    size_t count = 19;

    snprintf(port, sizeof port, "%u", (unsigned)server->port);
    for (size_t i = 0; options != NULL && options[i] != NULL && count + 1 < WORDS_MAX; i++) {
        words[count++] = options[i];
    }
    execv("/usr/bin/redis-server", (char *const *)(uintptr_t)words);
    _exit(127);
}

/// It says something: a PONG, or that it wants a password, or that it loads.
static bool answers(const struct redis_server *server)
{
    char reply[128];

    return redis_server_say(server, "PING", reply, sizeof reply)[0] != '\0';
}

void redis_server_again(struct redis_server *server, const char *const *options)
{
    server->process = fork();
    require(server->process >= 0);
    if (server->process == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that dies leaves none behind
        int nowhere = open("/dev/null", O_RDWR);
        (void)dup2(nowhere, STDOUT_FILENO); // nor somebody who waits for its output
        (void)dup2(nowhere, STDERR_FILENO);
        run(server, options);
    }
    for (int i = 0; !answers(server); i++) {
        require(i < STARTS_MAX && waitpid(server->process, NULL, WNOHANG) == 0);
        poll(NULL, 0, 100);
    }
}

void redis_server_start(struct redis_server *server, const char *const *options)
{
    *server = (struct redis_server){ .port = redis_server_free_port() };
    snprintf(server->directory, sizeof server->directory, "/tmp/lastcall-redis-XXXXXX");
    require(mkdtemp(server->directory) != NULL);
    snprintf(server->path, sizeof server->path, "%s/socket", server->directory);
    redis_server_again(server, options);
}

void redis_server_kill(struct redis_server *server)
{
    if (server->process > 0) {
        kill(server->process, SIGKILL);
        waitpid(server->process, NULL, 0);
    }
    server->process = 0;
    unlink(server->path);
}

void redis_server_stop(struct redis_server *server)
{
    redis_server_kill(server);
    (void)rmdir(server->directory);
}

#include "e2e/farm_process.h"

#include "e2e/wire.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ADMIN = 254 };

char farm_folder[] = "/tmp/farm-test-XXXXXX";
static pid_t farm;

const char *farm_path(void)
{
    static char path[512];
    const char *build = getenv("LASTCALL_BUILD");
    snprintf(path, sizeof(path), "%s/examples/farm/farm", build != NULL ? build : ".build/release");
    return path;
}

int exchange(int host, int port, const char *method, const char *path, const char *request, const char **body)
{
    int fd = connect_to(host, port, WAIT_MS);
    assert_true(fd >= 0);
    send_request(fd, method, path, request);
    int status = read_answer(fd, body);
    close(fd);
    return status;
}

int admin(const char *path, const char *change, const char **body)
{
    return exchange(ADMIN, 9999, change != NULL ? "POST" : "GET", path, change != NULL ? change : "", body);
}

bool farm_is_running(void)
{
    return farm > 0;
}

int farm_terminate(void)
{
    int status;
    assert_int_equal(kill(farm, SIGTERM), 0);
    assert_int_equal(waitpid(farm, &status, 0), farm);
    farm = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int farm_start(const char *population)
{
    char population_path[64], tls[64], file[128];
    if (mkdtemp(farm_folder) == NULL) {
        return -1;
    }
    snprintf(population_path, sizeof(population_path), "%s/population", farm_folder);
    snprintf(tls, sizeof(tls), "%s/tls", farm_folder);
    snprintf(file, sizeof(file), "file:127.0.46.9:%s", population_path);
    FILE *written = fopen(population_path, "w");
    if (written == NULL || fputs(population, written) < 0 || fclose(written) != 0) {
        return -1;
    }
    farm = fork();
    if (farm == 0) {
        execl(farm_path(), "farm", "--population", population_path, "--network", "127.0.46", "--seed", "5", "--tls-dir",
              tls, "--file", file, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 400; i++) {
        int status, fd;
        if (waitpid(farm, &status, WNOHANG) != 0) {
            farm = 0;
            return -1;
        }
        if ((fd = connect_to(ADMIN, 9999, WAIT_MS)) >= 0) {
            close(fd);
            return 0;
        }
        usleep(50000);
    }
    return -1;
}

int farm_stop(void)
{
    char command[64];
    if (farm > 0) {
        kill(farm, SIGKILL);
        waitpid(farm, NULL, 0);
    }
    snprintf(command, sizeof(command), "rm -rf %s", farm_folder);
    return system(command);
}

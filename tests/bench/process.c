#include "bench/process.h"

#include <stdio.h>
#include <unistd.h>

uint64_t process_cpu_us(int pid)
{
    char path[64];
    unsigned long long user = 0, system = 0;

    if (pid <= 0) {
        return 0;
    }
    // utime and stime are fields 14 and 15; they include threads that have ended. The name in field 2 may hold blanks.
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    int found = fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system);
    fclose(file);
    long ticks = sysconf(_SC_CLK_TCK);
    return found == 2 && ticks > 0 ? (user + system) * (1000000ull / (unsigned long long)ticks) : 0;
}

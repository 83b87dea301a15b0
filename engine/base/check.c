#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// No allocation and no stdio lock: the process may be in any state.
_Noreturn void check_failed(const char *file, int line, const char *condition)
{
    char text[512];
    int length = snprintf(text, sizeof(text), "%s:%d: bug: \"%s\" does not hold\n", file, line, condition);

    if (length > 0) {
        size_t bytes = (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1;
        if (write(STDERR_FILENO, text, bytes) < 0) {
            abort();
        }
    }
    abort();
}

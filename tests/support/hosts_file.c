#include "support/hosts_file.h"

#include <stdio.h>
#include <string.h>

bool hosts_file_names_localhost(void)
{
    char line[512];
    bool is_named = false;
    FILE *file = fopen("/etc/hosts", "r");

    if (file == NULL) {
        return false;
    }
    while (!is_named && fgets(line, sizeof(line), file) != NULL) {
        is_named = strncmp(line, "127.0.0.1", 9) == 0 && strstr(line, "localhost") != NULL;
    }
    fclose(file);
    return is_named;
}

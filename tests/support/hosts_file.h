/// Hosts file: whether /etc/hosts names the loopback. A bare system may have none, and then tests of it are skipped.
///
/// Threads: any.
#pragma once

#include <stdbool.h>

bool hosts_file_names_localhost(void);

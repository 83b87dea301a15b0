/// Process: what another process has used, read from /proc.
///
/// Threads: any.
#pragma once

#include <stdint.h>

/// CPU time of all its threads in µs (nanosecond-exact where the kernel keeps schedstat); 0 for pid 0 or a process
/// gone.
uint64_t process_cpu_us(int pid);

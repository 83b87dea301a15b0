/// Search id: a ULID (48 bits of time, 80 random bits, Crockford's base 32), sortable by arrival.
///
/// Threads: any.
#pragma once

#include <stdint.h>

enum { SEARCH_ID_SIZE = 27 }; // 26 characters and the end

void search_id_make(char id[SEARCH_ID_SIZE], uint64_t wall_us);

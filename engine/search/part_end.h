/// Part end: how a part of an attempt ended, or a login that it waited for.
///
/// Threads: any; a plain value.
#pragma once

#include "model/outcome.h"

#include <stdint.h>

struct part_end {
    enum outcome outcome; // OUTCOME_ANSWERED or OUTCOME_EMPTY: good
    enum phase phase;
    enum rejection rejection;
    uint16_t http_status; // of its last answer; 0: none
    uint64_t retry_after_ms;
    char detail[256];
    char code[64];
};

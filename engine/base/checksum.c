#include "base/checksum.h"

#include <endian.h>

// Each step maps states one to one, for any word, and words one to one, for any state: so two texts that differ in one
// word end in different states.

static uint64_t mix(uint64_t state, uint64_t word)
{
    state = (state ^ word) * 0xD6E8FEB86659FD93ULL;
    return state ^ state >> 32;
}

uint64_t checksum_of(struct text bytes)
{
    uint64_t state = mix(0x9E3779B97F4A7C15ULL, bytes.length);
    const unsigned char *at = (const unsigned char *)bytes.data;
    size_t left = bytes.length;

    for (; left >= 8; at += 8, left -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        state = mix(state, le64toh(word));
    }
    uint64_t last = 0;
    for (size_t i = 0; i < left; i++) {
        last |= (uint64_t)at[i] << 8 * i;
    }
    return mix(mix(state, last), 0);
}

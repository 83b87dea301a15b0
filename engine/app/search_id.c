#include "app/search_id.h"

#include "base/check.h"

#include <sys/random.h>

void search_id_make(char id[SEARCH_ID_SIZE], uint64_t wall_us)
{
    static const char ALPHABET[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    unsigned char random[16];
    uint64_t time_ms = wall_us / 1000;

    require(getrandom(random, sizeof random, 0) == (ssize_t)sizeof random);
    for (int i = 9; i >= 0; i--) {
        id[i] = ALPHABET[time_ms & 31];
        time_ms >>= 5;
    }
    for (int i = 0; i < 16; i++) {
        id[10 + i] = ALPHABET[random[i] & 31];
    }
    id[SEARCH_ID_SIZE - 1] = '\0';
}

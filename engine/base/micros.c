#include "base/micros.h"

size_t micros_write(int64_t micros, int decimals, char out[MICROS_TEXT_MAX])
{
    char reversed[MICROS_TEXT_MAX];
    size_t count = 0, length = 0;
    uint64_t rest = micros < 0 ? 0 - (uint64_t)micros : (uint64_t)micros;

    for (int i = decimals; i < MICROS_DECIMALS; i++) {
        rest /= 10;
    }
    for (int i = 0; rest > 0 || i <= decimals; i++) {
        if (i == decimals && decimals > 0) {
            reversed[count++] = '.';
        }
        reversed[count++] = (char)('0' + rest % 10);
        rest /= 10;
    }
    if (micros < 0) {
        out[length++] = '-';
    }
    while (count > 0) {
        out[length++] = reversed[--count];
    }
    out[length] = '\0';
    return length;
}

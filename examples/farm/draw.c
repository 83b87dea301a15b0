#include "farm/draw.h"

#include <math.h>

static uint64_t scramble(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

uint64_t draw_mix(uint64_t a, uint64_t b)
{
    return scramble(scramble(a + 0x9e3779b97f4a7c15ULL) ^ (b * 0xd6e8feb86659fd93ULL + 1));
}

uint64_t draw_next(struct draw *draw)
{
    draw->state += 0x9e3779b97f4a7c15ULL;
    return scramble(draw->state);
}

uint32_t draw_below(struct draw *draw, uint32_t limit)
{
    return (uint32_t)(((draw_next(draw) >> 32) * limit) >> 32);
}

double draw_unit(struct draw *draw)
{
    return ((double)(draw_next(draw) >> 11) + 0.5) * 0x1p-53;
}

double draw_normal(struct draw *draw)
{
    double radius = sqrt(-2.0 * log(draw_unit(draw)));
    return radius * cos(2.0 * 3.14159265358979323846 * draw_unit(draw));
}

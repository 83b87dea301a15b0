/// Farm: the world that the parts share: loop, population, authority, working memory.
///
/// Threads: one.
/// Memory:  owned by main; `input` and `output` are scratch for the length of one event.
#pragma once

#include "base/list.h"
#include "farm/loop.h"
#include "farm/population.h"
#include "farm/tls.h"

enum { FARM_INPUT = 64 << 10 };
enum { FARM_ADMIN_PORT = 9999, FARM_NAME_PORT = 5300 };

/// How the name server treats all names, before a supplier's own faults.
enum name_mode { NAMES_ANSWER, NAMES_NEVER, NAMES_NXDOMAIN };

struct farm {
    struct loop loop;
    struct population *population;
    struct tls *tls; // NULL when nobody speaks TLS
    uint64_t seed;
    char *input;  // FARM_INPUT bytes
    char *output; // room for the longest answer
    size_t output_size;
    struct prompter *prompter; // NULL: the farm knows its answers itself
    struct sessions *sessions; // searches that wait to be polled
    struct list connections;   // all open ones
    struct list spare;         // closed ones, to be used again
    struct door *doors;
    size_t door_count;
    enum name_mode names;
    uint32_t names_delay_ms;
    uint64_t names_asked, names_answered;
    uint64_t answered;
    uint64_t cpu_us, wall_us; // when the CPU share was last asked for
};

// What patience costs, in CPU time of this thread.
//
//   bench_patience [ROUNDS]
//
// Of 40 suppliers that are all out, each with a curve of its own: one look whether waiting is over, as a search takes
// it (those that began within the same ms have the same elapsed time; and the same with times of their own), and what
// making knowledge of a fitted curve costs, which happens at most once a second for each account.

#include "base/clock.h"
#include "policy/known.h"
#include "policy/patience.h"

#include <stdio.h>
#include <stdlib.h>

enum { SUPPLIERS = 40, ROUNDS = 20000, CALLS = 400 };

static struct known knowns[SUPPLIERS];
static struct pending pending[SUPPLIERS];

static void prepare(void)
{
    static struct latency latency;

    for (size_t i = 0; i < SUPPLIERS; i++) {
        uint64_t least_us = 80000 + 45000 * i;
        latency_init(&latency);
        for (uint64_t call = 0; call < CALLS; call++) {
            latency_arrived(&latency, least_us + call * least_us / CALLS, 1, 1);
        }
        (void)latency_fit(&latency, 1, &knowns[i].curve);
        known_finish(&knowns[i], 0.1);
    }
}

static double cost_us(size_t rounds, uint64_t apart_us)
{
    uint64_t began_us = clock_thread_cpu_us();
    double sum = 0;

    for (size_t round = 0; round < rounds; round++) {
        uint64_t until_us = 0;
        for (size_t i = 0; i < SUPPLIERS; i++) {
            pending[i] = (struct pending){ .curve = &knowns[i].curve,
                                           .elapsed_us = 20000 + round % 60 * 1000 + i * apart_us,
                                           .value = 3,
                                           .end_us = 1990000 };
        }
        sum += patience_gain(pending, SUPPLIERS, 1900000, 0, &until_us);
    }
    if (sum <= 0) { // so that nothing of it is left out
        printf("nothing was worth waiting for\n");
    }
    return (double)(clock_thread_cpu_us() - began_us) / (double)rounds;
}

static double knowledge_us(size_t rounds)
{
    uint64_t began_us = clock_thread_cpu_us();

    for (size_t round = 0; round < rounds; round++) {
        known_finish(&knowns[round % SUPPLIERS], 0.1);
    }
    return (double)(clock_thread_cpu_us() - began_us) / (double)rounds;
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : ROUNDS;

    if (rounds == 0) {
        fprintf(stderr, "usage: bench_patience [ROUNDS]\n");
        return 2;
    }
    prepare();
    printf("a look at %d that began together   %6.2f us\n", SUPPLIERS, cost_us(rounds, 0));
    printf("a look at %d that did not          %6.2f us\n", SUPPLIERS, cost_us(rounds, 1000));
    printf("knowledge of a fitted curve        %6.2f us\n", knowledge_us(rounds / 10 + 1));
    return 0;
}

/// Moves stage: catalogues by hand that move in and leave, as generations do.
///
/// Threads: the test's; the ground of a stage any.
/// Memory:  each stage one allocation, which the test frees.
#pragma once

#include "model/catalogue.h"
#include "model/ground.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STAGE_SUPPLIERS = 12, STAGE_ACCOUNTS = 3 };

struct stage {
    struct catalogue catalogue;
    struct ground ground;
    atomic_bool is_over; // nobody holds it
    struct catalogue_supplier suppliers[STAGE_SUPPLIERS];
    struct script_account accounts[STAGE_SUPPLIERS][STAGE_ACCOUNTS];
    struct account_kept kept[STAGE_SUPPLIERS][STAGE_ACCOUNTS];
    char names[STAGE_SUPPLIERS][16];
};

static inline void stage_on_end(struct ground *ground)
{
    atomic_store(&CONTAINER_OF(ground, struct stage, ground)->is_over, true);
}

/// With one hold, which the test drops.
static inline struct stage *stage_make(void)
{
    struct stage *stage = calloc(1, sizeof(*stage));

    assert_non_null(stage);
    ground_init(&stage->ground, stage_on_end);
    stage->catalogue.suppliers = stage->suppliers;
    stage->catalogue.ground = &stage->ground;
    return stage;
}

/// An account, of a new supplier unless the last one has this name. All texts are copied but `account` and `context`.
static inline struct script_account *stage_add(struct stage *stage, const char *supplier, const char *account,
                                               const char *context)
{
    size_t index = stage->catalogue.supplier_count;

    if (index == 0 || !text_equals_c(stage->suppliers[index - 1].name, supplier)) {
        assert_in_range(index, 0, STAGE_SUPPLIERS - 1);
        stage->catalogue.supplier_count++;
        snprintf(stage->names[index], sizeof(stage->names[index]), "%s", supplier);
        stage->suppliers[index].name = text_of(stage->names[index]);
        stage->suppliers[index].account = stage->accounts[index];
    } else {
        index--;
    }
    size_t place = stage->suppliers[index].account_count++;
    assert_in_range(place, 0, STAGE_ACCOUNTS - 1);
    struct script_account *made = &stage->accounts[index][place];
    *made = (struct script_account){ .name = text_of(account),
                                     .context = text_of(context),
                                     .kept = &stage->kept[index][place] };
    return made;
}

static inline struct script_account *stage_account(struct stage *stage, size_t supplier, size_t account)
{
    return &stage->accounts[supplier][account];
}

/// Nobody but the test holds it any more.
static inline void stage_free(struct stage **stage)
{
    struct ground *ground = &(*stage)->ground;

    ground_drop(&ground);
    assert_true((*stage)->is_over);
    free(*stage);
    *stage = NULL;
}

/// A number that looks like chance, the same in every run.
static inline unsigned stage_dice(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245U + 12345U;
    return (*seed >> 16) % below;
}

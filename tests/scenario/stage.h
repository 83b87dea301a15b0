/// Stage: a play while it is played; inside of play.
///
/// Threads: one.
/// Memory:  lives during play_run.
#pragma once

#include "model/ground.h"
#include "scenario/play.h"
#include "support/fold.h"

struct stage {
    const struct play *play;
    struct play_result *result;
    struct virtual_world virtual;
    struct virtual_supplier behaviours[PLAY_SUPPLIERS_MAX];
    struct catalogue_supplier catalogue_suppliers[PLAY_SUPPLIERS_MAX];
    struct script_account accounts[PLAY_SUPPLIERS_MAX];
    struct catalogue catalogue;
    struct ground ground; // of the catalogue
    struct rule_set rule_set;
    struct rule rules[PLAY_RULES_MAX];
    uint32_t rule_suppliers[PLAY_RULES_MAX][PLAY_VALUES_MAX];
    struct text chosen[PLAY_SUPPLIERS_MAX];
    struct search *search;
    struct block *body;
    uint64_t arrival_us;
    bool has_left;
    struct fold fold;
    uint8_t outcomes_told[PLAY_SUPPLIERS_MAX];
};

/// What every search keeps to, once the play is over (stage_check.c).
void stage_check(struct stage *stage);
/// Of one event of a stream.
void stage_check_event(struct stage *stage, enum search_event event, struct text json);

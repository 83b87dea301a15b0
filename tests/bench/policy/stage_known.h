/// Stage known: what a stage knows of its suppliers: breakers, curves, what answers are worth, extra calls. As
/// app/permits has it, in virtual time, and with what the row does not have switched off.
///
/// Threads: its stage's.
/// Memory:  in the stage's accounts, until stage_known_fini.
#pragma once

#include "bench/policy/stage.h"

void stage_known_init(struct stage *stage);
void stage_known_fini(struct stage *stage);
/// Adds the ports that ask and tell it.
void stage_known_ops(const struct row *row, struct world_ops *ops);

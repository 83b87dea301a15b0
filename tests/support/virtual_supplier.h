/// Virtual supplier: what the suppliers and scripts of a virtual world make of a call.
///
/// Threads: its world's.
/// Memory:  results belong to the call or the fetch; blocks and batches are noted in the world.
#pragma once

#include "support/virtual_world.h"

/// The behaviour that a request of ours belongs to, and what it does at this exchange.
const struct virtual_supplier *virtual_supplier_of(const struct virtual_world *virtual,
                                                   const struct http_request *request, struct virtual_step *step);

/// What the Nth request of an exchange finds, from 1 on.
void virtual_step_take_number(struct virtual_step *step, uint32_t number);
void virtual_supplier_respond(struct virtual_world *virtual, const struct virtual_supplier *supplier,
                              const struct virtual_step *step, uint32_t number, struct fetch *fetch);
/// Runs a call of any kind.
void virtual_supplier_run(struct virtual_world *virtual, struct script_call *call);

/// Offers of a supplier as a step says; the caller's to release.
struct offer_batch *virtual_supplier_offers(struct virtual_world *virtual, const struct virtual_supplier *supplier,
                                            const struct virtual_step *step);
/// The world looks whether a batch is lost.
void virtual_supplier_note(struct virtual_world *virtual, struct offer_batch *batch);

/// Which of the world's suppliers an account belongs to.
size_t virtual_supplier_index(const struct virtual_world *virtual, const struct script_account *account);

/// How long a call keeps its worker.
uint64_t virtual_supplier_script_us(const struct virtual_world *virtual, struct script_call *call);

/// The call never began: no time was left.
void virtual_supplier_drop(struct script_call *call);

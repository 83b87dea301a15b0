/// Extra calls over the accounts of the process: the ports of search/ for them (search/ports.h), by policy/extra_book.
///
/// Threads: any.
/// Memory:  all of it is the permits' (app/permits.h).
#pragma once

#include "app/permits.h"
#include "search/ports.h"

struct extra_times permits_extra_call(struct permits *permits, const struct script_account *account,
                                      const struct extra_call *call);
void permits_extra_connected(struct permits *permits, const struct script_account *account, uint64_t us);
MUST_CHECK enum extra_answer permits_extra_ask(struct permits *permits, const struct script_account *account,
                                               const struct extra_question *question);
void permits_extra_tell(struct permits *permits, const struct script_account *account,
                        const struct extra_result *result);

/// Door: a listener of one supplier (or of the admin endpoint), open, refusing or hanging.
///
/// Threads: the loop's.
/// Memory:  owned by the farm.
#pragma once

#include "farm/farm.h"

enum door_state { DOOR_SHUT, DOOR_OPEN, DOOR_FULL };

struct door {
    struct watch watch;
    struct farm *farm;
    struct supplier *supplier; // NULL: admin
    struct sockaddr_in address;
    bool is_tls;
    enum door_state state;
    int fillers[2]; // connects of our own that keep the accept queue full
};

/// One door for each address and scheme, and the admin's (NULL: none), all opened as the suppliers' faults say.
MUST_CHECK enum status door_open_all(struct farm *farm, const struct sockaddr_in *admin, struct failure *why);
void door_close_all(struct farm *farm);

/// Brings the supplier's doors into the state that its faults ask for.
MUST_CHECK enum status door_apply(struct farm *farm, const struct supplier *supplier, struct failure *why);

/// Mock, inside: what its parts share (app/mock.h).
///
/// Threads: one.
/// Memory:  in the arena of the mock, but for fixtures.
#pragma once

#include "app/fixture.h"
#include "app/mock.h"
#include "script/script_set.h"

/// An option of a script that is a URL.
struct mock_option {
    struct text key;
    struct text url;    // that leads to the door: the script's, else one of the settings, else one of a fixture
    struct text origin; // of it
    struct text path;   // the rest of it, without a slash at its end
    size_t door;
};

/// Exchanges that belong together: those of a fixture, or of one of its revalidations.
struct mock_play {
    struct fixture *fixture;
    struct fixture_exchanges exchanges;
    char where[24]; // "" or "revalidate[0]."
    uint32_t *uses; // how often each answered since the play began anew
    bool is_good;   // ok-…
    bool is_chosen; // asked for by name
    bool logs_in;   // its script does
};

struct mock_supplier {
    const struct script_supplier *script;
    struct fixture **fixtures;
    size_t fixture_count;
    struct mock_play *plays;
    size_t play_count;
    struct mock_option *options;
    size_t option_count;
    struct mock_play *last; // that answered last; NULL: none did
    bool is_named;          // the caller asked for it
};

struct mock_door {
    struct mock_supplier *supplier;
    struct text origin;
};

struct mock {
    struct arena arena;
    const struct settings *settings;
    const struct catalogue *catalogue;
    settings_finding report;
    void *context;
    size_t findings, unknown; // of which: names that nobody has
    struct mock_supplier **suppliers;
    size_t supplier_count;
    struct mock_door doors[MOCK_DOORS_MAX];
    size_t door_count;
    struct arena scratch; // what the last reply is made of
};

/// Finds the URL options of a supplier and gives each origin a door. False: a finding says why not.
MUST_CHECK bool mock_open_doors(struct mock *mock, struct mock_supplier *supplier);

/// A URL that a fixture expects and no option leads to: the request would go to the real supplier. NULL: there is none.
const struct json_node *mock_find_stray(const struct mock_supplier *supplier, const struct mock_play **play);

/// What a fixture's requests have in place of an option's URL.
struct text mock_option_url(const struct mock_play *play, const struct mock_option *option);

void mock_find(struct mock *mock, enum code code, const char *file, const char *help, const char *format, ...)
    PRINTF_LIKE(5, 6);

/// NULL: the settings do not name it.
const struct settings_supplier *mock_settings_of(const struct settings *settings, struct text name);

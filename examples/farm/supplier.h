/// Supplier: one simulated remote system: how it is meant to behave, how it behaves now, and what it has done.
///
/// The population file says how it behaves; the admin endpoint changes it while the farm runs. Every draw follows from
/// the seed, the supplier and the number of draws before.
///
/// Threads: the loop's.
/// Memory:  embedded in its population, which frees what it owns.
#pragma once

#include "farm/answer.h"
#include "farm/draw.h"
#include "farm/fault.h"
#include "farm/gate.h"

#include <netinet/in.h>

/// How latencies are drawn: the median; a lognormal around it; the median, and a second one for some; a line from the
/// median up to `peak_ms` within `over_ms`; or one from `peak_ms` down to the median, after each outage.
enum latency_model {
    LATENCY_CONSTANT,
    LATENCY_LOGNORMAL,
    LATENCY_BIMODAL,
    LATENCY_RAMP,
    LATENCY_RECOVERY,
    LATENCY_MODELS,
};

/// What it sells through: one exchange (a, b, hotels, a file), or several that belong together (step.h), in the manner
/// of large suppliers (shapes.h, shape_xml.h), or a recording, which has paths of its own; or whatever the prompter
/// says (prompter.h). Those before the hotels answer out of templates.
enum supplier_shape {
    SUPPLIER_SHAPE_A,
    SUPPLIER_SHAPE_B,
    SUPPLIER_POLL_ADD,
    SUPPLIER_POLL_REPLACE,
    SUPPLIER_PAGES,
    SUPPLIER_PARTS,
    SUPPLIER_MAPS,
    SUPPLIER_TABLES,
    SUPPLIER_XML,
    SUPPLIER_HOTELS,
    SUPPLIER_RATES,
    SUPPLIER_FILE,
    SUPPLIER_RECORDING,
    SUPPLIER_PROMPTED,
    SUPPLIER_SHAPES,
};

struct supplier_shape_row {
    const char *name;   // in a population
    const char *path;   // of the first request, without the query string
    const char *script; // the Lua that speaks it
    enum query_shape query;
};

struct behaviour {
    enum latency_model model;
    double median_ms;
    double sigma;  // of the logarithm
    double tail;   // share of answers out of the Pareto tail, which begins at twice the median
    double cap_ms; // nothing takes longer
    double other_ms, other_share;
    double peak_ms, over_ms;
    double login_ms, login_life_s;                     // how long a login takes; how long it counts
    double outage_from_ms, outage_ms, outage_every_ms; // one window, or one in every period; from `began_us` on
    enum fault outage;                                 // what all answers of the window play; FAULT_NONE: no outage
    double name_delay_ms;                              // of the name server about its name
    double shares[FAULT_COUNT];
    char retry_after[160]; // of a 429 or 503: values of the header, apart by |; empty: the fault's own
    char field[64];        // that FAULT_RENAME_FIELD and FAULT_DROP_FIELD are about; empty: none
    bool closes;           // closes the connection after each answer
    bool has_no_tickets;   // no TLS session to resume
};

/// One of the numbers above, by its name in populations and at the admin endpoint.
struct behaviour_field {
    const char *name;
    double most;
    size_t offset; // of a double in struct behaviour
};

enum { BEHAVIOUR_FIELDS = 14 };

struct supplier_counters {
    uint64_t connections;
    uint64_t handshakes;
    uint64_t requests;
    uint64_t answered;  // whole 200s
    uint64_t refused;   // requests that make no sense: 400, 404, 405
    uint64_t steps;     // requests that went on with an earlier one: polls and pages
    uint64_t abandoned; // the caller left before its answer
    uint64_t names;     // look-ups of its name
    uint64_t logins;    // that were granted
    uint64_t denied;    // logins that were not
    uint64_t strangers; // requests without a good login or signature: 401, 403
    uint64_t faults[FAULT_COUNT];
};

struct recording;

struct supplier {
    char name[32];
    struct in_addr address;
    uint16_t port; // 0: those of all others
    bool speaks_http;
    bool speaks_tls;
    enum supplier_shape shape;
    uint32_t ceiling_ms; // for the settings that the farm prints; 0: none
    uint32_t rounds;     // in how many polls or pages all of its offers have come
    uint32_t poll_ms;    // how long it asks to wait before a poll
    uint32_t index;
    struct gate gate;
    struct behaviour planned;
    struct behaviour now;
    bool is_forced; // `forced` replaces the shares
    enum fault forced;
    enum fault door;       // drawn at reset: FAULT_AT_DOOR or none
    enum fault name_fault; // drawn at reset: FAULT_AT_NAME or none
    struct draw draw;
    uint64_t seed;
    uint64_t began_us; // when it began to behave as it does now
    struct answer_template *templates[QUERY_SLICES_MAX];
    char *file; // SUPPLIER_FILE: what it serves
    size_t file_length;
    struct recording *recording; // SUPPLIER_RECORDING
    struct supplier_counters counters;
};

const struct behaviour_field *behaviour_field(size_t index); // index < BEHAVIOUR_FIELDS
double *behaviour_number(struct behaviour *behaviour, const struct behaviour_field *field);

/// NULL: nothing has this name.
const struct behaviour_field *behaviour_find(struct text name);
const char *latency_model_name(enum latency_model model);

/// NULL: it can. Otherwise what is in the way, for people.
const char *supplier_cannot_play(const struct supplier *supplier, enum fault fault);

/// Forgets changes and draws: as planned, by `seed`.
void supplier_reset(struct supplier *supplier, uint64_t seed, uint64_t now_us);

/// The fault to play at one place now; FAULT_NONE: none. Draws, and does not count.
enum fault supplier_fault(struct supplier *supplier, enum fault_place place, uint64_t now_us);
void supplier_count_fault(struct supplier *supplier, enum fault fault);

/// How long the next answer takes.
uint64_t supplier_latency_us(struct supplier *supplier, uint64_t now_us);

/// Its answers are made of templates.
bool supplier_has_templates(const struct supplier *supplier);

/// The Lua that speaks it: of its shape, or of its gate.
const char *supplier_script(const struct supplier *supplier);

const struct supplier_shape_row *supplier_shape_row(enum supplier_shape shape);

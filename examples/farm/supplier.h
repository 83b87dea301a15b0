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

#include <netinet/in.h>

enum latency_model { LATENCY_CONSTANT, LATENCY_LOGNORMAL };
enum supplier_shape { SUPPLIER_SHAPE_A, SUPPLIER_SHAPE_B, SUPPLIER_HOTELS, SUPPLIER_FILE, SUPPLIER_RECORDING };

struct behaviour {
    enum latency_model model;
    double median_ms;
    double sigma;  // of the logarithm
    double tail;   // share of answers out of the Pareto tail, which begins at twice the median
    double cap_ms; // nothing takes longer
    double shares[FAULT_COUNT];
    bool closes;            // closes the connection after each answer
    bool has_no_tickets;    // no TLS session to resume
    uint32_t name_delay_ms; // of the name server about its name
};

struct supplier_counters {
    uint64_t connections;
    uint64_t handshakes;
    uint64_t requests;
    uint64_t answered;  // whole 200s
    uint64_t refused;   // requests that make no sense: 400, 404, 405
    uint64_t abandoned; // the caller left before its answer
    uint64_t names;     // look-ups of its name
    uint64_t faults[FAULT_COUNT];
};

struct recording;

struct supplier {
    char name[32];
    struct in_addr address;
    bool speaks_http;
    bool speaks_tls;
    enum supplier_shape shape;
    uint32_t ceiling_ms; // for the settings that the farm prints; 0: none
    uint32_t index;
    struct behaviour planned;
    struct behaviour now;
    bool is_forced; // `forced` replaces the shares
    enum fault forced;
    enum fault door;       // drawn at reset: FAULT_AT_DOOR or none
    enum fault name_fault; // drawn at reset: FAULT_AT_NAME or none
    struct draw draw;
    uint64_t seed;
    struct answer_template *templates[QUERY_SLICES_MAX];
    char *file; // SUPPLIER_FILE: what it serves
    size_t file_length;
    struct recording *recording; // SUPPLIER_RECORDING
    struct supplier_counters counters;
};

/// Forgets changes and draws: as planned, by `seed`.
void supplier_reset(struct supplier *supplier, uint64_t seed);

/// The fault to play at one place now; FAULT_NONE: none. Draws, and does not count.
enum fault supplier_fault(struct supplier *supplier, enum fault_place place);
void supplier_count_fault(struct supplier *supplier, enum fault fault);

/// How long the next answer takes.
uint64_t supplier_latency_us(struct supplier *supplier);

/// Its answers are made of templates.
bool supplier_has_templates(const struct supplier *supplier);

/// The path at which it answers POSTs (without the query string). A recording has several of its own.
const char *supplier_path(const struct supplier *supplier);

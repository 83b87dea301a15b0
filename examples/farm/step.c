#include "farm/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 16384 };

struct session {
    uint64_t id; // 0: nobody's
    uint32_t supplier;
    unsigned rounds_told;
    struct query query;
};

struct sessions {
    uint64_t seed;
    uint64_t made;
    struct session ring[SESSIONS];
};

static const char bad_request[] = "400 Bad Request";
static const char not_found[] = "404 Not Found";

struct sessions *sessions_create(void)
{
    return calloc(1, sizeof(struct sessions));
}

void sessions_destroy(struct sessions **sessions)
{
    free(*sessions);
    *sessions = NULL;
}

void sessions_reset(struct sessions *sessions, uint64_t seed)
{
    sessions->seed = seed;
    sessions->made = 0;
    for (size_t i = 0; i < SESSIONS; i++) {
        sessions->ring[i].id = 0;
    }
}

// The place in the ring is part of the id, the rest is drawn: an id of an earlier round finds somebody else there.
static struct session *session_add(struct sessions *sessions, const struct supplier *supplier,
                                   const struct query *query)
{
    uint64_t place = sessions->made % SESSIONS;
    uint64_t drawn = draw_mix(sessions->seed, sessions->made++);
    struct session *session = &sessions->ring[place];

    *session = (struct session){ .id = (drawn | 1) / SESSIONS * SESSIONS + place, .supplier = supplier->index };
    session->id = session->id >= SESSIONS ? session->id : SESSIONS + place;
    session->query = *query;
    return session;
}

static struct session *session_find(struct sessions *sessions, const struct supplier *supplier, struct text written)
{
    char copy[17], *end;

    if (written.length != 16) {
        return NULL;
    }
    memcpy(copy, written.data, 16);
    copy[16] = '\0';
    uint64_t id = strtoull(copy, &end, 16);
    struct session *session = &sessions->ring[id % SESSIONS];
    return *end == '\0' && id != 0 && session->id == id && session->supplier == supplier->index ? session : NULL;
}

uint64_t sessions_add(struct sessions *sessions, const struct supplier *supplier, const struct query *query)
{
    struct session *session = session_add(sessions, supplier, query);
    session->rounds_told = 1;
    return session->id;
}

bool sessions_poll(struct sessions *sessions, const struct supplier *supplier, struct text id, struct step *step,
                   unsigned *told)
{
    struct session *session = session_find(sessions, supplier, id);

    if (session == NULL) {
        return false;
    }
    step->query = session->query;
    step->session = session->id;
    *told = session->rounds_told++;
    return true;
}

// ------------------------------------------------------------------------------------------------------------ windows

/// Round `round` of `rounds` brings the next share of all offers.
static void window_of_share(struct step *step, unsigned round, unsigned rounds)
{
    step->first = ANSWER_OFFERS * round / rounds;
    step->count = ANSWER_OFFERS * (round + 1) / rounds - step->first;
    step->round = round;
    step->is_last = round + 1 >= rounds;
}

void step_window(struct step *step, unsigned round, unsigned rounds)
{
    const unsigned kept = ANSWER_OFFERS * 2 / 3;

    step->first = rounds > 1 ? (ANSWER_OFFERS - kept) * round / (rounds - 1) : 0;
    step->count = kept;
    step->round = round;
    step->is_last = round + 1 >= rounds;
}

static uint64_t cursor_of(const struct step *step, const struct supplier *supplier, unsigned round)
{
    return draw_mix(draw_mix(supplier->seed, supplier->index), step->query.hash + round);
}

static struct text parameter(struct text query_string, const char *name)
{
    struct text value;
    struct text key = text_split(query_string, '=', &value);

    return text_equals_c(key, name) ? value : (struct text){ 0 };
}

// ------------------------------------------------------------------------------------------------------------ reading

static bool read_query(struct step *step, const struct request *request, const char **status, const char **why)
{
    *status = bad_request;
    if (!text_equals(request->method, TEXT("POST"))) {
        *status = "405 Method Not Allowed";
        *why = "POST is expected";
        return false;
    }
    return query_read(&step->query, QUERY_SHAPE_A, request->body, why);
}

static void poll_window(struct step *step, const struct supplier *supplier, unsigned round)
{
    if (supplier->shape == SUPPLIER_POLL_ADD) {
        window_of_share(step, round, supplier->rounds);
    } else {
        step_window(step, round, supplier->rounds);
    }
}

static bool read_poll(struct step *step, struct supplier *supplier, struct sessions *sessions,
                      const struct request *request, struct text id, const char **status, const char **why)
{
    unsigned told;

    if (!sessions_poll(sessions, supplier, id, step, &told)) {
        *status = not_found;
        *why = "there is no search of this id, or it is too old";
        return false;
    }
    supplier->counters.steps++;
    unsigned round = told < supplier->rounds ? told : supplier->rounds - 1;
    poll_window(step, supplier, round);
    uint64_t after;
    if (supplier->shape == SUPPLIER_POLL_ADD) {
        if (!text_to_u64(parameter(request->query_string, "after"), &after) || after > ANSWER_OFFERS) {
            *status = bad_request;
            *why = "after: how many offers were seen is expected";
            return false;
        }
        unsigned end = step->first + step->count; // what is there by now, from `after` on
        step->first = after < end ? (unsigned)after : end;
        step->count = end - step->first;
    }
    return true;
}

static bool read_search(struct step *step, struct supplier *supplier, struct sessions *sessions,
                        const struct request *request, struct text rest, const char **status, const char **why)
{
    if (rest.length > 1 && text_equals(request->method, TEXT("GET"))) {
        return read_poll(step, supplier, sessions, request, (struct text){ rest.data + 1, rest.length - 1 }, status,
                         why);
    }
    if (rest.length > 0) {
        *status = not_found;
        *why = "GET is expected at a search";
        return false;
    }
    if (!read_query(step, request, status, why)) {
        return false;
    }
    step->session = sessions_add(sessions, supplier, &step->query);
    poll_window(step, supplier, 0);
    return true;
}

static bool read_page(struct step *step, struct supplier *supplier, const struct request *request, const char **status,
                      const char **why)
{
    char copy[17];
    struct text cursor = parameter(request->query_string, "cursor");

    if (!read_query(step, request, status, why)) {
        return false;
    }
    if (cursor.data == NULL) {
        window_of_share(step, 0, supplier->rounds);
        return true;
    }
    supplier->counters.steps++;
    for (unsigned round = 1; round < supplier->rounds; round++) {
        snprintf(copy, sizeof(copy), "%016llx", (unsigned long long)cursor_of(step, supplier, round));
        if (text_equals_c(cursor, copy)) {
            window_of_share(step, round, supplier->rounds);
            return true;
        }
    }
    *why = "the cursor belongs to another search";
    return false;
}

static bool read_source(struct step *step, const struct request *request, struct text rest, const char **status,
                        const char **why)
{
    uint64_t source;
    struct text number = { rest.data + 1, rest.length > 0 ? rest.length - 1 : 0 };

    if (!text_to_u64(number, &source) || source < 1 || source > STEP_SOURCES) {
        *status = not_found;
        *why = "there are the sources 1 to 4";
        return false;
    }
    if (!read_query(step, request, status, why)) {
        return false;
    }
    window_of_share(step, (unsigned)source - 1, STEP_SOURCES);
    step->source = (unsigned)source;
    return true;
}

bool step_read(struct step *step, struct supplier *supplier, struct sessions *sessions, const struct request *request,
               const char **status, const char **why)
{
    struct text base = text_of(supplier_shape_row(supplier->shape)->path);

    *step = (struct step){ 0 };
    *status = not_found;
    *why = "there is nothing at this path";
    if (!text_starts_with(request->path, base)) {
        return false;
    }
    struct text rest = { request->path.data + base.length, request->path.length - base.length };
    if (rest.length > 0 && rest.data[0] != '/') {
        return false;
    }
    switch (supplier->shape) {
    case SUPPLIER_POLL_ADD:
    case SUPPLIER_POLL_REPLACE:
        return read_search(step, supplier, sessions, request, rest, status, why);
    case SUPPLIER_PAGES:
        return rest.length == 0 && read_page(step, supplier, request, status, why);
    default:
        return read_source(step, request, rest, status, why);
    }
}

size_t step_write_tail(const struct step *step, const struct supplier *supplier, char *out)
{
    int length;

    if (step->session != 0) {
        length = snprintf(out, STEP_TAIL_MAX, ",\"id\":\"%016llx\",\"status\":\"%s\",\"poll_after_ms\":%u}",
                          (unsigned long long)step->session, step->is_last ? "complete" : "pending", supplier->poll_ms);
    } else if (step->source == 0 && !step->is_last) {
        length = snprintf(out, STEP_TAIL_MAX, ",\"next_cursor\":\"%016llx\"}",
                          (unsigned long long)cursor_of(step, supplier, step->round + 1));
    } else {
        length = snprintf(out, STEP_TAIL_MAX, "}");
    }
    require(length > 0 && length < STEP_TAIL_MAX);
    return (size_t)length;
}

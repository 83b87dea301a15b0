#include "app/budget_headers.h"

#include "app/envelope.h"

#include <string.h>

enum { GRPC_DIGITS_MAX = 8, HEADERS_MAX = 16 };

typedef bool (*value_reader)(struct text value, uint64_t *us);

/// Whole milliseconds from 1 on; hours of them are a slip.
static bool read_wish(struct text value, uint64_t *us)
{
    uint64_t ms = 0;

    if (!text_to_u64(value, &ms) || ms < 1 || ms > ENVELOPE_MAX_BUDGET_MS) {
        return false;
    }
    *us = ms * 1000;
    return true;
}

static bool read_envoy(struct text value, uint64_t *us)
{
    uint64_t ms = 0;

    if (!text_to_u64(value, &ms)) {
        return false;
    }
    *us = ms < UINT64_MAX / 1000 ? ms * 1000 : UINT64_MAX - 1;
    return true;
}

/// At most eight digits and a unit.
static bool read_grpc(struct text value, uint64_t *us)
{
    static const struct {
        char unit;
        uint64_t factor, divisor;
    } units[] = { { 'H', 3600000000, 1 }, { 'M', 60000000, 1 }, { 'S', 1000000, 1 },
                  { 'm', 1000, 1 },       { 'u', 1, 1 },        { 'n', 1, 1000 } };
    uint64_t number = 0;

    if (value.length < 2 || value.length > GRPC_DIGITS_MAX + 1 ||
        !text_to_u64((struct text){ value.data, value.length - 1 }, &number)) {
        return false;
    }
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (units[i].unit == value.data[value.length - 1]) {
            *us = number * units[i].factor / units[i].divisor;
            return true;
        }
    }
    return false;
}

static const struct budget_header {
    const char *name;
    const char *shown;
    value_reader read;
    bool is_deadline;
    const char *expected;
} HEADERS[] = {
    { "search-budget-ms", "Search-Budget-Ms", read_wish, false, "a whole number from 1 to 3600000" },
    { "grpc-timeout", "grpc-timeout", read_grpc, true, "one to eight digits and a unit of H, M, S, m, u, n" },
    { "x-envoy-expected-rq-timeout-ms", "x-envoy-expected-rq-timeout-ms", read_envoy, true, "a whole number" },
};

static void take_one(struct budget_headers *headers, const struct budget_header *row, struct text value,
                     struct problem *problem)
{
    uint64_t *least_us = row->is_deadline ? &headers->limit_us : &headers->wish_us;
    uint64_t us = 0;

    if (!row->read(value, &us)) {
        problem_add(problem, "", "out_of_range", "header %s: expected %s", row->shown, row->expected);
    } else if (us < *least_us) {
        *least_us = us;
    }
}

void budget_headers_take(struct budget_headers *headers, const char *name, struct text value, struct problem *problem)
{
    for (size_t i = 0; i < COUNT_OF(HEADERS); i++) {
        if (strcmp(HEADERS[i].name, name) != 0) {
            continue;
        }
        for (struct text rest = value; rest.data != NULL;) {
            take_one(headers, &HEADERS[i], text_trim(text_split(rest, ',', &rest)), problem);
        }
    }
}

/// To find one costs a walk through all headers, so there is an end; nothing behind it is ignored in silence.
static void read_row(struct budget_headers *headers, const struct budget_header *row, const struct http_call *call,
                     struct problem *problem)
{
    for (size_t index = 0;; index++) {
        struct text value = http_call_header_nth(call, row->name, index);
        if (value.data == NULL) {
            return;
        }
        if (index == HEADERS_MAX) {
            problem_add(problem, "", "too_many", "header %s: given more than %d times", row->shown, HEADERS_MAX);
            return;
        }
        budget_headers_take(headers, row->name, value, problem);
    }
}

void budget_headers_read(struct budget_headers *headers, const struct http_call *call, bool honours_deadlines,
                         struct problem *problem)
{
    *headers = (struct budget_headers){ UINT64_MAX, UINT64_MAX };
    for (size_t i = 0; i < COUNT_OF(HEADERS); i++) {
        if (honours_deadlines || !HEADERS[i].is_deadline) {
            read_row(headers, &HEADERS[i], call, problem);
        }
    }
}

bool budget_headers_decide(const struct budget_headers *headers, uint64_t body_ms, struct budget_range range,
                           struct budget *budget)
{
    uint64_t wish_us = body_ms > 0 ? body_ms * 1000 : UINT64_MAX;

    wish_us = headers->wish_us < wish_us ? headers->wish_us : wish_us;
    bool is_named = wish_us < UINT64_MAX || headers->limit_us < range.default_us;
    wish_us = wish_us < UINT64_MAX ? wish_us : range.default_us;
    wish_us = headers->limit_us < wish_us ? headers->limit_us : wish_us;
    *budget = budget_clamp(wish_us, range.min_us, range.max_us);
    budget->from = is_named ? BUDGET_FROM_CALLER : BUDGET_FROM_DEFAULT;
    budget->limit_us = headers->limit_us < UINT64_MAX ? headers->limit_us : 0;
    return headers->limit_us >= range.min_us;
}

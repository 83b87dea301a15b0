#include "policy/extra_book.h"

static const double NEWEST = 0.05; // the weight of an answer in the mean value
static const double DEFAULT_COST = 1;
static const double PAIRS_KEPT = 0.98; // of what is known of pairs, with each new one

const char *extra_kind_name(enum extra_kind kind)
{
    static const char *const names[] = {
        [EXTRA_RETRY] = "retry",
        [EXTRA_CONNECT] = "connect",
        [EXTRA_HEDGE] = "hedge",
    };

    return kind < EXTRA_KINDS ? names[kind] : "unknown";
}

void extra_counts_sum(const struct extra_counts *counts, uint64_t sums[4])
{
    for (enum extra_kind kind = EXTRA_RETRY; kind < EXTRA_KINDS; kind++) {
        sums[0] += counts->sent[kind];
        sums[1] += counts->won[kind];
        sums[2] += counts->wasted[kind];
    }
    for (size_t answer = 0; answer <= EXTRA_ALLOWANCE; answer++) {
        sums[3] += counts->refused[answer];
    }
}

void extra_engine_init(struct extra_engine *engine)
{
    *engine = (struct extra_engine){ .settings = { .is_on = false } };
    allowance_init(&engine->allowance, 0);
}

void extra_engine_set(struct extra_engine *engine, struct extra_settings settings)
{
    engine->settings = settings;
    engine->allowance.share = settings.engine;
}

void extra_book_init(struct extra_book *book)
{
    *book = (struct extra_book){ .has_value = false };
    allowance_init(&book->allowance, 0);
    latency_init(&book->connects);
    latency_curve_init(&book->connect_curve);
}

static double cost_of(double call_cost)
{
    return call_cost > 0 ? call_cost : DEFAULT_COST;
}

static struct extra_hedge hedge_of(const struct extra_book *book, const struct extra_state *state, uint64_t elapsed_us,
                                   uint64_t left_us, double call_cost)
{
    return (struct extra_hedge){ .first = state->curve,
                                 .elapsed_us = elapsed_us,
                                 .left_us = left_us,
                                 .value = book->has_value ? book->value : 0,
                                 .price = cost_of(call_cost),
                                 .rho = extra_rho(&book->pairs) };
}

/// The first begin of a bucket at which a hedge would be right, if nothing vetoes it then. The later, the likelier the
/// first call is late, and the less is left for the second.
static uint64_t hedge_us(const struct extra_book *book, const struct extra_state *state, uint64_t left_us,
                         double call_cost)
{
    struct extra_target free_target = { .curve = state->curve, .is_closed = true, .quota_us = UINT64_MAX };

    if (!book->has_value || state->curve->samples < EXTRA_SAMPLES) {
        return UINT64_MAX;
    }
    for (uint32_t i = latency_bucket(EXTRA_FLOOR_US); i < LATENCY_BUCKETS; i++) {
        uint64_t at_us = latency_bucket_us(i) > EXTRA_FLOOR_US ? latency_bucket_us(i) : EXTRA_FLOOR_US;
        if (at_us >= left_us) {
            break;
        }
        struct extra_hedge hedge = hedge_of(book, state, at_us, left_us - at_us, call_cost);
        if (extra_hedge(&hedge, &free_target) == EXTRA_YES) {
            return at_us;
        }
    }
    return UINT64_MAX;
}

struct extra_times extra_book_call(struct extra_book *book, struct extra_engine *engine,
                                   const struct extra_state *state, const struct extra_call *call, uint64_t now_us)
{
    struct extra_times times = { UINT64_MAX, UINT64_MAX };

    book->allowance.share = engine->settings.per_supplier;
    allowance_earn(&book->allowance, now_us);
    allowance_earn(&engine->allowance, now_us);
    if (!extra_connect_us(&book->connect_curve, &times.connect_us) || times.connect_us >= call->left_us) {
        times.connect_us = UINT64_MAX;
    }
    if (call->may_hedge) {
        times.hedge_us = hedge_us(book, state, call->left_us, call->call_cost);
    }
    return times;
}

void extra_book_connected(struct extra_book *book, uint64_t us, uint64_t now_us)
{
    latency_arrived(&book->connects, us, 1, now_us);
    if (latency_wants_fit(&book->connects, now_us)) {
        (void)latency_fit(&book->connects, now_us, &book->connect_curve);
    }
}

void extra_book_quota(struct extra_book *book, uint64_t now_us)
{
    book->has_quota = true;
    book->quota_us = now_us;
}

void extra_book_value(struct extra_book *book, double value)
{
    book->value = book->has_value ? book->value + NEWEST * (value - book->value) : value;
    book->has_value = true;
}

static enum extra_answer decide(const struct extra_book *book, const struct extra_target *target,
                                const struct extra_state *state, const struct extra_question *question)
{
    if (question->kind == EXTRA_RETRY) {
        return extra_retry(target, question->elapsed_us, question->left_us);
    }
    if (question->kind == EXTRA_CONNECT) {
        uint64_t at_us = 0;
        if (!extra_connect_us(&book->connect_curve, &at_us)) {
            return EXTRA_UNKNOWN;
        }
        if (question->elapsed_us < at_us) {
            return EXTRA_TOO_SOON;
        }
        // As a retry that has failed so late.
        return extra_retry(target, 0, question->left_us);
    }
    struct extra_hedge hedge = hedge_of(book, state, question->elapsed_us, question->left_us, question->call_cost);
    return extra_hedge(&hedge, target);
}

/// A permit of both, or of none.
static bool spend(struct extra_book *book, struct extra_engine *engine, uint64_t now_us)
{
    if (!allowance_spend(&book->allowance, now_us)) {
        return false;
    }
    if (!allowance_spend(&engine->allowance, now_us)) {
        allowance_give_back(&book->allowance, now_us);
        return false;
    }
    return true;
}

enum extra_answer extra_book_ask(struct extra_book *book, struct extra_engine *engine, const struct extra_state *state,
                                 const struct extra_question *question, uint64_t now_us)
{
    struct extra_target target = { .curve = state->curve,
                                   .is_closed = state->is_closed,
                                   .running = state->running,
                                   .most = state->most,
                                   .quota_us = book->has_quota ? now_us - book->quota_us : UINT64_MAX,
                                   .is_overloaded = question->is_overloaded };
    enum extra_answer answer = decide(book, &target, state, question);

    if (answer == EXTRA_YES && !spend(book, engine, now_us)) {
        answer = EXTRA_ALLOWANCE;
    }
    if (answer == EXTRA_YES) {
        book->counts.sent[question->kind]++;
    } else {
        book->counts.refused[answer]++;
    }
    return answer;
}

void extra_book_tell(struct extra_book *book, struct extra_engine *engine, struct latency *latency,
                     const struct extra_result *result, uint64_t now_us)
{
    bool is_hedge = result->kind == EXTRA_HEDGE;

    switch (result->fate) {
    case EXTRA_WON:
        book->counts.won[result->kind]++;
        break;
    case EXTRA_WASTED:
    case EXTRA_LATE:
        book->counts.wasted[result->kind]++;
        break;
    case EXTRA_NOT_SENT:
        book->counts.sent[result->kind]--;
        allowance_give_back(&book->allowance, now_us);
        allowance_give_back(&engine->allowance, now_us);
        return;
    }
    if (is_hedge && result->fate != EXTRA_WASTED) { // the first was late, or would have been
        book->pairs.late = PAIRS_KEPT * book->pairs.late + (result->fate == EXTRA_LATE);
        book->pairs.in_time = PAIRS_KEPT * book->pairs.in_time + (result->fate == EXTRA_WON);
    }
    if (result->loser_us > 0) {
        latency_censored(latency, result->loser_us, now_us);
    }
}

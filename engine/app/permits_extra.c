#include "app/permits_extra.h"

static struct extra_state state_of(const struct permits_account *found)
{
    return (struct extra_state){ .curve = &found->health->curve,
                                 .is_closed = found->health->breaker.state == BREAKER_CLOSED,
                                 .running = found->quota->running,
                                 .most = found->quota->limits.concurrent };
}

struct call_visit {
    const struct extra_call *call;
    struct extra_times times;
};

static void visit_call(const struct permits_account *found, uint64_t now_us, void *context)
{
    struct call_visit *visit = context;
    struct extra_state state = state_of(found);

    visit->times = extra_book_call(found->book, found->engine, &state, visit->call, now_us);
}

struct extra_times permits_extra_call(struct permits *permits, const struct script_account *account,
                                      const struct extra_call *call)
{
    struct call_visit visit = { call, { UINT64_MAX, UINT64_MAX } };

    permits_visit(permits, account, visit_call, &visit);
    return visit.times;
}

static void visit_connected(const struct permits_account *found, uint64_t now_us, void *context)
{
    const uint64_t *us = context;
    extra_book_connected(found->book, *us, now_us);
}

void permits_extra_connected(struct permits *permits, const struct script_account *account, uint64_t us)
{
    permits_visit(permits, account, visit_connected, &us);
}

struct ask_visit {
    const struct extra_question *question;
    enum extra_answer answer;
};

static void visit_ask(const struct permits_account *found, uint64_t now_us, void *context)
{
    struct ask_visit *visit = context;
    struct extra_state state = state_of(found);

    visit->answer = extra_book_ask(found->book, found->engine, &state, visit->question, now_us);
}

enum extra_answer permits_extra_ask(struct permits *permits, const struct script_account *account,
                                    const struct extra_question *question)
{
    struct ask_visit visit = { question, EXTRA_UNKNOWN };

    permits_visit(permits, account, visit_ask, &visit);
    return visit.answer;
}

struct tell_visit {
    const struct extra_result *result;
};

static void visit_tell(const struct permits_account *found, uint64_t now_us, void *context)
{
    const struct tell_visit *visit = context;
    extra_book_tell(found->book, found->engine, found->latency, visit->result, now_us);
}

void permits_extra_tell(struct permits *permits, const struct script_account *account,
                        const struct extra_result *result)
{
    struct tell_visit visit = { result };
    permits_visit(permits, account, visit_tell, &visit);
}

// What a template keeps of its answers.

#include "farm/answer.h"
#include "farm/timetable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct query query_of(const char *body)
{
    struct query query;
    const char *why = NULL;

    assert_true(query_read(&query, QUERY_SHAPE_B, text_of(body), &why));
    return query;
}

/// What it recalls is what it renders.
static void check(struct answer_template *answer, const struct query *query)
{
    char *rendered = malloc(answer_length(answer));

    assert_non_null(rendered);
    answer_render(answer, query, rendered);
    struct text recalled = answer_recall(answer, query);
    assert_int_equal(recalled.length, answer_length(answer));
    assert_memory_equal(recalled.data, rendered, recalled.length);
    free(rendered);
}

static void an_answer_is_recalled_for_its_own_query_only(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{\"od\":[\"MAD-LHR-2030-05-12\"],\"pax\":\"2ADT\",\"class\":\"Y\",\"cur\":\"EUR\"}",
        "{\"od\":[\"MAD-LHR-2030-05-13\"],\"pax\":\"2ADT\",\"class\":\"Y\",\"cur\":\"EUR\"}",
        "{\"od\":[\"MAD-LGW-2030-05-13\"],\"pax\":\"2ADT\",\"class\":\"Y\",\"cur\":\"EUR\"}",
        "{\"od\":[\"MAD-LGW-2030-05-13\"],\"pax\":\"1ADT\",\"class\":\"Y\",\"cur\":\"EUR\"}",
        "{\"od\":[\"MAD-LGW-2030-05-13\"],\"pax\":\"1ADT\",\"class\":\"C\",\"cur\":\"EUR\"}",
        "{\"od\":[\"MAD-LGW-2030-05-13\"],\"pax\":\"1ADT\",\"class\":\"C\",\"cur\":\"USD\"}",
    };
    struct answer_template *answer = answer_template_create(QUERY_SHAPE_B, 7, 3, 1);

    assert_non_null(answer);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT_OF(bodies); i++) {
            struct query query = query_of(bodies[i]);
            check(answer, &query);
            check(answer, &query); // this time from what was kept
        }
    }
    answer_template_destroy(&answer);
}

static void queries_are_equal_when_they_mean_the_same(void **state)
{
    (void)state;
    struct query one = query_of("{\"od\":[\"MAD-LHR-2030-05-12\"],\"pax\":\"2ADT\",\"class\":\"Y\",\"cur\":\"EUR\"}");
    struct query same = query_of("{\"cur\":\"EUR\",\"class\":\"Y\",\"pax\":\"2ADT\",\"od\":[\"MAD-LHR-2030-05-12\"]}");
    struct query more = query_of(
        "{\"od\":[\"MAD-LHR-2030-05-12\",\"LHR-MAD-2030-05-19\"],\"pax\":\"2ADT\",\"class\":\"Y\",\"cur\":\"EUR\"}");

    assert_true(query_equals(&one, &same));
    assert_false(query_equals(&one, &more));
    same.hash = one.hash;
    same.slices[0].day++;
    assert_false(query_equals(&one, &same)); // whatever its hash says
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_recalled_for_its_own_query_only),
        cmocka_unit_test(queries_are_equal_when_they_mean_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

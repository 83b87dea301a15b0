// Which lists of an XML answer an author is told of.

#include "script/xml_lists.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

static const struct text prefixes[] = { { "a", 1 }, { "b", 1 } };
static const struct text uris[] = { { "urn:a", 5 }, { "urn:b", 5 } };

static void assert_lists(const char *body, size_t names, const char *expected)
{
    struct xml_names known = { .count = names };
    char told[XML_LISTS_SIZE];

    for (size_t i = 0; i < names; i++) {
        known.prefixes[i] = prefixes[i];
        known.uris[i] = uris[i];
    }
    xml_lists(text_of(body), &known, told);
    assert_string_equal(told, expected);
}

static void elements_that_come_again_are_lists_the_outer_ones_first(void **state)
{
    (void)state;
    assert_lists("<E><B><F><x><y/><y/></x><o><w/></o><o><w/><w/></o></F></B></E>", 0,
                 "E.B.F has the lists o[], x.y[], o[].w[]");
    assert_lists("<F><o/><o/></F>", 0, "F has the lists o[]");
    assert_lists("<F><o><p/></o><o/></F>", 0, "F has the lists o[]");
}

static void an_element_that_is_once_within_each_is_none(void **state)
{
    (void)state;
    assert_lists("<F><o><w/></o><o><w/></o><q><w/></q></F>", 0, "F has the lists o[]");
    assert_lists("<F><o><w/></o></F>", 0, "");
    assert_lists("<F/>", 0, "");
}

static void names_are_spelled_by_the_plans_prefixes(void **state)
{
    (void)state;
    assert_lists("<x:F xmlns:x='urn:a' xmlns:y='urn:b'><y:o/><y:o/><z/><z/></x:F>", 2, "a:F has the lists b:o[], z[]");
    assert_lists("<x:F xmlns:x='urn:a'><x:o/><x:o/></x:F>", 0, "F has the lists o[]");
}

static void what_cannot_be_read_has_none(void **state)
{
    (void)state;
    assert_lists("", 0, "");
    assert_lists("<F><o/><o/>", 0, "");
    assert_lists("{\"a\":[1,2]}", 0, "");
}

static void a_large_answer_is_told_within_its_room(void **state)
{
    static char body[200000];
    size_t length = (size_t)snprintf(body, sizeof body, "<F>");
    struct xml_names none = { .count = 0 };
    char told[XML_LISTS_SIZE];

    (void)state;
    for (int i = 0; i < 400; i++) { // more names than there are rows, each twice
        length +=
            (size_t)snprintf(body + length, sizeof body - length, "<list%d><a><b/></a></list%d><list%d/>", i, i, i);
    }
    (void)snprintf(body + length, sizeof body - length, "</F>");
    xml_lists(text_of(body), &none, told);
    assert_memory_equal(told, "F has the lists list0[], list1[], ", 34);
    assert_true(strlen(told) < XML_LISTS_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_that_come_again_are_lists_the_outer_ones_first),
        cmocka_unit_test(an_element_that_is_once_within_each_is_none),
        cmocka_unit_test(names_are_spelled_by_the_plans_prefixes),
        cmocka_unit_test(what_cannot_be_read_has_none),
        cmocka_unit_test(a_large_answer_is_told_within_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// What is wrong with a plan is found when its file is loaded, with place and line.

#include "unit/script_support.h"

static struct support_world world;

static int open_world(void **state)
{
    (void)state;
    support_open(&world);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    support_close(&world);
    return 0;
}

/// Loads a supplier; what was found.
static const char *load(const char *source)
{
    static struct support_findings findings;
    struct script_set *set = NULL;

    findings = (struct support_findings){ .count = 0 };
    world.count = 0;
    support_add_source(&world, "acme", source);
    enum status status = script_set_load("tests/unit/data/plan/scripts", world.sources, world.count, support_on_finding,
                                         &findings, &set);
    assert_int_equal(status, findings.count == 0 ? STATUS_OK : STATUS_INVALID);
    script_set_release(&set);
    return findings.text;
}

#define HEAD "return { name = 'acme', product = 'things', owner = 'o', hosts = {}, build_request = function() end,\n"

static void assert_found(const char *source, const char *finding)
{
    const char *found = load(source);

    if (strstr(found, finding) == NULL) {
        fail_msg("no \"%s\" in: %s\n%s", finding, found, source);
    }
}

/// A plan of this, on the second line of the file.
static void assert_refused(const char *plan, const char *why)
{
    char source[2048];
    char finding[512];

    (void)snprintf(source, sizeof source, HEAD "normalise = plan %s }", plan);
    (void)snprintf(finding, sizeof finding, "acme.lua:2: plan: %s", why);
    assert_found(source, finding);
}

/// … with this as a leaf.
static void assert_leaf_refused(const char *leaf, const char *why)
{
    char plan[1024];

    (void)snprintf(plan, sizeof plan, "{ each = 'a[].b[]', offer = { box = { label = %s } } }", leaf);
    assert_refused(plan, why);
}

static void plans_have_their_parts(void **state)
{
    (void)state;
    assert_found(HEAD "normalise = plan(7) }", "acme.lua:2: bad argument #1 to 'plan'");
    assert_refused("{}", "offer: the fields of an offer expected, got a nil");
    assert_refused("{ offer = 'id' }", "offer: the fields of an offer expected, got a string");
    assert_refused("{ offer = {}, wen = {} }",
                   "there are each, only, offer, when, from, xmlns and lenient, but no wen");
    assert_refused("{ 'x', offer = {} }", "there are each, only, offer, when, from, xmlns and lenient, but no ");
    assert_refused("{ each = 7, offer = {} }", "`each` is the path of a list, not a number");
    assert_refused("{ each = 'offers', offer = {} }", "`each = \"offers\"` must end with [] or {}");
    assert_refused("{ each = '', offer = {} }", "`each = \"\"` must end with [] or {}");
    assert_refused("{ each = 'a[]b[]', offer = {} }", "`each = \"a[]b[]\"`: a point is missing");
    assert_refused("{ each = 'a..b[]', offer = {} }", "`a..b[]`: a name is missing");
    assert_refused("{ each = ('a[].'):rep(33) .. 'b[]', offer = {} }", "`each = ");
}

static void leaves_are_terms(void **state)
{
    (void)state;
    assert_leaf_refused("json.null", "offer.box.label: a path, a term, a function or a table expected, got a userdata");
    assert_leaf_refused("''", "offer.box.label: an empty path");
    assert_refused("{ offer = {}, when = { [':absent'] = 'empty' } }", "when: an empty path");
    assert_leaf_refused("'a.'", "offer.box.label: `a.`: a name is missing");
    assert_leaf_refused("'a[0]'", "offer.box.label: `a[0]`: in brackets stands a number from 1 on");
    assert_leaf_refused("'a[x]'", "offer.box.label: `a[x]`: in brackets stands a number from 1 on");
    assert_leaf_refused("'a[1'", "offer.box.label: `a[1`: a ] is missing");
    assert_leaf_refused("'a[1]b'", "offer.box.label: `a[1]b`: a point is missing");
    assert_leaf_refused("'a[]'", "offer.box.label: `a[]` is a list, and one value is wanted here");
    assert_leaf_refused("('a.'):rep(20) .. 'b'", "offer.box.label: `a.a.");
    assert_leaf_refused("('a'):rep(200)", "offer.box.label: `aaa");
    assert_leaf_refused("up(3).a", "offer.box.label: up(n) goes further out than the document");
    assert_leaf_refused("ref('a', 'b')['c[]']", "offer.box.label: `c[]`: a path behind ref may not go through lists: ");
    assert_leaf_refused("ref('a', 'b')['c[].d']",
                        "offer.box.label: `c[].d`: a path behind ref may not go through lists: ");
    assert_leaf_refused(
        "ref('a', '{}')",
        "offer.box.label: `{}` is the key of an element of a map, `[]` the number of one of a list; this is no map's");
    assert_leaf_refused(
        "'{}'",
        "offer.box.label: `{}` is the key of an element of a map, `[]` the number of one of a list; this is no map's");
    assert_leaf_refused("{ each = 'a[]', of = ref('b', 'c').d, '.' }",
                        "offer.box.label: `of` is what ref(…) names, without `.d`");
    assert_leaf_refused("{ 'a[].b{}.c', function() end }",
                        "offer.box.label: `a[].b{}.c`: where several lists stand in a path, all are []");
    assert_leaf_refused("{ 'a{}.b[].c', function() end }",
                        "offer.box.label: `a{}.b[].c`: where several lists stand in a path, all are []");
    assert_leaf_refused("{ 'a[].b[].c[].d[].e[]', function() end }",
                        "offer.box.label: `a[].b[].c[].d[].e[]`: more than four lists in a path");
    assert_leaf_refused("'a[].b'", "offer.box.label: `a[].b` is a list, and one value is wanted here: [1] or [-1] in "
                                   "place of [] names one; a function takes all, { \"a[].b\", function(list) … end }");
    assert_leaf_refused("{ 'a[]b', function() end }", "offer.box.label: `a[]b`: behind [] a point is missing");
    assert_leaf_refused("ref('a[]', 'b').x",
                        "offer.box.label: ref: `a[]`: the list that is looked through is named without its []");
    assert_leaf_refused("ref('a', '[]').x", "offer.box.label: ref: `[]` is no key");
    assert_leaf_refused("up(2)['[]']", "offer.box.label: `{}` is the key");
    assert_leaf_refused("time(const '1')", "offer.box.label: time(…) takes a path");
    assert_leaf_refused("map('k', { a = {} })",
                        "offer.box.label: a text, a number, true or false expected, got a table");
    assert_leaf_refused("map('k', {}, {})", "offer.box.label: a text, a number, true or false expected, got a table");
    assert_leaf_refused("map('k', { [{}] = 1 })", "offer.box.label: map: a key is a text, a number, true or false");
    assert_leaf_refused("map('k', { [1] = 1, ['1'] = 2 })",
                        "offer.box.label: map: there are two keys that are spelt 1");
    assert_leaf_refused("{ 'a', 'b' }", "offer.box.label: fields with names expected, got an item of a list");
    assert_leaf_refused("{ 'a', {}, function() end }", "offer.box.label: before its function stand paths and terms");
    assert_leaf_refused("{ 'a', x = 1, function() end }", "offer.box.label: fields with names expected");
    assert_leaf_refused("{ each = 'a[]', of = 'b', '.' }", "offer.box.label: `of` is ref(list, key), not a string");
    assert_leaf_refused("{ each = 'a[]', '.', x = 'y' }", "offer.box.label: fields with names expected");
    assert_leaf_refused("{ each = true }", "offer.box.label: `each` is the path of a list, not a boolean");
    assert_leaf_refused("{{{{{{{{{{{{{{ a = 'b' }}}}}}}}}}}}}}", "offer.box.label");
    assert_refused("{ each = 'a[]', offer = { name = 'b', kind = 'b[1]', day = 'b.c' } }",
                   "offer.kind: `b[1]` is a list, map or object here and another one elsewhere");
    assert_refused("{ offer = { name = function() end, { } } }", "offer: fields with names expected");
}

static void references_are_refused_that_cannot_be(void **state)
{
    (void)state;
    assert_leaf_refused("ref('x', { 'a', 'b' }, { 'c' }).n",
                        "offer.box.label: ref: `x`: there must be as many paths as keys, one for each");
    assert_leaf_refused("ref('x', { 'a', 'b' }).n", "offer.box.label: ref: `x`: there must be as many paths as keys");
    assert_leaf_refused("ref('x[].y[]', 'a').n",
                        "offer.box.label: ref: `x[].y[]`: the list that is looked through is named without its []");
    assert_leaf_refused("ref(up(1)['x[]'], 'a').n", "offer.box.label: ref: `x[]`: the list that is looked through");
    assert_leaf_refused("ref(up(3).x, 'a').n", "offer.box.label: up(n) goes further out than the document");
    assert_leaf_refused("ref('x', 'a', up(3)).n", "offer.box.label: up(n) goes further out than the document");
    assert_leaf_refused("ref('x[].y', { up(3).a, 'b' }, { 'c', 'd' }).n",
                        "offer.box.label: up(n) goes further out than the document");
    assert_leaf_refused("ref('x[].y', 'a', 'b')['[]']", "offer.box.label: `[]` is no number of what this ref(…) names");
    assert_found(HEAD "normalise = ref('x', {}, {}) }", "acme.lua:2: bad argument #2 to 'ref' (one to four paths");
    assert_found(HEAD "normalise = ref('x', { 'a', 'b', 'c', 'd', 'e' }) }",
                 "acme.lua:2: bad argument #2 to 'ref' (one to four paths");
    assert_found(HEAD "normalise = ref('x', 'a', { 'b', 7 }) }",
                 "acme.lua:2: bad argument #3 to 'ref' (one to four paths");
    assert_found(HEAD "normalise = ref({ 'x' }, 'a') }", "acme.lua:2: bad argument #1 to 'ref' (a path expected");
    assert_found(HEAD "normalise = ref(const 'x', 'a') }", "acme.lua:2: bad argument #1 to 'ref' (a path expected");
}

static void terms_check_what_they_are_given(void **state)
{
    (void)state;
    assert_found(HEAD "normalise = up(0) }", "acme.lua:2: bad argument #1 to 'up'");
    assert_found(HEAD "normalise = up('x') }", "acme.lua:2: bad argument #1 to 'up'");
    assert_found(HEAD "normalise = const({}) }", "acme.lua:2: bad argument #1 to 'const'");
    assert_found(HEAD "normalise = money(nil, 'a') }", "acme.lua:2: bad argument #1 to 'money' (where the currency is");
    assert_found(HEAD "normalise = money('a') }", "acme.lua:2: bad argument #2 to 'money' (where the amount is");
    assert_found(HEAD "normalise = map('a', function() end) }", "acme.lua:2: bad argument #2 to 'map' (a table from");
    assert_found(HEAD "normalise = ref('a') }", "acme.lua:2: bad argument #2 to 'ref' (a path expected");
    assert_found(HEAD "normalise = const(1).x }", "acme.lua:2: only up(n) and ref(…) have fields in a plan");
    assert_found(HEAD "normalise = asked(7) }", "acme.lua:2: bad argument #1 to 'asked' (a path in the search");
    assert_found(HEAD "normalise = asked('') }", "acme.lua:2: bad argument #1 to 'asked' (a path in the search");
    assert_found(HEAD "normalise = time({}) }", "acme.lua:2: bad argument #1 to");
    assert_found("up(1).x = 1", "acme.lua:1: ");
    assert_found(HEAD "normalise = money }", "field `normalise` must be a function, not a userdata");
}

static void conditions_are_statuses_and_paths(void **state)
{
    (void)state;
    assert_refused("{ offer = {}, when = 7 }", "when: a table expected, got a number");
    assert_refused("{ offer = {}, when = { [99] = 'empty' } }", "when: a status is a number from 100 to 599");
    assert_refused("{ offer = {}, when = { [404.5] = 'empty' } }", "when: a status is a number from 100 to 599");
    assert_refused("{ offer = {}, when = { [404] = 'nothing' } }",
                   "when: \"empty\", a failure or a function that makes "
                   "one expected, got \"nothing\"");
    assert_refused("{ offer = {}, when = { [404] = true } }", "when: \"empty\", a failure or a function that makes one "
                                                              "expected, got a boolean");
    assert_refused("{ offer = {}, when = { ['a:gone'] = 'empty' } }",
                   "when: a status, \"path:=value\", \"path:absent\" or \"path:present\" expected, got a:gone");
    assert_refused("{ offer = {}, when = { ['400'] = 'empty' } }",
                   "when: got the text \"400\"; a status is a number, in brackets without quotes");
    assert_refused("{ offer = {}, when = { [true] = 'empty' } }",
                   "when: a status, \"path:=value\", \"path:absent\" or \"path:present\" expected");
    assert_refused("{ offer = {}, when = { ['a[]:absent'] = 'empty' } }",
                   "when: `a[]` is a list, and one value is wanted");
}

static void what_is_refused_stands_at_its_own_line(void **state)
{
    (void)state;
    assert_found(HEAD "normalise = plan {\noffer = {},\neach = 'a' } }",
                 "acme.lua:4: plan: `each = \"a\"` must end with");
    assert_found(HEAD "normalise = plan {\neach = 'a[]',\noffer = {\nlid = { label = 'x' },\nbox = {\n"
                      "label = 'a[]' } } } }",
                 "acme.lua:7: plan: offer.box.label: ");
    assert_found(HEAD "normalise = plan {\noffer = {},\nwhen = { ['a[]:absent'] = 'empty' } } }",
                 "acme.lua:4: plan: when: `a[]` is a list");
}

#define PRICE "price = { total = money('c', 't') }"

static void leaves_are_held_against_the_products_offer(void **state)
{
    (void)state;
    assert_string_equal(load(HEAD "normalise = plan { offer = { id = 'id', " PRICE " } } }"), "");
    assert_found(HEAD "normalise = plan {\noffer = { id = 'id',\n" PRICE ",\nbox = {\nlabell = 'x' } } } }",
                 "acme.lua:6: plan: `offer.box.labell` is no field of the offer (did you mean `label`?)");
    assert_found(HEAD "normalise = plan { offer = { " PRICE " } } }",
                 "acme.lua:2: plan: `offer.id` is required, but nothing in the plan gives it");
    assert_found(HEAD "normalise = plan { offer = { id = 'id',\nprice = { base = 'x' } } } }",
                 "acme.lua:3: plan: `offer.price.total` is required, but nothing in the plan gives it");
    assert_found(HEAD "normalise = plan { offer = { id = 'id',\nprice = { total = 'x' } } } }",
                 "acme.lua:3: plan: `offer.price.currency` is required");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nbox = 'x' } } }",
                 "acme.lua:3: plan: `offer.box` is an object: write a table, or a function that makes one");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\ntags = 'x' } } }",
                 "acme.lua:3: plan: `offer.tags` is a list: write a table with `each`, or a function that makes one");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\ntags = { each = 'x[]', a = 'b' } } } }",
                 "acme.lua:3: plan: `offer.tags` is a list of values");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nkind = { a = 'b' } } } }",
                 "acme.lua:3: plan: `offer.kind` is a value, not an object");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nname = { each = 'x[]', '.' } } } }",
                 "acme.lua:3: plan: `offer.name` is a value, not a list");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nkind = const 'smal' } } }",
                 "acme.lua:3: plan: `offer.kind` is never \"smal\" (did you mean `small`?)");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nkind = const 'prepaid' } } }",
                 "acme.lua:3: plan: `offer.kind` is never \"prepaid\" (it is one of: small, large)");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nkind = 'small' } } }",
                 "acme.lua:3: plan: `offer.kind` is the path \"small\" here, though that is one of its words (write "
                 "const \"small\")");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nfree = 'x' } } }",
                 "acme.lua:3: plan: `offer.free` is no field of the offer (did you mean `free_until`?)");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nkind = map('k', { L = 'lage' }) } } }",
                 "acme.lua:3: plan: `offer.kind` is never \"lage\" (did you mean `large`?)");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nparts = { each = 'p[]',\nwight = 'w', marks "
                      "= { each = 'm[]', owner = 'o' } } } } }",
                 "acme.lua:4: plan: `offer.parts.wight` is no field of the offer (did you mean `weight`?)");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nparts = { each = 'p[]',\nname = 'w', marks "
                      "= { each = 'm[]', owner = 'o' } } } } }",
                 "plan: `offer.parts.marks.mark` is required");
}

static void what_is_asked_of_the_search_is_held_against_the_products_example(void **state)
{
    (void)state;
    assert_found(
        HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nname = asked 'query.words' } } }",
        "acme.lua:3: plan: `offer.name` asks for \"query.words\", which the product's example lacks (did you mean "
        "`query.word`?)");
    assert_found(
        HEAD "normalise = plan { offer = { id = 'id',\nprice = { total = money(asked 'curency', 't') } } } }",
        "acme.lua:3: plan: `offer.price.total` asks for \"curency\", which the product's example lacks (did you "
        "mean `currency`?)");
    assert_found(HEAD "normalise = plan { offer = { id = 'id', " PRICE ",\nparts = { each = 'p[]', name = 'n',\n"
                      "weight = { 'w', asked 'query.room', function(w) return w end } } } } }",
                 "plan: `offer.parts.weight` asks for \"query.room\"");
    // An example need not have everything.
    assert_string_equal(load(HEAD "normalise = plan { offer = { id = 'id', price = { total = money(asked 'currency', "
                                  "'t') }, name = asked 'query.word', kind = asked 'query.breakfast.kind' } } }"),
                        "");
}

static void plans_that_functions_call_are_held_too(void **state)
{
    (void)state;
    assert_found("local offers = plan {\noffer = { id = 'id', " PRICE ",\nnmae = 'x' } }\n" HEAD
                 "normalise = function(...) return offers(...) end }",
                 "acme.lua:3: plan: `offer.nmae` is no field of the offer (did you mean `name`?)");
    assert_found("local offers = require('other') \n" HEAD "normalise = offers }",
                 "scripts/other.lua:3: plan: `offer.nmae` is no field of the offer (did you mean `name`?)");
    assert_found("local function make()\nreturn plan { offer = { id = 'id', nmae = 'x', " PRICE " } }\nend\n" HEAD
                 "normalise = make() }",
                 "acme.lua:5: plan: `offer.nmae` is no field of the offer");
    assert_string_equal(
        load("local offers = require('other') \n" HEAD "normalise = function(...) return offers(...) end }"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_have_their_parts),
        cmocka_unit_test(leaves_are_terms),
        cmocka_unit_test(references_are_refused_that_cannot_be),
        cmocka_unit_test(terms_check_what_they_are_given),
        cmocka_unit_test(conditions_are_statuses_and_paths),
        cmocka_unit_test(what_is_refused_stands_at_its_own_line),
        cmocka_unit_test(leaves_are_held_against_the_products_offer),
        cmocka_unit_test(what_is_asked_of_the_search_is_held_against_the_products_example),
        cmocka_unit_test(plans_that_functions_call_are_held_too),
    };

    return cmocka_run_group_tests(tests, open_world, close_world);
}

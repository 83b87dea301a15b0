// Plans over XML: offers of documents, conditions, and what a mistake in a plan says.
#include "unit/script_plan_stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static const char facts[] = "{\"product\":\"flights\",\"currency\":\"EUR\",\"query\":{\"cabin\":\"economy\"}}";

static struct plan_stage stage;

#define SEGMENT                                                                                                        \
    "<Leg No='17' Late='false'><From Time='2030-01-12T20:45:00'>MAD</From><To Time='2030-01-12T22:15:00'>LHR</To>"     \
    "<Air>IB</Air></Leg>"

static const char plan_source[] =
    "return { name = '%s', product = 'flights', owner = 'o', hosts = {}, build_request = function() end,\n"
    "  normalise = plan { from = 'xml', xmlns = { a = 'urn:a' }, lenient = %s, each = 'a:Resp.a:Offers.a:Offer[]',\n"
    "  offer = { id = '@Id', brand = 'a:Name',\n"
    "    price = { total = { 'a:Total', 'a:Total.@Cur', function(total, currency)\n"
    "      local amount = money.parse(total, currency) return amount end }, currency = 'a:Total.@Cur' },\n"
    "    refundable = 'a:Refund', changeable = 'a:Total.@Change', seats_left = 'a:Seats',\n"
    "    slices = { each = 'a:Way[]', of = ref('a:Resp.a:Ways.a:Way', '@Key', '@Ref'), segments = {\n"
    "      each = 'a:Leg[]', carrier = 'a:Air', number = '@No', origin = 'a:From', destination = 'a:To',\n"
    "      departs = { ['local'] = 'a:From.@Time' }, arrives = { ['local'] = 'a:To.@Time' } } } },\n"
    "  when = { ['a:Resp.a:Errors:present'] = function(response)\n"
    "      local doc = response:xml { xmlns = { a = 'urn:a' }, ['a:Resp'] = { ['a:Errors'] = { ['a:Error'] = {\n"
    "        { ['@Code'] = text, ['#text'] = text } } } } }\n"
    "      local first = doc['a:Resp']['a:Errors']['a:Error'][1]\n"
    "      return fail.supplier { code = first['@Code'], message = first['#text'] } end,\n"
    "    ['a:Resp.a:Offers.a:None:present'] = 'empty', ['a:Resp.@Status:=busy'] = fail.busy 'busy' } } }\n";

static int open_stage(void **state)
{
    char source[4096];

    (void)state;
    support_open(&stage.world);
    snprintf(source, sizeof source, plan_source, "made", "nil");
    support_add_source(&stage.world, "made", source);
    snprintf(source, sizeof source, plan_source, "lenient", "true");
    support_add_source(&stage.world, "lenient", source);
    support_add_source(&stage.world, "endless",
                       "return { name = 'endless', product = 'flights', owner = 'o', hosts = {}, build_request = "
                       "function() end,\n normalise = function(response) while true do\n"
                       "pcall(response.xml, response, { Resp = { Fare = { { ['@No'] = integer } } } }) end end }");
    stage_open(&stage, "scripts", facts);
    return 0;
}

enum { MADE, LENIENT, ENDLESS };

static int close_stage(void **state)
{
    (void)state;
    stage_close(&stage);
    return 0;
}

static const struct normalise_call *give(size_t supplier, const char *body)
{
    return stage_normalise(&stage, supplier, &(struct stage_answer){ .status = 200, .body = text_of(body) });
}

static void assert_message(const struct normalise_call *call, enum script_verdict verdict, const char *wanted)
{
    if (call->verdict != verdict || strstr(call->message, wanted) == NULL) {
        fail_msg("%s: %s (%s)", script_verdict_name(call->verdict), call->message, wanted);
    }
}

/// Offers of the plan above, and the JSON of the first.
static void assert_offer(const struct normalise_call *call, size_t count, const char *part)
{
    if (call->verdict != SCRIPT_OK || call->offers->count != count) {
        fail_msg("%s: %s", script_verdict_name(call->verdict), call->message);
    }
    const struct text json = call->offers->offers[0].json;
    if (memmem(json.data, json.length, part, strlen(part)) == NULL) {
        fail_msg("%.*s\nlacks %s", TEXT_ARGS(json), part);
    }
}

#define DOCUMENT(root, offer)                                                                                          \
    "<?xml version='1.0'?><Resp xmlns='urn:a'" root "><Ways><Way Key='w0'/><Way Key='w1'>" SEGMENT                     \
    "</Way></Ways><Offers>" offer "</Offers></Resp>"
#define OFFER(more)                                                                                                    \
    "<Offer Id='o&amp;1'><Name>A <![CDATA[<b>]]></Name><Total Cur='EUR' Change='0'>412.3</Total>" more                 \
    "<Way Ref='w1'/></Offer>"

static void an_answer_in_xml_becomes_offers(void **state)
{
    const struct normalise_call *call = give(MADE, DOCUMENT("", OFFER("<Refund>true</Refund><Seats>4</Seats>")));

    (void)state;
    assert_offer(call, 1, "\"total\":\"412.30\",\"currency\":\"EUR\"");
    assert_offer(call, 1, "\"brand\":\"A <b>\"");
    assert_offer(call, 1, "\"refundable\":true");
    assert_offer(call, 1, "\"changeable\":false");
    assert_offer(call, 1, "\"seats_left\":4");
    assert_offer(give(MADE, DOCUMENT("", OFFER("<Refund> 1 </Refund>"))), 1, "\"refundable\":true");
    // <Seats/> says nothing, so the field is left out
    call = give(MADE, DOCUMENT("", OFFER("<Seats/>")));
    assert_offer(call, 1, "o&1");
    assert_null(memmem(call->offers->offers[0].json.data, call->offers->offers[0].json.length, "seats_left", 10));
}

static void what_is_no_value_of_its_field_loses_the_offer(void **state)
{
    (void)state;
    assert_message(give(MADE, DOCUMENT("", OFFER("<Refund>yes</Refund>"))), SCRIPT_UNPARSABLE,
                   "refundable: true or false expected, got \"yes\"");
    assert_message(give(MADE, DOCUMENT("", OFFER("<Seats><More/></Seats>"))), SCRIPT_UNPARSABLE,
                   "seats_left: whole number");
    // an element in which others stand is no leaf, also when its attribute is read
    assert_message(give(MADE, "<Resp xmlns='urn:a'><Ways><Way Key='w1'><Leg No='17'><From Time='2030-01-12T20:45:00'>"
                              "MA<x/>D</From><To Time='2030-01-12T22:15:00'>LHR</To><Air>IB</Air></Leg></Way></Ways>"
                              "<Offers>" OFFER("") "</Offers></Resp>"),
                   SCRIPT_UNPARSABLE, "segments[1].origin");
    assert_message(give(MADE, DOCUMENT("", "<Offer Id='1'><Total Cur='EUR'>1</Total><Way Ref='w9'/></Offer>")),
                   SCRIPT_UNPARSABLE, "a reference to w9, which is not in a:Resp.a:Ways.a:Way");
}

static void conditions_see_the_document(void **state)
{
    (void)state;
    const struct normalise_call *call =
        give(MADE, "<Resp xmlns='urn:a'><Errors><Error Code='77'>no such day</Error></Errors></Resp>");
    assert_int_equal(call->verdict, SCRIPT_FAIL_SUPPLIER);
    assert_string_equal(call->code, "77");
    assert_string_equal(call->message, "no such day");
    assert_int_equal(give(MADE, "<Resp xmlns='urn:a'><Offers><None/></Offers></Resp>")->verdict, SCRIPT_EMPTY);
    assert_message(give(MADE, "<Resp xmlns='urn:a' Status='busy'><Offers/></Resp>"), SCRIPT_FAIL_BUSY, "busy");
}

static void only_an_empty_parent_is_an_empty_list(void **state)
{
    (void)state;
    assert_int_equal(give(MADE, "<Resp xmlns='urn:a'><Offers/></Resp>")->verdict, SCRIPT_EMPTY);
    assert_message(give(MADE, "<Resp xmlns='urn:a'><Offers><Fare/></Offers></Resp>"), SCRIPT_UNPARSABLE,
                   "a:Resp.a:Offers.a:Offer[]: a list expected, got nothing");
    assert_message(give(MADE, "<Resp xmlns='urn:a'/>"), SCRIPT_UNPARSABLE, "a list expected, got nothing");
    assert_message(give(MADE, "<Resp xmlns='urn:b'><Offers/></Resp>"), SCRIPT_UNPARSABLE,
                   "a list expected, got nothing");
}

static void what_is_no_xml_is_unparsable(void **state)
{
    (void)state;
    assert_message(give(MADE, ""), SCRIPT_UNPARSABLE, "the body is empty, XML was expected");
    assert_message(give(MADE, "{\"a\":1}"), SCRIPT_UNPARSABLE, "the body is no XML, XML was expected");
    assert_message(give(MADE, "<!DOCTYPE html><html></html>"), SCRIPT_UNPARSABLE,
                   "the body is no XML: line 1, column 15: a DOCTYPE: this is an HTML page");
    assert_message(give(MADE, "<Resp xmlns='urn:a'><Offers>"), SCRIPT_UNPARSABLE, "in Resp.Offers: no element found");
    assert_message(give(MADE, "<p:Resp xmlns='urn:a'/>"), SCRIPT_UNPARSABLE, "a prefix that nobody has declared");
    assert_message(give(LENIENT, "<p:Resp xmlns='urn:a'/>"), SCRIPT_UNPARSABLE, "a list expected");
    assert_int_equal(give(LENIENT, "<Resp xmlns='urn:a' p:x='1'><Offers/></Resp>")->verdict, SCRIPT_EMPTY);
}

static void bodies_come_in_any_charset(void **state)
{
    const char *windows = "<?xml version='1.0' encoding='windows-1252'?><Resp xmlns='urn:a'><Ways><Way "
                          "Key='w1'>" SEGMENT "</Way></Ways><Offers><Offer Id='caf\xe9'><Total Cur='EUR'>1</Total><Way "
                          "Ref='w1'/></Offer></Offers></Resp>";
    const char *lies = "<?xml version='1.0' encoding='utf-16'?><Resp xmlns='urn:a'><Ways><Way Key='w1'>" SEGMENT
                       "</Way></Ways><Offers><Offer Id='caf\xc3\xa9'><Total Cur='EUR'>1</Total><Way "
                       "Ref='w1'/></Offer></Offers></Resp>";
    const char *undeclared = "<Resp xmlns='urn:a'><Ways><Way Key='w1'>" SEGMENT
                             "</Way></Ways><Offers><Offer Id='caf\xe9'><Total Cur='EUR'>1</Total><Way "
                             "Ref='w1'/></Offer></Offers></Resp>";
    (void)state;
    assert_offer(give(MADE, windows), 1, "caf\xc3\xa9");
    assert_offer(give(MADE, undeclared), 1, "caf\xc3\xa9");
    assert_offer(give(MADE, lies), 1, "caf\xc3\xa9");
}

struct watch {
    struct guard *guard;
    atomic_bool is_over;
};

static void *watch_guard(void *context)
{
    struct watch *watch = context;
    uint64_t next_us = 0;

    while (!atomic_load(&watch->is_over)) {
        pthread_mutex_lock(&watch->guard->lock);
        (void)guard_check(watch->guard, clock_now_us(), &next_us);
        pthread_mutex_unlock(&watch->guard->lock);
        (void)usleep(1000);
    }
    return NULL;
}

static void reading_for_too_long_is_stopped(void **state)
{
    struct watch watch = { .guard = &stage.guard };
    struct buffer body;
    pthread_t thread;

    (void)state;
#ifdef __SANITIZE_THREAD__
    print_message("SKIPPED: this sanitizer keeps signals back while code of others runs\n");
    skip();
#endif
    buffer_init(&body, 8 << 20);
    buffer_append_c(&body, "<Resp>");
    for (int i = 0; i < 100000; i++) {
        buffer_append_c(&body, "<Fare No='1'/>");
    }
    buffer_append_c(&body, "</Resp>");
    assert_int_equal(guard_install(), STATUS_OK);
    stage.limit_us = 30000; // in the middle of some reading
    assert_int_equal(pthread_create(&thread, NULL, watch_guard, &watch), 0);
    const struct normalise_call *call =
        stage_normalise(&stage, ENDLESS, &(struct stage_answer){ .status = 200, .body = buffer_text(&body) });
    assert_message(call, SCRIPT_TIMEOUT, "");
    stage.limit_us = 0;
    assert_int_equal(give(MADE, "<Resp xmlns='urn:a'><Offers/></Resp>")->verdict, SCRIPT_EMPTY);
    atomic_store(&watch.is_over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    buffer_fini(&body);
}

/// The block of Lua of a document that has `mark` in it.
static void read_block(const char *path, const char *mark, char *out, size_t size)
{
    static char document[1 << 18];
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    size_t length = fread(document, 1, sizeof document - 1, file);
    fclose(file);
    document[length] = '\0';
    const char *begin = strstr(document, "```lua");
    while (begin != NULL) {
        const char *source = strchr(begin, '\n'); // behind the file's path
        assert_non_null(source);
        source++;
        const char *end = strstr(source, "```");
        assert_non_null(end);
        const char *found = strstr(begin, mark);
        if (found != NULL && found < end) {
            snprintf(out, size, "%.*s", (int)(end - source), source);
            return;
        }
        begin = strstr(end + 3, "```lua");
    }
    fail_msg("%s has no %s", path, mark);
}

static void the_supplier_of_the_documentation_works(void **state)
{
    static const char body[] =
        "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><Found "
        "xmlns='http://acme.example/air'>"
        "<Flight key='k' carrier='IB' number='17'><From at='2030-01-12T20:45'>MAD</From><To "
        "at='2030-01-12T22:15'>LHR</To></Flight><Offer id='o1'><Price currency='EUR'>412.30</Price><Way><Flight "
        "ref='k'/></Way></Offer></Found></e:Body></e:Envelope>";
    static struct plan_stage own;
    char source[8192];

    (void)state;
    read_block("suppliers/README.md", "acme_soap", source, sizeof source);
    support_open(&own.world);
    support_add_source(&own.world, "acme_soap", source);
    stage_open(&own, "scripts", facts);
    assert_offer(stage_normalise(&own, 0, &(struct stage_answer){ .status = 200, .body = text_of(body) }), 1, "412.30");
    const struct normalise_call *call = stage_normalise(
        &own, 0,
        &(struct stage_answer){ .status = 500,
                                .body = TEXT("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>"
                                             "<e:Fault><faultcode>e:Server</faultcode><faultstring>no</faultstring>"
                                             "</e:Fault></e:Body></e:Envelope>") });
    assert_message(call, SCRIPT_FAIL_SUPPLIER, "no");
    assert_string_equal(call->code, "e:Server");
    stage_close(&own);
}

static void the_shape_of_the_documentation_reads(void **state)
{
    static const char body[] = "<x:Answer xmlns:x='http://acme.example/air'><x:Offer id='o1'><x:Price "
                               "currency='EUR'> 412.30 </x:Price><x:Seats/></x:Offer></x:Answer>";
    static struct plan_stage own;
    char source[8192], block[4096];

    (void)state;
    read_block("scripts/README.md", "response:xml(SHAPE)", block, sizeof block);
    snprintf(source, sizeof source,
             "return { name = 'shaped', product = 'flights', owner = 'o', hosts = {}, build_request = function() end,\n"
             "normalise = function(response)\n%s\n local offer = answer['a:Offer'][1] return fail.supplier { code = "
             "offer['@id'], message = offer['a:Price']['#text'] .. offer['a:Price']['@currency'] } end }",
             block);
    support_open(&own.world);
    support_add_source(&own.world, "shaped", source);
    stage_open(&own, "scripts", facts);
    const struct normalise_call *call =
        stage_normalise(&own, 0, &(struct stage_answer){ .status = 200, .body = text_of(body) });
    assert_message(call, SCRIPT_FAIL_SUPPLIER, "412.30EUR");
    assert_string_equal(call->code, "o1");
    stage_close(&own);
}

static void mistakes_in_a_plan_are_findings(void **state)
{
    static const char *const cases[][2] = {
        { "from = 'yaml', offer = {}", "`from` is \"json\" or \"xml\"" },
        { "xmlns = {}, offer = {}", "`xmlns` and `lenient` are for `from = \"xml\"`" },
        { "lenient = true, offer = {}", "`xmlns` and `lenient` are for `from = \"xml\"`" },
        { "from = 'xml', xmlns = 'urn:a', offer = {}", "xmlns is a table from prefixes to the namespaces" },
        { "from = 'xml', xmlns = { a = '' }, offer = {}", "xmlns is a table from prefixes to the namespaces" },
        { "from = 'xml', xmlns = { ['a:b'] = 'u' }, offer = {}", "xmlns is a table from prefixes" },
        { "from = 'xml', offer = { id = 'b:Id' }", "`b:Id`: a prefix that xmlns does not have" },
        { "from = 'xml', xmlns = { a = 'u' }, each = 'b:A[]', offer = {}",
          "`b:A[]`: a prefix that xmlns does not have" },
        { "from = 'xml', offer = { id = '@' }", "`@`: a name is missing" },
        { "from = 'xml', xmlns = { a = 'u' }, offer = { id = 'x' }, when = { ['b:A:present'] = 'empty' }",
          "`b:A`: a prefix that xmlns does not have" },
        { "from = 'xml', offer = { id = 'A.@b.c' }", "`A.@b.c`: nothing stands within an attribute" },
        { "from = 'xml', offer = { id = 'A.#text[1]' }", "`A.#text[1]`: nothing stands within an attribute" },
        { "from = 'xml', each = 'A.@b[]', offer = { id = 'c' }", "`A.@b[]`: nothing stands within an attribute" },
        { "form = 'xml', offer = {}", "there are each, only, offer, when, from, xmlns and lenient, but no form" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct support_world world;
        struct support_findings findings = { .count = 0 };
        char source[512];
        support_open(&world);
        snprintf(source, sizeof source,
                 "return { name = 'wrong', product = 'flights', owner = 'o', hosts = {}, build_request = function() "
                 "end,\nnormalise = plan { %s } }",
                 cases[i][0]);
        support_add_source(&world, "wrong", source);
        assert_int_not_equal(script_set_load("scripts", world.sources, 1, support_on_finding, &findings, &world.set),
                             STATUS_OK);
        if (strstr(findings.text, cases[i][1]) == NULL) {
            fail_msg("%s: %s", cases[i][0], findings.text);
        }
        support_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_in_xml_becomes_offers),
        cmocka_unit_test(what_is_no_value_of_its_field_loses_the_offer),
        cmocka_unit_test(conditions_see_the_document),
        cmocka_unit_test(only_an_empty_parent_is_an_empty_list),
        cmocka_unit_test(what_is_no_xml_is_unparsable),
        cmocka_unit_test(bodies_come_in_any_charset),
        cmocka_unit_test(reading_for_too_long_is_stopped),
        cmocka_unit_test(the_supplier_of_the_documentation_works),
        cmocka_unit_test(the_shape_of_the_documentation_reads),
        cmocka_unit_test(mistakes_in_a_plan_are_findings),
    };

    return cmocka_run_group_tests(tests, open_stage, close_stage);
}

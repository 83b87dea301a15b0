// response:xml(shape): what of an XML document reaches a script, and what is refused.
#include "script/bind_shape.h"

#include "script/bind.h"
#include "script/bind_support.h"
#include "script/tape_xml.h"
#include "unit/script_chunk_stage.h"

#include <stdlib.h>

/// read(shape, xml, lenient): the value (or nil and a sentence), how many values were not as declared, the first one.
static int lua_read(lua_State *L)
{
    struct shape_unread unread = { 0 };

    if (!bind_shape_decode_xml(L, 1, bind_check_text(L, 2), lua_toboolean(L, 3) != 0, &unread)) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    lua_pushinteger(L, (lua_Integer)unread.count);
    lua_pushstring(L, unread.first);
    return 3;
}

/// What a shape makes of a document, as canonical JSON.
static void assert_reads(const char *shape, const char *xml, const char *wanted)
{
    char source[4096];

    snprintf(source, sizeof source,
             "local read = ... local value, count, first = read(%s, [==[%s]==])\n"
             "if value == nil then return count end\n"
             "return json.encode(value) .. (count > 0 and ' ' .. first or '')",
             shape, xml);
    assert_gives(source, wanted);
}

/// Why a document is refused.
static void assert_refuses(const char *xml, bool is_lenient, const char *wanted)
{
    char source[4096];

    snprintf(
        source, sizeof source,
        "local read = ... local value, why = read({ A = { B = text } }, [==[%s]==], %s) return value and 'read' or "
        "why",
        xml, is_lenient ? "true" : "false");
    assert_gives(source, wanted);
}

static void elements_are_members_of_the_document(void **state)
{
    (void)state;
    assert_reads("{ A = { B = text, C = { D = text } } }", "<A><B>x</B><C><D>y</D><E>z</E></C><F><B>n</B></F></A>",
                 "{\"A\":{\"B\":\"x\",\"C\":{\"D\":\"y\"}}}");
    assert_reads("{ Z = text }", "<A/>", "{}");
    assert_reads("{ A = text }", "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n<!-- a --><A>x</A><?pi x?>",
                 "{\"A\":\"x\"}");
}

static void of_elements_that_are_no_list_the_first_counts(void **state)
{
    (void)state;
    assert_reads("{ A = { B = text, C = { D = text } } }", "<A><B>1</B><C/><B>2</B><C><D>3</D></C></A>",
                 "{\"A\":{\"B\":\"1\",\"C\":{}}}");
}

static void attributes_and_the_text_beside_them_have_names(void **state)
{
    (void)state;
    assert_reads("{ A = { ['@id'] = text, ['@n'] = integer, ['#text'] = decimal, ['@x'] = text } }",
                 "<A n=' 7' id='a&amp;b' other='1'> 12.50 </A>",
                 "{\"A\":{\"#text\":\"12.50\",\"@id\":\"a&b\"}} "
                 "A.@n: whole number expected, got a text");
    assert_reads("{ A = text }", "<A id='1'>x</A>", "{\"A\":\"x\"}");
}

static void repeated_elements_are_lists_also_when_one_came(void **state)
{
    (void)state;
    assert_reads("{ A = { B = { { C = integer } } } }", "<A><B><C>1</C></B><X/><B><C>2</C></B></A>",
                 "{\"A\":{\"B\":[{\"C\":1},{\"C\":2}]}}");
    assert_reads("{ A = { B = { text }, C = { { D = { text } } } } }",
                 "<A><B>1</B><C><D>x</D></C><B>2</B><C><D>y</D><D>z</D></C></A>",
                 "{\"A\":{\"B\":[\"1\",\"2\"],\"C\":[{\"D\":[\"x\"]},{\"D\":[\"y\",\"z\"]}]}}");
}

static void a_list_is_empty_only_in_an_empty_parent(void **state)
{
    (void)state;
    assert_reads("{ A = { B = { text } } }", "<A/>", "{\"A\":{\"B\":[]}}");
    assert_reads("{ A = { B = { text } } }", "<A n='1'>\n  <!-- none -->\n</A>", "{\"A\":{\"B\":[]}}");
    assert_reads("{ A = { B = { text } } }", "<A><C/></A>", "{\"A\":{}}");
    assert_reads("{ A = { B = { text } } }", "<A>none</A>", "{\"A\":{}}");
}

static void text_is_trimmed_joined_and_its_entities_resolved(void **state)
{
    (void)state;
    assert_reads("{ A = text }", "<A>\n  a  b\n  c\t</A>", "{\"A\":\"a  b\\n  c\"}");
    assert_reads("{ A = text }", "<A>&lt;&#65;&#x20AC;&quot;<![CDATA[<b>&amp;]]> z</A>",
                 "{\"A\":\"<A\xE2\x82\xAC\\\"<b>&amp; z\"}");
    assert_reads("{ A = { ['#text'] = text, B = text } }", "<A>one<B>&amp;</B>two<B/>three&#33;</A>",
                 "{\"A\":{\"#text\":\"onetwothree!\",\"B\":\"&\"}}");
    assert_reads("{ A = text }", "<A>a<!-- x -->b</A>", "{\"A\":\"ab\"}");
}

static void leaves_judge_the_text_of_their_element(void **state)
{
    (void)state;
    assert_reads("{ A = { a = integer, b = decimal, c = flag, d = flag, e = flag, f = integer } }",
                 "<A><a>007</a><b>-12.30</b><c>true</c><d>0</d><e>yes</e><f>1.5</f></A>",
                 "{\"A\":{\"a\":7,\"b\":\"-12.30\",\"c\":true,\"d\":false}} A.e: true or false expected, got a text");
    assert_reads("{ A = { a = integer, b = decimal, c = flag, d = text } }", "<A><a/><b></b><c> </c><d/></A>",
                 "{\"A\":{\"d\":\"\"}}");
    assert_reads("{ A = { B = text } }", "<A><B>x<C/></B></A>", "{\"A\":{}} A.B: text expected, got elements");
    assert_reads("{ A = { B = { C = text } } }",
                 "<A xmlns:i='http://www.w3.org/2001/XMLSchema-instance'><B i:nil='true'/></A>", "{\"A\":{}}");
}

static void raw_is_the_bytes_of_the_element(void **state)
{
    (void)state;
    assert_reads("{ A = { B = { raw }, C = raw } }", "<A><B x='1'>a&amp;<D/></B><B/><C\n>z</C  ></A>",
                 "{\"A\":{\"B\":[\"<B x='1'>a&amp;<D/></B>\",\"<B/>\"],\"C\":\"<C\\n>z</C  >\"}}");
}

static void a_map_has_the_names_of_its_elements(void **state)
{
    (void)state;
    assert_reads("{ A = map_of(integer) }", "<A><x>1</x><y>2</y></A>", "{\"A\":{\"x\":1,\"y\":2}}");
    assert_reads("{ A = { map_of { n = text } } }", "<A><x><n>1</n></x><y/></A>",
                 "{\"A\":[{\"x\":{\"n\":\"1\"},\"y\":{}}]}");
    assert_reads("{ R = { A = { map_of { n = text } } } }", "<R><A><x><n>1</n></x><y/></A><A><z/></A></R>",
                 "{\"R\":{\"A\":[{\"x\":{\"n\":\"1\"},\"y\":{}},{\"z\":{}}]}}");
}

static void without_xmlns_names_match_in_any_namespace(void **state)
{
    (void)state;
    assert_reads("{ A = { B = text, ['@k'] = text } }", "<p:A xmlns:p='u:1' xmlns='u:2' p:k='1'><B>x</B></p:A>",
                 "{\"A\":{\"@k\":\"1\",\"B\":\"x\"}}");
    assert_reads("{ A = { ['@k'] = text } }", "<A xmlns:p='u:1' k='plain' p:k='1'/>", "{\"A\":{\"@k\":\"plain\"}}");
    assert_reads("{ A = { ['@k'] = text } }", "<A xmlns:p='u:1' p:k='1' k='plain'/>", "{\"A\":{\"@k\":\"plain\"}}");
}

static void with_xmlns_a_prefix_means_its_namespace_and_no_other(void **state)
{
    (void)state;
    assert_reads("{ xmlns = { a = 'u:1' }, ['a:A'] = { ['a:B'] = text, B = text, ['@a:k'] = text, ['@k'] = text } }",
                 "<A xmlns='u:1' xmlns:q='u:2' xmlns:r='u:1' k='0' r:k='1'><q:B>2</q:B><B>1</B></A>",
                 "{\"a:A\":{\"@a:k\":\"1\",\"@k\":\"0\",\"B\":\"2\",\"a:B\":\"1\"}}");
    assert_reads("{ xmlns = { a = 'u:1' }, ['a:A'] = { ['a:B'] = text } }", "<a:A xmlns:a='u:2'><a:B>1</a:B></a:A>",
                 "{}");
    assert_reads("{ xmlns = { [''] = 'u:1' }, A = { B = text } }",
                 "<p:A xmlns:p='u:1' xmlns='u:2'><B>2</B><p:B>1</p:B></p:A>", "{\"A\":{\"B\":\"1\"}}");
    assert_reads("{ xmlns = { a = 'u:1' }, A = { ['a:B'] = text } }",
                 "<A xmlns:p='u:1'><p:B xmlns:p='u:2'>inner</p:B><p:B>1</p:B></A>", "{\"A\":{\"a:B\":\"1\"}}");
}

static void a_shape_of_xml_is_checked(void **state)
{
    (void)state;
    assert_raises("local read = ... read({ ['a:A'] = text }, '<A/>')",
                  "shape at `a:A`: a prefix that xmlns does not have");
    assert_raises("local read = ... read({ xmlns = { a = 1 }, A = text }, '<A/>')", "xmlns is a table from prefixes");
    assert_raises("local read = ... read({ xmlns = 'u:1', A = text }, '<A/>')", "xmlns is a table from prefixes");
    assert_raises("local read = ... read({ A = { ['@'] = text } }, '<A/>')", "a name is missing");
    assert_raises("local read = ... read({ A = { ['@b'] = { text } } }, '<A/>')",
                  "shape at `A.@b`: expected text, decimal, integer or flag of an attribute");
    assert_raises("local read = ... read({ A = { ['#text'] = raw } }, '<A/>')", "shape at `A.#text`: expected text");
}

static void what_is_not_well_formed_is_refused_with_its_place(void **state)
{
    (void)state;
    assert_refuses("<A>\n  <B>x</C>\n</A>", false, "line 2, column 9, in A.B: mismatched tag");
    assert_refuses("<A><B>x</B>", false, "line 1, column 12, in A: no element found");
    assert_refuses("<A><B", false, "line 1, column 4, in A: unclosed token");
    assert_refuses("<A/><A/>", false, "line 1, column 5: junk after document element");
    assert_refuses("<A>&nbsp;</A>", false, "line 1, column 4, in A: undefined entity");
    assert_refuses("<A b='1' b='2'/>", false, "line 1, column 10: duplicate attribute");
    assert_refuses("<A>\x01</A>", false, "line 1, column 4, in A: not well-formed (invalid token)");
    assert_refuses("<A>\xff</A>", false, "line 1, column 4, in A: not well-formed (invalid token)");
    assert_refuses("", false, "line 1, column 1: no element found");
}

static void namespaces_are_held_to_their_rules_unless_lenient(void **state)
{
    (void)state;
    assert_refuses("<A><p:B/></A>", false, "line 1, column 4, in A.p:B: a prefix that nobody has declared");
    assert_refuses("<A p:b='1'/>", false, "line 1, column 1, in A: a prefix that nobody has declared");
    assert_refuses("<A><p:B xmlns:p='u'/><p:B/></A>", false,
                   "line 1, column 22, in A.p:B: a prefix that nobody has declared");
    assert_refuses("<A xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>", false,
                   "line 1, column 1, in A: duplicate attribute");
    assert_refuses("<A xmlns:p=''/>", false,
                   "line 1, column 1, in A: a prefix is bound to a namespace that it cannot have");
    assert_refuses("<A><a:b:c xmlns:a='u'/></A>", false,
                   "line 1, column 4, in A.a:b:c: a name with a colon in the wrong place");
    assert_refuses("<A><p:B/></A>", true, "read");
    assert_refuses("<A p:b='1'><a:b:c/><:x/></A>", true, "read");
    assert_gives(
        "local read = ... local v = read({ A = { B = text, ['@k'] = text } }, '<s:A q:k=\"1\"><p:B>x</p:B></s:A>', "
        "true) return v.A.B .. v.A['@k']",
        "x1");
}

static void a_doctype_is_refused_or_skipped_and_its_entities_never_expanded(void **state)
{
    (void)state;
    assert_refuses("<!DOCTYPE A><A/>", false, "line 1, column 12: a DOCTYPE is not accepted");
    assert_refuses("<!doctype html><html/>", false, "line 1, column 1: syntax error");
    assert_refuses("<!DOCTYPE html><html/>", false, "line 1, column 15: a DOCTYPE: this is an HTML page");
    assert_refuses("<!DOCTYPE A SYSTEM 'file:///etc/passwd'><A/>", true, "read");
    assert_refuses("<!DOCTYPE A [<!ELEMENT A ANY><!ATTLIST A b CDATA 'x'>]><A/>", true, "read");
    assert_refuses("<!DOCTYPE A SYSTEM 'file:///etc/passwd'><A>&x;</A>", true,
                   "line 1, column 44, in A: undefined entity");
    assert_refuses("<!DOCTYPE A [<!ENTITY x 'y'>]><A>&x;</A>", true,
                   "line 1, column 25: the DOCTYPE declares an entity");
    assert_refuses("<!DOCTYPE A [<!ENTITY % x SYSTEM 'file:///etc/passwd'>%x;]><A/>", true,
                   "line 1, column 54: the DOCTYPE declares an entity");
    assert_refuses("<!DOCTYPE A [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;'>]><A>&c;</A>",
                   true, "line 1, column 25: the DOCTYPE declares an entity");
    // what a DOCTYPE says of attributes adds none
    assert_gives("local read = ... local v = read({ A = { ['@b'] = text } }, \"<!DOCTYPE A [<!ATTLIST A b CDATA "
                 "'x'>]><A/>\", true) return v.A['@b'] or 'none'",
                 "none");
    assert_refuses("\n <?xml version='1.0'?><A/>", false,
                   "line 1, column 2: XML or text declaration not at start of entity");
    assert_refuses("\n <?xml version='1.0'?><A/>", true, "read");
    assert_refuses("\n <?xml version='1.0'?><A>\n<B></A>", true, "line 2, column 6, in A.B: mismatched tag");
}

static void depth_attributes_and_namespaces_have_caps(void **state)
{
    (void)state;
    assert_gives("local read = ... local function nest(n) return ('<A>'):rep(n) .. ('</A>'):rep(n) end "
                 "return read({ A = raw }, nest(64)) and select(2, read({ A = raw }, nest(65)))",
                 "line 1, column 193, in A.A.A.A.A.A: nested deeper than 64");
    assert_gives(
        "local read = ... local function many(n) local t = {} for i = 1, n do t[i] = ' a' .. i .. '=\"1\"' end "
        "return '<A' .. table.concat(t) .. '/>' end "
        "return read({ A = raw }, many(256)) and select(2, read({ A = raw }, many(257)))",
        "line 1, column 1, in A: more than 256 attributes");
    assert_gives("local read = ... local function many(n) local t = {} for i = 1, n do t[i] = ' xmlns:a' .. i .. "
                 "'=\"u\"' end return '<A' .. table.concat(t) .. '/>' end "
                 "return read({ A = raw }, many(128)) and select(2, read({ A = raw }, many(129)))",
                 "line 1, column 1, in A: too many namespaces");
    // those of an element that is over count no more
    assert_gives("local read = ... local one = '<B xmlns:p=\"u\" xmlns:q=\"v\"/>' "
                 "return read({ A = { B = { text } } }, '<A>' .. one:rep(500) .. '</A>') and 'read'",
                 "read");
}

static void text_between_many_elements_ends_at_a_cap(void **state)
{
    (void)state;
    assert_gives("local read = ... local value, why = read({ A = { ['#text'] = text, B = text } }, "
                 "'<A>' .. ('x'):rep(200000) .. ('<B/>&amp;'):rep(5) .. '</A>') return #value.A['#text']",
                 "200005");
    assert_gives("local read = ... local xml = '<A>' .. ('x'):rep(200000) .. ('y<B>&amp;</B>'):rep(1000) .. '</A>' "
                 "local value, why = read({ A = { ['#text'] = text, B = { text } } }, xml) return why",
                 "more values than may be kept");
}

static void what_the_parser_keeps_has_a_cap(void **state)
{
    (void)state;
    assert_gives("local read = ... local t = {} for i = 1, 100000 do t[i] = '<a' .. i .. '/>' end "
                 "return select(2, read({ A = raw }, '<A>' .. table.concat(t) .. '</A>'))",
                 "more values than may be kept"); // names
    assert_gives("local read = ... return #read({ A = { ['@b'] = text } }, \"<A b='\" .. ('x'):rep(1000000) .. \"'/>\")"
                 ".A['@b']",
                 "1000000");
    assert_gives("local read = ... return select(2, read({ A = { ['@b'] = text } }, \"<A b='\" .. "
                 "('x'):rep(4100000) .. \"'/>\"))",
                 "line 1, column 1: a tag or comment of more than 1 MiB");
    assert_gives("return 'alive'", "alive"); // none of it is out of memory to the script
}

static int lua_stop(lua_State *L)
{
    (void)L;
    sandbox_interrupt(sandbox);
    return 0;
}

static int run_stopped(lua_State *L)
{
    struct job *job = lua_touserdata(L, 1);

    lua_settop(L, 0);
    if (!sandbox_load(L, TEXT("t.lua"), text_of(job->source))) {
        return lua_error(L);
    }
    lua_pushcfunction(L, lua_read);
    lua_pushcfunction(L, lua_stop);
    lua_call(L, 2, 0);
    return 0;
}

static bool is_stopped_at(void *context)
{
    int *left = context;
    return --*left <= 0;
}

static void reading_can_be_stopped(void **state)
{
    struct job job = { .source = "local read, stop = ... local xml = '<A>' .. ('<B/>'):rep(100000) .. '</A>' "
                                 "stop() read({ A = raw }, xml) error('not stopped')" };
    (void)state;
    assert_int_equal(sandbox_call(sandbox, run_stopped, on_error, &job), SANDBOX_STOPPED);
    sandbox_calm(sandbox);
    assert_gives("return 'alive'", "alive");

    // and looks often enough, whatever the events are
    static const char *const parts[] = { "<B/>", "<!---->", "<?p?>", "&amp;", "\n" };
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        struct arena arena;
        struct tape tape;
        struct heap heap;
        struct buffer xml;
        int left = 2;
        const struct xml_names names = { .count = 0 };
        struct tape_xml options = { .names = &names, .heap = &heap };
        arena_init(&arena, 1 << 16);
        tape_init(&tape);
        heap_init(&heap);
        buffer_init(&xml, 1 << 20);
        buffer_append_c(&xml, "<A>");
        for (int k = 0; k < 200; k++) {
            buffer_append_c(&xml, parts[i]);
        }
        buffer_append_c(&xml, "</A>");
        assert_int_equal(tape_read_xml(&tape, buffer_text(&xml), declared_root(&arena), &options, is_stopped_at, &left),
                         TAPE_STOPPED);
        assert_int_equal(heap.used, 0);
        heap_fini(&heap);
        buffer_fini(&xml);
        tape_fini(&tape);
        arena_fini(&arena);
    }
}

static void no_memory_is_lost_however_reading_ends(void **state)
{
    static const char *const documents[] = { "<A><B>x</B></A>", "<A><B>", "<A><p:B/></A>", "<!DOCTYPE A><A/>", "" };
    (void)state;
    for (size_t limit = 0; limit < 60000; limit += 1000) { // also without the memory for it
        for (size_t i = 0; i < COUNT_OF(documents); i++) {
            struct arena arena;
            struct tape tape;
            struct heap heap;
            const struct xml_names names = { .count = 0 };
            struct tape_xml options = { .names = &names, .heap = &heap };
            arena_init(&arena, 1 << 16);
            tape_init(&tape);
            heap_init(&heap);
            heap.limit = limit;
            enum tape_result result =
                tape_read_xml(&tape, text_of(documents[i]), declared_root(&arena), &options, NULL, NULL);
            assert_true(result != TAPE_STOPPED);
            assert_int_equal(heap.used, 0);
            if (limit == 0) {
                assert_int_equal(result, TAPE_FULL);
            }
            heap_fini(&heap);
            tape_fini(&tape);
            arena_fini(&arena);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_members_of_the_document),
        cmocka_unit_test(of_elements_that_are_no_list_the_first_counts),
        cmocka_unit_test(attributes_and_the_text_beside_them_have_names),
        cmocka_unit_test(repeated_elements_are_lists_also_when_one_came),
        cmocka_unit_test(a_list_is_empty_only_in_an_empty_parent),
        cmocka_unit_test(text_is_trimmed_joined_and_its_entities_resolved),
        cmocka_unit_test(leaves_judge_the_text_of_their_element),
        cmocka_unit_test(raw_is_the_bytes_of_the_element),
        cmocka_unit_test(a_map_has_the_names_of_its_elements),
        cmocka_unit_test(without_xmlns_names_match_in_any_namespace),
        cmocka_unit_test(with_xmlns_a_prefix_means_its_namespace_and_no_other),
        cmocka_unit_test(a_shape_of_xml_is_checked),
        cmocka_unit_test(what_is_not_well_formed_is_refused_with_its_place),
        cmocka_unit_test(namespaces_are_held_to_their_rules_unless_lenient),
        cmocka_unit_test(a_doctype_is_refused_or_skipped_and_its_entities_never_expanded),
        cmocka_unit_test(depth_attributes_and_namespaces_have_caps),
        cmocka_unit_test(text_between_many_elements_ends_at_a_cap),
        cmocka_unit_test(what_the_parser_keeps_has_a_cap),
        cmocka_unit_test(reading_can_be_stopped),
        cmocka_unit_test(no_memory_is_lost_however_reading_ends),
    };

    chunk_read = lua_read;
    return cmocka_run_group_tests(tests, open_sandbox, close_sandbox);
}

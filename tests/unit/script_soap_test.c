// xml.parse, xml.build and soap: small documents, made and read.
#include "base/check.h"
#include "unit/script_chunk_stage.h"

#define BUILD(tree)                                                                                                    \
    "local made = xml.build(" tree ", { declaration = false }) return made" // no tail call: it has a line

static void a_tree_is_built_as_it_is_written(void **state)
{
    (void)state;
    assert_gives("return xml.build { 'A' }", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<A/>");
    assert_gives(BUILD("{ 'a:A', z = 1, ['xmlns:a'] = 'urn:a', b = true, { 'B', 'x', { 'C' }, 12.5 }, 'tail' }"),
                 "<a:A b=\"true\" xmlns:a=\"urn:a\" z=\"1\"><B>x<C/>12.5</B>tail</a:A>");
    assert_gives(BUILD("{ 'A', attrs = { { 'z', 1 }, { 'b', 2 } }, a = 3 }"), "<A z=\"1\" b=\"2\" a=\"3\"/>");
    assert_gives(BUILD("{ 'A', attrs = 'plain' }"), "<A attrs=\"plain\"/>");
    assert_gives(BUILD("{ 'A', nil, false, { 'B' }, nil, 'x', attr = nil }"), "<A><B/>x</A>");
    assert_gives(BUILD("{ 'A', '' }"), "<A></A>");
    assert_gives(BUILD("{ '\xC3\xA9l\xC3\xA9ment.1-2_\xC2\xB7' }"), "<\xC3\xA9l\xC3\xA9ment.1-2_\xC2\xB7/>");
}

static void lists_of_elements_stand_among_the_children(void **state)
{
    (void)state;
    assert_gives(BUILD("{ 'A', { 'B' }, map({ 1, 2 }, function(n) return { 'C', n = n } end), { 'D' } }"),
                 "<A><B/><C n=\"1\"/><C n=\"2\"/><D/></A>");
    assert_gives(BUILD("{ 'A', map({}, function(n) return n end) }"), "<A/>");
    assert_gives(BUILD("{ 'A', { { 'B' }, false, 'x' }, {}, 'y' }"), "<A><B/>xy</A>");
}

static void what_is_markup_is_escaped(void **state)
{
    (void)state;
    assert_gives(BUILD("{ 'A', b = '<\"&\\'>\\n\\t\\r', '<\"&\\'>]]>\\n\\t\\r\xE2\x82\xAC' }"),
                 "<A b=\"&lt;&quot;&amp;'&gt;&#10;&#9;&#13;\">&lt;\"&amp;'&gt;]]&gt;\n\t&#13;\xE2\x82\xAC</A>");
    // and comes back as it was
    assert_gives(
        "local t = 'a <b> & \"c\" \\r\\n d' "
        "local node = xml.parse(xml.build { 'A', x = t, t }) return tostring(node.text == t and node.attrs.x == "
        "t)",
        "true");
}

static void what_no_document_can_have_is_refused_with_its_place(void **state)
{
    static const char *const cases[][2] = {
        { "{ 'A', { 'B C' } }", "t.lua:1: xml: in A: `B C` is no name for an element" },
        { "{ '1A' }", "`1A` is no name" },
        { "{ 'a:b:c' }", "`a:b:c` is no name" },
        { "{ ':a' }", "`:a` is no name" },
        { "{ 'a:' }", "`a:` is no name" },
        { "{ '' }", "`` is no name" },
        { "{ 'A><B' }", "is no name" },
        { "{ '\xC3\x97' }", "is no name" },
        { "{ 'A', ['b c'] = 1 }", "xml: in A: `b c` is no name for an attribute" },
        { "{ 'A', ['x=\"1\" y'] = 1 }", "is no name for an attribute" },
        { "{ 'A', { 'B', 'x\\0' } }", "xml: in A.B: a byte or character that XML cannot have" },
        { "{ 'A', '\\27' }", "that XML cannot have" },
        { "{ 'A', '\xEF\xBF\xBF' }", "that XML cannot have" },
        { "{ 'A', '\xff' }", "that XML cannot have" },
        { "{ 'A', b = '\\1' }", "that XML cannot have" },
        { "{ 'A', { b = 1 } }", "xml: in A: an element begins with its name, not with a nil" },
        { "{ 'A', { { 'B' }, b = 1 } }", "xml: in A: a list of elements has no attributes, but `b` is there" },
        { "{ 'A', { { { 'B' } } } }", "xml: in A: an element begins with its name, not with a table" },
        { "{ 'A', function() end }", "a text, a number, true or false expected, got a function" },
        { "{ 'A', b = {} }", "a text, a number, true or false expected, got a table" },
        { "{ 'A', 0/0 }", "a number that is none" },
        { "{ 'A', [1e9] = 'x' }", "children stand behind the name" },
        { "{ 'A', [0] = 'x' }", "children stand behind the name" },
        { "{ 'A', attrs = { { 'x' } } }", "expected, got a nil" },
        { "{ 'A', attrs = { 'x' } }", "attrs is a list of pairs" },
        { "{ 'A', attrs = { { 'x', 1 }, { 'x', 2 } } }", "each name once" },
        { "{ 'A', attrs = { { 'x', 1 } }, x = 2 }", "`x` is there twice" },
        { "'A'", "an element, { \"Name\", … } expected, got string" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char source[512];
        snprintf(source, sizeof source, BUILD("%s"), cases[i][0]);
        assert_raises(source, cases[i][1]);
    }
    assert_raises("local t = { 'A' } t[2] = t return xml.build(t)", "more than 64 elements within each other");
    assert_raises(
        "local t = { 'A' } for i = 2, 20000 do t[i] = { 'B' } end t[2] = { 'C', { 'D' } } return xml.build(t)",
        "or 20,000 in all");
    assert_raises("return xml.build { 'A', ('<'):rep(3000000) }", "the result is larger than");
}

static void a_document_is_parsed_to_a_tree(void **state)
{
    (void)state;
    assert_gives(
        "local n = xml.parse [[<?xml version='1.0'?><s:A xmlns:s='urn:s' id='1' s:k='2'> one <b/>two<C "
        "xmlns='urn:c'>3</C></s:A>]] "
        "return table.concat({ n.name, n.prefix, n.uri, n.text, n.attrs.id, n.attrs['s:k'], n.attrs['xmlns:s'], "
        "#n, n[1].name, tostring(n[1].text), tostring(n[1].uri), next(n[1].attrs) or '-', n[2].name, n[2].uri, "
        "n[2].text, tostring(n[2].prefix) }, '|')",
        "A|s|urn:s|one two|1|2|urn:s|2|b|nil|nil|-|C|urn:c|3|nil");
    assert_gives("return tostring(xml.parse(nil))", "nil");
    assert_gives("return select(2, xml.parse '<A><B></A>')", "not XML: line 1, column 9, in A.B: mismatched tag");
    assert_gives("return select(2, xml.parse '<p:A/>')", "not XML: line 1, column 1, in p:A: a prefix that nobody has "
                                                         "declared");
    assert_gives("local n = xml.parse('<p:A/>', { lenient = true }) return n.prefix .. n.name .. tostring(n.uri)",
                 "pAnil");
    assert_gives("return select(2, xml.parse '<!DOCTYPE a><a/>')",
                 "not XML: line 1, column 12: a DOCTYPE is not accepted");
    assert_raises("return xml.parse(1)", "text expected, got number");
    assert_raises("return xml.parse('<a/>', true)", "a table like { lenient = true } expected");
}

static void a_tree_has_caps(void **state)
{
    (void)state;
    assert_gives("local function many(n) return '<A>' .. ('<B/>'):rep(n) .. '</A>' end "
                 "return #xml.parse(many(9999)) .. ' ' .. select(2, xml.parse(many(10000)))",
                 "9999 more than 1 MiB or 10,000 elements: read it with response:xml(shape)");
    assert_gives("return select(2, xml.parse('<A>' .. ('x'):rep(1048576) .. '</A>'))",
                 "more than 1 MiB or 10,000 elements: read it with response:xml(shape)");
    assert_gives("local node = xml.parse('<A>' .. ('line&amp;\\n'):rep(60000) .. ('x<B/>'):rep(9000) .. '</A>') "
                 "return #node.text .. ' ' .. #node",
                 "369000 9000");
}

static void an_envelope_is_built(void **state)
{
    (void)state;
    assert_gives("return soap.envelope { body = { 'm:Ask', ['xmlns:m'] = 'urn:m', 'x' } }",
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<soap:Envelope "
                 "xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body><m:Ask "
                 "xmlns:m=\"urn:m\">x</m:Ask></soap:Body></soap:Envelope>");
    assert_gives(
        "return soap.envelope { version = '1.2', header = { { 'A' }, { 'B' } }, body = {} }",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<soap:Envelope "
        "xmlns:soap=\"http://www.w3.org/2003/05/soap-envelope\"><soap:Header><A/><B/></soap:Header><soap:Body/>"
        "</soap:Envelope>");
    assert_raises("return soap.envelope { version = '1.3', body = {} }", "`version` is \"1.1\" or \"1.2\"");
    assert_raises("return soap.envelope { header = {} }", "`body` is an element, { \"Name\", … }, or a list of them");
    assert_raises("return soap.envelope()", "a table with body");
}

static void faults_of_both_versions_are_told(void **state)
{
    (void)state;
    assert_gives(
        "local f = soap.fault [[<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault>"
        "<faultcode>s:Server</faultcode><faultstring> out of order </faultstring><faultactor>urn:x</faultactor>"
        "<detail><e:Error xmlns:e='urn:e'><e:Code>7</e:Code></e:Error></detail></s:Fault></s:Body></s:Envelope>]] "
        "return table.concat({ f.code, f.reason, f.actor, f.detail[1].uri, f.detail[1][1].text }, '|')",
        "s:Server|out of order|urn:x|urn:e|7");
    assert_gives(
        "local f = soap.fault [[<s:Envelope xmlns:s='http://www.w3.org/2003/05/soap-envelope'><s:Body><s:Fault>"
        "<s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>m:No</s:Value></s:Subcode></s:Code><s:Reason>"
        "<s:Text xml:lang='en'>no such day</s:Text></s:Reason><s:Role>urn:r</s:Role><s:Detail><x/></s:Detail>"
        "</s:Fault></s:Body></s:Envelope>]] "
        "return table.concat({ f.code, f.subcode, f.reason, f.actor, f.detail[1].name }, '|')",
        "s:Sender|m:No|no such day|urn:r|x");
    assert_gives("local f = soap.fault '<soap:Fault><faultcode>soap:Client</faultcode></soap:Fault>' return f.code",
                 "soap:Client");
}

static void what_is_no_fault_is_nil(void **state)
{
    (void)state;
    assert_gives("return tostring(soap.fault '<A><B/></A>')", "nil");
    assert_gives("return tostring(soap.fault '<A><Fault/></A>')", "nil");
    assert_gives("return tostring(soap.fault '{\"Fault\":1}')", "nil");
    assert_gives("return select(2, soap.fault '<A><Fault>')",
                 "not XML: line 1, column 11, in A.Fault: no element found");
    assert_gives("return tostring(soap.fault(nil))", "nil");
    assert_raises("return soap.fault(1)", "text expected");
}

static void a_username_token_has_the_digest_of_the_standard(void **state)
{
    // the published vector of a service that wants the password's own SHA-1 in the digest
    static const char *const source =
        "return xml.build(soap.security { username = 'u', password = crypto.sha1 'WBSPassword', "
        "nonce = crypto.base64_decode 'PZgFvh5439plJpKpIyf5ucmXhNU=', created = '2013-01-11T09:41:03Z' }, "
        "{ declaration = false })";
    (void)state;
    assert_gives(
        source,
        "<wsse:Security xmlns:wsse=\"http://docs.oasis-open.org/wss/2004/01/"
        "oasis-200401-wss-wssecurity-secext-1.0.xsd\" "
        "xmlns:wsu=\"http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd\">"
        "<wsse:UsernameToken><wsse:Username>u</wsse:Username><wsse:Password "
        "Type=\"http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordDigest\">"
        "ic3AOJElVpvkz9ZBKd105Siry28=</wsse:Password><wsse:Nonce "
        "EncodingType=\"http://docs.oasis-open.org/wss/2004/01/"
        "oasis-200401-wss-soap-message-security-1.0#Base64Binary\">PZgFvh5439plJpKpIyf5ucmXhNU=</wsse:Nonce>"
        "<wsu:Created>2013-01-11T09:41:03Z</wsu:Created></wsse:UsernameToken></wsse:Security>");
    assert_gives("local t = soap.security { username = 'u', password = 'p<' } "
                 "return t[2][3][2] .. ' ' .. t[2][3].Type:match('#(.*)') .. ' ' .. #t[2]",
                 "p< PasswordText 3");
    assert_raises("return soap.security { username = 'u', password = 'p', nonce = 'n' }",
                  "a digest needs `nonce` and `created`");
    assert_raises("return soap.security { username = 'u' }", "`password` is a text, not a nil");
    assert_raises("return soap.security { username = 'u', password = 'p', created = 7 }", "`created` is a text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_built_as_it_is_written),
        cmocka_unit_test(lists_of_elements_stand_among_the_children),
        cmocka_unit_test(what_is_markup_is_escaped),
        cmocka_unit_test(what_no_document_can_have_is_refused_with_its_place),
        cmocka_unit_test(a_document_is_parsed_to_a_tree),
        cmocka_unit_test(a_tree_has_caps),
        cmocka_unit_test(an_envelope_is_built),
        cmocka_unit_test(faults_of_both_versions_are_told),
        cmocka_unit_test(what_is_no_fault_is_nil),
        cmocka_unit_test(a_username_token_has_the_digest_of_the_standard),
    };

    return cmocka_run_group_tests(tests, open_sandbox, close_sandbox);
}

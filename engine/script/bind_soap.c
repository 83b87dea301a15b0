// SOAP 1.1 (W3C Note, 2000) and 1.2 (W3C Recommendation, 2007), and the UsernameToken of WS-Security 1.0 (OASIS, 2004).

#include "script/bind.h"
#include "script/bind_support.h"
#include "script/bind_xml.h"
#include "script/freeze.h"
#include "script/run_response.h"

#include <string.h>

#define WSS "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-"

enum { SHA1_SIZE = 20, PART_MAX = 4096 };

/// Pushes the table { name }.
static void push_element(lua_State *L, const char *name)
{
    lua_createtable(L, 2, 2);
    lua_pushstring(L, name);
    lua_rawseti(L, -2, 1);
}

/// The value on top becomes the last child of the element below it.
static void add_child(lua_State *L)
{
    lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
}

static void set_attribute(lua_State *L, const char *name, const char *value)
{
    lua_pushstring(L, value);
    lua_setfield(L, -2, name);
}

// ---- envelope ------------------------------------------------------------------------------------------------------

/// Adds the element `name` with what the option says: one element, or a list of them. `table` is the options.
static void add_part(lua_State *L, int table, const char *option, const char *name)
{
    push_element(L, name);
    lua_getfield(L, table, option);
    int value = lua_gettop(L);
    if (!freeze_raw(L, value)) {
        luaL_error(L, "soap.envelope: `%s` is an element, { \"Name\", … }, or a list of them, not a %s", option,
                   luaL_typename(L, value));
    }
    lua_rawgeti(L, -1, 1);
    bool is_element = lua_type(L, -1) == LUA_TSTRING;
    lua_pop(L, 1);
    if (is_element) {
        lua_pushvalue(L, value);
        lua_rawseti(L, value - 1, 2);
    }
    int count = is_element ? 0 : (int)lua_objlen(L, -1);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, value + 1, i);
        lua_rawseti(L, value - 1, i + 1);
    }
    lua_settop(L, value - 1);
    add_child(L);
}

/// soap.envelope{ version = "1.1" or "1.2", header = element(s), body = element(s) }
static int soap_envelope(lua_State *L)
{
    bind_at_most(L, 1);
    if (!freeze_raw(L, 1)) {
        return bind_expected(L, 1, "a table with body, and header and version if need be");
    }
    int table = lua_gettop(L);
    lua_getfield(L, table, "version");
    bool is_12 = text_equals_c(bind_to_text(L, -1), "1.2");
    if (!lua_isnil(L, -1) && !is_12 && !text_equals_c(bind_to_text(L, -1), "1.1")) {
        return luaL_error(L, "soap.envelope: `version` is \"1.1\" or \"1.2\"");
    }
    lua_settop(L, table);
    push_element(L, "soap:Envelope");
    set_attribute(L, "xmlns:soap",
                  is_12 ? "http://www.w3.org/2003/05/soap-envelope" : "http://schemas.xmlsoap.org/soap/envelope/");
    lua_getfield(L, table, "header");
    bool has_header = !lua_isnil(L, -1);
    lua_pop(L, 1);
    if (has_header) {
        add_part(L, table, "header", "soap:Header");
    }
    add_part(L, table, "body", "soap:Body");
    int envelope = lua_gettop(L);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);
    buffer_append_c(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    bind_xml_write(L, envelope, out);
    bind_push_result(L, out);
    return 1;
}

// ---- faults --------------------------------------------------------------------------------------------------------

/// The text of `outer`, or of the `inner` in it.
static void set_text_of(lua_State *L, const char *field, const struct xml_node *outer, const char *inner)
{
    const struct xml_node *node = inner != NULL ? xml_tree_child(outer, inner) : outer;

    if (node != NULL && node->text.data != NULL) {
        bind_push_text(L, node->text);
        lua_setfield(L, -2, field);
    }
}

static void push_fault(lua_State *L, const struct xml_node *fault)
{
    const struct xml_node *code = xml_tree_child(fault, "Code");
    const struct xml_node *detail = xml_tree_child(fault, "detail");

    lua_createtable(L, 0, 5);
    set_text_of(L, "code", fault, "faultcode");
    set_text_of(L, "reason", fault, "faultstring");
    set_text_of(L, "actor", fault, "faultactor");
    set_text_of(L, "code", code, "Value");
    set_text_of(L, "subcode", xml_tree_child(code, "Subcode"), "Value");
    set_text_of(L, "reason", xml_tree_child(fault, "Reason"), "Text");
    set_text_of(L, "actor", fault, "Role");
    detail = detail != NULL ? detail : xml_tree_child(fault, "Detail");
    if (detail != NULL) {
        bind_xml_push_node(L, detail);
        lua_setfield(L, -2, "detail");
    }
}

static const struct xml_node *find_fault(const struct xml_node *root)
{
    return text_equals_c(root->name.local, "Fault") ? root : xml_tree_child(xml_tree_child(root, "Body"), "Fault");
}

/// soap.fault(response or text): {code, subcode, reason, actor, detail}, or nil when it is none.
static int soap_fault(lua_State *L)
{
    bind_at_most(L, 1);
    struct run_response *view = run_response_at(L, 1);
    struct text document = view != NULL ? view->body : lua_isnil(L, 1) ? TEXT("") : bind_check_text(L, 1);

    if (document.length == 0 || memmem(document.data, document.length, "Fault", 5) == NULL) {
        lua_pushnil(L);
        return 1;
    }
    struct xml_tree *tree = bind_xml_push_tree(L, document, true);
    if (tree == NULL && view != NULL && run_response_reread(L, view)) {
        lua_pop(L, 2);
        tree = bind_xml_push_tree(L, view->body, true);
    }
    if (tree == NULL) {
        return 2;
    }
    const struct xml_node *fault = find_fault(tree->root);
    if (fault != NULL) {
        push_fault(L, fault);
    } else {
        lua_pushnil(L);
    }
    xml_tree_fini(tree);
    return 1;
}

// ---- security ------------------------------------------------------------------------------------------------------

/// The option, a text; the absent text when there is none.
static struct text take_option(lua_State *L, int table, const char *name, bool is_required)
{
    lua_getfield(L, table, name); // stays, so that the text does
    struct text text = bind_to_text(L, -1);
    if (text.data == NULL && (is_required || !lua_isnil(L, -1))) {
        luaL_error(L, "soap.security: `%s` is a text, not a %s", name, luaL_typename(L, -1));
    }
    if (text.length > PART_MAX) {
        luaL_error(L, "soap.security: `%s` is longer than 4 KiB", name);
    }
    return text;
}

/// Adds <wsse:Password>: base64(sha1(nonce + created + password)), or the password when there is no nonce.
static void add_password(lua_State *L, struct text password, struct text nonce, struct text created)
{
    char bytes[3 * PART_MAX];
    unsigned char digest[SHA1_SIZE];
    size_t length = 0;
    const struct text parts[] = { nonce, created, password };

    push_element(L, "wsse:Password");
    if (nonce.data == NULL) {
        set_attribute(L, "Type", WSS "username-token-profile-1.0#PasswordText");
        bind_push_text(L, password);
    } else {
        set_attribute(L, "Type", WSS "username-token-profile-1.0#PasswordDigest");
        for (size_t i = 0; i < COUNT_OF(parts); i++) {
            memcpy(bytes + length, parts[i].data, parts[i].length);
            length += parts[i].length;
        }
        bind_crypto_sha1((struct text){ bytes, length }, digest);
        bind_crypto_push_base64(L, (struct text){ (const char *)digest, sizeof digest });
    }
    add_child(L);
    add_child(L);
}

/// soap.security{ username=, password=, nonce=, created= }: the element for an envelope's header.
static int soap_security(lua_State *L)
{
    bind_at_most(L, 1);
    if (!freeze_raw(L, 1)) {
        return bind_expected(L, 1, "a table with username, password, nonce and created");
    }
    int table = lua_gettop(L);
    struct text username = take_option(L, table, "username", true);
    struct text password = take_option(L, table, "password", true);
    struct text nonce = take_option(L, table, "nonce", false);
    struct text created = take_option(L, table, "created", false);
    if ((nonce.data == NULL) != (created.data == NULL)) {
        return luaL_error(L, "soap.security: a digest needs `nonce` and `created`, a plain password neither");
    }
    push_element(L, "wsse:Security");
    set_attribute(L, "xmlns:wsse", WSS "wssecurity-secext-1.0.xsd");
    set_attribute(L, "xmlns:wsu", WSS "wssecurity-utility-1.0.xsd");
    push_element(L, "wsse:UsernameToken");
    push_element(L, "wsse:Username");
    bind_push_text(L, username);
    add_child(L);
    add_child(L);
    add_password(L, password, nonce, created);
    if (nonce.data != NULL) {
        push_element(L, "wsse:Nonce");
        set_attribute(L, "EncodingType", WSS "soap-message-security-1.0#Base64Binary");
        bind_crypto_push_base64(L, nonce);
        add_child(L);
        add_child(L);
        push_element(L, "wsu:Created");
        bind_push_text(L, created);
        add_child(L);
        add_child(L);
    }
    add_child(L);
    return 1;
}

void bind_soap(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "envelope", soap_envelope }, { "fault", soap_fault }, { "security", soap_security }, { NULL, NULL }
    };

    bind_push_module(L, functions);
}

// A member is found by its name as the script writes it, so the name of an element is put together as it would be
// written: once for each prefix that means its namespace, then without a prefix.

#include "script/xml_names.h"

#include "script/bind_support.h"

#include <string.h>

const char *xml_names_take(struct xml_names *names, lua_State *L, int index, struct arena *arena)
{
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        struct text prefix = bind_to_text(L, -2);
        struct text uri = bind_to_text(L, -1);
        if (prefix.data == NULL || uri.length == 0 || memchr(prefix.data, ':', prefix.length) != NULL ||
            memchr(prefix.data, '@', prefix.length) != NULL) {
            return "xmlns is a table from prefixes to the namespaces that they mean: both are texts";
        }
        if (names->count == XML_NAMES_MAX) {
            return "xmlns has more than 16 prefixes";
        }
        struct text kept = arena_copy(arena, uri);
        struct text kept_prefix = arena_copy(arena, prefix);
        if (kept.data == NULL || kept_prefix.data == NULL) {
            return "there is no memory for xmlns";
        }
        if (prefix.length == 0) {
            names->common = kept;
            continue;
        }
        names->prefixes[names->count] = kept_prefix;
        names->uris[names->count++] = kept;
    }
    return NULL;
}

const char *xml_names_check(const struct xml_names *names, struct text name)
{
    struct text rest;

    if (name.length > 0 && name.data[0] == '@') {
        name = (struct text){ name.data + 1, name.length - 1 };
    }
    struct text prefix = text_split(name, ':', &rest);
    if (name.length == 0 || (rest.data != NULL && rest.length == 0)) {
        return "a name is missing";
    }
    if (rest.data == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < names->count; i++) {
        if (text_equals(names->prefixes[i], prefix)) {
            return NULL;
        }
    }
    return "a prefix that xmlns does not have";
}

bool xml_names_is_leaf(struct text name)
{
    return name.length > 0 && (name.data[0] == '@' || text_equals_c(name, "#text"));
}

/// The member `MARKPREFIX:LOCAL`, or `MARKLOCAL` when the prefix is absent.
static struct declared *find(const struct declared *object, bool has_mark, struct text prefix, struct text local)
{
    char name[DECLARED_NAME_MAX];
    size_t length = 0;

    if (prefix.length + local.length + 2 > sizeof name) {
        return NULL;
    }
    if (has_mark) {
        name[length++] = '@';
    }
    if (prefix.length > 0) {
        memcpy(name + length, prefix.data, prefix.length);
        length += prefix.length;
        name[length++] = ':';
    }
    memcpy(name + length, local.data, local.length);
    return declared_find(object, (struct text){ name, length + local.length });
}

static struct declared *find_in_namespace(const struct xml_names *names, const struct declared *object,
                                          const struct xml_name *name, bool has_mark)
{
    struct declared *found = NULL;

    for (size_t i = 0; i < names->count && found == NULL && name->uri.data != NULL; i++) {
        if (text_equals(names->uris[i], name->uri)) {
            found = find(object, has_mark, names->prefixes[i], name->local);
        }
    }
    return found;
}

struct declared *xml_names_element(const struct xml_names *names, const struct declared *object,
                                   const struct xml_name *name)
{
    struct declared *found = find_in_namespace(names, object, name, false);
    bool is_common = names->common.data == NULL || text_equals(names->common, name->uri);

    return found != NULL || !is_common ? found : declared_find(object, name->local);
}

struct declared *xml_names_attribute(const struct xml_names *names, const struct declared *object,
                                     const struct xml_name *name, bool *is_exact)
{
    struct declared *found = find_in_namespace(names, object, name, true);

    *is_exact = found != NULL || name->uri.data == NULL;
    return found != NULL ? found : find(object, true, TEXT(""), name->local);
}

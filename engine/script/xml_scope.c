// A stack of bindings over a stack of their bytes.

#include "script/xml_scope.h"

#include <string.h>

void xml_scope_init(struct xml_scope *scope)
{
    scope->count = 0;
    scope->used = 0;
}

static struct text keep(struct xml_scope *scope, struct text text)
{
    char *kept = scope->bytes + scope->used;

    if (text.length > 0) {
        memcpy(kept, text.data, text.length);
    }
    scope->used += text.length;
    return (struct text){ kept, text.length };
}

bool xml_scope_bind(struct xml_scope *scope, uint32_t depth, struct text prefix, struct text uri)
{
    if (scope->count == XML_BINDINGS_MAX || prefix.length + uri.length > sizeof scope->bytes - scope->used) {
        return false;
    }
    struct xml_binding *binding = &scope->bindings[scope->count++];
    binding->depth = depth;
    binding->prefix = keep(scope, prefix);
    binding->uri = keep(scope, uri);
    return true;
}

void xml_scope_leave(struct xml_scope *scope, uint32_t depth)
{
    while (scope->count > 0 && scope->bindings[scope->count - 1].depth >= depth) {
        const struct xml_binding *binding = &scope->bindings[--scope->count];
        scope->used -= binding->prefix.length + binding->uri.length;
    }
}

bool xml_scope_find(const struct xml_scope *scope, struct text prefix, struct text *uri)
{
    for (size_t i = scope->count; i > 0; i--) {
        const struct xml_binding *binding = &scope->bindings[i - 1];
        if (text_equals(binding->prefix, prefix)) {
            *uri = binding->uri.length > 0 ? binding->uri : (struct text){ NULL, 0 };
            return true;
        }
    }
    *uri = text_equals_c(prefix, "xml") ? XML_NAMESPACE : (struct text){ NULL, 0 };
    return prefix.length == 0 || uri->data != NULL;
}

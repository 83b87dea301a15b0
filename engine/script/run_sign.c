// `sign` sees a request as it will go out and returns headers that are added to it. What it returned before is not
// shown to it again: those are the last headers of the request, as many as `signed_count` says.

#include "script/freeze.h"
#include "script/run_response.h"

#include <lauxlib.h>

static void sign_push_request(lua_State *L, const struct http_request *request)
{
    const struct {
        const char *name;
        struct text text;
    } fields[] = { { "method", request->method }, { "url", request->url }, { "body", request->body } };

    lua_createtable(L, 0, 4);
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        lua_pushlstring(L, fields[i].text.data == NULL ? "" : fields[i].text.data, fields[i].text.length);
        lua_setfield(L, -2, fields[i].name);
    }
    run_push_headers(L, request->headers, request->header_count - request->signed_count);
    lua_setfield(L, -2, "headers");
    freeze_deep(L);
}

void run_sign_all(lua_State *L, const struct run *run, size_t supplier, struct run_context context,
                  struct http_request **requests)
{
    struct state *state = run->state;

    for (struct http_request **place = requests; *place != NULL; place = &(*place)->next, context.part++) {
        lua_settop(L, 0);
        state_push_supplier(L, state, supplier);
        lua_getfield(L, 1, "sign"); // 2: for errors
        if (!lua_isfunction(L, 2)) {
            return;
        }
        lua_pushvalue(L, 2);
        sign_push_request(L, *place);
        run_push_context(L, state, &context);
        lua_call(L, 2, 1);
        run_check_failure(L, 3);
        struct http_request *signed_request = run_sign_request(L, 3, 2, *place, run_now_us(run));
        signed_request->next = (*place)->next;
        (*place)->next = NULL;
        http_request_destroy(place);
        *place = signed_request;
    }
}

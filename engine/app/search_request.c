#include "app/search_request.h"

#include "app/bearer.h"
#include "app/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 80, CALLERS_SHOWN = 160 };

/// "there is no supplier `sO2`; did you mean `s02`?" A stranger is told the names of products only.
static void refuse_name(struct problem *problem, const char *pointer, const char *kind, struct text name,
                        const struct catalogue *catalogue, bool is_stranger)
{
    bool is_product = strcmp(kind, "product") == 0;
    size_t told = is_stranger ? 0 : catalogue->supplier_count;
    size_t count = is_product ? catalogue->product_count : told;
    const char **names = calloc(count + 1, sizeof *names);
    const char *nearest = NULL;
    char code[32];

    for (size_t i = 0; names != NULL && i < count; i++) {
        names[i] = is_product ? catalogue->products[i].data : catalogue->suppliers[i].name.data;
    }
    if (names != NULL) {
        nearest = text_nearest(name, names, count);
    }
    snprintf(code, sizeof code, "unknown_%s", kind);
    problem_add(problem, pointer, code, "there is no %s \"%.*s\"%s%s%s", kind,
                (int)(name.length < NAME_SHOWN ? name.length : NAME_SHOWN), name.data,
                nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                nearest != NULL ? "\"?" : "");
    free(names);
}

/// Every name must exist, be it for this product or not: a typo must not silently ask fewer suppliers.
static void check_names(const struct catalogue *catalogue, const struct envelope *envelope, bool is_stranger,
                        struct problem *problem)
{
    bool has_product = false;

    for (size_t i = 0; i < catalogue->product_count; i++) {
        has_product = has_product || text_equals(catalogue->products[i], envelope->product);
    }
    if (!has_product && envelope->product.length > 0) {
        refuse_name(problem, "/product", "product", envelope->product, catalogue, is_stranger);
    }
    for (size_t i = 0; i < envelope->supplier_count; i++) {
        bool is_known = envelope->suppliers[i].data == NULL; // it was no name, which was told
        for (size_t j = 0; j < catalogue->supplier_count && !is_known; j++) {
            is_known = text_equals(catalogue->suppliers[j].name, envelope->suppliers[i]);
        }
        if (!is_known) {
            char pointer[32];
            snprintf(pointer, sizeof pointer, "/suppliers/%zu", i);
            refuse_name(problem, pointer, "supplier", envelope->suppliers[i], catalogue, is_stranger);
        }
    }
}

static bool is_json(struct http_call *call)
{
    struct text rest;
    struct text type = text_trim(text_split(http_call_header(call, "content-type"), ';', &rest));
    return text_equals_nocase(type, TEXT("application/json"));
}

/// Who the callers are, a stranger need not know.
static void refuse_caller(struct problem *problem, const struct settings *settings, struct text name, bool is_stranger)
{
    int shown = (int)(name.length < NAME_SHOWN ? name.length : NAME_SHOWN);
    char known[CALLERS_SHOWN] = "";
    size_t length = 0;

    if (is_stranger) {
        problem_add(problem, "", "unknown_caller", "header Search-Caller: \"%.*s\" is no caller that is known here",
                    shown, name.data);
        return;
    }
    for (size_t i = 0; i < settings->caller_count; i++) {
        int added =
            snprintf(known + length, sizeof known - length, "%s%s", i > 0 ? ", " : "", settings->callers[i].data);
        length = length + (size_t)added < sizeof known ? length + (size_t)added : sizeof known - 1;
    }
    problem_add(problem, "", "unknown_caller", "header Search-Caller: \"%.*s\" is none of: %s", shown, name.data,
                known);
}

/// The name as the settings have it. An unknown one is refused: a typo would be counted as somebody.
static struct text read_caller(const struct settings *settings, const struct http_call *call, bool is_stranger,
                               struct problem *problem)
{
    struct text name = text_trim(http_call_header(call, "search-caller"));

    if (name.length == 0 || settings->caller_count == 0) {
        return (struct text){ NULL, 0 };
    }
    if (http_call_header_nth(call, "search-caller", 1).data != NULL) {
        problem_add(problem, "", "duplicate", "header Search-Caller: given twice");
        return (struct text){ NULL, 0 };
    }
    for (size_t i = 0; i < settings->caller_count; i++) {
        if (text_equals(settings->callers[i], name)) {
            return settings->callers[i];
        }
    }
    refuse_caller(problem, settings, name, is_stranger);
    return (struct text){ NULL, 0 };
}

static bool read_budget(struct search_request *request, const struct catalogue *catalogue,
                        const struct budget_headers *headers, struct problem *problem)
{
    struct budget_range range = { catalogue->deadline_default_us, catalogue->deadline_min_us,
                                  catalogue->deadline_max_us };

    if (budget_headers_decide(headers, request->envelope.budget_ms, range, &request->budget)) {
        return true;
    }
    problem_init(problem, 504, "deadline_too_short", "The deadline in a header leaves less time than a search takes");
    return false;
}

/// To callers without the token, too.
static bool replies_are_full(const struct engine *engine, const struct settings *settings)
{
    return text_equals_c(settings->reply_detail, "auto") ? engine->is_loopback
                                                         : text_equals_c(settings->reply_detail, "full");
}

enum reply_detail search_request_detail(const struct engine *engine, const struct settings *settings,
                                        const struct http_call *call)
{
    bool is_told = replies_are_full(engine, settings) || bearer_is_given(engine->reply_token, call);

    return is_told ? REPLY_FULL : REPLY_PUBLIC;
}

void search_request_init(struct search_request *request)
{
    memset(request, 0, sizeof *request);
    envelope_init(&request->envelope);
}

void search_request_fini(struct search_request *request)
{
    envelope_fini(&request->envelope);
}

bool search_request_read(struct search_request *request, const struct engine *engine,
                         const struct generation *generation, struct http_call *call, struct problem *problem)
{
    const struct settings *settings = generation_settings(generation);
    const struct catalogue *catalogue = generation_catalogue(generation);
    struct budget_headers headers;

    if (!is_json(call)) {
        problem_init(problem, 415, "unsupported_media_type", "The body must be application/json");
        problem_add(problem, "", "unsupported_media_type", "send the header content-type: application/json");
        return false;
    }
    if (!envelope_read(&request->envelope, block_text(http_call_body(call)), problem) && problem->status != 422) {
        return false;
    }
    request->detail = search_request_detail(engine, settings, call);
    bool is_stranger = request->detail == REPLY_PUBLIC;
    request->format = stream_format_of(http_call_header(call, "accept"));
    check_names(catalogue, &request->envelope, is_stranger, problem);
    if (request->envelope.whole_or_nothing && request->format != STREAM_NONE) {
        problem_add(problem, "/partial", "not_with_a_stream", "a stream is partial by its nature: leave partial out");
    }
    budget_headers_read(&headers, call, settings->honours_deadline_headers, problem);
    request->caller = read_caller(settings, call, is_stranger, problem);
    return problem->error_count == 0 && read_budget(request, catalogue, &headers, problem);
}

// Any document through a plan and a shape: nothing is read outside of it, and what comes out is JSON. An input is the
// document itself, or bytes that say how to make one of the names that the plan reads.
#include "base/clock.h"
#include "base/json_read.h"
#include "script/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DOCUMENT_MAX = 1 << 16, DEPTH_MAX = 8, MEMBERS_MAX = 12, GROWTH_CAP = 64 << 20, LIMIT_US = 600 * 1000 * 1000 };

static const char script[] =
    "local response\n"
    "local SHAPE = { c = text, o = { { id = text, t = decimal, n = integer, f = flag, p = raw, d = map_of(text) } } }\n"
    "local offers = plan { each = 'o[]', offer = { id = 'id',\n"
    "  price = { total = money(up(1).c, 't', map('k', { x = 2, y = 0 }, 3)), taxes = money('c', 'x'),\n"
    "    due_later = { each = 'u[]', kind = 'k', amount = 't', currency = 'c' },\n"
    "    per_traveller = { each = up(1)['q{}'], type = map('{}', { a = 'adult' }, 'child'), total = 't',\n"
    "      currency = asked 'currency' } },\n"
    "  slices = { each = 'l[]', of = ref('j', 'id'), duration_min = 'n', segments = { each = 's[].p[]',\n"
    "    carrier = 'c', number = 'n', origin = 'a', destination = 'b', departs = { ['local'] = 'd', utc = 'u' },\n"
    "    arrives = { ['local'] = 'x[1]', zone = 'z' }, duration_min = 'm', cabin = map('k', { x = 'economy' }) } },\n"
    "  brand = { 't', 'l[]', '[]', up(1)['q{}.t'], function(t, l, n, q) return t or l and l[1] or q and next(q) end "
    "},\n"
    "  seller = { id = ref('w{}', '{}', 'r').n, name = time('y') },\n"
    "  refundable = ref('j', 'id', 'p').f, seats_left = 'n',\n"
    "  bags = { cabin = up(1).n, checked = 'x[-1]' }, changeable = function(row) return row.id == 'a' end },\n"
    "  when = { ['z:present'] = 'empty', ['m:=x'] = 'empty' } }\n"
    "return { name = 'fuzz', product = 'flights', owner = 'o', hosts = {}, build_request = function() end,\n"
    "  normalise = function(r, search, ctx) pcall(r.json, r, SHAPE) return offers(r, search, ctx) end }\n";

static struct {
    struct script_set *set;
    struct script_account account;
    struct block *facts;
    struct guard guard;
    struct run run;
} host;

static void on_finding(void *context, const struct failure *failure)
{
    (void)context;
    fprintf(stderr, "%s:%u: %s\n", failure->file, failure->line, failure->message);
}

static void on_watch(void *context, uint64_t check_us)
{
    (void)context;
    (void)check_us;
}

static void open_host(void)
{
    char folder[] = "/tmp/lastcall-fuzz-XXXXXX";
    char path[64];

    require(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof path, "%s/fuzz.lua", folder);
    FILE *file = fopen(path, "we");
    require(file != NULL);
    (void)fputs(script, file);
    (void)fclose(file);
    struct script_source source = { .name = TEXT("fuzz"), .file = text_of(path) };
    require(script_set_load("scripts", &source, 1, on_finding, NULL, &host.set) == STATUS_OK); // run at the root
    (void)remove(path);
    (void)remove(folder);
    host.account = (struct script_account){ .serial = 1,
                                            .name = TEXT("main"),
                                            .context = TEXT("{\"account\":\"main\",\"options\":{},\"secret\":{}}") };
    host.facts = block_create(TEXT("{\"product\":\"flights\",\"currency\":\"EUR\",\"query\":{}}"));
    guard_init(&host.guard, on_watch, NULL);
    guard_attach(&host.guard);
    host.run = (struct run){ .guard = &host.guard, .build_limit_us = LIMIT_US, .normalise_limit_us = LIMIT_US };
    host.run.state = state_create(host.set, GROWTH_CAP);
    require(host.run.state != NULL && host.facts != NULL);
}

// ---- documents -----------------------------------------------------------------------------------------------------

/// Bytes that choose; when they are used up everything ends.
struct choices {
    const uint8_t *data;
    size_t size;
    struct buffer *out;
};

static uint8_t choose(struct choices *choices, uint8_t count)
{
    if (choices->size == 0) {
        return 0;
    }
    choices->size--;
    return *choices->data++ % count;
}

static void make_value(struct choices *choices, int depth);

static void make_scalar(struct choices *choices)
{
    static const char *const values[] = {
        "null",
        "true",
        "false",
        "\"\"",
        "\"a\"",
        "\"b\"",
        "\"EUR\"",
        "\"JPY\"",
        "\"x\"",
        "\"y\"",
        "1",
        "2",
        "-1",
        "0",
        "1250",
        "12.50",
        "1e3",
        "123456789012345678901234567890",
        "\"12.50\"",
        "\"007\"",
        "\"MAD\"",
        "\"LHR\"",
        "\"JFK\"",
        "\"2030-01-12T20:45:00+01:00\"",
        "\"2030-01-12T22:45:00\"",
        "\"2030-01-12\"",
        "\"20300112T2045\"",
        "\"2030-01-12T20:45:00Z\"",
        "\"\\u00e9\\n\"",
        "\"\\ud83d\\ude00\"",
        "\"Europe/Madrid\"",
        "\"economy\"",
        "\"IB\"",
        "1e999",
        "\"2030-03-31T02:30\"",
        "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
    };

    buffer_append_c(choices->out, values[choose(choices, COUNT_OF(values))]);
}

static void make_object(struct choices *choices, int depth)
{
    static const char names[] = "abcdfjklmnopqrstuwxyz";
    static const char *const long_names[] = { "id", "year", "month", "day", "hour", "minute" };
    uint8_t count = choose(choices, MEMBERS_MAX);

    buffer_append_byte(choices->out, '{');
    for (uint8_t i = 0; i < count; i++) {
        char name[2] = { names[choose(choices, sizeof names - 1)], '\0' };
        bool is_id = choose(choices, 6) == 0;
        buffer_append_c(choices->out, i > 0 ? ",\"" : "\"");
        buffer_append_c(choices->out, is_id ? long_names[choose(choices, COUNT_OF(long_names))] : name);
        buffer_append_c(choices->out, "\":");
        make_value(choices, depth + 1);
    }
    buffer_append_byte(choices->out, '}');
}

static void make_value(struct choices *choices, int depth)
{
    uint8_t kind = choose(choices, depth < DEPTH_MAX ? 5 : 3);

    if (kind == 4) {
        make_object(choices, depth);
    } else if (kind == 3) {
        uint8_t count = choose(choices, 5);
        buffer_append_byte(choices->out, '[');
        for (uint8_t i = 0; i < count; i++) {
            buffer_append_c(choices->out, i > 0 ? "," : "");
            make_value(choices, depth + 1);
        }
        buffer_append_byte(choices->out, ']');
    } else {
        make_scalar(choices);
    }
}

/// A whole one, so that offers come of it: its lists have an offer and a journey whose parts are chosen.
static void make_document(struct choices *choices)
{
    buffer_append_c(choices->out,
                    "{\"c\":\"EUR\",\"j\":[{\"id\":\"a\",\"s\":[{\"p\":[{\"c\":\"IB\",\"n\":\"1\",\"a\":"
                    "\"MAD\",\"b\":\"LHR\",\"d\":\"2030-01-12T20:45\",\"x\":[\"2030-01-12T22:45\"],\"m\":");
    make_value(choices, 4);
    buffer_append_c(choices->out, "}]}]},");
    make_value(choices, 1);
    buffer_append_c(choices->out, "],\"o\":[{\"id\":\"a\",\"t\":\"1250\",\"l\":[\"a\"],\"x\":");
    make_value(choices, 3);
    buffer_append_c(choices->out, ",\"y\":");
    make_value(choices, 4);
    buffer_append_c(choices->out, ",\"r\":\"a\"}");
    for (uint8_t more = choose(choices, 6); more > 0; more--) {
        buffer_append_c(choices->out, ",");
        make_value(choices, 2);
    }
    buffer_append_c(choices->out, "],\"q\":{\"a\":");
    make_value(choices, 3);
    buffer_append_c(choices->out, "},\"w\":{\"b\":{},\"a\":{\"n\":1}},\"n\":");
    make_value(choices, 5);
    buffer_append_c(choices->out, "}");
}

// ---- running -------------------------------------------------------------------------------------------------------

static void check_offers(const struct offer_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        require(json_is_valid(batch->offers[i].json, NULL, NULL));
        require(batch->offers[i].item_json.data == NULL || json_is_valid(batch->offers[i].item_json, NULL, NULL));
    }
}

static void normalise(struct text document)
{
    struct http_response *response = http_response_create();

    require(response != NULL);
    response->status = 200;
    response->body = block_create(document); // of exactly its size
    struct normalise_call *call = normalise_call_create(TEXT("s-1"), host.facts, response);
    require(call != NULL && response->body != NULL);
    uint64_t now_us = clock_now_us();
    call->call.set = host.set;
    call->account = &host.account;
    call->body_cap = DOCUMENT_MAX;
    call->times = (struct script_times){ now_us, now_us + LIMIT_US, 1900000000000000 };
    call->allocation_end_us = call->times.end_us;
    require(run_normalise(&host.run, call));
    if (call->offers != NULL) {
        check_offers(call->offers);
    }
    if (call->verdict == SCRIPT_ERROR || call->verdict == SCRIPT_MEMORY) {
        (void)fprintf(stderr, "%s: %s\n", script_verdict_name(call->verdict), call->message);
    }
    require(call->verdict != SCRIPT_ERROR && call->verdict != SCRIPT_MEMORY);
    script_call_destroy(&call->call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer document;

    if (host.set == NULL) {
        open_host();
    }
    buffer_init(&document, DOCUMENT_MAX);
    struct choices choices = { .data = data, .size = size, .out = &document };
    if (choose(&choices, 4) == 0) {
        (void)buffer_append(&document, choices.data, choices.size);
    } else {
        make_document(&choices);
    }
    if (!document.is_full) {
        normalise(buffer_text(&document));
    }
    buffer_fini(&document);
    return 0;
}

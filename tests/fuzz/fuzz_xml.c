// Any document through the XML readers: a shape, a plan, a tree, a fault. Nothing is read outside of it, no memory is
// left, what comes out of a plan is JSON, and what is built of a tree's texts is read back as the same. An input is the
// document itself, or bytes that say how to make one of the names that are read.
#include "base/clock.h"
#include "base/json_read.h"
#include "script/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DOCUMENT_MAX = 1 << 16, DEPTH_MAX = 8, MEMBERS_MAX = 8, GROWTH_CAP = 64 << 20, LIMIT_US = 600 * 1000 * 1000 };

static const char script[] =
    "local SHAPE = { xmlns = { a = 'u:a' }, R = { c = text, ['@k'] = integer, ['a:o'] = { { ['@id'] = text,\n"
    "  ['#text'] = decimal, f = flag, p = raw, d = map_of(text), o = { raw } } } } }\n"
    "local offers = plan { from = 'xml', lenient = true, xmlns = { a = 'u:a' }, each = 'R.o[]', offer = { id = '@id',\n"
    "  price = { total = { 't', 't.@c', function(t, c) return t and c and money.parse(t, c) end }, currency = 't.@c' "
    "},\n"
    "  slices = { each = 'l[]', of = ref('R.a:j', '@id'), duration_min = 'n', segments = { each = 's[].p[]',\n"
    "    carrier = 'c', number = 'n', origin = '@a', destination = '@b', departs = { ['local'] = 'd', utc = 'u' },\n"
    "    arrives = { ['local'] = 'x[1]', zone = 'z' }, duration_min = 'm', cabin = map('k', { x = 'economy' }) } },\n"
    "  brand = { 't', 'l[]', function(t, l) return t or l and l[1] end }, refundable = 'f', seats_left = 'n',\n"
    "  changeable = function(row) return row['@id'] == 'a' end }, when = { ['R.z:present'] = 'empty' } }\n"
    "local function rebuild(node, lenient)\n"
    "  local made = xml.build({ 'A', node.text or '', x = node.text }, { declaration = false })\n"
    "  local again = xml.parse(made)\n"
    "  assert((again.text or '') == (node.text or '') and again.attrs.x == node.text, made)\n"
    "  for _, child in ipairs(node) do rebuild(child) end\n"
    "end\n"
    "return { name = 'fuzz', product = 'flights', owner = 'o', hosts = {}, build_request = function() end,\n"
    "  normalise = function(r, search, ctx)\n"
    "    pcall(r.xml, r, SHAPE)\n"
    "    pcall(r.xml, r, SHAPE, { lenient = true })\n"
    "    soap.fault(r)\n"
    "    local tree = xml.parse(r.body, { lenient = true })\n"
    "    if tree then rebuild(tree) end\n"
    "    return offers(r, search, ctx) end }\n";

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

static void make_text(struct choices *choices)
{
    static const char *const values[] = {
        "",
        "a",
        "b",
        "EUR",
        "JPY",
        " x ",
        "true",
        "1",
        "2",
        "-1",
        "1250",
        "12.50",
        "&lt;",
        "&#x20ac;",
        "&#13;",
        "]]&gt;",
        "MAD",
        "LHR",
        "economy",
        "2030-01-12T20:45:00",
        "2030-01-12T22:45:00",
        "<![CDATA[<x>&]]>",
        "<!-- -- -->",
        "<!---->",
        "<?p i?>",
        "&nbsp;",
        "\n\t ",
        "Europe/Madrid",
        "IB",
        "\xc3\xa9",
        "\xff",
        "007",
    };

    buffer_append_c(choices->out, values[choose(choices, COUNT_OF(values))]);
}

static void make_attributes(struct choices *choices)
{
    static const char *const attributes[] = {
        " id='a'",
        " id='b'",
        " k='7'",
        " c='EUR'",
        " a='MAD'",
        " b='LHR'",
        " p:id='x'",
        " xmlns='u:a'",
        " xmlns:p='u:a'",
        " xmlns:p='u:b'",
        " xmlns=''",
        " x='&amp;&#9;'",
        " xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='1'",
    };

    for (uint8_t count = choose(choices, 4); count > 0; count--) {
        buffer_append_c(choices->out, attributes[choose(choices, COUNT_OF(attributes))]);
    }
}

static void make_content(struct choices *choices, int depth);

static void make_element(struct choices *choices, const char *name, int depth)
{
    buffer_printf(choices->out, "<%s", name);
    make_attributes(choices);
    if (choose(choices, 4) == 0) {
        buffer_append_c(choices->out, "/>");
        return;
    }
    buffer_append_byte(choices->out, '>');
    make_content(choices, depth + 1);
    buffer_printf(choices->out, choose(choices, 60) == 59 ? "</%s" : "</%s>", name);
}

static void make_content(struct choices *choices, int depth)
{
    static const char *const names[] = { "o", "t", "l", "j", "s", "p",   "c",   "n",
                                         "d", "x", "m", "f", "z", "p:o", "p:j", "q:t" };

    for (uint8_t count = choose(choices, MEMBERS_MAX); count > 0; count--) {
        if (depth < DEPTH_MAX && choose(choices, 3) > 0) {
            make_element(choices, names[choose(choices, COUNT_OF(names))], depth);
        } else {
            make_text(choices);
        }
    }
}

/// A whole one, so that offers come of it.
static void make_document(struct choices *choices)
{
    buffer_append_c(choices->out, choose(choices, 8) == 7 ? "<!DOCTYPE R SYSTEM 'x'>" : "");
    buffer_append_c(choices->out, "<R xmlns:p='u:a'><p:j id='a'><s><p a='MAD' b='LHR'><c>IB</c><n>1</n>"
                                  "<d>2030-01-12T20:45</d><x>2030-01-12T22:45</x>");
    make_content(choices, 4);
    buffer_append_c(choices->out, "</p></s></p:j>");
    make_content(choices, 1);
    buffer_append_c(choices->out, "<o id='a'><t c='EUR'>1250</t><l>a</l>");
    make_content(choices, 3);
    buffer_append_c(choices->out, "</o></R>");
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

// Requests are looked through for the tags that are known; the farm's callers are our own scripts.

#include "farm/shape_xml.h"

#include <stdio.h>
#include <string.h>

enum { TAG_MAX = 32 };

static const char *find(struct text in, const char *what)
{
    return in.length == 0 ? NULL : memmem(in.data, in.length, what, strlen(what));
}

/// What stands between <name> and </name>; the absent text: there is no such element.
static struct text content_of(struct text in, const char *name)
{
    char tag[TAG_MAX];

    snprintf(tag, sizeof(tag), "<%s>", name);
    const char *begin = find(in, tag);
    if (begin == NULL) {
        return (struct text){ 0 };
    }
    begin += strlen(tag);
    struct text rest = { begin, in.length - (size_t)(begin - in.data) };
    snprintf(tag, sizeof(tag), "</%s>", name);
    const char *end = find(rest, tag);
    return end == NULL ? (struct text){ 0 } : (struct text){ begin, (size_t)(end - begin) };
}

/// The value of an attribute of the tag in hand.
static struct text attribute_of(struct text tag, const char *name)
{
    char start[TAG_MAX];
    struct text rest;

    snprintf(start, sizeof(start), " %s=\"", name);
    const char *begin = find(tag, start);
    if (begin == NULL) {
        return (struct text){ 0 };
    }
    begin += strlen(start);
    return text_split((struct text){ begin, tag.length - (size_t)(begin - tag.data) }, '"', &rest);
}

static bool copy_code(struct text text, char out[4])
{
    for (size_t i = 0; i < 3; i++) {
        if (text.length != 3 || text.data[i] < 'A' || text.data[i] > 'Z') {
            return false;
        }
        out[i] = text.data[i];
    }
    out[3] = '\0';
    return true;
}

static bool read_ways(struct query *query, struct text search)
{
    for (const char *way = find(search, "<Way "); way != NULL; way = find(search, "<Way ")) {
        search = (struct text){ way + 4, search.length - (size_t)(way + 4 - search.data) };
        struct text tag = text_split(search, '>', &(struct text){ 0 });
        struct query_slice *slice = &query->slices[query->slice_count];
        if (query->slice_count == QUERY_SLICES_MAX || !copy_code(attribute_of(tag, "from"), slice->from) ||
            !copy_code(attribute_of(tag, "to"), slice->to) || memcmp(slice->from, slice->to, 3) == 0 ||
            !query_read_date(attribute_of(tag, "date"), &slice->day)) {
            return false;
        }
        query->slice_count++;
    }
    return query_finish(query);
}

static bool read_rest(struct query *query, struct text search)
{
    static const char *const cabins[] = { "economy", "premium", "business", "first" };
    struct text cabin = content_of(search, "Cabin");
    uint64_t party = 0;

    if (!copy_code(content_of(search, "Currency"), query->currency) ||
        !text_to_u64(content_of(search, "Party"), &party) || party == 0 || party > QUERY_PARTY_MAX) {
        return false;
    }
    query->party = (uint8_t)party;
    for (size_t i = 0; i < COUNT_OF(cabins); i++) {
        if (text_equals_c(cabin, cabins[i])) {
            query->cabin = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static void write_login(const struct supplier *supplier, char out[17])
{
    snprintf(out, 17, "%016llx", (unsigned long long)draw_mix(supplier->seed, supplier->index + 1));
}

static void fail(struct shape_xml *asked, const char *code, const char *why)
{
    asked->kind = SHAPE_XML_ERROR;
    asked->code = code;
    asked->why = why;
}

static void read_start(struct shape_xml *asked, const struct supplier *supplier, struct sessions *sessions,
                       struct text search)
{
    struct query *query = &asked->step.query;

    asked->kind = SHAPE_XML_START;
    if (!read_rest(query, search) || !read_ways(query, search)) {
        fail(asked, "request", "one to six ways, a party, a cabin and a currency are expected");
        return;
    }
    asked->step.session = sessions_add(sessions, supplier, query);
}

static void read_check(struct shape_xml *asked, struct supplier *supplier, struct sessions *sessions,
                       struct text search)
{
    struct step *step = &asked->step;
    uint64_t after = 0;
    unsigned told;

    asked->kind = SHAPE_XML_CHECK;
    if (!sessions_poll(sessions, supplier, content_of(search, "RoutingId"), step, &told) ||
        !text_to_u64(content_of(search, "After"), &after) || after > ANSWER_OFFERS) {
        fail(asked, "routing", "there is no such search & no such place in it");
        return;
    }
    supplier->counters.steps++;
    unsigned round = told <= supplier->rounds ? told : supplier->rounds;
    unsigned end = ANSWER_OFFERS * round / supplier->rounds; // what is there by now
    step->first = after < end ? (unsigned)after : end;
    step->count = end - step->first;
    step->is_last = round == supplier->rounds;
}

bool shape_xml_read(struct shape_xml *asked, struct supplier *supplier, struct sessions *sessions,
                    const struct request *request)
{
    struct text login = content_of(request->body, "LoginId");
    struct text start = content_of(request->body, "StartSearch");
    struct text check = content_of(request->body, "CheckSearch");
    char expected[17];

    *asked = (struct shape_xml){ .kind = SHAPE_XML_LOGIN };
    if (!text_equals(request->method, TEXT("POST")) ||
        !text_equals_c(request->path, supplier_shape_row(supplier->shape)->path)) {
        return false;
    }
    write_login(supplier, expected);
    if (login.data != NULL && !text_equals_c(login, expected)) {
        fail(asked, "login", "this login is over");
    } else if (start.data != NULL) {
        read_start(asked, supplier, sessions, start);
    } else if (check.data != NULL) {
        read_check(asked, supplier, sessions, check);
    } else if (content_of(request->body, "User").length == 0) {
        fail(asked, "request", "Login, StartSearch or CheckSearch is expected");
    }
    return true;
}

// ------------------------------------------------------------------------------------------------------------ writing

static void write_money(struct buffer *out, const char *name, int64_t hundredths)
{
    buffer_printf(out, " %s=\"%lld.%02lld\"", name, (long long)(hundredths / 100), (long long)(hundredths % 100));
}

static void write_time(struct buffer *out, const char *name, const struct query_slice *slice, int minutes)
{
    int32_t days = minutes >= 0 ? minutes / 1440 : -((1439 - minutes) / 1440);
    int of_day = minutes - days * 1440;
    char date[11] = "";

    query_write_date(slice->day + days, date);
    buffer_printf(out, "<%s>%sT%02d:%02d:00</%s>", name, date, of_day / 60, of_day % 60, name);
}

static void write_slice(struct buffer *out, const struct answer_sale *sale, const struct query_slice *slice,
                        unsigned offer, unsigned index)
{
    const struct itinerary_slice *plan = &sale->itineraries[offer].slices[index];

    buffer_printf(out, "<Way minutes=\"%d\">", sale->durations[offer][index]);
    for (unsigned i = 0; i < plan->leg_count; i++) {
        const struct leg *leg = &sale->legs[offer][index][i];
        buffer_printf(out, "<Flight carrier=\"%s\" number=\"%d\" minutes=\"%d\"><From>%.3s</From><To>%.3s</To>",
                      timetable_carrier(plan->carriers[i]), leg->number, leg->flight_min, leg->hop->from.code,
                      leg->hop->to.code);
        write_time(out, "Departs", slice, leg->departs_min);
        write_time(out, "Arrives", slice, leg->arrives_min);
        buffer_append_c(out, "</Flight>");
    }
    buffer_append_c(out, "</Way>");
}

static void write_offer(struct buffer *out, const struct answer_sale *sale, const struct query *query, unsigned offer)
{
    buffer_printf(out, "<Offer id=\"%012llx\"><Price currency=\"%s\"",
                  (unsigned long long)(draw_mix(sale->hash, 0x0ffe5 + offer) >> 16), sale->currency);
    write_money(out, "tax", sale->taxes[offer]);
    buffer_printf(out, ">%lld.%02lld</Price><Fare>Light &amp; <![CDATA[<easy>]]></Fare><Refund>%u</Refund>",
                  (long long)(sale->totals[offer] / 100), (long long)(sale->totals[offer] % 100), offer % 2);
    for (unsigned i = 0; i < query->slice_count; i++) {
        write_slice(out, sale, &query->slices[i], offer, i);
    }
    buffer_append_c(out, "</Offer>");
}

static void write_check(struct buffer *out, const struct shape_xml *asked, const struct supplier *supplier)
{
    const struct step *step = &asked->step;
    static struct answer_sale sale; // the farm has one thread

    answer_sell(supplier->templates[step->query.slice_count - 1], &step->query, &sale);
    buffer_printf(out, "<CheckSearch complete=\"%s\"><Offers>", step->is_last ? "true" : "false");
    for (unsigned offer = step->first; offer < step->first + step->count; offer++) {
        write_offer(out, &sale, &step->query, offer);
    }
    buffer_append_c(out, "</Offers></CheckSearch>");
}

size_t shape_xml_render(const struct shape_xml *asked, const struct supplier *supplier, char *out)
{
    struct buffer buffer = { .data = out, .capacity = SHAPE_XML_ANSWER_MAX, .ceiling = SHAPE_XML_ANSWER_MAX };
    char login[17];

    buffer_append_c(&buffer, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response xmlns=\"urn:farm:xml\">");
    switch (asked->kind) {
    case SHAPE_XML_LOGIN:
        write_login(supplier, login);
        buffer_printf(&buffer, "<Login><LoginId>%s</LoginId></Login>", login);
        break;
    case SHAPE_XML_START:
        buffer_printf(&buffer, "<StartSearch><RoutingId>%016llx</RoutingId></StartSearch>",
                      (unsigned long long)asked->step.session);
        break;
    case SHAPE_XML_CHECK:
        write_check(&buffer, asked, supplier);
        break;
    case SHAPE_XML_ERROR:
        buffer_printf(&buffer, "<Error code=\"%s\"><![CDATA[%s]]></Error>", asked->code, asked->why);
        break;
    }
    buffer_append_c(&buffer, "</Response>\n");
    require(!buffer.is_full);
    return buffer.length;
}

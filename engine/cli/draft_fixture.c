// The first fixture of a draft: a search, the request that it makes, and an invented answer.

#include "cli/draft.h"

#include "app/fixture.h"
#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

static struct text known(struct text value, const char *otherwise)
{
    return value.data != NULL ? value : text_of(otherwise);
}

static uint64_t number(uint64_t value, uint64_t otherwise)
{
    return value != UINT64_MAX ? value : otherwise;
}

static struct text first_day(const struct draft *draft)
{
    const struct text *dates = draft->search.dates;
    return dates[0].data != NULL ? dates[0] : known(dates[1], "2027-05-12");
}

static struct text origin_of(const struct draft *draft)
{
    bool is_taken = text_equals_c(known(draft->search.destination, ""), "MAD");
    return known(draft->search.origin, is_taken ? "LHR" : "MAD");
}

static struct text destination_of(const struct draft *draft)
{
    return known(draft->search.destination, text_equals_c(origin_of(draft), "LHR") ? "MAD" : "LHR");
}

const char *draft_ok_name(const struct draft *draft)
{
    return draft->is_hotels ? "ok-stay.json" : draft->has_way_back ? "ok-return.json" : "ok-one-way.json";
}

const char *draft_odd_name(const struct draft *draft)
{
    return draft->is_soap ? "odd-fault.json" : "odd-key-refused.json";
}

static void write_slice(struct json_writer *json, struct text from, struct text to, struct text date)
{
    json_begin_object(json);
    json_field_text(json, "origin", from);
    json_field_text(json, "destination", to);
    json_field_text(json, "date", date);
    json_end_object(json);
}

static void write_travellers(struct json_writer *json, uint64_t count, const char *type)
{
    for (uint64_t i = 0; i < count; i++) {
        json_begin_object(json);
        json_field_c(json, "type", type);
        if (strcmp(type, "child") == 0) {
            json_field_u64(json, "age", 7);
        }
        json_end_object(json);
    }
}

static void write_flights(const struct draft *draft, struct json_writer *json)
{
    const struct draft_search *search = &draft->search;
    struct text from = origin_of(draft), to = destination_of(draft), day = first_day(draft);

    json_key(json, "slices");
    json_begin_array(json);
    write_slice(json, from, to, day);
    if (draft->has_way_back) {
        bool is_later = search->dates[1].data != NULL && text_compare(search->dates[1], day) >= 0;
        write_slice(json, to, from, is_later ? search->dates[1] : day);
    }
    json_end_array(json);
    json_key(json, "travellers");
    json_begin_array(json);
    write_travellers(json, number(search->adults, 1), "adult");
    write_travellers(json, number(search->children, 0), "child");
    write_travellers(json, number(search->infants, 0), "infant_lap");
    write_travellers(json, number(search->infant_seats, 0), "infant_seat");
    json_end_array(json);
    if (search->cabin.data != NULL) {
        json_field_text(json, "cabin", search->cabin);
    }
}

static void write_stay(const struct draft *draft, struct json_writer *json)
{
    const struct draft_search *search = &draft->search;
    uint64_t children = number(search->children, 0);

    json_key(json, "place");
    json_begin_object(json);
    json_field_text(json, "city", known(search->city, DRAFT_CITY));
    json_end_object(json);
    bool has_both = search->dates[0].data != NULL && search->dates[1].data != NULL;
    json_field_text(json, "check_in", has_both ? search->dates[0] : TEXT("2027-05-12"));
    json_field_text(json, "check_out", has_both ? search->dates[1] : TEXT("2027-05-14"));
    json_key(json, "rooms");
    json_begin_array(json);
    for (uint64_t i = 0; i < number(search->rooms, 1); i++) {
        json_begin_object(json);
        json_field_u64(json, "adults", i == 0 ? number(search->adults, 2) : 1);
        if (i == 0 && children > 0) {
            json_key(json, "child_ages");
            json_begin_array(json);
            for (uint64_t child = 0; child < children; child++) {
                json_u64(json, 7);
            }
            json_end_array(json);
        }
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_search(const struct draft *draft, struct json_writer *json)
{
    json_key(json, "search");
    json_begin_object(json);
    json_field_c(json, "product", draft->is_hotels ? "hotels" : "flights");
    json_key(json, "query");
    json_begin_object(json);
    if (draft->is_hotels) {
        write_stay(draft, json);
    } else {
        write_flights(draft, json);
    }
    if (draft->search.market.data != NULL) {
        json_field_text(json, "market", draft->search.market);
    }
    json_field_text(json, "currency", known(draft->search.currency, "EUR"));
    json_end_object(json);
    json_field_u64(json, "budget_ms", 3000);
    json_end_object(json);
}

static void write_secrets(const struct draft *draft, struct json_writer *json)
{
    char value[160];

    if (draft->secret_count == 0) {
        return;
    }
    json_key(json, "secrets");
    json_begin_object(json);
    for (size_t i = 0; i < draft->secret_count; i++) {
        struct text name = draft->secrets[i].name;
        size_t length = (size_t)snprintf(value, sizeof(value), "test-%.*s", TEXT_ARGS(name));
        for (size_t at = 0; at < length && at < sizeof(value); at++) {
            char c = value[at];
            value[at] = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
        }
        json_key_text(json, name);
        json_c(json, value);
    }
    json_end_object(json);
}

/// What is written as "?" comes of the script itself.
static void write_request(const struct draft *draft, struct json_writer *json)
{
    const struct pasted_call *call = draft->call;
    size_t count = 0;

    json_key(json, "expect_request");
    json_begin_object(json);
    json_field_c(json, "method", "?");
    json_field_c(json, "url", "?");
    json_key(json, "headers");
    json_begin_object(json);
    if (call == NULL) {
        json_field_c(json, "x-key", "?");
    }
    for (size_t i = 0; call != NULL && i < call->headers.count; i++) {
        struct text name = call->headers.items[i].name;
        bool is_out = false;
        for (size_t j = 0; j < draft->left_out_count; j++) {
            is_out = is_out || text_equals(draft->left_out[j], name);
        }
        for (size_t j = 0; j < i; j++) {
            is_out = is_out || text_equals(call->headers.items[j].name, name);
        }
        count += text_equals_c(name, "authorization");
        if (!is_out) {
            json_key_text(json, name);
            json_c(json, "?");
        }
    }
    if (draft->user.length > 0 && count == 0) {
        json_field_c(json, "authorization", "?");
    }
    json_end_object(json);
    if (call == NULL || call->kind == PASTED_JSON || call->kind == PASTED_FORM) {
        json_key(json, call != NULL && call->kind == PASTED_FORM ? "form" : "json");
        json_begin_object(json);
        json_end_object(json);
    } else if (call->kind == PASTED_RAW) {
        json_field_c(json, "body", "?");
    }
    json_end_object(json);
}

static void write_segment(const struct draft *draft, struct json_writer *json)
{
    char clock[32];

    json_begin_object(json);
    json_field_c(json, "carrier", "ZZ");
    json_field_c(json, "number", "701");
    json_field_text(json, "from", origin_of(draft));
    json_field_text(json, "to", destination_of(draft));
    (void)snprintf(clock, sizeof(clock), "%.*sT08:05", TEXT_ARGS(first_day(draft)));
    json_field_c(json, "departs", clock);
    (void)snprintf(clock, sizeof(clock), "%.*sT22:35", TEXT_ARGS(first_day(draft)));
    json_field_c(json, "arrives", clock);
    json_end_object(json);
}

static void write_offer(const struct draft *draft, struct json_writer *json)
{
    json_begin_object(json);
    json_field_c(json, "id", draft->is_hotels ? "rate-1" : "offer-1");
    json_field_c(json, "total", "214");
    json_field_text(json, "currency", known(draft->search.currency, "EUR"));
    if (draft->is_hotels) {
        json_field_c(json, "room", "Double room");
        json_field_c(json, "board", "BB");
    } else {
        json_key(json, "slices");
        json_begin_array(json);
        json_begin_object(json);
        json_key(json, "segments");
        json_begin_array(json);
        write_segment(draft, json);
        json_end_array(json);
        json_end_object(json);
        json_end_array(json);
    }
    json_end_object(json);
}

static void write_answer(const struct draft *draft, struct json_writer *json)
{
    json_begin_object(json);
    json_key(json, draft->is_hotels ? "hotels" : "offers");
    json_begin_array(json);
    if (draft->is_hotels) {
        json_begin_object(json);
        json_field_c(json, "id", "hotel-1");
        json_field_c(json, "name", "Example Inn");
        json_key(json, "rates");
        json_begin_array(json);
    }
    write_offer(draft, json);
    if (draft->is_hotels) {
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

/// The same in XML, as the plan of the draft reads it. What is put in is letters and digits.
static void write_xml_answer(const struct draft *draft, struct buffer *out)
{
    struct text currency = known(draft->search.currency, "EUR"), day = first_day(draft);

    buffer_append_c(out, draft->is_soap
                             ? "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><Answer>"
                             : "<Answer>");
    if (draft->is_hotels) {
        buffer_printf(out,
                      "<Hotel><Id>hotel-1</Id><Name>Example Inn</Name><Rate><Id>rate-1</Id><Total>214</Total>"
                      "<Currency>%.*s</Currency><Room>Double room</Room><Board>BB</Board></Rate></Hotel>",
                      TEXT_ARGS(currency));
    } else {
        buffer_printf(out,
                      "<Offer><Id>offer-1</Id><Total>214</Total><Currency>%.*s</Currency><Slice><Segment>"
                      "<Carrier>ZZ</Carrier><Number>701</Number><From>%.*s</From><To>%.*s</To>"
                      "<Departs>%.*sT08:05</Departs><Arrives>%.*sT22:35</Arrives></Segment></Slice></Offer>",
                      TEXT_ARGS(currency), TEXT_ARGS(origin_of(draft)), TEXT_ARGS(destination_of(draft)),
                      TEXT_ARGS(day), TEXT_ARGS(day));
    }
    buffer_append_c(out, draft->is_soap ? "</Answer></s:Body></s:Envelope>" : "</Answer>");
}

static void write_xml(const struct draft *draft, bool is_odd, struct json_writer *json)
{
    static const char FAULT[] = "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><s:Fault>"
                                "<faultcode>s:Client</faultcode><faultstring>the key is not known</faultstring>"
                                "</s:Fault></s:Body></s:Envelope>";
    struct buffer body;

    json_key(json, "headers");
    json_begin_object(json);
    json_field_c(json, "Content-Type", "text/xml");
    json_end_object(json);
    buffer_init(&body, DRAFT_FILE_MAX);
    if (is_odd) {
        buffer_append_c(&body, draft->is_soap ? FAULT : "<Error>the key is not known</Error>");
    } else {
        write_xml_answer(draft, &body);
    }
    json_field_text(json, "body", buffer_text(&body));
    buffer_fini(&body);
}

static void write_expectation(const struct draft *draft, bool is_odd, struct json_writer *json)
{
    json_key(json, "expect");
    json_begin_object(json);
    if (is_odd) {
        json_field_c(json, "outcome", "rejected");
        json_field_c(json, "kind", draft->is_soap ? "supplier" : "auth");
        if (draft->is_soap) {
            json_field_c(json, "code", "s:Client");
        }
        json_end_object(json);
        return;
    }
    json_field_c(json, "outcome", "answered");
    json_field_u64(json, "offers", 1);
    json_key(json, "first");
    json_begin_object(json);
    json_key(json, "price");
    json_begin_object(json);
    json_field_c(json, "total", "?");
    json_field_text(json, "currency", known(draft->search.currency, "EUR"));
    json_end_object(json);
    json_end_object(json);
    json_end_object(json);
}

static void write_exchange(const struct draft *draft, bool is_odd, struct json_writer *json)
{
    json_begin_object(json);
    if (!is_odd) {
        write_request(draft, json);
    }
    json_key(json, "response");
    json_begin_object(json);
    json_field_u64(json, "status", is_odd && !draft->is_soap ? 401 : 200);
    json_field_u64(json, "after_ms", is_odd ? 60 : 400);
    if (draft->is_xml) {
        write_xml(draft, is_odd, json);
        json_end_object(json);
        json_end_object(json);
        return;
    }
    json_key(json, "json");
    if (is_odd) {
        json_begin_object(json);
        json_field_c(json, "message", "the key is not known");
        json_end_object(json);
    } else {
        write_answer(draft, json);
    }
    json_end_object(json);
    json_end_object(json);
}

void draft_write_fixture(const struct draft *draft, bool is_odd, struct buffer *out)
{
    struct json_writer json;
    char now[32];

    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_c(&json, "about",
                 is_odd && draft->is_soap ? "the first draft: a fault; " FIXTURE_INVENTED
                 : is_odd                 ? "the first draft: the key is refused; " FIXTURE_INVENTED
                                          : "the first draft: the request is the script's, " FIXTURE_INVENTED);
    write_search(draft, &json);
    // Before every day that the search names, and not by more than a year.
    bool is_set = draft->search.dates[0].data != NULL || draft->search.dates[1].data != NULL;
    (void)snprintf(now, sizeof(now), "%.4s-01-01T09:00:00Z", first_day(draft).data);
    json_field_c(&json, "now", is_set ? now : "2026-11-29T09:00:00Z");
    write_secrets(draft, &json);
    json_key(&json, "exchanges");
    json_begin_array(&json);
    write_exchange(draft, is_odd, &json);
    json_end_array(&json);
    write_expectation(draft, is_odd, &json);
    json_end_object(&json);
    buffer_append_byte(out, '\n');
}

#include "farm/shapes.h"

#include "base/arena.h"
#include "base/json_tree.h"

#include <stdio.h>
#include <string.h>

enum { TREE_MAX = 1 << 20 };

static const char bad_request[] = "400 Bad Request";

static bool copy_code(const struct json_node *node, char out[4])
{
    if (node == NULL || node->kind != JSON_STRING || node->text.length != 3) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        if (node->text.data[i] < 'A' || node->text.data[i] > 'Z') {
            return false;
        }
        out[i] = node->text.data[i];
    }
    out[3] = '\0';
    return true;
}

/// The node at `first.second` of an object.
static const struct json_node *member_of(const struct json_node *object, const char *first, const char *second)
{
    return json_tree_member(json_tree_member(object, first), second);
}

static bool add_slice(struct query *query, const struct json_node *from, const struct json_node *to, struct text date)
{
    struct query_slice *slice = &query->slices[query->slice_count];

    if (query->slice_count == QUERY_SLICES_MAX || !copy_code(from, slice->from) || !copy_code(to, slice->to) ||
        memcmp(slice->from, slice->to, 3) == 0 || !query_read_date(date, &slice->day)) {
        return false;
    }
    query->slice_count++;
    return true;
}

static uint64_t number_of(const struct json_node *node)
{
    uint64_t value = 0;
    return node != NULL && json_tree_to_u64(node, &value) ? value : 0;
}

static bool take_party(struct query *query, uint64_t party)
{
    query->party = (uint8_t)(party <= QUERY_PARTY_MAX ? party : 0);
    return query->party > 0;
}

static bool take_cabin(struct query *query, const struct json_node *word, const char *const words[4])
{
    for (uint8_t i = 0; word != NULL && i < 4; i++) {
        if (text_equals_c(word->text, words[i])) {
            query->cabin = i;
            return true;
        }
    }
    return false;
}

// ---- maps ----------------------------------------------------------------------------------------------------------

static bool read_leg(struct query *query, const struct json_node *leg)
{
    const struct json_node *date = json_tree_member(leg, "date");
    char written[32];
    int length =
        snprintf(written, sizeof written, "%04u-%02u-%02u", (unsigned)number_of(json_tree_member(date, "year")) % 10000,
                 (unsigned)number_of(json_tree_member(date, "month")) % 100,
                 (unsigned)number_of(json_tree_member(date, "day")) % 100);

    return add_slice(query, member_of(leg, "originPlaceId", "iata"), member_of(leg, "destinationPlaceId", "iata"),
                     (struct text){ written, (size_t)length });
}

static bool read_maps(struct query *query, const struct json_node *root, const char **why)
{
    static const char *const cabins[] = { "CABIN_CLASS_ECONOMY", "CABIN_CLASS_PREMIUM_ECONOMY", "CABIN_CLASS_BUSINESS",
                                          "CABIN_CLASS_FIRST" };
    const struct json_node *asked = json_tree_member(root, "query");
    const struct json_node *legs = json_tree_member(asked, "queryLegs");
    const struct json_node *ages = json_tree_member(asked, "childrenAges");

    *why = "query.queryLegs: 1 to 6 {originPlaceId, destinationPlaceId, date} are expected";
    for (const struct json_node *leg = legs == NULL ? NULL : legs->first; leg != NULL; leg = leg->next) {
        if (!read_leg(query, leg)) {
            return false;
        }
    }
    if (query->slice_count == 0) {
        return false;
    }
    *why = "query: market, locale and currency, adults, cabinClass are expected";
    return copy_code(json_tree_member(asked, "currency"), query->currency) &&
           json_tree_member(asked, "market") != NULL && json_tree_member(asked, "locale") != NULL &&
           take_cabin(query, json_tree_member(asked, "cabinClass"), cabins) &&
           take_party(query, number_of(json_tree_member(asked, "adults")) + (ages != NULL ? ages->count : 0));
}

// ---- tables --------------------------------------------------------------------------------------------------------

static bool read_origin_destination(struct query *query, const struct json_node *information)
{
    const struct json_node *departs = json_tree_member(information, "DepartureDateTime");
    struct text at = departs != NULL ? departs->text : TEXT("");

    return at.length >= 10 &&
           add_slice(query, member_of(information, "OriginLocation", "LocationCode"),
                     member_of(information, "DestinationLocation", "LocationCode"), (struct text){ at.data, 10 });
}

static uint64_t count_passengers(const struct json_node *summary)
{
    const struct json_node *list = json_tree_member(summary, "AirTravelerAvail");
    const struct json_node *kinds = json_tree_member(json_tree_element(list, 0), "PassengerTypeQuantity");
    uint64_t count = 0;

    for (const struct json_node *kind = kinds == NULL ? NULL : kinds->first; kind != NULL; kind = kind->next) {
        count += number_of(json_tree_member(kind, "Quantity"));
    }
    return count;
}

static bool read_tables(struct query *query, const struct json_node *root, const char **why)
{
    static const char *const cabins[] = { "Y", "S", "C", "F" };
    const struct json_node *asked = json_tree_member(root, "OTA_AirLowFareSearchRQ");
    const struct json_node *list = json_tree_member(asked, "OriginDestinationInformation");
    const struct json_node *summary = json_tree_member(asked, "TravelerInfoSummary");
    const struct json_node *cabin = json_tree_element(member_of(asked, "TravelPreferences", "CabinPref"), 0);

    *why = "OriginDestinationInformation: 1 to 6 {OriginLocation, DestinationLocation, DepartureDateTime} are expected";
    for (const struct json_node *item = list == NULL ? NULL : list->first; item != NULL; item = item->next) {
        if (!read_origin_destination(query, item)) {
            return false;
        }
    }
    if (query->slice_count == 0) {
        return false;
    }
    *why = "CabinPref, AirTravelerAvail and PriceRequestInformation.CurrencyCode are expected";
    return take_cabin(query, json_tree_member(cabin, "Cabin"), cabins) &&
           take_party(query, count_passengers(summary)) &&
           copy_code(member_of(summary, "PriceRequestInformation", "CurrencyCode"), query->currency);
}

// ---- both ----------------------------------------------------------------------------------------------------------

static bool read_body(struct query *query, const struct supplier *supplier, struct text body, const char **why)
{
    struct arena arena;
    struct json_node *root = NULL;
    size_t offset;

    *why = "the body is no JSON";
    arena_init(&arena, TREE_MAX);
    bool is_read = json_tree_read(&arena, body, &root, &offset, &(const char *){ NULL }) == STATUS_OK &&
                   (supplier->shape == SUPPLIER_MAPS ? read_maps(query, root, why) : read_tables(query, root, why)) &&
                   query_finish(query);
    arena_fini(&arena);
    return is_read;
}

static bool read_round(struct step *step, struct supplier *supplier, struct sessions *sessions, struct text id)
{
    unsigned told;

    if (!sessions_poll(sessions, supplier, id, step, &told)) {
        return false;
    }
    supplier->counters.steps++;
    step_window(step, told < supplier->rounds ? told : supplier->rounds - 1, supplier->rounds);
    return true;
}

bool shapes_read(struct step *step, struct supplier *supplier, struct sessions *sessions, const struct request *request,
                 const char **status, const char **why)
{
    const struct text poll = TEXT("/v3/search/poll/");

    *step = (struct step){ 0 };
    if (!text_equals(request->method, TEXT("POST"))) {
        *status = "405 Method Not Allowed";
        *why = "POST is expected";
        return false;
    }
    if (supplier->shape == SUPPLIER_MAPS && text_starts_with(request->path, poll)) {
        *status = "404 Not Found";
        *why = "there is no search of this id, or it is too old";
        return read_round(step, supplier, sessions,
                          (struct text){ request->path.data + poll.length, request->path.length - poll.length });
    }
    *status = "404 Not Found";
    *why = "there is nothing at this path";
    if (!text_equals_c(request->path, supplier_shape_row(supplier->shape)->path)) {
        return false;
    }
    *status = bad_request;
    if (!read_body(&step->query, supplier, request->body, why)) {
        return false;
    }
    step->count = ANSWER_OFFERS;
    if (supplier->shape == SUPPLIER_MAPS) {
        step->session = sessions_add(sessions, supplier, &step->query);
        step_window(step, 0, supplier->rounds);
    }
    return true;
}

size_t shapes_render(const struct step *step, const struct supplier *supplier, char *out)
{
    struct buffer buffer = { .data = out, .capacity = SHAPES_ANSWER_MAX, .ceiling = SHAPES_ANSWER_MAX };
    static struct answer_sale sale; // the farm has one thread

    answer_sell(supplier->templates[step->query.slice_count - 1], &step->query, &sale);
    if (supplier->shape == SUPPLIER_MAPS) {
        shape_maps_write(&buffer, step, &sale);
    } else {
        shape_tables_write(&buffer, step, &sale);
    }
    require(!buffer.is_full);
    return buffer.length;
}

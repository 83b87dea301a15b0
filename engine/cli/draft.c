// The script of a draft: a template, or the request of a pasted call in its place.

#include "cli/draft.h"

#include "script/script_version.h"

#include <stdio.h>
#include <string.h>

enum { CALL_INDENT = 6 };

void draft_init(struct draft *draft, struct arena *arena, struct text name, bool is_hotels,
                const struct pasted_call *call)
{
    *draft = (struct draft){ .arena = arena, .name = name, .is_hotels = is_hotels, .call = call };
    draft_forget_search(draft);
    xml_tree_init(&draft->xml);
    if (call != NULL) {
        draft_read_xml(draft);
        draft_find_secrets(draft);
    } else {
        (void)draft_secret_of(draft, "key", TEXT("\n")); // a value that stands nowhere
    }
}

void draft_fini(struct draft *draft)
{
    xml_tree_fini(&draft->xml);
}

void draft_forget_search(struct draft *draft)
{
    draft->search = (struct draft_search){ .adults = UINT64_MAX,
                                           .children = UINT64_MAX,
                                           .infants = UINT64_MAX,
                                           .infant_seats = UINT64_MAX,
                                           .rooms = UINT64_MAX };
}

// ------------------------------------------------------------------------------------------------------------ the
// request

static const char FLIGHTS_CALL[] =
    "    return {\n"
    "      method = \"POST\",\n"
    "      path = \"/search\",\n"
    "      headers = { [\"x-key\"] = ctx.secret.@ },\n"
    "      json = {\n"
    "        slices = map(search.query.slices, function(slice)\n"
    "          return { from = slice.origin, to = slice.destination, date = slice.date }\n"
    "        end),\n"
    "        travellers = map(search.query.travellers, function(traveller)\n"
    "          return { type = traveller.type, age = traveller.age }\n"
    "        end),\n"
    "        cabin = search.query.cabin,\n"
    "        currency = search.currency,\n"
    "      },\n"
    "    }\n";

static const char HOTELS_CALL[] = "    return {\n"
                                  "      method = \"POST\",\n"
                                  "      path = \"/rates\",\n"
                                  "      headers = { [\"x-key\"] = ctx.secret.@ },\n"
                                  "      json = {\n"
                                  "        city = search.query.place.city,\n"
                                  "        check_in = search.query.check_in,\n"
                                  "        check_out = search.query.check_out,\n"
                                  "        rooms = map(search.query.rooms, function(room)\n"
                                  "          return { adults = room.adults, child_ages = room.child_ages }\n"
                                  "        end),\n"
                                  "        currency = search.currency,\n"
                                  "      },\n"
                                  "    }\n";

/// `text` with the name of the first secret for each @.
static void write_filled(const struct draft *draft, const char *text, struct buffer *out)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '@') {
            buffer_append_text(out, draft->secrets[0].name);
        } else {
            buffer_append_byte(out, *at);
        }
    }
}

static void write_headers(struct draft *draft, struct buffer *out)
{
    const struct pasted_list *headers = &draft->call->headers;
    size_t count = 0;

    for (size_t i = 0; i < headers->count; i++) {
        const struct pasted_pair *header = &headers->items[i];
        bool is_basic = draft->user.length > 0 && text_equals_c(header->name, "authorization");
        if (is_basic || draft_is_header_left_out(draft, header)) {
            continue;
        }
        buffer_append_c(out, count++ == 0 ? "      headers = {\n        " : "        ");
        draft_write_key(draft, header->name, out);
        buffer_append_c(out, " = ");
        draft_write_header(draft, header, out);
        buffer_append_c(out, ",\n");
    }
    if (draft->user.length > 0) {
        struct text password, name = text_split(draft->user, ':', &password);
        struct text user = draft_secret_of(draft, "user", name);
        buffer_printf(out, "%s        authorization = \"Basic \" .. crypto.base64(ctx.secret.%.*s .. \":\"",
                      count++ == 0 ? "      headers = {\n" : "", TEXT_ARGS(user));
        if (password.length > 0) {
            struct text second = draft_secret_of(draft, "password", password);
            buffer_printf(out, " .. ctx.secret.%.*s", TEXT_ARGS(second));
        }
        buffer_append_c(out, "),\n");
    }
    buffer_append_c(out, count > 0 ? "      },\n" : "");
}

/// Names that come again are a list, at the place of the first.
static void write_pairs(struct draft *draft, const char *field, const struct pasted_list *list, enum draft_where where,
                        struct buffer *out)
{
    if (list->count == 0) {
        return;
    }
    buffer_printf(out, "      %s = {\n", field);
    for (size_t i = 0; i < list->count; i++) {
        struct text name = list->items[i].name;
        size_t before = 0, same = 0;
        for (size_t j = 0; j < list->count; j++) {
            bool is_same = text_equals(list->items[j].name, name);
            before += is_same && j < i;
            same += is_same;
        }
        if (before > 0) {
            continue;
        }
        buffer_append_c(out, "        ");
        draft_write_key(draft, name, out);
        buffer_append_c(out, same > 1 ? " = { " : " = ");
        for (size_t j = i; j < list->count; j++) {
            if (text_equals(list->items[j].name, name)) {
                buffer_append_c(out, j > i ? ", " : "");
                draft_write_value(
                    draft, &(struct draft_value){ .where = where, .key = name, .value = list->items[j].value }, out);
            }
        }
        buffer_append_c(out, same > 1 ? " },\n" : ",\n");
    }
    buffer_append_c(out, "      },\n");
}

static void write_call(struct draft *draft, struct buffer *out)
{
    const struct pasted_call *call = draft->call;

    buffer_append_c(out, "    return {\n      method = ");
    draft_write_text(draft, call->method, out);
    buffer_append_c(out, ",\n      path = ");
    draft_write_path(draft, call->path, out);
    buffer_append_c(out, ",\n");
    write_pairs(draft, "query", &call->query, DRAFT_QUERY, out);
    write_headers(draft, out);
    if (call->kind == PASTED_JSON) {
        buffer_append_c(out, "      json = ");
        draft_write_json(draft, call->json, CALL_INDENT, out);
        buffer_append_c(out, ",\n");
    } else if (call->kind == PASTED_FORM) {
        write_pairs(draft, "form", &call->form, DRAFT_FORM, out);
    } else if (call->kind == PASTED_RAW) {
        buffer_append_c(out, "      body = ");
        if (draft->is_xml) {
            draft_write_xml(draft, CALL_INDENT, out);
        } else {
            draft_write_body(draft, call->body, out);
        }
        buffer_append_c(out, ",\n");
    }
    buffer_append_c(out, "    }\n");
}

// ------------------------------------------------------------------------------------------------------------- the
// script

static const char FLIGHTS_PLAN[] =
    "  normalise = plan {\n"
    "    each = \"offers[]\",\n"
    "    offer = {\n"
    "      id = \"id\",\n"
    "      price = { total = money(\"currency\", \"total\"), taxes_included = const \"yes\" },\n"
    "      slices = {\n"
    "        each = \"slices[]\",\n"
    "        segments = {\n"
    "          each = \"segments[]\",\n"
    "          carrier = \"carrier\",\n"
    "          number = \"number\",\n"
    "          origin = \"from\",\n"
    "          destination = \"to\",\n"
    "          departs = { [\"local\"] = \"departs\" },\n"
    "          arrives = { [\"local\"] = \"arrives\" },\n"
    "        },\n"
    "      },\n"
    "    },\n";

static const char HOTELS_PLAN[] =
    "  normalise = plan {\n"
    "    each = \"hotels[].rates[]\",\n"
    "    offer = {\n"
    "      id = \"id\",\n"
    "      price = { total = money(\"currency\", \"total\"), taxes_included = const \"yes\" },\n"
    "      supplier_hotel_id = up(1).id,\n"
    "      name = up(1).name,\n"
    "      room = \"room\",\n"
    "      board = map(\"board\", { RO = \"room_only\", BB = \"breakfast\", HB = \"half_board\" }),\n"
    "      pay = const \"now\",\n"
    "    },\n";

/// @ is what stands around the offers.
static const char FLIGHTS_XML_PLAN[] =
    "  normalise = plan {\n"
    "    from = \"xml\",\n"
    "    each = \"@Answer.Offer[]\",\n"
    "    offer = {\n"
    "      id = \"Id\",\n"
    "      price = { total = money(\"Currency\", \"Total\"), taxes_included = const \"yes\" },\n"
    "      slices = {\n"
    "        each = \"Slice[]\",\n"
    "        segments = {\n"
    "          each = \"Segment[]\",\n"
    "          carrier = \"Carrier\",\n"
    "          number = \"Number\",\n"
    "          origin = \"From\",\n"
    "          destination = \"To\",\n"
    "          departs = { [\"local\"] = \"Departs\" },\n"
    "          arrives = { [\"local\"] = \"Arrives\" },\n"
    "        },\n"
    "      },\n"
    "    },\n";

static const char HOTELS_XML_PLAN[] =
    "  normalise = plan {\n"
    "    from = \"xml\",\n"
    "    each = \"@Answer.Hotel[].Rate[]\",\n"
    "    offer = {\n"
    "      id = \"Id\",\n"
    "      price = { total = money(\"Currency\", \"Total\"), taxes_included = const \"yes\" },\n"
    "      supplier_hotel_id = up(1).Id,\n"
    "      name = up(1).Name,\n"
    "      room = \"Room\",\n"
    "      board = map(\"Board\", { RO = \"room_only\", BB = \"breakfast\", HB = \"half_board\" }),\n"
    "      pay = const \"now\",\n"
    "    },\n";

static const char WHEN[] = "    when = { [401] = fail.auth, [404] = \"empty\", [429] = fail.quota },\n"
                           "  },\n";

static const char SOAP_WHEN[] =
    "    -- A fault comes with a status of its own, or with 200: look which ones mean that nothing is for sale.\n"
    "    when = { [500] = refuse, [\"Envelope.Body.Fault:present\"] = refuse },\n"
    "  },\n";

static const char REFUSE[] = "-- What a fault says.\n"
                             "local function refuse(response)\n"
                             "  local fault = soap.fault(response) or {}\n"
                             "  return fail.supplier { code = fault.code, message = fault.reason }\n"
                             "end\n\n";

static const char COUNT[] = "-- How many travellers of a kind there are.\n"
                            "local function count(search, kind)\n"
                            "  return #filter(search.query.travellers, function(traveller)\n"
                            "    return traveller.type == kind\n"
                            "  end)\n"
                            "end\n\n";

/// A table of their codes, of which the pasted one is known; whose it is among ours is invented.
static void write_cities(const struct draft *draft, struct buffer *out)
{
    if (draft->their_city.data != NULL) {
        buffer_append_c(
            out, "-- Their codes of cities, by ours. Which city the pasted one is was not said: mend it, and add the "
                 "others (or take\n-- a table of the settings: lookup, in suppliers/README.md).\n"
                 "local CITIES = { " DRAFT_CITY " = ");
        if (draft->is_city_number) {
            buffer_append_text(out, draft->their_city);
        } else {
            draft_write_text(draft, draft->their_city, out);
        }
        buffer_append_c(out, " }\n\n");
    }
}

static bool says(const struct buffer *text, const char *part)
{
    return text->length > 0 && memmem(text->data, text->length, part, strlen(part)) != NULL;
}

static void write_head(const struct draft *draft, struct buffer *out)
{
    const char *kind = draft->is_hotels ? "hotels" : "flights";

    buffer_printf(
        out,
        "-- %.*s: %s. Say here what is odd about this supplier.\n"
        "--\n"
        "-- Next:\n"
        "--   1. `build_request`: what it wants to be asked%s.\n"
        "--   2. `lastcall try %.*s SEARCH.json` asks it and shows the whole exchange, `lastcall record` keeps that as "
        "a fixture.\n"
        "--   3. `normalise`: where it tells each field of an offer. The answer in %.*s.test/%s is invented.\n"
        "--   4. `lastcall check` and `lastcall test %.*s` say what is wrong, and where.\n"
        "-- suppliers/README.md is the guide.\n\n",
        TEXT_ARGS(draft->name), kind, draft->call != NULL ? "; it is the pasted request" : "", TEXT_ARGS(draft->name),
        TEXT_ARGS(draft->name), draft_ok_name(draft), TEXT_ARGS(draft->name));
}

/// Secrets that the script does not read: a value that stood in another one, or in what is made anew.
static void drop_unread_secrets(struct draft *draft, const struct buffer *call)
{
    size_t kept = 0;

    for (size_t i = 0; i < draft->secret_count; i++) {
        char read[192];
        int length = snprintf(read, sizeof(read), "ctx.secret.%.*s", TEXT_ARGS(draft->secrets[i].name));
        bool is_read = false;
        for (struct text rest = buffer_text(call); !is_read && rest.data != NULL && rest.length > 0;) {
            const char *found = memmem(rest.data, rest.length, read, (size_t)length);
            const char *behind = found == NULL ? NULL : found + length, *end = rest.data + rest.length;
            is_read = found != NULL && (behind == end || (*behind != '_' && (*behind < '0' || *behind > '9') &&
                                                          (*behind < 'A' || *behind > 'Z')));
            rest = found == NULL ? (struct text){ 0 } : (struct text){ behind, (size_t)(end - behind) };
        }
        if (is_read) {
            draft->secrets[kept++] = draft->secrets[i];
        }
    }
    draft->secret_count = kept;
}

static void write_plan(const struct draft *draft, struct buffer *out)
{
    const char *plan = draft->is_xml ? (draft->is_hotels ? HOTELS_XML_PLAN : FLIGHTS_XML_PLAN)
                                     : (draft->is_hotels ? HOTELS_PLAN : FLIGHTS_PLAN);

    for (const char *at = plan; *at != '\0'; at++) {
        if (*at == '@') {
            buffer_append_c(out, draft->is_soap ? "Envelope.Body." : "");
        } else {
            buffer_append_byte(out, *at);
        }
    }
    buffer_append_c(out, draft->is_soap ? SOAP_WHEN : WHEN);
}

static void write_secrets(const struct draft *draft, struct buffer *out)
{
    buffer_append_c(out, draft->secret_count > 0 ? "  secrets = { " : "");
    for (size_t i = 0; i < draft->secret_count; i++) {
        buffer_printf(out, "%s\"%.*s\"", i > 0 ? ", " : "", TEXT_ARGS(draft->secrets[i].name));
    }
    buffer_append_c(out, draft->secret_count > 0 ? " }, -- names; the values come from the environment\n" : "");
}

static void write_fields(const struct draft *draft, const struct buffer *call, struct buffer *out)
{
    const char *kind = draft->is_hotels ? "hotels" : "flights";

    buffer_printf(out,
                  "---@type Supplier\n"
                  "return {\n"
                  "  name = \"%.*s\",\n"
                  "  product = \"%s\",\n"
                  "  owner = \"" SCRIPT_MADE_OWNER "\", -- whom to ask when it fails\n"
                  "  docs = \"" SCRIPT_MADE_DOCS "\", -- where its documentation is\n"
                  "  hosts = {}, -- the host of base_url counts already\n",
                  TEXT_ARGS(draft->name), kind, TEXT_ARGS(draft->name), TEXT_ARGS(draft->name));
    write_secrets(draft, out);
    buffer_append_c(out, "  options = { base_url = ");
    if (draft->call != NULL) {
        draft_write_text(draft, draft->call->base, out);
    } else {
        buffer_printf(out, "\"https://api.%.*s.example\"", TEXT_ARGS(draft->name));
    }
    buffer_append_c(out, " },\n  limits = { rps = 10, concurrent = 16, body = \"2MiB\" }, -- as the contract says\n");
    bool has_loop = says(call, "search.query.slices, function"); // for any number of them
    if (!has_loop && (says(call, "slices[2]") || says(call, "slices[1]"))) {
        buffer_printf(out, "  sells = { trip_types = { \"%s\" } }, -- all that this request can ask for\n",
                      says(call, "slices[2]") ? "return" : "one_way");
    }
    if (draft->their_city.data != NULL) {
        buffer_append_c(out,
                        "\n  skip = function(search)\n"
                        "    return not CITIES[search.query.place.city or \"\"] and \"no code of this city\" or nil\n"
                        "  end,\n");
    } else if (says(call, "place.city")) {
        buffer_append_c(out, "\n  skip = function(search)\n"
                             "    return not search.query.place.city and \"only cities are asked for\" or nil\n"
                             "  end,\n");
    }
}

static void write_guesses(const struct draft *draft, struct buffer *out)
{
    if (draft->guess_count > 0) {
        buffer_append_c(out, "  -- Guessed from the pasted request; look at each:\n");
    }
    for (size_t i = 0; i < draft->guess_count; i++) {
        buffer_printf(out, "  --   %.*s\n", TEXT_ARGS(draft->guesses[i]));
    }
    for (size_t i = 0; i < draft->literal_count; i++) {
        buffer_printf(out, "%s  --   %.*s\n", i == 0 ? "  -- As pasted, whatever is searched for; look at each:\n" : "",
                      TEXT_ARGS(draft->literals[i]));
    }
    for (size_t i = 0; i < draft->left_out_count; i++) {
        buffer_printf(out, "%s%.*s%s", i == 0 ? "  -- Left out, as a browser's own: " : ", ",
                      TEXT_ARGS(draft->left_out[i]), i + 1 == draft->left_out_count ? "\n" : "");
    }
}

void draft_write_script(struct draft *draft, struct buffer *out)
{
    struct buffer call;

    buffer_init(&call, DRAFT_FILE_MAX);
    if (draft->call != NULL) {
        write_call(draft, &call);
    } else {
        write_filled(draft, draft->is_hotels ? HOTELS_CALL : FLIGHTS_CALL, &call);
    }
    drop_unread_secrets(draft, &call);
    draft->has_way_back = draft->uses_second_slice || draft->search.dates[1].data != NULL;
    write_head(draft, out);
    buffer_append_c(out, draft->counts_travellers ? COUNT : "");
    buffer_append_c(out, draft->is_soap ? REFUSE : "");
    write_cities(draft, out);
    write_fields(draft, &call, out);
    buffer_append_c(out, "\n");
    write_guesses(draft, out);
    bool reads_search = says(&call, "search."), reads_context = says(&call, "ctx.");
    reads_search = reads_search || says(&call, "(search,");
    buffer_printf(out, "  build_request = function(%s%s)\n",
                  reads_search    ? "search"
                  : reads_context ? "_"
                                  : "",
                  reads_context ? ", ctx" : "");
    buffer_append_text(out, buffer_text(&call));
    buffer_append_c(out, "  end,\n\n"
                         "  -- Paths in its answer; a leaf that needs more than a path is a Lua function.\n");
    write_plan(draft, out);
    buffer_append_c(out, "}\n");
    draft->is_out_of_memory = draft->is_out_of_memory || call.is_full || out->is_full;
    buffer_fini(&call);
}

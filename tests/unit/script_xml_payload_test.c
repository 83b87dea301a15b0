// Messages that real suppliers send in XML: offers counted, faults told, broken ones refused. The messages are not part
// of the project; where they are not, the tests say that they were skipped.
#include "script/tape_xml.h"
#include "unit/script_plan_stage.h"

#include <dirent.h>
#include <unistd.h>

static const char facts[] = "{\"product\":\"flights\",\"currency\":\"EUR\",\"query\":{\"cabin\":\"economy\"}}";

static struct plan_stage stage;
static char body[1 << 20];

enum { NDC, TRAVELPORT, AMADEUS, FAULT, SUPPLIERS };

static int open_stage(void **state)
{
    static const char *const names[] = { "xml_ndc", "xml_travelport", "xml_amadeus", "xml_fault" };

    (void)state;
    support_open(&stage.world);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char file[160];
        snprintf(file, sizeof file, "tests/unit/data/plan/suppliers/%s.lua", names[i]);
        support_add(&stage.world, names[i], file);
    }
    stage_open(&stage, "scripts", facts);
    return 0;
}

static int close_stage(void **state)
{
    (void)state;
    stage_close(&stage);
    return 0;
}

/// The message in `body`; the absent text: it is not there.
static struct text read_message(const char *folder, const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "../shared/payloads/%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return (struct text){ NULL, 0 };
    }
    size_t length = fread(body, 1, sizeof body, file);
    fclose(file);
    assert_true(length > 0 && length < sizeof body);
    return (struct text){ body, length };
}

/// What a supplier makes of a message; skips the test without it.
static const struct normalise_call *give(size_t supplier, uint16_t status, const char *folder, const char *name)
{
    struct text message = read_message(folder, name);

    if (message.data == NULL) {
        print_message("skipped: there is no ../shared/payloads/%s/%s\n", folder, name);
        skip();
    }
    return stage_normalise(&stage, supplier, &(struct stage_answer){ .status = status, .body = message });
}

static void assert_offers(const struct normalise_call *call, size_t count, const char *part)
{
    if (call->verdict != SCRIPT_OK || call->offers->dropped != 0 || call->offers->count != count) {
        fail_msg("%s: %s %s", script_verdict_name(call->verdict), call->message,
                 call->offers != NULL ? call->offers->dropped_first : "");
    }
    for (size_t i = 0; i < count; i++) {
        struct text json = call->offers->offers[i].json;
        struct text item = call->offers->offers[i].item_json;
        if (memmem(json.data, json.length, part, strlen(part)) != NULL ||
            memmem(item.data, item.length, part, strlen(part)) != NULL) {
            return;
        }
    }
    fail_msg("no offer has %s", part);
}

static void assert_trouble(const struct normalise_call *call, const char *code, const char *message)
{
    assert_int_equal(call->verdict, SCRIPT_FAIL_SUPPLIER);
    assert_string_equal(call->code, code);
    assert_string_equal(call->message, message);
}

static void offers_of_ndc_have_their_journeys(void **state)
{
    const char *name = "IATA_AirShoppingRS.19.2.sandbox-9A.BCN-LHR.rt.xml";

    (void)state;
    assert_offers(give(NDC, 200, "ndc", name), 39, "\"total\":\"520.66\",\"currency\":\"USD\""); // of both travellers
    assert_offers(give(NDC, 200, "ndc", name), 39, "\"local\":\"2020-12-20T07:30:00\",\"zone\":\"Europe/Madrid\"");
}

static void price_points_of_travelport_have_their_segments(void **state)
{
    const char *name = "LowFareSearchRsp.1ADT.IEV-PAR.rt.xml";

    (void)state;
    assert_offers(give(TRAVELPORT, 200, "travelport_uapi", name), 45, "\"total\":\"178.74\",\"currency\":\"EUR\"");
    assert_offers(give(TRAVELPORT, 200, "travelport_uapi", name), 45, "\"local\":\"2016-11-10T18:35:00\"");
}

static void recommendations_of_amadeus_have_their_flights(void **state)
{
    const char *name = "Fare_MasterPricerTravelBoardSearchReply.12.4.xml";

    (void)state;
    assert_offers(give(AMADEUS, 200, "amadeus_soap", name), 169, "\"local\":\"2017-01-15T07:40:00\"");
}

static void faults_are_told_or_mean_nothing(void **state)
{
    const struct {
        size_t supplier;
        const char *folder, *name, *code, *message; // no code: empty
    } faults[] = {
        { TRAVELPORT, "travelport_uapi", "fault.no-more-flights.xml", NULL, NULL },
        { TRAVELPORT, "travelport_uapi", "fault.price.no-availability.xml", "3037", "UNABLE TO FARE QUOTE" },
        { TRAVELPORT, "travelport_uapi", "fault.security.no-agreement.xml", "345",
          "NO AGREEMENT EXISTS FOR AGENCY - 7J8J" },
        { FAULT, "travelport_uapi", "fault.no-more-flights.xml", "Server.System",
          "No more later flights.|Carriers: ET" },
        { FAULT, "amadeus_soap", "fault.application.xml", "soap:Server", "1929|Application|INVALID RECORD LOCATOR" },
        { FAULT, "amadeus_soap", "fault.session.undeclared-prefix.xml", "soap:Client", "11|Session|" },
        { FAULT, "amadeus_soap", "error.InformativeBestPricing.xml", NULL, NULL },
        { AMADEUS, "amadeus_soap", "error.MasterPricer.past-date.xml", "920", "Past date/time not allowed" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        const struct normalise_call *call = give(faults[i].supplier, 200, faults[i].folder, faults[i].name);
        if (faults[i].code == NULL) {
            assert_int_equal(call->verdict, SCRIPT_EMPTY);
        } else {
            assert_trouble(call, faults[i].code, faults[i].message);
        }
    }
    const struct normalise_call *long_one = give(FAULT, 500, "travelport_uapi", "fault.validation.xml");
    assert_string_equal(long_one->code, "Server.InvalidRequestException");
}

static void what_is_cut_is_unparsable(void **state)
{
    (void)state;
    const struct normalise_call *call = give(AMADEUS, 200, "amadeus_soap", "invalid.truncated.xml");
    assert_int_equal(call->verdict, SCRIPT_UNPARSABLE);
    assert_non_null(strstr(call->message, "in Offer_ConfirmCarOfferReply: no element found"));
}

static enum tape_result read_whole(struct text message, bool is_lenient)
{
    struct arena arena;
    struct tape tape;
    struct heap heap;
    const struct xml_names names = { .count = 0 };
    struct tape_xml options = { .names = &names, .is_lenient = is_lenient, .heap = &heap };

    arena_init(&arena, 1 << 16);
    tape_init(&tape);
    heap_init(&heap);
    enum tape_result result = tape_read_xml(&tape, message, declared_root(&arena), &options, NULL, NULL);
    assert_int_equal(heap.used, 0);
    heap_fini(&heap);
    tape_fini(&tape);
    arena_fini(&arena);
    return result;
}

static void every_message_is_read_but_those_that_are_broken(void **state)
{
    static const char *const folders[] = { "ndc", "travelport_uapi", "amadeus_soap" };
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        char path[256];
        snprintf(path, sizeof path, "../shared/payloads/%s", folders[i]);
        DIR *directory = opendir(path);
        const struct dirent *entry;
        while (directory != NULL && (entry = readdir(directory)) != NULL) {
            bool is_cut = strstr(entry->d_name, "truncated") != NULL;
            bool is_undeclared = strstr(entry->d_name, "undeclared-prefix") != NULL;
            if (strstr(entry->d_name, ".xml") == NULL) {
                continue;
            }
            struct text message = read_message(folders[i], entry->d_name);
            assert_int_equal(read_whole(message, false), is_cut || is_undeclared ? TAPE_BROKEN : TAPE_OK);
            assert_int_equal(read_whole(message, true), is_cut ? TAPE_BROKEN : TAPE_OK);
            count++;
        }
        if (directory != NULL) {
            closedir(directory);
        }
    }
    if (count == 0) {
        print_message("skipped: there is no ../shared/payloads\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offers_of_ndc_have_their_journeys),
        cmocka_unit_test(price_points_of_travelport_have_their_segments),
        cmocka_unit_test(recommendations_of_amadeus_have_their_flights),
        cmocka_unit_test(faults_are_told_or_mean_nothing),
        cmocka_unit_test(what_is_cut_is_unparsable),
        cmocka_unit_test(every_message_is_read_but_those_that_are_broken),
    };

    return cmocka_run_group_tests(tests, open_stage, close_stage);
}

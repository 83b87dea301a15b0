// Any bytes as a time zone's file: a zone or a reason, and a zone answers without contradicting itself.

#include "base/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t times[] = { -4000000000LL, 0, 1, 951825600, 1809334800, 4102444800LL, 7258118400LL,
                                     99999999999LL };
    struct zone *zone = NULL;
    const char *why = NULL;
    enum status status = zone_parse(TEXT("fuzz"), (struct text){ (const char *)data, size }, &zone, &why);

    require((status == STATUS_OK) == (zone != NULL));
    require(status == STATUS_OK || why != NULL);
    for (size_t i = 0; zone != NULL && i < COUNT_OF(times); i++) {
        int64_t instants[2];
        int32_t offset = zone_offset(zone, times[i]);
        size_t count = zone_instants(zone, times[i] + offset, instants);
        bool is_among = false;
        for (size_t j = 0; j < count; j++) {
            require(zone_offset(zone, instants[j]) == times[i] + offset - instants[j]);
            is_among = is_among || instants[j] == times[i];
        }
        require(count > 0 && (is_among || count == 2)); // more than two are possible only in a zone that nobody keeps
        require(count < 2 || instants[0] < instants[1]);
    }
    zone_destroy(&zone);
    return 0;
}

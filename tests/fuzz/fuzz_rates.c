// Any bytes as a table of exchange rates: findings or a table, never one without the other.

#include "script/rates.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_finding(void *context, const struct failure *failure)
{
    size_t *findings = context;

    (*findings)++;
    require(failure->message[0] != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rates *rates = NULL;
    size_t findings = 0;
    enum status status =
        rates_parse((struct text){ (const char *)data, size }, "fuzz.json", 1, on_finding, &findings, &rates);

    require((status == STATUS_OK) == (rates != NULL));
    require((status == STATUS_INVALID) == (findings > 0));
    if (rates != NULL) {
        struct conversion conversion;
        int64_t converted = 0;
        struct text base = rates_base(rates);
        require(rates_count(rates) > 0 && rates_find(rates, base, base, &conversion));
        require(!conversion_apply(&conversion, 1000000, &converted) || converted == 1000000);
    }
    rates_release(&rates);
    return 0;
}

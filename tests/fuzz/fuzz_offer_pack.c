// Any bytes as a pack of offers, with a checksum that vouches for them: refused, or a batch whose texts all lie within
// what it owns, sorted, and which can be packed again.
#include "base/checksum.h"
#include "model/offer_pack.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t touched;

static void touch(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        touched += (uint8_t)text.data[i];
    }
}

static void touch_all(const struct offer_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct offer *offer = &batch->offers[i];
        const struct text texts[] = { offer->id,    offer->item,       offer->json,   offer->item_json,
                                      offer->price, offer->expires_at, offer->hidden, text_of(offer->currency) };
        for (size_t j = 0; j < COUNT_OF(texts); j++) {
            touch(texts[j]);
        }
        require(i == 0 || offer_compare(offer - 1, offer) <= 0);
        require(offer->head_length <= offer->status_at && offer->status_at < offer->json.length);
        for (size_t j = 0; j < offer->mark_count; j++) {
            require(offer->marks[j] < batch->facets.value_count);
        }
    }
    for (size_t i = 0; i < batch->facets.value_count; i++) {
        require(batch->facets.values[i].facet < batch->facets.name_count);
        touch(batch->facets.values[i].value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct offer_batch *batch = NULL;
    char *bytes = malloc(size > 0 ? size : 1);

    require(bytes != NULL);
    memcpy(bytes, data, size);
    if (size >= OFFER_PACK_HEADER) {
        uint32_t schema = OFFER_PACK_SCHEMA;
        uint64_t checksum = checksum_of((struct text){ bytes + OFFER_PACK_SUMMED, size - OFFER_PACK_SUMMED });
        memcpy(bytes, OFFER_PACK_MAGIC.data, OFFER_PACK_MAGIC.length);
        memcpy(bytes + 4, &schema, sizeof schema);
        memcpy(bytes + 8, &checksum, sizeof checksum);
    }
    enum status status = offer_unpack((struct text){ bytes, size }, PRICE_INDICATIVE, 1790000000000, &batch);
    free(bytes);
    if (status == STATUS_OK) {
        struct store_part part = { .batch = batch };
        struct last_known_head head = { 0 };
        struct buffer again;
        touch_all(batch);
        buffer_init(&again, 1 << 22);
        (void)!offer_pack(&part, 1, &again, &head);
        buffer_fini(&again);
        offer_batch_release(&batch);
    }
    return 0;
}

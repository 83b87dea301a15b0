#include "support/some_offers.h"

#include <stdio.h>

static struct text copy(struct offer_batch *batch, const char *words)
{
    struct text text = arena_copy(&batch->arena, text_of(words));

    require(text.data != NULL);
    return text;
}

static struct text find(struct text json, const char *words)
{
    const char *found = strstr(json.data, words);

    require(found != NULL);
    return (struct text){ found, strlen(words) };
}

static void write_offer(struct offer_batch *batch, struct offer *offer, size_t number, unsigned seed, int64_t units)
{
    char words[2048], id[64], item[64], price[160];
    unsigned mixed = (unsigned)(number * 2654435761U) ^ (seed * 40503U);

    snprintf(id, sizeof id, "o%u_%zu_%08x%08x", seed, number, mixed, mixed * 2246822519U);
    snprintf(item, sizeof item, "f_%08x%08x", mixed * 3266489917U, mixed * 668265263U);
    snprintf(price, sizeof price, "{\"total\":\"%lld.%02u\",\"currency\":\"EUR\",\"taxes_included\":\"yes\"}",
             (long long)(units + (int64_t)number), mixed % 100);
    snprintf(words, sizeof words,
             "{\"id\":\"acme:%s\",\"supplier\":\"acme\",\"item\":\"%s\",\"price\":%s,\"price_status\":\"live\","
             "\"observed_at\":\"2026-11-30T12:00:00Z\",\"flight\":{\"legs\":[{\"segments\":[{\"from\":\"HND\",\"to\":"
             "\"EWR\",\"depart\":\"2026-12-%02uT%02u:53:00\",\"arrive\":\"2026-12-%02uT%02u:58:00\",\"marketing\":"
             "\"UA\",\"operating\":\"UA\",\"number\":\"%u\",\"cabin\":\"economy\",\"booking_class\":\"%c\"}]}],"
             "\"baggage\":{\"checked\":%u,\"carry_on\":1},\"refundable\":\"%s\"},\"ref\":\"%08x%08x%08x\"}",
             id, item, price, 1 + mixed % 28, mixed % 24, 1 + mixed % 28, mixed % 23, mixed % 9000,
             'A' + (int)(mixed % 26), mixed % 3, mixed % 2 == 0 ? "yes" : "no", mixed * 7U, mixed * 11U, mixed * 13U);
    *offer = (struct offer){ .total_micros = (units + (int64_t)number) * OFFER_MICROS,
                             .currency = "EUR",
                             .duration_min = 60 + mixed % 600,
                             .id = copy(batch, id),
                             .item = copy(batch, item),
                             .json = copy(batch, words) };
    struct text place = find(offer->json, item);
    offer->head_length = (uint32_t)(place.data - offer->json.data) + (uint32_t)place.length + 1;
    offer->status_at = (uint32_t)(find(offer->json, "\"live\"").data + 1 - offer->json.data);
    offer->price = find(offer->json, price);
}

struct offer_batch *some_offers(size_t count, unsigned seed, int64_t units)
{
    struct offer_batch *batch = offer_batch_create(64 << 20);

    require(batch != NULL);
    batch->offers = arena_alloc_array(&batch->arena, count, sizeof *batch->offers);
    require(batch->offers != NULL);
    for (size_t i = 0; i < count; i++) {
        write_offer(batch, &batch->offers[i], i, seed, units);
    }
    batch->count = count;
    batch->decimals = 2;
    offer_batch_sort(batch);
    return batch;
}

#include "store/store.h"

#include "base/check.h"
#include "model/offer_pack.h"

#include <openssl/evp.h>
#include <string.h>

void store_deliver(struct store *store, struct store_call *call)
{
    if (call->on_done != NULL) {
        store->deliver(call->home, call);
    } else {
        store_call_destroy(&call);
    }
}

static void put(EVP_MD_CTX *context, struct text text)
{
    uint64_t length = text.length; // in front of each, so that no two of them can be split in two ways

    (void)EVP_DigestUpdate(context, &length, sizeof length);
    (void)EVP_DigestUpdate(context, text.data, text.length);
}

void store_digest(const struct store_call *call, uint8_t digest[STORE_DIGEST])
{
    uint32_t schema = OFFER_PACK_SCHEMA;
    EVP_MD_CTX *context = EVP_MD_CTX_new();

    require(context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1);
    (void)EVP_DigestUpdate(context, &schema, sizeof schema);
    put(context, call->product);
    put(context, call->query);
    require(EVP_DigestFinal_ex(context, digest, NULL) == 1);
    EVP_MD_CTX_free(context);
}

bool store_is_current(const struct store_call *call, const struct store_entry *entry,
                      const struct last_known_head *head)
{
    uint64_t now_ms = call->now_ms;

    if (head->until_ms <= now_ms || head->observed_ms > now_ms + STORE_CLOCKS_APART_MS) {
        return false;
    }
    uint64_t age_ms = now_ms > head->observed_ms ? now_ms - head->observed_ms : 0;
    return entry->max_age_ms == 0 || age_ms <= entry->max_age_ms;
}

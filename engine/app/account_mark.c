#include "app/account_mark.h"

#include "model/exchange.h"

#include <stdio.h>

enum { MARK_BYTES = (ACCOUNT_MARK_SIZE - 1) / 2, MARK_INPUT_MAX = 4 << 20 };

static void put(struct buffer *out, struct text part)
{
    uint64_t length = part.length;

    buffer_append(out, &length, sizeof(length));
    buffer_append_text(out, part);
}

bool account_mark(const struct token_ring *ring, struct text supplier, const struct script_account *account,
                  char mark[ACCOUNT_MARK_SIZE])
{
    uint64_t route = account->route != NULL ? account->route->id : 0;
    uint8_t digest[SEAL_DIGEST];
    struct buffer input;

    mark[0] = '\0';
    if (ring->count[TOKEN_OFFER] == 0) {
        return false;
    }
    buffer_init(&input, MARK_INPUT_MAX);
    put(&input, TEXT("account mark 1"));
    put(&input, (struct text){ (const char *)ring->keys[TOKEN_OFFER][0].secret, SEAL_KEY });
    put(&input, supplier);
    put(&input, account->name);
    put(&input, account->context);
    buffer_append(&input, &route, sizeof(route));
    bool is_made = !input.is_full && seal_digest(buffer_text(&input), digest) == STATUS_OK;
    seal_forget(input.data, input.length);
    buffer_fini(&input);
    for (size_t i = 0; is_made && i < MARK_BYTES; i++) {
        (void)snprintf(mark + 2 * i, 3, "%02x", digest[i]);
    }
    return is_made;
}

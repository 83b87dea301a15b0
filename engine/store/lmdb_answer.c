#include "store/lmdb_answer.h"

#include "base/checksum.h"

#include <endian.h>
#include <string.h>

static bool add(struct lmdb_name *name, struct text text)
{
    if (text.length > sizeof name->bytes - name->length) {
        return false;
    }
    memcpy(name->bytes + name->length, text.data, text.length);
    name->length += text.length;
    return true;
}

static bool add_word(struct lmdb_name *name, struct text word)
{
    return word.length > 0 && memchr(word.data, '\0', word.length) == NULL && add(name, word) &&
           add(name, (struct text){ "", 1 });
}

/// The rest behind the word; absent: it does not begin so.
static struct text rest_behind(struct text name, struct text word)
{
    const struct text absent = { NULL, 0 };

    if (name.length <= word.length || !text_starts_with(name, word) || name.data[word.length] != '\0') {
        return absent;
    }
    return (struct text){ name.data + word.length + 1, name.length - word.length - 1 };
}

bool lmdb_name_is_of(struct text name, struct text supplier, struct text account)
{
    if (name.length < STORE_DIGEST) {
        return false;
    }
    struct text words = { name.data + STORE_DIGEST, name.length - STORE_DIGEST };
    struct text rest = rest_behind(words, supplier);
    return rest.data != NULL && (account.length == 0 || rest_behind(rest, account).data != NULL);
}

bool lmdb_name_make(struct lmdb_name *name, const struct store_entry *entry, const uint8_t digest[STORE_DIGEST])
{
    name->length = 0;
    return add(name, (struct text){ (const char *)digest, STORE_DIGEST }) && add_word(name, entry->supplier) &&
           add_word(name, entry->account);
}

static uint64_t head_sum(const struct lmdb_head *kept)
{
    return checksum_of((struct text){ (const char *)kept, offsetof(struct lmdb_head, checksum) });
}

void lmdb_head_fill(struct lmdb_head *kept, const struct last_known_head *head, uint64_t number)
{
    memset(kept, 0, sizeof *kept); // also between its members
    kept->head.observed_ms = head->observed_ms;
    kept->head.until_ms = head->until_ms;
    kept->head.expires_ms = head->expires_ms;
    kept->head.offers = head->offers;
    kept->head.bytes = head->bytes;
    kept->head.median_micros = head->median_micros;
    memcpy(kept->head.currency, head->currency, sizeof kept->head.currency);
    kept->number = number;
    kept->checksum = head_sum(kept);
}

bool lmdb_head_read(struct text value, struct lmdb_head *kept)
{
    if (value.length != sizeof *kept) {
        return false;
    }
    memcpy(kept, value.data, sizeof *kept);
    return kept->checksum == head_sum(kept);
}

struct lmdb_number lmdb_number_of(uint64_t number)
{
    struct lmdb_number key;
    uint64_t bytes = htobe64(number); // so that they sort as numbers

    memcpy(key.bytes, &bytes, sizeof key.bytes);
    return key;
}

bool lmdb_number_read(struct text key, uint64_t *number)
{
    uint64_t bytes = 0;

    if (key.length != sizeof bytes) {
        return false;
    }
    memcpy(&bytes, key.data, sizeof bytes);
    *number = be64toh(bytes);
    return true;
}

bool lmdb_answer_read(struct text value, struct text *name, struct text *packed)
{
    uint16_t length = 0;

    if (value.length < sizeof length) {
        return false;
    }
    memcpy(&length, value.data, sizeof length);
    if (length > value.length - sizeof length) {
        return false;
    }
    *name = (struct text){ value.data + sizeof length, length };
    *packed = (struct text){ name->data + length, value.length - sizeof length - length };
    return true;
}

bool lmdb_note_read(struct text value, uint64_t now_ms, struct text *says)
{
    uint64_t until_ms = 0;

    if (value.length < LMDB_NOTE_UNTIL) {
        return false;
    }
    memcpy(&until_ms, value.data, sizeof until_ms);
    *says = (struct text){ value.data + LMDB_NOTE_UNTIL, value.length - LMDB_NOTE_UNTIL };
    return until_ms > now_ms;
}

bool lmdb_head_is_over(const struct last_known_head *head, uint64_t now_ms)
{
    return head->until_ms <= now_ms || head->observed_ms > now_ms + STORE_CLOCKS_APART_MS;
}

#include "store/store_value.h"

#include "base/checksum.h"

#include <endian.h>

enum { SUM_AT = STORE_VALUE_HEAD - 8, NAME_MAX_LENGTH = 1024 };

struct head_bytes {
    char magic[3];
    uint8_t version, is_pressed;
    char currency[3];
    uint64_t observed_ms, until_ms, expires_ms, median_micros;
    uint32_t offers, bytes, unpressed, nothing;
    uint64_t checksum;
};
_Static_assert(sizeof(struct head_bytes) == STORE_VALUE_HEAD, "the head has no gaps");

static const char MAGIC[3] = { 'L', 'C', 'V' };

static uint64_t sum_of(const struct head_bytes *head, struct text name)
{
    char summed[SUM_AT + NAME_MAX_LENGTH];
    size_t length = name.length < NAME_MAX_LENGTH ? name.length : NAME_MAX_LENGTH;

    memcpy(summed, head, SUM_AT);
    memcpy(summed + SUM_AT, name.data, length);
    return checksum_of((struct text){ summed, SUM_AT + length });
}

static void seal_head(struct head_bytes *out, const struct last_known_head *head, struct text name, size_t unpressed,
                      bool is_pressed)
{
    *out = (struct head_bytes){
        .version = STORE_VALUE_VERSION,
        .is_pressed = is_pressed,
        .observed_ms = htole64(head->observed_ms),
        .until_ms = htole64(head->until_ms),
        .expires_ms = htole64(head->expires_ms),
        .median_micros = htole64((uint64_t)head->median_micros),
        .offers = htole32(head->offers),
        .bytes = htole32(head->bytes),
        .unpressed = htole32((uint32_t)unpressed),
    };
    memcpy(out->magic, MAGIC, sizeof MAGIC);
    memcpy(out->currency, head->currency, sizeof out->currency);
    out->checksum = htole64(sum_of(out, name));
}

static enum status put_offers(struct text packed, size_t press_above, struct store_press *press, struct buffer *out,
                              bool *is_pressed)
{
    size_t begin = out->length;

    *is_pressed = packed.length > press_above && store_press_down(press, packed, out);
    if (!*is_pressed) {
        out->is_full = false; // pressing may have asked for room that storing as it is does not need
        buffer_append_text(out, packed);
    }
    if (out->is_full) {
        return STATUS_FULL;
    }
    return out->length - begin + STORE_VALUE_HEAD > STORE_VALUE_MAX ? STATUS_FULL : STATUS_OK;
}

enum status store_value_write(const struct store_call *call, struct text name, size_t press_above,
                              struct store_press *press, struct buffer *out)
{
    struct last_known_head head = call->entries[0].head;
    struct head_bytes sealed = { 0 };
    struct buffer packed;
    bool is_pressed = false;
    size_t begin = out->length;

    buffer_init(&packed, STORE_VALUE_RAW_MAX);
    enum status status = offer_pack(call->parts, call->part_count, &packed, &head);
    if (status == STATUS_NO_MEMORY && packed.is_full) {
        status = STATUS_FULL;
    }
    if (head.offers == 0) {
        buffer_clear(&packed);
    }
    if (status == STATUS_OK && !buffer_append(out, &sealed, sizeof sealed)) {
        status = STATUS_FULL;
    }
    if (status == STATUS_OK) {
        status = put_offers(buffer_text(&packed), press_above, press, out, &is_pressed);
    }
    if (status == STATUS_OK) {
        head.bytes = (uint32_t)(out->length - begin - sizeof sealed);
        seal_head(&sealed, &head, name, packed.length, is_pressed);
        memcpy(out->data + begin, &sealed, sizeof sealed);
    }
    buffer_fini(&packed);
    return status;
}

static bool open_head(struct text bytes, struct text name, struct head_bytes *sealed, struct last_known_head *head)
{
    if (bytes.length < sizeof *sealed) {
        return false;
    }
    memcpy(sealed, bytes.data, sizeof *sealed);
    if (memcmp(sealed->magic, MAGIC, sizeof MAGIC) != 0 || sealed->version != STORE_VALUE_VERSION ||
        le64toh(sealed->checksum) != sum_of(sealed, name)) {
        return false;
    }
    *head = (struct last_known_head){
        .observed_ms = le64toh(sealed->observed_ms),
        .until_ms = le64toh(sealed->until_ms),
        .expires_ms = le64toh(sealed->expires_ms),
        .offers = le32toh(sealed->offers),
        .bytes = le32toh(sealed->bytes),
        .median_micros = (int64_t)le64toh(sealed->median_micros),
    };
    memcpy(head->currency, sealed->currency, sizeof sealed->currency);
    return true;
}

bool store_value_read_head(struct text bytes, struct text name, struct last_known_head *head)
{
    struct head_bytes sealed;

    return open_head(bytes, name, &sealed, head);
}

enum status store_value_read(struct text bytes, struct text name, enum price_status status, uint64_t now_ms,
                             struct store_press *press, struct last_known_head *head, struct offer_batch **offers)
{
    struct head_bytes sealed;

    *offers = NULL;
    if (!open_head(bytes, name, &sealed, head) || bytes.length - sizeof sealed != head->bytes) {
        return STATUS_INVALID;
    }
    if (head->offers == 0) {
        return head->bytes == 0 ? STATUS_OK : STATUS_INVALID;
    }
    struct text packed = { bytes.data + sizeof sealed, head->bytes };
    struct buffer unpressed;
    buffer_init(&unpressed, STORE_VALUE_RAW_MAX);
    enum status result = STATUS_OK;
    if (sealed.is_pressed != 0) {
        if (!store_press_up(press, packed, le32toh(sealed.unpressed), &unpressed)) {
            result = STATUS_INVALID;
        }
        packed = buffer_text(&unpressed);
    }
    if (result == STATUS_OK) {
        result = offer_unpack(packed, status, now_ms, offers);
    }
    buffer_fini(&unpressed);
    return result;
}

#include "io/resolver.h"

#include <arpa/inet.h>
#include <string.h>

// All ranges are IPv6; IPv4 addresses are looked at as mapped ones (::ffff:a.b.c.d).

struct special_range {
    uint8_t bytes[16];
    uint8_t prefix;
};

#define V4(a, b, c, bits)                                                                                              \
    {                                                                                                                  \
        { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, 0 }, 96 + (bits)                                          \
    }

// What is not the public Internet (IANA special-purpose registries, RFC 6890).
static const struct special_range special_ranges[] = {
    V4(0, 0, 0, 8),                                 // this network
    V4(10, 0, 0, 8),                                // private
    V4(100, 64, 0, 10),                             // carrier-grade NAT
    V4(127, 0, 0, 8),                               // loopback
    V4(169, 254, 0, 16),                            // link-local, cloud metadata
    V4(172, 16, 0, 12),                             // private
    V4(192, 0, 0, 24),                              // protocol assignments
    V4(192, 168, 0, 16),                            // private
    V4(198, 18, 0, 15),                             // benchmarks
    V4(224, 0, 0, 4),                               // multicast
    V4(240, 0, 0, 4),                               // reserved, broadcast
    { { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48 }, // NAT64, local use
    { { 0x20, 0x01, 0x00, 0x00 }, 32 },             // Teredo
    { { 0xfc }, 7 },                                // unique local
    { { 0xfe, 0x80 }, 10 },                         // link-local
    { { 0xfe, 0xc0 }, 10 },                         // site-local
    { { 0xff }, 8 },                                // multicast
};

static bool bytes_match(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned whole = bits / 8;
    unsigned rest = bits % 8;

    if (memcmp(a, b, whole) != 0) {
        return false;
    }
    return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

static void bytes_map_v4(uint8_t *bytes, const void *v4)
{
    memset(bytes, 0, 10);
    bytes[10] = bytes[11] = 0xff;
    memcpy(bytes + 12, v4, 4);
}

static bool bytes_are_special(const uint8_t *bytes)
{
    static const uint8_t zero[16] = { 0 };

    for (size_t i = 0; i < COUNT_OF(special_ranges); i++) {
        if (bytes_match(bytes, special_ranges[i].bytes, special_ranges[i].prefix)) {
            return true;
        }
    }
    return bytes_match(bytes, zero, 96); // ::, ::1 and the old IPv4-compatible ones
}

// The IPv4 address that a NAT64 or 6to4 address leads to, mapped. False: none inside.
static bool bytes_carried_v4(const uint8_t *bytes, uint8_t *mapped)
{
    static const uint8_t nat64[12] = { 0x00, 0x64, 0xff, 0x9b };
    static const uint8_t six_to_four[2] = { 0x20, 0x02 };

    if (bytes_match(bytes, nat64, 96)) {
        bytes_map_v4(mapped, bytes + 12);
        return true;
    }
    if (bytes_match(bytes, six_to_four, 16)) {
        bytes_map_v4(mapped, bytes + 2);
        return true;
    }
    return false;
}

bool address_is_allowed(const struct sockaddr *address, const struct address_range *ranges, size_t count)
{
    uint8_t bytes[16];
    uint8_t carried[16];

    if (address->sa_family == AF_INET) {
        bytes_map_v4(bytes, &((const struct sockaddr_in *)(const void *)address)->sin_addr);
    } else if (address->sa_family == AF_INET6) {
        memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, sizeof(bytes));
    } else {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (bytes_match(bytes, ranges[i].network.s6_addr, ranges[i].prefix)) {
            return true;
        }
    }
    if (bytes_are_special(bytes)) {
        return false;
    }
    return !bytes_carried_v4(bytes, carried) || !bytes_are_special(carried);
}

bool address_range_parse(struct text text, struct address_range *range)
{
    char address[INET6_ADDRSTRLEN];
    struct text bits;
    struct text head = text_split(text, '/', &bits);
    struct in_addr v4;
    uint64_t prefix = UINT64_MAX;

    if (head.length == 0 || head.length >= sizeof(address)) {
        return false;
    }
    memcpy(address, head.data, head.length);
    address[head.length] = '\0';
    if (strlen(address) != head.length || (bits.data != NULL && !text_to_u64(bits, &prefix))) {
        return false;
    }
    *range = (struct address_range){ .prefix = 128 };
    if (inet_pton(AF_INET, address, &v4) == 1) {
        bytes_map_v4(range->network.s6_addr, &v4);
        if (bits.data != NULL) {
            if (prefix > 32) {
                return false;
            }
            range->prefix = (uint8_t)(96 + prefix);
        }
        return true;
    }
    if (inet_pton(AF_INET6, address, &range->network) != 1) {
        return false;
    }
    if (bits.data != NULL) {
        if (prefix > 128) {
            return false;
        }
        range->prefix = (uint8_t)prefix;
    }
    return true;
}

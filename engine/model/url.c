#include "model/exchange.h"

#include <arpa/inet.h>
#include <string.h>

// Stricter than RFC 3986 on purpose: whatever two readers of a URL could understand differently is refused, because the
// host decides where a request may go.

enum { URL_HOST_MAX = 253 };

static bool url_is_clean(struct text url)
{
    for (size_t i = 0; i < url.length; i++) {
        unsigned char byte = (unsigned char)url.data[i];
        if (byte <= 0x20 || byte >= 0x7F) {
            return false;
        }
    }
    return true;
}

static struct text url_from(struct text text, size_t start)
{
    return (struct text){ text.data + start, text.length - start };
}

static bool url_take_scheme(struct text *rest, bool *is_https)
{
    static const struct {
        const char *prefix;
        bool is_https;
    } schemes[] = { { "http://", false }, { "https://", true } };

    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        struct text prefix = text_of(schemes[i].prefix);
        struct text head = { rest->data, prefix.length };
        if (rest->length >= prefix.length && text_equals_nocase(head, prefix)) {
            *is_https = schemes[i].is_https;
            *rest = url_from(*rest, prefix.length);
            return true;
        }
    }
    return false;
}

static bool url_is_address(int family, struct text host)
{
    char terminated[64];
    unsigned char address[16];

    if (host.length >= sizeof(terminated)) {
        return false;
    }
    memcpy(terminated, host.data, host.length);
    terminated[host.length] = '\0';
    return inet_pton(family, terminated, address) == 1;
}

static bool url_is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '-' || byte == '_';
}

// "1", "0x7f": many programs read a host whose last label looks like this as an IPv4 address.
static bool url_label_is_number(struct text label)
{
    uint64_t unused;

    if (label.length >= 2 && label.data[0] == '0' && (label.data[1] == 'x' || label.data[1] == 'X')) {
        return true;
    }
    size_t digits = 0;
    while (digits < label.length && label.data[digits] >= '0' && label.data[digits] <= '9') {
        digits++;
    }
    return text_to_u64(label, &unused) || digits == label.length;
}

// Labels of letters, digits, '-' and '_', none of them empty.
static bool url_host_is_name(struct text host)
{
    struct text rest = host;
    struct text label;

    if (host.length == 0 || host.length > URL_HOST_MAX) {
        return false;
    }
    do {
        label = text_split(rest, '.', &rest);
        if (label.length == 0 || label.length > 63) {
            return false;
        }
        for (size_t i = 0; i < label.length; i++) {
            if (!url_is_name_byte(label.data[i])) {
                return false;
            }
        }
    } while (rest.data != NULL);
    return !url_label_is_number(label);
}

static bool url_take_port(struct text text, struct url_parts *parts)
{
    uint64_t port = 0;

    if (text.length > 5 || !text_to_u64(text, &port) || port == 0 || port > UINT16_MAX) {
        return false;
    }
    parts->port = (uint16_t)port;
    return true;
}

// "[::1]:8080" without its opening bracket.
static bool url_take_ipv6(struct text authority, struct url_parts *parts)
{
    const char *end = memchr(authority.data, ']', authority.length);

    if (end == NULL) {
        return false;
    }
    parts->host = (struct text){ authority.data, (size_t)(end - authority.data) };
    parts->is_literal = true;
    if (!url_is_address(AF_INET6, parts->host)) {
        return false;
    }
    struct text rest = url_from(authority, parts->host.length + 1);
    return rest.length == 0 || (rest.data[0] == ':' && url_take_port(url_from(rest, 1), parts));
}

static bool url_take_authority(struct text authority, struct url_parts *parts)
{
    struct text port;

    if (authority.length == 0) {
        return false;
    }
    if (authority.data[0] == '[') {
        return url_take_ipv6(url_from(authority, 1), parts);
    }
    parts->host = text_split(authority, ':', &port);
    parts->is_literal = url_is_address(AF_INET, parts->host);
    if (!parts->is_literal && !url_host_is_name(parts->host)) {
        return false; // user info ends here too: '@' is in no name
    }
    return port.data == NULL || url_take_port(port, parts);
}

bool url_split(struct text url, struct url_parts *parts)
{
    struct text rest = url;
    struct text fragment;

    *parts = (struct url_parts){ 0 };
    if (!url_is_clean(url) || !url_take_scheme(&rest, &parts->is_https)) {
        return false;
    }
    parts->port = parts->is_https ? 443 : 80;
    rest = text_split(rest, '#', &fragment);
    size_t end = 0;
    while (end < rest.length && rest.data[end] != '/' && rest.data[end] != '?') {
        end++;
    }
    if (end < rest.length) {
        parts->target = url_from(rest, end);
    }
    return url_take_authority((struct text){ rest.data, end }, parts);
}

bool host_split(struct text written, struct text *host, uint16_t *port)
{
    struct text rest = { NULL, 0 };
    uint64_t number = 0;

    if (written.length > 2 && written.data[0] == '[') {
        *host = text_split((struct text){ written.data + 1, written.length - 1 }, ']', &rest);
        if (rest.length > 0 && rest.data[0] == ':') {
            rest = (struct text){ rest.data + 1, rest.length - 1 };
        }
    } else {
        *host = text_split(written, ':', &rest);
    }
    if (rest.length > 0 && (!text_to_u64(rest, &number) || number > UINT16_MAX)) {
        return false;
    }
    *port = (uint16_t)number;
    return true;
}

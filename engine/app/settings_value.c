#include "app/settings_value.h"

#include <arpa/inet.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit DURATION_UNITS[] = {
    { "us", 1 }, { "ms", 1000 }, { "s", 1000000 }, { "min", 60000000 }, { "h", 3600000000ULL }, { "d", 86400000000ULL },
};
static const struct unit SIZE_UNITS[] = { { "KiB", 1024 }, { "MiB", 1024 * 1024 }, { "GiB", 1024ULL * 1024 * 1024 } };
static const struct unit SHARE_UNITS[] = { { "%", 10000 } };

static bool fail(struct value_problem *problem, const char *sentence, const char *help)
{
    problem->sentence = sentence;
    problem->help = help;
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// The length of "12" or "12.5" at the start; 0: neither.
static size_t number_length(struct text text)
{
    size_t i = 0;
    while (i < text.length && is_digit(text.data[i])) {
        i++;
    }
    if (i > 0 && i + 1 < text.length && text.data[i] == '.' && is_digit(text.data[i + 1])) {
        i++;
        while (i < text.length && is_digit(text.data[i])) {
            i++;
        }
    }
    return i;
}

// number * factor, exactly; false: too large, or not a whole number of the smallest unit.
static bool scaled(struct text number, uint64_t factor, uint64_t *value)
{
    uint64_t whole = 0;
    uint64_t fraction = 0;
    uint64_t scale = 1;
    struct text after_point;
    struct text before_point = text_split(number, '.', &after_point);
    if (!text_to_u64(before_point, &whole)) {
        return false;
    }
    for (size_t i = 0; i < after_point.length; i++) {
        if (scale > 100000000) {
            return false;
        }
        fraction = fraction * 10 + (uint64_t)(after_point.data[i] - '0');
        scale *= 10;
    }
    // fraction < 10^9 and factor < 2^37: the product fits.
    uint64_t part = fraction * factor;
    if (part % scale != 0 || whole > (UINT64_MAX / 2) / factor) {
        return false;
    }
    *value = whole * factor + part / scale;
    return true;
}

static bool with_unit(struct text text, const struct unit *units, size_t unit_count, uint64_t *value,
                      struct value_problem *problem, const char *wrong, const char *help)
{
    if (text.length > 0 && text.data[0] == '-') {
        return fail(problem, "is negative", help);
    }
    size_t length = number_length(text);
    if (length == 0) {
        return fail(problem, wrong, help);
    }
    struct text unit = { text.data + length, text.length - length };
    if (unit.length == 0) {
        return fail(problem, "has no unit", help);
    }
    for (size_t i = 0; i < unit_count; i++) {
        if (text_equals_c(unit, units[i].name)) {
            return scaled((struct text){ text.data, length }, units[i].factor, value) ||
                   fail(problem, "is too large or too fine", help);
        }
    }
    return fail(problem, "has an unknown unit", help);
}

bool value_duration(struct text text, uint64_t *duration_us, struct value_problem *problem)
{
    bool is_in_m = text.length > 1 && text.data[text.length - 1] == 'm' && is_digit(text.data[text.length - 2]);
    return with_unit(text, DURATION_UNITS, COUNT_OF(DURATION_UNITS), duration_us, problem, "is not a duration",
                     is_in_m ? "write `ms` for milliseconds, `min` for minutes"
                             : "write it like 250ms, 2s, 5min or 24h");
}

bool value_size(struct text text, uint64_t *bytes, struct value_problem *problem)
{
    return with_unit(text, SIZE_UNITS, COUNT_OF(SIZE_UNITS), bytes, problem, "is not a size",
                     "write it like 256KiB, 16MiB or 1GiB");
}

bool value_share(struct text text, uint64_t *millionths, struct value_problem *problem)
{
    const char *help = "write it like 3% or 0.5%";
    if (!with_unit(text, SHARE_UNITS, COUNT_OF(SHARE_UNITS), millionths, problem, "is not a share", help)) {
        return false;
    }
    return *millionths <= 1000000 || fail(problem, "is more than 100%", help);
}

bool value_decimal(struct text text, uint64_t *millionths, struct value_problem *problem)
{
    const char *help = "write it like 2 or 0.5";
    if (text.length > 1 && text.data[0] == '-') {
        return fail(problem, "is negative", help);
    }
    if (text.length == 0 || number_length(text) != text.length) {
        return fail(problem, "is not a number", help);
    }
    return scaled(text, 1000000, millionths) || fail(problem, "is too large or too fine", help);
}

bool value_integer(struct text text, uint64_t *value, struct value_problem *problem)
{
    const char *help = "write it in digits, like 4";
    if (text.length > 1 && text.data[0] == '-' && is_digit(text.data[1])) {
        return fail(problem, "is negative", help);
    }
    if (text_to_u64(text, value)) {
        return true;
    }
    size_t length = number_length(text);
    return fail(problem,
                length == text.length && length > 0 ? "is not a whole number, or too large" : "is not a number", help);
}

bool value_flag(struct text text, bool *flag, struct value_problem *problem)
{
    *flag = text_equals_c(text, "true");
    return *flag || text_equals_c(text, "false") || fail(problem, "is neither true nor false", "write true or false");
}

// Cuts "host:port" at the last colon; brackets are left out of the host. False: no port of that form.
static bool split_port(struct text text, struct text *host, struct text *port, bool *has_brackets)
{
    const char *colon = text.length == 0 ? NULL : memrchr(text.data, ':', text.length);
    if (colon == NULL) {
        return false;
    }
    *host = (struct text){ text.data, (size_t)(colon - text.data) };
    *port = (struct text){ colon + 1, text.length - host->length - 1 };
    *has_brackets = host->length >= 2 && host->data[0] == '[' && host->data[host->length - 1] == ']';
    if (*has_brackets) {
        host->data++;
        host->length -= 2;
    }
    return true;
}

static bool is_literal(int family, struct text host)
{
    char terminated[INET6_ADDRSTRLEN + 1];
    struct in6_addr address;
    if (host.length == 0 || host.length >= sizeof(terminated)) {
        return false;
    }
    memcpy(terminated, host.data, host.length);
    terminated[host.length] = 0;
    return inet_pton(family, terminated, &address) == 1;
}

static bool is_port(struct text text, uint64_t least)
{
    uint64_t port = 0;
    return text.length <= 5 && text_to_u64(text, &port) && port >= least && port <= 65535;
}

bool value_address(struct text text, struct value_problem *problem)
{
    const char *help = "write it like 127.0.0.1:8080 or [::1]:8080";
    struct text host;
    struct text port;
    bool has_brackets = false;
    if (is_literal(AF_INET6, text)) {
        return fail(problem, "has no port, or lacks the brackets of an IPv6 address", help);
    }
    if (!split_port(text, &host, &port, &has_brackets)) {
        return fail(problem, "has no port", help);
    }
    if (!is_literal(has_brackets ? AF_INET6 : AF_INET, host)) {
        return fail(problem, "does not begin with an address", help);
    }
    return is_port(port, 0) || fail(problem, "has a port that is not 0 to 65535", help);
}

bool value_name_server(struct text text, struct value_problem *problem)
{
    const char *help = "write it like 10.0.0.2, 10.0.0.2:5353 or [fd00::2]:53";
    struct text host;
    struct text port;
    bool has_brackets = false;
    if (is_literal(AF_INET, text) || is_literal(AF_INET6, text)) {
        return true;
    }
    if (!split_port(text, &host, &port, &has_brackets) || !is_literal(has_brackets ? AF_INET6 : AF_INET, host)) {
        return fail(problem, "is not the address of a name server", help);
    }
    return is_port(port, 1) || fail(problem, "has a port that is not 1 to 65535", help);
}

bool value_is_loopback(struct text address)
{
    char terminated[INET6_ADDRSTRLEN + 1];
    struct text host;
    struct text port;
    struct in_addr four;
    struct in6_addr six;
    bool has_brackets = false;
    if (!split_port(address, &host, &port, &has_brackets) || host.length >= sizeof(terminated)) {
        return false;
    }
    memcpy(terminated, host.data, host.length);
    terminated[host.length] = 0;
    if (has_brackets) {
        return inet_pton(AF_INET6, terminated, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
    }
    return inet_pton(AF_INET, terminated, &four) == 1 && (ntohl(four.s_addr) >> 24) == IN_LOOPBACKNET;
}

// A name or an IPv4 address in lower case, or an IPv6 address in brackets.
static bool is_host(struct text host)
{
    bool has_brackets = host.length > 2 && host.data[0] == '[' && host.data[host.length - 1] == ']';
    if (has_brackets) {
        return is_literal(AF_INET6, (struct text){ host.data + 1, host.length - 2 });
    }
    for (size_t i = 0; i < host.length; i++) {
        char c = host.data[i];
        if (!(c >= 'a' && c <= 'z') && !is_digit(c) && c != '.' && c != '-' && c != '_') {
            return false;
        }
    }
    return host.length > 0;
}

bool value_origin(struct text text, struct value_problem *problem)
{
    const char *help = "write it like https://www.example.com or http://localhost:3000, without a path; \"*\" is all";
    bool is_https = text_starts_with(text, TEXT("https://"));
    if (text_equals_c(text, "*")) {
        return true;
    }
    if (!is_https && !text_starts_with(text, TEXT("http://"))) {
        return fail(problem, "does not begin with https:// or http://", help);
    }
    size_t scheme = is_https ? strlen("https://") : strlen("http://");
    struct text rest = { text.data + scheme, text.length - scheme };
    const char *colon = rest.length == 0 ? NULL : memrchr(rest.data, ':', rest.length);
    if (colon != NULL && rest.data[rest.length - 1] != ']') {
        struct text port = { colon + 1, (size_t)(rest.data + rest.length - colon - 1) };
        if (!is_port(port, 1)) {
            return fail(problem, "has a port that is not 1 to 65535, or a path", help);
        }
        rest.length = (size_t)(colon - rest.data);
    }
    return is_host(rest) || fail(problem, "is not an origin", help);
}

bool value_variable(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || !is_digit(c))) {
            return false;
        }
    }
    return text.length > 0 && text.length <= 255;
}

bool value_name(struct text text, struct value_problem *problem)
{
    const char *help = "lower-case letters, digits and single underscores, like acme or white_label";
    if (text.length == 0) {
        return fail(problem, "is empty", help);
    }
    if (text.length > 63) {
        return fail(problem, "is longer than 63 bytes", help);
    }
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        bool is_inner = i > 0 && (is_digit(c) || (c == '_' && text.data[i - 1] != '_' && i + 1 < text.length));
        if (!(c >= 'a' && c <= 'z') && !is_inner) {
            return fail(problem, "is not a name", help);
        }
    }
    return true;
}

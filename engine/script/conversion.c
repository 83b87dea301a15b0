// The fraction fits 128 bits: both rates lie between 10^-9 and 10^9, so the powers of ten left over between them and
// the millionths lie between 10^-24 and 10^16, and numerator and denominator below 10^36.

#include "script/conversion.h"

#include "base/micros.h"

typedef unsigned __int128 wide;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static wide power(int exponent)
{
    wide value = 1;

    while (exponent-- > 0) {
        value *= 10;
    }
    return value;
}

// Digits without leading zeros and how many of all digits stand behind the point. False: no plain decimal number.
static bool read_digits(struct text text, struct rate *rate, int *significant)
{
    bool has_point = false, is_after_digit = false;
    int behind = 0;

    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '.') {
            if (has_point || !is_after_digit) {
                return false;
            }
            has_point = true;
            is_after_digit = false;
            continue;
        }
        if (!is_digit(text.data[i])) {
            return false;
        }
        is_after_digit = true;
        behind += has_point ? 1 : 0;
        *significant += *significant > 0 || text.data[i] != '0' ? 1 : 0;
        if (*significant <= RATE_DIGITS) {
            rate->digits = rate->digits * 10 + (uint64_t)(text.data[i] - '0');
        }
    }
    rate->exponent = -behind;
    return is_after_digit;
}

bool rate_parse(struct text text, struct rate *rate, const char **why)
{
    int significant = 0;

    *rate = (struct rate){ 0 };
    if (text.length > 40 || !read_digits(text, rate, &significant)) {
        *why = "a plain decimal number expected, such as 1.0842";
        return false;
    }
    if (significant > RATE_DIGITS) {
        *why = "more than 12 significant digits";
        return false;
    }
    if (rate->digits == 0) {
        *why = "a rate is not zero";
        return false;
    }
    while (significant++ < RATE_DIGITS) {
        rate->digits *= 10;
        rate->exponent--;
    }
    // A rate of n digits before its point has the exponent n - 12.
    if (rate->exponent < -RATE_TOP - RATE_DIGITS + 1 || rate->exponent > RATE_TOP - RATE_DIGITS) {
        *why = "a rate from 0.000000001 to 999999999 expected";
        return false;
    }
    return true;
}

struct conversion conversion_make(struct rate from, struct rate to, int decimals)
{
    int exponent = to.exponent - from.exponent + decimals - MICROS_DECIMALS;

    return (struct conversion){ .numerator = to.digits * power(exponent > 0 ? exponent : 0),
                                .denominator = from.digits * power(exponent < 0 ? -exponent : 0),
                                .decimals = decimals };
}

bool conversion_apply(const struct conversion *conversion, int64_t micros, int64_t *converted)
{
    wide size = micros < 0 ? 0 - (uint64_t)micros : (uint64_t)micros, product = 0;
    int64_t digit = (int64_t)power(MICROS_DECIMALS - conversion->decimals);

    // Where the numerator holds powers of ten the denominator is below 10^12: a product that does not fit is no result.
    if (__builtin_mul_overflow(size, conversion->numerator, &product)) {
        return false;
    }
    wide quotient = product / conversion->denominator, rest = product % conversion->denominator;
    quotient += rest >= conversion->denominator - rest ? 1 : 0;
    if (quotient > (wide)(INT64_MAX / digit)) {
        return false;
    }
    *converted = micros < 0 ? -(int64_t)quotient * digit : (int64_t)quotient * digit;
    return true;
}

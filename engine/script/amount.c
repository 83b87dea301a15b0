#include "script/amount.h"

// The codes of ISO 4217 that count money, each followed by its decimals, in order. Metals, units of account without
// decimals and the testing codes are no currencies; neither is NUC.
static const char CURRENCIES[] =
    "AED2AFN2ALL2AMD2ANG2AOA2ARS2AUD2AWG2AZN2BAM2BBD2BDT2BGN2BHD3BIF0BMD2BND2BOB2BOV2BRL2BSD2BTN2BWP2BYN2BZD2"
    "CAD2CDF2CHE2CHF2CHW2CLF4CLP0CNY2COP2COU2CRC2CUP2CVE2CZK2DJF0DKK2DOP2DZD2EGP2ERN2ETB2EUR2FJD2FKP2GBP2GEL2"
    "GHS2GIP2GMD2GNF0GTQ2GYD2HKD2HNL2HTG2HUF2IDR2ILS2INR2IQD3IRR2ISK0JMD2JOD3JPY0KES2KGS2KHR2KMF0KPW2KRW0KWD3"
    "KYD2KZT2LAK2LBP2LKR2LRD2LSL2LYD3MAD2MDL2MGA2MKD2MMK2MNT2MOP2MRU2MUR2MVR2MWK2MXN2MXV2MYR2MZN2NAD2NGN2NIO2"
    "NOK2NPR2NZD2OMR3PAB2PEN2PGK2PHP2PKR2PLN2PYG0QAR2RON2RSD2RUB2RWF0SAR2SBD2SCR2SDG2SEK2SGD2SHP2SLE2SOS2SRD2"
    "SSP2STN2SVC2SYP2SZL2THB2TJS2TMT2TND3TOP2TRY2TTD2TWD2TZS2UAH2UGX0USD2USN2UYI0UYU2UYW4UZS2VED2VES2VND0VUV0"
    "WST2XAF0XCD2XCG2XOF0XPF0YER2ZAR2ZMW2ZWG2";

enum { ROW = 4, ROWS = (sizeof(CURRENCIES) - 1) / ROW };

static uint32_t code_of(const char *letters)
{
    return (uint32_t)(unsigned char)letters[0] << 16 | (uint32_t)(unsigned char)letters[1] << 8 |
           (unsigned char)letters[2];
}

int amount_exponent(struct text currency)
{
    size_t low = 0, high = ROWS;

    if (currency.length != 3) {
        return -1;
    }
    uint32_t code = code_of(currency.data);
    while (low < high) {
        size_t middle = (low + high) / 2;
        uint32_t other = code_of(CURRENCIES + middle * ROW);
        if (code == other) {
            return CURRENCIES[middle * ROW + 3] - '0';
        }
        if (code < other) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return -1;
}

static int64_t power_of_ten(int exponent)
{
    int64_t value = 1;

    while (exponent-- > 0) {
        value *= 10;
    }
    return value;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// The digits after the point, as millionths. False: none, a stranger among them, or more than fit `decimals`.
static bool parse_decimals(const char *at, const char *end, int decimals, int64_t *micros, const char **why)
{
    int64_t scale = power_of_ten(AMOUNT_MAX_DECIMALS);

    if (at == end) {
        *why = "digits expected after the point";
        return false;
    }
    for (int i = 0; at < end; at++, i++) {
        if (!is_digit(*at)) {
            *why = "a decimal number expected, such as 412.30";
            return false;
        }
        if (i >= decimals && *at != '0') {
            *why = "more decimals than the currency has";
            return false;
        }
        if (i < AMOUNT_MAX_DECIMALS) {
            scale /= 10;
            *micros += (*at - '0') * scale;
        }
    }
    return true;
}

bool amount_parse(struct text text, int decimals, int64_t *micros, const char **why)
{
    const char *at = text.data;
    const char *end = text.data + text.length;
    int64_t units = 0, sum = 0, fraction = 0;
    bool is_negative = text.length > 0 && *at == '-';

    at += is_negative ? 1 : 0;
    if (at == end || !is_digit(*at)) {
        *why = "a decimal number expected, such as 412.30";
        return false;
    }
    for (; at < end && is_digit(*at); at++) {
        if (__builtin_mul_overflow(units, (int64_t)10, &units) || __builtin_add_overflow(units, *at - '0', &units)) {
            *why = "an amount out of range";
            return false;
        }
    }
    if (at < end && *at == '.') {
        if (!parse_decimals(at + 1, end, decimals, &fraction, why)) {
            return false;
        }
    } else if (at < end) {
        *why = "a decimal number expected, such as 412.30";
        return false;
    }
    if (__builtin_mul_overflow(units, power_of_ten(AMOUNT_MAX_DECIMALS), &sum) ||
        __builtin_add_overflow(sum, fraction, &sum)) {
        *why = "an amount out of range";
        return false;
    }
    *micros = is_negative ? -sum : sum;
    return true;
}

bool amount_is_as_written(struct text amount, int decimals)
{
    size_t places = (size_t)decimals;

    if (places == 0 || amount.length < places + 2 || amount.data[amount.length - places - 1] != '.') {
        return false;
    }
    return amount.data[0] >= '1' || (amount.data[0] == '0' && amount.data[1] == '.');
}

bool amount_round(int64_t micros, int decimals, int64_t *rounded)
{
    int64_t step = power_of_ten(AMOUNT_MAX_DECIMALS - decimals);
    int64_t rest = micros % step;
    int64_t floor = micros - rest;

    if (rest >= 0 ? rest * 2 < step : -rest * 2 < step) {
        *rounded = floor;
        return true;
    }
    return !__builtin_add_overflow(floor, rest < 0 ? -step : step, rounded);
}

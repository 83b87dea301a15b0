#include "script/amount.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/sandbox.h"

#include <string.h>

// Scripts hold money as decimal text. What a supplier sends is read by parse, round, split and scaled: data that they
// cannot read gives nil and a sentence. Arithmetic raises, for what it is given has been read before. What is not there
// gives nil everywhere.

static int refuse_number(lua_State *L, int argument)
{
    trouble_code(L, CODE_MONEY_FLOAT);
    return luaL_argerror(L, argument, "a float is an error: money is decimal text such as \"412.30\"");
}

static int64_t check_amount(lua_State *L, int argument, int decimals)
{
    const char *why = NULL;
    int64_t micros = 0;

    if (lua_type(L, argument) == LUA_TNUMBER) {
        refuse_number(L, argument);
    }
    if (!amount_parse(bind_check_text(L, argument), decimals, &micros, &why)) {
        trouble_code(L, CODE_MONEY_AMOUNT);
        luaL_argerror(L, argument, why);
    }
    return micros;
}

static int check_currency(lua_State *L, int argument)
{
    int decimals = amount_exponent(bind_check_text(L, argument));

    if (decimals < 0) {
        trouble_code(L, CODE_CURRENCY);
        luaL_argerror(L, argument,
                      lua_pushfstring(L, "a currency of ISO 4217 expected, got \"%s\"", lua_tostring(L, argument)));
    }
    return decimals;
}

static int push_amount(lua_State *L, int64_t micros, int decimals)
{
    char out[AMOUNT_TEXT_MAX];

    lua_pushlstring(L, out, amount_write(micros, decimals, out));
    return 1;
}

// Amount and currency as a supplier sends them; `decimals` -1: the currency's. False: the results are pushed.
static bool read_amount(lua_State *L, bool is_rounded, int64_t *micros, int *decimals, int *results)
{
    const char *why = NULL;

    *results = 1;
    if (lua_type(L, 1) == LUA_TNUMBER) {
        refuse_number(L, 1);
    }
    struct text text = lua_isnoneornil(L, 1) ? (struct text){ NULL, 0 } : bind_check_text(L, 1);
    struct text currency = lua_isnoneornil(L, 2) ? (struct text){ NULL, 0 } : bind_check_text(L, 2);
    if (text.data == NULL || currency.data == NULL) {
        lua_pushnil(L);
        return false;
    }
    *decimals = amount_exponent(currency);
    if (*decimals < 0) {
        *results = bind_refuse(L, "a currency of ISO 4217 expected, got \"%s\"", lua_tostring(L, 2));
        return false;
    }
    if (!amount_parse(text, is_rounded ? AMOUNT_MAX_DECIMALS : *decimals, micros, &why)) {
        *results = bind_refuse(L, "%s, got \"%s\"", why, text.data);
        return false;
    }
    return true;
}

static int money_parse(lua_State *L)
{
    bind_at_most(L, 2);
    int64_t micros = 0;
    int decimals = 0, results = 0;

    return read_amount(L, false, &micros, &decimals, &results) ? push_amount(L, micros, decimals) : results;
}

static int money_round(lua_State *L)
{
    bind_at_most(L, 2);
    int64_t micros = 0;
    int decimals = 0, results = 0;

    if (!read_amount(L, true, &micros, &decimals, &results)) {
        return results;
    }
    if (!amount_round(micros, decimals, &micros)) {
        return bind_refuse(L, "an amount out of range");
    }
    return push_amount(L, micros, decimals);
}

// split("EUR178.74") -> "178.74", "EUR"
static int money_split(lua_State *L)
{
    bind_at_most(L, 1);
    if (lua_isnoneornil(L, 1)) {
        lua_pushnil(L);
        return 1;
    }
    struct text text = bind_check_text(L, 1);
    struct text currency = { text.data, text.length < 3 ? text.length : 3 };
    struct text amount = { text.data + currency.length, text.length - currency.length };
    const char *why = "a currency of ISO 4217 expected before the amount";
    int64_t micros = 0;
    int decimals = amount_exponent(currency);

    if (decimals < 0 || !amount_parse(amount, decimals, &micros, &why)) {
        return bind_refuse(L, "%s, got \"%s\"", why, text.data);
    }
    push_amount(L, micros, decimals);
    bind_push_text(L, currency);
    return 2;
}

// scaled("41230", 2, "EUR") -> "412.30": a whole number and how many of its digits are decimals.
static int money_scaled(lua_State *L)
{
    bind_at_most(L, 3);
    if (bind_gives_nil(L, 3)) {
        return 1;
    }
    int64_t micros = 0;
    const char *why = NULL;
    int scale = (int)bind_check_integer(L, 2, 0, AMOUNT_MAX_DECIMALS);
    int decimals = check_currency(L, 3);

    if (lua_type(L, 1) == LUA_TNUMBER) {
        micros = bind_check_integer(L, 1, -9000000000000LL, 9000000000000LL) * 1000000;
    } else if (!amount_parse(bind_check_text(L, 1), 0, &micros, &why)) {
        return bind_refuse(L, "%s, got \"%s\"", why, lua_tostring(L, 1));
    }
    for (int i = 0; i < scale; i++) {
        micros /= 10; // exact: the six lowest digits are zero
    }
    int64_t rounded = 0;
    if (!amount_round(micros, decimals, &rounded) || rounded != micros) {
        return bind_refuse(L, "more decimals than the currency has");
    }
    return push_amount(L, micros, decimals);
}

// ---- arithmetic ----------------------------------------------------------------------------------------------------

static int out_of_range(lua_State *L)
{
    return luaL_error(L, "the sum is out of range");
}

static int money_add(lua_State *L)
{
    bind_at_most(L, 3);
    if (bind_gives_nil(L, 3)) {
        return 1;
    }
    int decimals = check_currency(L, 3);
    int64_t sum = 0;

    if (__builtin_add_overflow(check_amount(L, 1, decimals), check_amount(L, 2, decimals), &sum)) {
        return out_of_range(L);
    }
    return push_amount(L, sum, decimals);
}

static int money_sub(lua_State *L)
{
    bind_at_most(L, 3);
    if (bind_gives_nil(L, 3)) {
        return 1;
    }
    int decimals = check_currency(L, 3);
    int64_t sum = 0;

    if (__builtin_sub_overflow(check_amount(L, 1, decimals), check_amount(L, 2, decimals), &sum)) {
        return out_of_range(L);
    }
    return push_amount(L, sum, decimals);
}

static int money_mul(lua_State *L)
{
    bind_at_most(L, 3);
    if (bind_gives_nil(L, 3)) {
        return 1;
    }
    int decimals = check_currency(L, 3);
    int64_t factor = bind_check_integer(L, 2, -1000000000, 1000000000);
    int64_t product = 0;

    if (__builtin_mul_overflow(check_amount(L, 1, decimals), factor, &product)) {
        return out_of_range(L);
    }
    return push_amount(L, product, decimals);
}

enum { SUM_STEPS = 32 }; // for each amount

static int money_sum(lua_State *L)
{
    bind_at_most(L, 2);
    if (bind_gives_nil(L, 2)) {
        return 1;
    }
    int decimals = check_currency(L, 2);
    int64_t sum = 0;

    if (!bind_unwrap(L, 1)) {
        return bind_expected(L, 1, "a list of amounts");
    }
    int count = (int)lua_objlen(L, 1);
    for (int i = 1; i <= count; i++) {
        const char *why = "money is decimal text; a float is an error";
        int64_t micros = 0;
        sandbox_spend(L, SUM_STEPS);
        lua_rawgeti(L, 1, i);
        if (lua_type(L, -1) != LUA_TSTRING || !amount_parse(bind_to_text(L, -1), decimals, &micros, &why)) {
            return luaL_argerror(L, 1, lua_pushfstring(L, "[%d]: %s", i, why));
        }
        if (__builtin_add_overflow(sum, micros, &sum)) {
            return out_of_range(L);
        }
        lua_pop(L, 1);
    }
    return push_amount(L, sum, decimals);
}

// compare(a, b): -1, 0 or 1; both in the same currency.
static int money_compare(lua_State *L)
{
    bind_at_most(L, 2);
    if (bind_gives_nil(L, 2)) {
        return 1;
    }
    int64_t a = check_amount(L, 1, AMOUNT_MAX_DECIMALS);
    int64_t b = check_amount(L, 2, AMOUNT_MAX_DECIMALS);

    lua_pushinteger(L, a < b ? -1 : a > b);
    return 1;
}

static int money_exponent(lua_State *L)
{
    bind_at_most(L, 1);
    if (bind_gives_nil(L, 1)) {
        return 1;
    }
    int decimals = amount_exponent(bind_check_text(L, 1));

    if (decimals < 0) {
        lua_pushnil(L);
    } else {
        lua_pushinteger(L, decimals);
    }
    return 1;
}

void bind_money(lua_State *L)
{
    static const luaL_Reg functions[] = { { "parse", money_parse },
                                          { "round", money_round },
                                          { "split", money_split },
                                          { "scaled", money_scaled },
                                          { "add", money_add },
                                          { "sub", money_sub },
                                          { "mul", money_mul },
                                          { "sum", money_sum },
                                          { "compare", money_compare },
                                          { "exponent", money_exponent },
                                          { NULL, NULL } };

    bind_push_module(L, functions);
}

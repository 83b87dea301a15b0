#include "script/offers_scope.h"

#include "script/amount.h"
#include "script/bind_support.h"
#include "script/offers.h"
#include "script/rates.h"

#include <string.h>

static const char RATES_KEY;

void offers_set_rates(lua_State *L, const struct rates *rates)
{
    bind_keep_pointer(L, &RATES_KEY, rates);
}

const struct rates *price_rates(lua_State *L)
{
    return bind_kept_pointer(L, &RATES_KEY);
}

// ---- scopes --------------------------------------------------------------------------------------------------------

void scope_enter(struct walk *walk, struct walk_scope *scope, const struct schema_object *object,
                 const struct value *values)
{
    scope->object = object;
    scope->values = values;
    scope->outer = walk->scope;
    scope->is_converted = false;
    scope->is_shown_beside = false;
    scope->has_amount = false;
    scope->has_times = false;
    scope->told_min = -1;
    walk->scope = scope;
    if (walk->is_in_price && object->currency >= 0) {
        price_enter(walk, scope);
    }
}

bool scope_leave(struct walk *walk, struct walk_scope *scope)
{
    if (scope->is_converted && scope->has_amount) {
        price_leave(walk, scope);
    }
    if (!times_leave(walk, scope)) {
        return false;
    }
    walk->scope = scope->outer;
    return true;
}

// ---- prices --------------------------------------------------------------------------------------------------------

static struct text currency_of(const struct walk_scope *scope)
{
    return value_text(&scope->values[scope->object->currency]);
}

// The total decides for the whole price: without a rate for it, none of the amounts is converted.
void price_enter(struct walk *walk, struct walk_scope *scope)
{
    const struct schema_object *price = walk->schema->price->object;
    struct text currency = currency_of(scope);
    bool is_price = scope->object == price;

    if (walk->rates == NULL || currency.data == NULL) {
        return;
    }
    bool is_ours = text_equals(currency, walk->target);
    bool is_convertible = !is_ours && rates_find(walk->rates, currency, walk->target, &scope->conversion);
    if (is_price) {
        walk->is_converted = is_convertible;
        scope->is_converted = is_convertible;
        scope->is_shown_beside = is_convertible;
        return;
    }
    bool is_total_shown = walk->is_converted || text_equals_c(walk->target, walk->currency);
    scope->is_converted = is_convertible && is_total_shown;
    scope->is_shown_beside = scope->is_converted && !text_equals_c(currency, walk->currency);
}

bool price_show_amount(struct walk *walk, const struct schema_field *field, int64_t *micros, int *decimals)
{
    struct walk_scope *scope = walk->scope;

    if (scope != NULL && scope->is_converted) {
        if (!scope->has_amount) {
            scope->has_amount = true;
            scope->amount_micros = *micros;
        }
        if (!conversion_apply(&scope->conversion, *micros, micros)) {
            return walk_failed(walk, "an amount out of range in the currency of the search");
        }
        *decimals = walk->target_decimals;
    }
    if (field == walk->schema->total) {
        walk->shown_micros = *micros;
    }
    return true;
}

struct text price_show_currency(const struct walk *walk, const struct schema_field *field, struct text currency)
{
    const struct walk_scope *scope = walk->scope;
    bool is_shown = scope != NULL && scope->is_converted && field == &scope->object->fields[scope->object->currency];

    return is_shown ? walk->target : currency;
}

bool price_is_like_total(const struct walk *walk)
{
    const struct walk_scope *scope = walk->scope;
    struct text shown = scope->is_converted ? walk->target : currency_of(scope);
    struct text total = walk->is_converted ? walk->target : text_of(walk->currency);

    return text_equals(shown, total);
}

bool price_is_reserved(const struct walk *walk, const struct schema_object *object, const char *name)
{
    return object == walk->schema->price->object && (strcmp(name, "supplier_price") == 0 || strcmp(name, "fx") == 0);
}

// Of the price: its total. Of an entry of a list: its first amount.
void price_leave(struct walk *walk, const struct walk_scope *scope)
{
    bool is_price = scope->object == walk->schema->price->object;
    int64_t micros = is_price ? walk->total_micros : scope->amount_micros;
    struct text currency = currency_of(scope);
    char amount[AMOUNT_TEXT_MAX];

    if (!scope->is_shown_beside) {
        return;
    }
    buffer_append_text(walk->out, TEXT(",\"supplier_price\":{\"amount\":\""));
    buffer_append(walk->out, amount, amount_write(micros, amount_exponent(currency), amount));
    buffer_append_text(walk->out, TEXT("\",\"currency\":\""));
    buffer_append_text(walk->out, currency);
    buffer_append_text(walk->out, TEXT("\"}"));
    if (is_price) {
        buffer_append_text(walk->out, TEXT(",\"fx\":"));
        buffer_append_text(walk->out, rates_json(walk->rates));
    }
}

// What is due later is part of the total: a supplier that leaves it out would look cheaper than it is.
bool price_has_due(struct walk *walk)
{
    if (walk->due_count == 0 && walk->due_micros == 0) {
        return true;
    }
    int decimals = amount_exponent(walk->is_converted ? walk->target : text_of(walk->currency));
    int64_t unit_micros = 1000000;

    for (; decimals > 0 && unit_micros > 1; decimals--) {
        unit_micros /= 10;
    }
    // In another currency each amount was rounded on its own, and so was the total.
    bool is_within = walk->due_shown_micros - walk->shown_micros <= (int64_t)(walk->due_count + 1) * unit_micros;
    if (walk->due_micros <= walk->total_micros && is_within) {
        return true;
    }
    walk->steps[walk->depth++] = (struct walk_step){ walk->schema->due_later->name, 0 };
    return walk_failed(walk, "what is due later is part of the total, but more than it");
}

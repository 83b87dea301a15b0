// A supplier's plans are those that its file makes, and the one that is its `normalise`, wherever that was made. What
// modules make besides may be for other products.

#include "script/bind.h"
#include "script/ceiling_check.h"
#include "script/freeze.h"
#include "script/offers.h"
#include "script/offers_state.h"
#include "script/plan_check.h"
#include "script/plan_source.h"
#include "script/script_check.h"

#include <lauxlib.h>

/// Where the findings of a plan belong.
struct plan_place {
    struct script_check *check;
    const struct script_file *file; // the supplier's
    const struct plan *plan;
};

static void report(void *context, const struct plan_finding *finding)
{
    const struct plan_place *place = context;
    struct script_file module = { .path = place->plan->file };
    bool is_known = module.path.data != NULL;
    bool is_suppliers = !is_known || text_equals(module.path, place->file->path);
    uint32_t line = is_known ? place->plan->line : script_check_line_of(place->file, "normalise", 1);
    uint32_t leaf = is_known && is_suppliers ? plan_source_line(place->file->source, line, finding->place) : 0;

    script_check_report(place->check, is_suppliers ? place->file : &module, leaf != 0 ? leaf : line, CODE_PLAN,
                        finding->help, "%s", finding->message);
}

/// The schema of the supplier's product, whose file is run once more, beside the supplier's, and whose table is pushed;
/// NULL: it has none. What is wrong with it is told when the product is checked.
static const struct schema *load_schema(lua_State *L, const struct script_check *check, struct text product)
{
    for (size_t i = 0; i < check->product_count; i++) {
        const struct script_file *file = &check->products[i];
        if (!text_equals(file->name, product) || file->source.data == NULL) {
            continue;
        }
        if (!script_shelf_load(L, file) || lua_pcall(L, 0, 1, 0) != 0) {
            sandbox_stop_here(L);
            return NULL;
        }
        if (!lua_istable(L, -1) || !offers_compile_product(L, lua_gettop(L))) {
            return NULL;
        }
        const struct schema *schema = offers_state_schema(L, product.data);
        lua_pop(L, 1); // its readers
        return schema;
    }
    return NULL;
}

/// Pushes the search of the example of the product on top; its index, or 0: there is none.
static int push_search(lua_State *L, const struct script_check *check, struct text product)
{
    bind_time_set_places(L, check->places);
    bool is_asked = ceiling_check_push_example(L, product, lua_gettop(L));
    return is_asked && freeze_is_table(L, -2) ? lua_gettop(L) - 1 : 0;
}

void script_check_plans(lua_State *L, struct script_check *check, const struct script_file *file, struct text product)
{
    int top = lua_gettop(L);
    int count = plan_count_made(L);

    if (count == 0 || product.data == NULL) {
        return;
    }
    const struct schema *schema = load_schema(L, check, product);
    int search = schema != NULL ? push_search(L, check, product) : 0;
    lua_getfield(L, 1, "normalise");
    const struct plan *normalise = plan_at(L, lua_gettop(L));
    for (int i = 1; i <= count && schema != NULL; i++) {
        struct plan_place place = { .check = check, .file = file, .plan = plan_made(L, i) };
        if (place.plan != NULL && (place.plan == normalise || text_equals(place.plan->file, file->path))) {
            plan_check(L, place.plan, schema, search, report, &place);
        }
    }
    lua_settop(L, top);
}

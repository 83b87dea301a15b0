// Loading: what a set declares, and that everything wrong with its files is said at once, with its place.

#include "unit/script_support.h"

#include <glob.h>

static struct support_world world;

static int open_world(void **state)
{
    (void)state;
    support_open(&world);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    support_close(&world);
    return 0;
}

static void assert_finds_as(enum status expected, const char *source, const char *finding)
{
    struct support_findings findings = { .count = 0 };
    struct script_set *set = NULL;

    world.count = 0;
    support_add_source(&world, "acme", source);
    assert_int_equal(
        script_set_load(SUPPORT_DATA "/scripts", world.sources, world.count, support_on_finding, &findings, &set),
        expected);
    assert_null(set);
    if (strstr(findings.text, finding) == NULL) {
        fail_msg("no \"%s\" in: %s", finding, findings.text);
    }
}

static void assert_finds(const char *source, const char *finding)
{
    assert_finds_as(STATUS_INVALID, source, finding);
}

static void assert_loads(const char *source)
{
    struct support_findings findings = { .count = 0 };
    struct script_set *set = NULL;

    world.count = 0;
    support_add_source(&world, "acme", source);
    (void)!script_set_load(SUPPORT_DATA "/scripts", world.sources, world.count, support_on_finding, &findings, &set);
    assert_string_equal(findings.text, "");
    assert_non_null(set);
    script_set_release(&set);
}

#define ACME                                                                                                           \
    "return { name = \"acme\", product = \"shop\", owner = \"o\", hosts = { \"a.example\" },\n"                        \
    "build_request = function() end, normalise = function() end,\n"

static void a_good_file_loads_and_tells_what_it_declares(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_add(&world, "other", SUPPORT_DATA "/suppliers/good.lua"); // `uses`
    support_load(&world);
    assert_int_equal(script_set_supplier_count(world.set), 2);
    assert_int_equal(script_set_product_count(world.set), 1);
    assert_true(text_equals_c(script_set_product(world.set, 0), "shop"));

    const struct script_supplier *good = script_set_supplier(world.set, 0);
    const struct script_supplier *other = script_set_supplier(world.set, 1);
    assert_true(text_equals_c(good->name, "good"));
    assert_true(text_equals_c(other->name, "other"));
    assert_true(text_equals_c(good->display_name, "Good Things"));
    assert_true(text_equals_c(good->product, "shop"));
    assert_int_equal(good->host_count, 2);
    assert_true(text_equals_c(good->hosts[1], "127.0.0.1:9000"));
    assert_int_equal(good->secret_count, 1);
    assert_true(text_equals_c(good->options, "{\"base_url\":\"https://api.good.example/v1/\",\"size\":3}"));
    assert_int_equal(good->body_cap, 65536);
    assert_int_equal(good->label.length, strlen("good@0000"));
    assert_memory_equal(good->label.data + 4, other->label.data + 5, 5); // one source, one digest
}

static void each_breach_of_the_contract_is_a_finding_with_its_line(void **state)
{
    (void)state;
    assert_finds("return 7", "acme.lua:0: a supplier's file must return a table");
    assert_finds("local x = = 1", "acme.lua:1: unexpected symbol");
    assert_finds(ACME "name = \"acmee\" }", "name is \"acmee\", but the file says \"acme\"");
    assert_finds("return {\n  name = \"acme\" }", "acme.lua:2: field `product` is missing");
    assert_finds(ACME "ceilling = 3 }", "acme.lua:3: unknown field `ceilling` (did you mean `ceiling`?)");
    assert_finds(ACME "skip = 3 }", "acme.lua:3: field `skip` must be a function, not a number");
    assert_finds(ACME "endpoints = { \"https://b.acme.example/v2\" } }",
                 "acme.lua:3: endpoints names what is no origin");
    assert_finds(ACME "endpoints = { 7 } }", "acme.lua:3: endpoints names what is no origin");
    assert_finds(ACME "sign = {} }", "acme.lua:3: field `sign` must be a function, not a table");
    assert_finds(ACME "login = function() end }", "acme.lua:3: field `login` must be a table, not a function");
    assert_finds(ACME "login = { build_request = function() end } }", "acme.lua:3: field `login.read` is missing");
    assert_finds(ACME "login = { build_request = 1, read = function() end } }",
                 "acme.lua:3: field `login.build_request` must be a function");
    assert_finds(ACME "login = { build_request = function() end, red = function() end, read = function() end } }",
                 "acme.lua:3: unknown field `login.red`");
    assert_finds(ACME "revalidate = { read = function() end } }",
                 "acme.lua:3: field `revalidate.build_request` is missing");
    assert_finds(ACME "revalidate = {\n build_request = 1, read = function() end } }",
                 "acme.lua:4: field `revalidate.build_request` must be a function, not a number");
    assert_finds(ACME "revalidate = { build_request = function() end,\n raed = 1, read = function() end } }",
                 "acme.lua:4: unknown field `revalidate.raed` (did you mean `read`?)");
    assert_finds(ACME "product = \"shopp\" }", "there is no product \"shopp\" (did you mean \"shop\"?)");
    assert_finds("return { name = \"acme\", product = \"shop\",\nhosts = \"a.example\" }",
                 "acme.lua:2: field `hosts` must be a table, not a string (such as hosts = { \"api.acme.example\" })");
    assert_finds(ACME "hosts = { \"https://a.example\" } }", "hosts[1] must be a lower-case host name");
    assert_finds(ACME "hosts = { \"a.example:99999\" } }", "hosts[1] must be");
    assert_finds(ACME "secrets = { \"A B\" } }", "secrets[1] must be");
    assert_finds(ACME "limits = { body = \"2MB\" } }", "limits.body is not a size");
    assert_finds(ACME "limits = { bodi = \"2MiB\" } }", "unknown field `limits.bodi` (did you mean `body`?)");
    assert_finds(ACME "options = { f = function() end } }", "options: ");
    assert_finds(ACME "limits = { hedge = 1 } }", "acme.lua:3: hedge must be true or false");
    assert_finds(ACME "limits = { retry_on = { 404 } } }", "retry_on has what is no status of a failure");
    assert_finds(ACME "limits = { retry_on = 503 } }", "retry_on is no list of at most 16 statuses");
    assert_finds(ACME "limits = { call_cost = 0 } }", "call_cost is no number above 0");
    assert_finds(ACME "limits = { rps = 0 } }",
                 "acme.lua:3: limits.rps is no number of requests (write a whole number from 1 to 100000)");
    assert_finds(ACME "limits = { per_day = 2.5 } }", "limits.per_day is no number of requests");
    assert_finds(ACME "limits = { concurrent = \"6\" } }", "limits.concurrent is no number of requests");
    assert_finds(ACME "limits = { per_minute = 1/0 } }", "limits.per_minute is no number of requests");
    assert_finds(ACME "limits = { [1] = 2 } }", "unknown field `limits.?`");
    assert_finds("leak = 1", "acme.lua:1: global \"leak\" cannot be set");
    assert_finds("return os.time()", "acme.lua:1: \"os\" is not available to scripts");
    assert_finds("require(\"nothing\")", "there is no module \"nothing\"");
    assert_finds_as(STATUS_TIMEOUT, "while true do end", "runs for more than 2 s");
    assert_finds("local t = {} for i = 1, 1e9 do t[i] = {} end", "uses up its memory");
    assert_finds("", "is empty");
    assert_finds("\033LJ\002", "acme.lua:1: this is bytecode: scripts are loaded as text only");
}

static void globals_that_are_not_there_are_found_in_functions_that_never_ran(void **state)
{
    (void)state;
    assert_finds("local function f()\n  return mony.scaled(1)\nend\n" ACME "skip = f }",
                 "acme.lua:2: unknown global \"mony\" (did you mean \"money\"?)");
    assert_finds("local function f()\n  return function()\n    total = 1\n  end\nend\n" ACME "skip = f }",
                 "acme.lua:3: global \"total\" cannot be set (declare it with local)");
    assert_finds("local f = function() return { 1, os.time() } end\n" ACME "skip = f }",
                 "acme.lua:1: \"os\" is not available to scripts");
    // Locals, upvalues, parameters, fields and methods are none.
    assert_loads("local mony = { os = 1 }\nlocal function f(io)\n  for debug, jit in ipairs({ io }) do\n"
                 "    io.load = mony.os + debug + jit:dofile()\n  end\nend\n" ACME "skip = f }");
}

static void fields_of_helpers_that_are_not_there_are_found_likewise(void **state)
{
    (void)state;
    assert_finds("local function f(key)\n  return crypto.hmack(key)\nend\n" ACME "skip = f }",
                 "acme.lua:2: there is no crypto.hmack (did you mean crypto.hmac?)");
    assert_finds("local function f(at)\n  return function()\n    return { time.localtime(at) }\n  end\nend\n" ACME
                 "skip = f }",
                 "acme.lua:3: there is no time.localtime (did you mean time.local_time?)");
    assert_finds("local f = function() return math.random(6) end\n" ACME "skip = f }",
                 "acme.lua:1: there is no math.random");
    assert_finds(ACME "secrets = { 'ACME_KEY' },\nskip = function(_, ctx) return ctx.secret.ACME_KYE == 1 end }",
                 "acme.lua:4: there is no secret \"ACME_KYE\" (did you mean \"ACME_KEY\"?)");
    // While the file is loaded they raise.
    assert_finds("local trouble = {\n  [429] = fail.qouta,\n}\n" ACME "skip = function() return trouble end }",
                 "acme.lua:2: there is no fail.qouta (did you mean fail.quota?)");
    // A local of that name, methods, secrets of answers, and what may be either of two tables, are none.
    assert_loads("local time = { localtime = 1 }\nlocal function f(answer, is_sum)\n"
                 "  local key = (is_sum and crypto or url).encode\n"
                 "  return answer.secret.ACME_KEYS, answer.secret.token, time.localtime, ('x'):upper(), key\nend\n" ACME
                 "secrets = { 'OTHER' }, skip = f }");
}

static void all_findings_are_told_not_only_the_first(void **state)
{
    struct support_findings findings = { .count = 0 };
    struct script_set *set = NULL;

    (void)state;
    support_add_source(&world, "one", "return { name = \"two\", product = \"shop\", hosts = {} }");
    support_add(&world, "gone", "tests/unit/data/script/suppliers/gone.lua");
    assert_int_equal(
        script_set_load(SUPPORT_DATA "/nowhere", world.sources, world.count, support_on_finding, &findings, &set),
        STATUS_INVALID);
    assert_non_null(
        strstr(findings.text, "nowhere:0: cannot be read: No such file or directory (set `scripts_dir` to"));
    assert_null(strstr(findings.text, "there is no product")); // nobody knows which there are
    assert_non_null(strstr(findings.text, "gone.lua:0: cannot be read"));
    assert_non_null(strstr(findings.text, "name is \"two\""));
    assert_non_null(strstr(findings.text, "`normalise` is missing"));
    assert_non_null(strstr(findings.text, "`owner` is missing"));
}

static void a_set_is_retired_by_its_last_owner_and_lives_while_it_is_held(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    struct script_set *held = script_set_hold(world.set);
    struct script_set *second = script_set_acquire(world.set);
    script_set_release(&second);
    assert_null(second);
    assert_false(script_set_is_retired(held));
    world.count = 0;
    free((void *)(uintptr_t)world.accounts[0].context.data);
    script_set_release(&world.set);
    assert_true(script_set_is_retired(held));
    assert_true(text_equals_c(script_set_supplier_file(held, 0)->name, "good"));
    script_set_drop(&held);
    assert_null(held);
}

static void a_script_is_quarantined_once_and_alone(void **state)
{
    const struct script_id first = { .index = 0 };
    const struct script_id second = { .index = 1 };

    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_add(&world, "other", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    assert_true(script_set_quarantine(world.set, first));
    assert_false(script_set_quarantine(world.set, first));
    assert_true(script_set_is_quarantined(world.set, first));
    assert_false(script_set_is_quarantined(world.set, second));
    assert_false(script_set_is_quarantined(world.set, (struct script_id){ .is_product = true, .index = 0 }));
}

/// Every script that the project ships must load.
static void the_projects_own_scripts_load(void **state)
{
    glob_t files;
    struct support_findings findings = { .count = 0 };

    (void)state;
    assert_int_equal(glob("suppliers/*.lua", 0, NULL, &files), 0);
    (void)glob("examples/farm/suppliers/*.lua", GLOB_APPEND, NULL, &files);
    for (size_t i = 0; i < files.gl_pathc && i < SUPPORT_MAX; i++) {
        char name[64];
        const char *slash = strrchr(files.gl_pathv[i], '/');
        snprintf(name, sizeof name, "%.*s", (int)strcspn(slash + 1, "."), slash + 1);
        support_add(&world, name, files.gl_pathv[i]);
    }
    globfree(&files);
    enum status status =
        script_set_load("scripts", world.sources, world.count, support_on_finding, &findings, &world.set);
    if (status != STATUS_OK) {
        fail_msg("%s", findings.text);
    }
    assert_true(world.count > 0);
}

// Take longer than anybody lives; only the first one cannot be stopped.
#define STUCK "stick(1e12)"
#define BOMB "(\"a\"):rep(40):find((\"a-\"):rep(40) .. \"b\")"

static void a_file_that_is_stuck_in_c_ends_as_a_finding_beside_the_others(void **state)
{
    struct support_findings findings = { .count = 0 };
    struct script_set *set = NULL;

    (void)state;
    world.count = 0;
    support_add_source(&world, "stuck", "local x = " STUCK "\nreturn {}");
    support_add_source(&world, "bomb", "local x = " BOMB "\nreturn {}");
    support_add_source(&world, "broken", "return 7");
    support_add_source(&world, "sly", "return setmetatable({}, { __index = function() return " STUCK " end })");
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    assert_int_equal(
        script_set_load(SUPPORT_DATA "/scripts", world.sources, world.count, support_on_finding, &findings, &set),
        STATUS_TIMEOUT);
    assert_null(set);
    static const char *const wanted[] = { "stuck.lua:0: gets stuck inside a function of C",
                                          "bomb.lua:0: the file runs for more than 2 s",
                                          "broken.lua:0: a supplier's file must return a table",
                                          "sly.lua:0: gets stuck inside a function of C" };
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        if (strstr(findings.text, wanted[i]) == NULL) {
            fail_msg("no \"%s\" in: %s", wanted[i], findings.text);
        }
    }
    assert_int_equal(findings.count, 4);
    assert_null(strstr(findings.text, "good.lua"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_good_file_loads_and_tells_what_it_declares, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_file_that_is_stuck_in_c_ends_as_a_finding_beside_the_others, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(each_breach_of_the_contract_is_a_finding_with_its_line, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(globals_that_are_not_there_are_found_in_functions_that_never_ran, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(fields_of_helpers_that_are_not_there_are_found_likewise, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(all_findings_are_told_not_only_the_first, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_set_is_retired_by_its_last_owner_and_lives_while_it_is_held, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(a_script_is_quarantined_once_and_alone, open_world, close_world),
        cmocka_unit_test_setup_teardown(the_projects_own_scripts_load, open_world, close_world),
    };
    return cmocka_run_group_tests_name("script_set", tests, NULL, NULL);
}

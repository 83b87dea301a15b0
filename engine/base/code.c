// The rows stand in the order of their numbers, which a test checks; the numbers themselves are in the header.

#include "base/code.h"

#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

// clang-format off
static const struct code_row rows[] = {
    { CODE_SETTINGS_UNREADABLE, "settings_unreadable", "the settings cannot be read",
      "The file is missing, is not YAML, or is not UTF-8. The place is where the reader gave up; the mistake is\n"
      "often a line above: an indent, a quote, a colon without a space.\n" },
    { CODE_SETTING_UNKNOWN, "setting_unknown", "a setting that does not exist",
      "Nothing reads this key, so it is refused before somebody relies on it. Mend the spelling, or look it up\n"
      "in `examples/lastcall.yaml`, which explains each.\n" },
    { CODE_SETTING_TWICE, "setting_twice", "a setting stands twice",
      "Only one of the two could count, and nobody would see which. Take one away.\n" },
    { CODE_SETTING_VALUE, "setting_value", "a setting has a value that it cannot have",
      "Durations and sizes need a unit (`2s`, `4MiB`), shares a `%`; the message names the range.\n" },
    { CODE_SETTING_CONFLICT, "setting_conflict", "settings contradict each other",
      "Each is allowed, but not beside the other. The message names both.\n" },
    { CODE_SETTING_UNSUPPORTED, "setting_unsupported", "a setting that this version does not act on",
      "It is known and refused, so that nobody believes in it. Take it out.\n" },
    { CODE_RULE_USELESS, "rule_useless", "a rule that can never do anything",
      "A rule before it always fits first, or it asks for a supplier, market or segment that does not exist.\n"
      "Reorder the rules, or take it out.\n" },
    { CODE_DATA_FILE, "data_file", "a data file cannot be used",
      "A look-up table, a table of rates, or a certificate is missing, malformed, or lacks a column.\n" },
    { CODE_START, "start", "the engine could not start like this",
      "An address is taken, a directory cannot be written, a limit of the machine is too low.\n" },
    { CODE_SCRIPT_UNREADABLE, "script_unreadable", "a script cannot be read",
      "The file is missing, too large, not text, or bytecode. Scripts are loaded as text only.\n" },
    { CODE_SYNTAX, "syntax", "this is no Lua",
      "The line is where the reader gave up; the cause is often above: a missing comma, `end`, or bracket.\n" },
    { CODE_NO_TABLE, "no_table", "the file returns no table",
      "A supplier's file ends with `return { name = …, … }`; a plain `local supplier = {…}` without `return`\n"
      "gives nothing.\n" },
    { CODE_FIELD_UNKNOWN, "field_unknown", "a field that nobody reads",
      "A misspelt field would be ignored for ever, so it is refused. Mend the spelling; `lastcall new` writes a\n"
      "file with all fields.\n" },
    { CODE_FIELD_MISSING, "field_missing", "a field is missing",
      "The contract needs it. `suppliers/README.md` shows the least that a supplier must say.\n" },
    { CODE_FIELD_TYPE, "field_type", "a field has the wrong type",
      "The message says what was found and what is wanted.\n" },
    { CODE_FIELD_VALUE, "field_value", "a field has a value that it cannot have",
      "It has the right type, but is out of range, or none of the words that are known.\n" },
    { CODE_MODULE_MISSING, "module_missing", "a module does not exist",
      "`require` finds the files of `scripts/` and nothing else, not those of its folders: `require(\"dates\")` is\n"
      "`scripts/dates.lua`. No library of the machine can be loaded.\n" },
    { CODE_MODULE_BROKEN, "module_broken", "a module that the file needs is broken",
      "The finding in the module itself says why. Mend that first.\n" },
    { CODE_PRODUCT, "product", "trouble with a product",
      "The supplier names a product that does not exist, or the product's file in `scripts/products/` is\n"
      "broken.\n" },
    { CODE_SHAPE, "shape", "a shape or path that cannot be read by",
      "Of a shape: it names the fields of a document, `{ offers = { { id = text } } }`; a list of one element is\n"
      "\"array of\", leaves are `text`, `decimal`, `integer`, `flag`, `raw`, free keys are `map_of { … }`. Of a\n"
      "path that no fixture has (`check --strict`): what is misspelt finds nothing, and nobody would say so.\n"
      "Hold it against a saved answer (`lastcall try NAME SEARCH --body FILE` lists the names that are there);\n"
      "if it is right, record an answer that has it: `lastcall record NAME SEARCH --body FILE --status N`.\n" },
    { CODE_PLAN, "plan", "a plan that cannot work",
      "The plan's terms or paths contradict the product or each other. The message names the field.\n" },
    { CODE_CEILING_IMPURE, "ceiling_impure", "a ceiling that is not the same each time",
      "`ceiling` sees no clock, randomness or state: two fresh states gave two answers, or it kept something\n"
      "outside of itself.\n" },
    { CODE_CEILING_UNREACHABLE, "ceiling_unreachable", "a ceiling that can never count",
      "It is longer than any search may take, or shorter than anybody could answer. Compare it with\n"
      "`deadline.max`.\n" },
    { CODE_STEPS_DO_NOT_FIT, "steps_do_not_fit", "login and steps do not fit into the ceiling",
      "What the waits and steps need together is more than the supplier is given, so it could never answer.\n" },
    { CODE_SUPPLIER_NAME, "supplier_name", "a supplier's name is wrong or taken",
      "The name is the file's: `suppliers/acme.lua` says `name = \"acme\"`, in small letters, digits and `_`.\n" },
    { CODE_UNUSED, "unused", "something is declared and never used",
      "A secret or option that the script never reads, or a host that no fixture asks. Take it out, or find out\n"
      "what should have used it. Only `lastcall check --strict` tells.\n" },
    { CODE_FIXTURE_UNREADABLE, "fixture_unreadable", "a fixture cannot be read",
      "It is no JSON, or a file that it names (`body_file`) is missing.\n" },
    { CODE_FIXTURE_FIELD, "fixture_field", "a field of a fixture is wrong",
      "It is unknown, missing, or has a value that it cannot have. `suppliers/README.md` lists them.\n" },
    { CODE_FIXTURE_EXPECTS_NOTHING, "fixture_expects_nothing", "a fixture that expects nothing",
      "It would pass whatever happened. Give it `expect`, or let `lastcall test --update` write what came.\n" },
    { CODE_REQUEST_DIFFERS, "request_differs", "the request is not the expected one",
      "What the script built differs from `expect_request`. Mend the script, or, if it is meant, `lastcall test\n"
      "--update`.\n" },
    { CODE_OUTCOME_DIFFERS, "outcome_differs", "the outcome is not the expected one",
      "A fixture `ok-*` must not fail; others say what becomes of them in `expect.outcome`.\n" },
    { CODE_OFFERS_DIFFER, "offers_differ", "the offers are not the expected ones",
      "Their number, or a field of the first one, differs from `expect`. Mend the script, or `lastcall test\n"
      "--update`.\n" },
    { CODE_EXCHANGE_COUNT, "exchange_count", "more or fewer requests than the fixture has",
      "The script asked for a step that the fixture has no answer to, or never asked for one that it has.\n" },
    { CODE_CEILING_DIFFERS, "ceiling_differs", "the ceiling is not the expected one",
      "With this progress the script says something else than `expect_ms`.\n" },
    { CODE_FIXTURE_MISSING, "fixture_missing", "a supplier without fixtures",
      "Nobody would notice if it broke. `lastcall record` makes one of a live answer.\n" },
    { CODE_FIXTURE_SECRET, "fixture_secret", "a secret stands in a fixture",
      "Fixtures are shared. The value of an environment variable that the script's secrets come from stands in it, or\n"
      "in a body. Put a made-up value there; if it was real, have it changed.\n" },
    { CODE_FIXTURE_NAME, "fixture_name", "a fixture's name is wrong",
      "Fixtures are named `ok-….json` or `odd-….json`.\n" },
    { CODE_RAISED, "raised", "the script raised an error",
      "It called `error` or `assert` itself. What a supplier did wrong is told by `fail.…`, which is no fault\n"
      "of the script.\n" },
    { CODE_FROZEN, "frozen", "a write to something read-only",
      "`search`, `ctx`, `response` and everything in them are shared and read-only. Copy what you change:\n"
      "`local query = {}`.\n" },
    { CODE_GLOBAL_UNKNOWN, "global_unknown", "a global that does not exist",
      "A misspelt function or a forgotten `local`. Scripts have the helpers of `scripts/README.md` and none of\n"
      "`io`, `os`, `debug`, `package`, `load`.\n" },
    { CODE_GLOBAL_WRITTEN, "global_written", "a global is written",
      "Globals would outlive the search and be seen by the next one. Write `local` before it.\n" },
    { CODE_NAME_UNKNOWN, "name_unknown", "a name that there never is",
      "`search`, `ctx`, its options or the response have no field of that name, whatever the search: it is misspelt,\n"
      "or another part of the search has it. A running engine gives nil, and what is made of it is left out of the\n"
      "request in silence; so `try`, `record` and `test` raise it. A field that is only absent this time is nil.\n" },
    { CODE_NIL_FIELD, "nil_field", "a field is missing where it is used",
      "The value before the dot or bracket is nil: the supplier left it out, or its name is misspelt. `null` in\n"
      "JSON is nil. The notes tell which keys are there. Guard it (`a and a.b`), leave the offer out, or say\n"
      "`return fail.unexpected(path)`.\n" },
    { CODE_NIL_CALL, "nil_call", "something is called that is no function",
      "The function's name is misspelt, or a module has no such function.\n" },
    { CODE_ARITHMETIC, "arithmetic", "arithmetic on something that is no number",
      "A field is nil, or a text that does not read as a number. `tonumber` it, or guard it; money goes through\n"
      "`money`.\n" },
    { CODE_CONCATENATION, "concatenation", "a text is joined with something that is none",
      "One side of `..` is nil, a table, or a flag. Guard it, or `tostring` it.\n" },
    { CODE_COMPARISON, "comparison", "two values are compared that have no order",
      "One side of `<` is nil, or one is a text and the other a number. Convert or guard it.\n" },
    { CODE_LENGTH, "length", "the length of something that has none",
      "`#` wants a list or a text; nil has neither. Write `#(list or {})`.\n" },
    { CODE_NOT_A_TABLE, "not_a_table", "a field of something that has no fields",
      "The value before the dot is a text, number or flag. The supplier's answer is not built as the script\n"
      "thinks.\n" },
    { CODE_ARGUMENT, "argument", "a function got an argument that it does not take",
      "The message numbers the argument and says what is wanted. A nil is most often a field that is missing in\n"
      "the answer.\n" },
    { CODE_MONEY_FLOAT, "money_float", "a float where money is wanted",
      "Floats cannot hold amounts. Read the amount as `decimal` or `text` (`response:json` with a shape keeps\n"
      "the literal), or use `money.scaled` for whole cents.\n" },
    { CODE_CURRENCY, "currency", "a currency that is none",
      "Currencies are ISO 4217 codes of three capitals. Map the supplier's own, and refuse what is missing.\n"
      "`money.parse` gives nil and a sentence, sums of `money` raise; an offer with such a currency is dropped.\n" },
    { CODE_MONEY_AMOUNT, "money_amount", "an amount that is none",
      "Amounts are decimal texts: digits, one point, no spaces or thousands. Clean it before `money`.\n" },
    { CODE_TIME_FORMAT, "time_format", "a date or time that cannot be read",
      "The text is not what the function of `time` reads. There is one for each format: `time.iso`,\n"
      "`time.ddmmyy`, `time.http`, …\n" },
    { CODE_PLACE, "place", "an airport that is not known",
      "Its zone would have to be guessed. Use the IATA code of three capitals; city codes are no airports.\n"
      "`time.zone` gives nil and a sentence, as helpers do with data; an offer with such a place is dropped.\n" },
    { CODE_JSON, "json", "trouble with JSON",
      "What was to be decoded is no JSON, or what was to be encoded has no place in it (a function, mixed\n"
      "keys).\n" },
    { CODE_XML, "xml", "trouble with XML",
      "What was to be parsed is no XML, or what was to be built is no document.\n" },
    { CODE_LOOKUP, "lookup", "trouble with a look-up table",
      "There is no such table in `data` of the settings, or it is asked with other keys than it has.\n" },
    { CODE_CRYPTO, "crypto", "trouble with a digest, signature or encoding",
      "A key or text is missing, or what is to be decoded is not of that encoding.\n" },
    { CODE_URL, "url", "trouble with a URL, query or form",
      "A part is missing, or has a value that cannot be encoded.\n" },
    { CODE_PATTERN, "pattern", "a pattern that is malformed or too expensive",
      "Lua's patterns are no regular expressions: `%d`, not `\\d`; no `|`. See the manual of Lua 5.1, 5.4.1.\n" },
    { CODE_RETURNED, "returned", "a function returned the wrong thing",
      "The message names the function and what it may return. A forgotten `return` gives nil.\n" },
    { CODE_IMPURE, "impure", "something that is not available here",
      "`ceiling` and others must give the same answer every time: no clock, randomness, state or log in them.\n" },
    { CODE_TIMEOUT, "timeout", "the script ran for too long",
      "The place is where it was stopped, often within an endless loop. Look at the loop's condition; for long\n"
      "lists read less by a shape. Three of them within a minute put the script into quarantine.\n" },
    { CODE_MEMORY, "memory", "the script asked for too much memory",
      "A list or text grows without end, or the answer is read whole where a shape would do.\n" },
    { CODE_STATE_TOO_LARGE, "state_too_large", "the state for the next step is too large",
      "`state` of `next` holds 64 KiB as JSON: keep an id or a page number, not the answer.\n" },
    { CODE_BODY_TOO_LARGE, "body_too_large", "an answer over its cap",
      "It is larger than `limits.body`, before or after unpacking. Ask for fewer results, or raise the limit.\n" },
    { CODE_TOO_DEEP, "too_deep", "calls or tables are nested too deeply",
      "A function calls itself without end, or a table contains itself.\n" },
    { CODE_HOST_NOT_ALLOWED, "host_not_allowed", "a request to a host that the supplier does not list",
      "Requests go to `hosts`, and to the hosts of URL options that the settings set, nowhere else. Add it, or\n"
      "mend the URL.\n" },
    { CODE_SECRET_MISSING, "secret_missing", "a secret is missing",
      "It is not listed in `secrets`, or its environment variable is not set. `lastcall check --secrets` lists\n"
      "them.\n" },
    { CODE_REQUEST_MALFORMED, "request_malformed", "a request that cannot be sent",
      "`build_request` returns `{ method=, url= or path=, query=, headers=, json= | form= | body= }`, or a list\n"
      "of them.\n" },
    { CODE_REQUEST_TOO_LARGE, "request_too_large", "a request over its limits",
      "URL 16 KiB, 64 headers of 32 KiB together, body 4 MiB, 16 parts.\n" },
    { CODE_LOGIN_FAILED, "login_failed", "the login failed",
      "The supplier refused it, or `login.read` found no `{ value, expires_in_s }`. Look at the secrets of the\n"
      "account first.\n" },
    { CODE_STEPS_ENDLESS, "steps_endless", "steps without end",
      "`normalise` asked for a next step again and again; 100 are the most. Tell the last page by what the\n"
      "supplier says, and return no `next` then.\n" },
    { CODE_TRANSPORT, "transport", "the supplier could not be reached",
      "No connection, a broken one, or no answer in time; `phase` in the notes says where it stood.\n" },
    { CODE_ADDRESS, "address", "an address that is forbidden",
      "The host's name leads to a private address. `network.allow_private` lets chosen networks through.\n" },
    { CODE_SECRET_SHORT, "secret_short", "a secret too short to be hidden",
      "What is shown and written loses every secret of this process, wherever it stands. One of fewer than four\n"
      "bytes would be found in ordinary words, so it is not looked for. Ask the supplier for a longer one.\n" },
    { CODE_UNPARSABLE, "unparsable", "an answer that cannot be read",
      "It is cut, HTML, empty, or not what its Content-Type says. Look at the saved body.\n" },
    { CODE_OFFER_DROPPED, "offer_dropped", "an offer was dropped",
      "It lacks what the product needs, or has a value that it cannot have. The others are not touched by it.\n" },
    { CODE_REFUSED, "refused", "the supplier refused",
      "It said so in its own way, and the script told it by `fail.…`, or an untyped 4xx came.\n" },
    { CODE_HTTP_STATUS, "http_status", "a status that means trouble",
      "A 5xx is the supplier's trouble; a redirect is not followed. `when` of a plan tells what other statuses mean.\n" },
    { CODE_ENGINE_UNREACHABLE, "engine_unreachable", "no engine answers there",
      "It does not run, or listens elsewhere: `--url`, `--admin`.\n" },
    { CODE_ENGINE_REFUSED, "engine_refused", "the engine refused",
      "The message is the engine's. A token is taken from LASTCALL_ADMIN_TOKEN.\n" },
    { CODE_SEARCH_INVALID, "search_invalid", "a search that its product does not take",
      "The message points to the field. scripts/README.md has the fields of each product.\n" },
    { CODE_CALL_FAILED, "call_failed", "the live call failed",
      "The supplier was asked, and no offers came of it. The notes show the exchange.\n" },
};
// clang-format on

const struct code_row *code_rows(size_t *count)
{
    *count = COUNT_OF(rows);
    return rows;
}

const struct code_row *code_find(enum code code)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].code == code) {
            return &rows[i];
        }
    }
    return NULL;
}

const char *code_print(enum code code, char place[CODE_TEXT_SIZE])
{
    place[0] = '\0';
    if (code != CODE_NONE) {
        (void)snprintf(place, CODE_TEXT_SIZE, "E%04u", (unsigned)code % 10000);
    }
    return place;
}

/// "error[E0421]:" as it is pasted, without what is around the number.
static struct text code_without_frame(struct text word)
{
    const struct text before = TEXT("error[");

    if (text_starts_with(word, before)) {
        word = (struct text){ word.data + before.length, word.length - before.length };
        while (word.length > 0 && (word.data[word.length - 1] == ':' || word.data[word.length - 1] == ']')) {
            word.length--;
        }
    }
    return word;
}

const struct code_row *code_named(struct text word)
{
    char number[CODE_TEXT_SIZE];
    uint64_t plain = 0;

    word = code_without_frame(word);
    bool is_plain = word.length >= 3 && word.length <= 4 && text_to_u64(word, &plain);
    for (size_t i = 0; is_plain && i < COUNT_OF(rows); i++) {
        if ((uint64_t)rows[i].code == plain) {
            return &rows[i];
        }
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (text_equals_nocase(word, text_of(code_print(rows[i].code, number))) ||
            text_equals_nocase(word, text_of(rows[i].name))) {
            return &rows[i];
        }
    }
    return NULL;
}

const char *code_nearest(struct text word, char *place, size_t size)
{
    char numbers[COUNT_OF(rows)][CODE_TEXT_SIZE];
    const char *names[2 * COUNT_OF(rows)];

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        names[i] = rows[i].name;
        names[COUNT_OF(rows) + i] = code_print(rows[i].code, numbers[i]);
    }
    const char *nearest = text_nearest(word, names, COUNT_OF(names));
    if (nearest != NULL) {
        (void)snprintf(place, size, "%s", nearest);
    }
    return nearest != NULL ? place : NULL;
}

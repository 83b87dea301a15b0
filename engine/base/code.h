/// Code: the number of a kind of mistake, as in `error[E0421]`. THE table of them.
///
/// A code stands for what somebody did wrong, not for the place that noticed: the same mistake has the same code
/// in `check`, in a fixture and in the running engine. `lastcall explain E0421` and the page at the end of
/// suppliers/README.md are made of this table. Numbers are never given to something else.
///
/// E01 settings, E02 a file and its contract, E03 fixtures, E04 a script that runs, E05 limits, E06 requests, secrets
/// and logins, E07 answers and offers, E08 a running engine.
///
/// Threads: any.
/// Memory:  constant.
#pragma once

#include "base/text.h"

#include <stddef.h>

// clang-format off
enum code {
    CODE_NONE = 0,

    CODE_SETTINGS_UNREADABLE = 101, CODE_SETTING_UNKNOWN = 102, CODE_SETTING_TWICE = 103, CODE_SETTING_VALUE = 104,
    CODE_SETTING_CONFLICT = 105, CODE_SETTING_UNSUPPORTED = 106, CODE_RULE_USELESS = 107, CODE_DATA_FILE = 108,
    CODE_START = 109,

    CODE_SCRIPT_UNREADABLE = 201, CODE_SYNTAX = 202, CODE_NO_TABLE = 203, CODE_FIELD_UNKNOWN = 204,
    CODE_FIELD_MISSING = 205, CODE_FIELD_TYPE = 206, CODE_FIELD_VALUE = 207, CODE_MODULE_MISSING = 208,
    CODE_MODULE_BROKEN = 209, CODE_PRODUCT = 210, CODE_SHAPE = 212, CODE_PLAN = 213, CODE_CEILING_IMPURE = 214,
    CODE_CEILING_UNREACHABLE = 215, CODE_STEPS_DO_NOT_FIT = 216, CODE_SUPPLIER_NAME = 217,
    CODE_UNUSED = 218,

    CODE_FIXTURE_UNREADABLE = 301, CODE_FIXTURE_FIELD = 302, CODE_FIXTURE_EXPECTS_NOTHING = 303,
    CODE_REQUEST_DIFFERS = 304, CODE_OUTCOME_DIFFERS = 305, CODE_OFFERS_DIFFER = 306, CODE_EXCHANGE_COUNT = 307,
    CODE_CEILING_DIFFERS = 308, CODE_FIXTURE_MISSING = 309, CODE_FIXTURE_SECRET = 310, CODE_FIXTURE_NAME = 311,

    CODE_RAISED = 401, CODE_FROZEN = 402, CODE_GLOBAL_UNKNOWN = 411, CODE_GLOBAL_WRITTEN = 412,
    CODE_NAME_UNKNOWN = 413,
    CODE_NIL_FIELD = 421, CODE_NIL_CALL = 422, CODE_ARITHMETIC = 423, CODE_CONCATENATION = 424, CODE_COMPARISON = 425,
    CODE_LENGTH = 426, CODE_NOT_A_TABLE = 427, CODE_ARGUMENT = 431, CODE_MONEY_FLOAT = 432, CODE_CURRENCY = 433,
    CODE_MONEY_AMOUNT = 434, CODE_TIME_FORMAT = 435, CODE_PLACE = 436, CODE_JSON = 437, CODE_XML = 438,
    CODE_LOOKUP = 439, CODE_CRYPTO = 440, CODE_URL = 441, CODE_PATTERN = 442, CODE_RETURNED = 451,
    CODE_IMPURE = 452,

    CODE_TIMEOUT = 501, CODE_MEMORY = 502, CODE_STATE_TOO_LARGE = 503,
    CODE_BODY_TOO_LARGE = 505, CODE_TOO_DEEP = 506,

    CODE_HOST_NOT_ALLOWED = 601, CODE_SECRET_MISSING = 602, CODE_REQUEST_MALFORMED = 603, CODE_REQUEST_TOO_LARGE = 604,
    CODE_LOGIN_FAILED = 605, CODE_STEPS_ENDLESS = 606, CODE_TRANSPORT = 607, CODE_ADDRESS = 608,
    CODE_SECRET_SHORT = 609,

    CODE_UNPARSABLE = 701, CODE_OFFER_DROPPED = 702, CODE_REFUSED = 704, CODE_HTTP_STATUS = 706,

    CODE_ENGINE_UNREACHABLE = 801, CODE_ENGINE_REFUSED = 802, CODE_SEARCH_INVALID = 803, CODE_CALL_FAILED = 804,
};
// clang-format on

struct code_row {
    enum code code;
    const char *name;    // a slug
    const char *title;   // a sentence fragment
    const char *meaning; // what it means, its usual causes, what to do; lines ended by newlines
};

/// In the order of the numbers.
const struct code_row *code_rows(size_t *count);
/// NULL: CODE_NONE, or none of the table.
const struct code_row *code_find(enum code code);
/// "E0421", "421", "error[E0421]:", or the name; NULL: there is no such code.
const struct code_row *code_named(struct text word);
/// The name, or the number as it is printed, that is nearest to a mistyped one; NULL: none is near.
const char *code_nearest(struct text word, char *place, size_t size);

enum { CODE_TEXT_SIZE = 8 };
/// "E0421"; empty for CODE_NONE.
const char *code_print(enum code code, char place[CODE_TEXT_SIZE]);

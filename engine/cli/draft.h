/// Draft: the first version of a supplier's file and of its first fixture.
///
/// Without a pasted call it is a template. With one, the request is that of the call: what looks like a secret becomes
/// a declared secret, and its value goes nowhere; what looks like a date, an airport or a number of travellers becomes
/// a field of the search. Each such guess is told.
///
/// Threads: any; plain functions.
/// Memory:  the draft's arena.
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/pasted_call.h"
#include "script/xml_tree.h"

enum { DRAFT_SECRETS_MAX = 32, DRAFT_NOTES_MAX = 64, DRAFT_FILE_MAX = 8 << 20 };

/// The city that a fixture searches for where nobody said one.
#define DRAFT_CITY "LON"

struct draft_secret {
    struct text name;  // "ACME_KEY"
    struct text value; // as it was pasted; never written
};

/// What the first fixture searches for: the values of the pasted call, so that its request is that of the call.
struct draft_search {
    struct text origin, destination, city; // absent: nobody said
    struct text dates[2];
    uint64_t adults, children, infants, infant_seats, rooms; // UINT64_MAX: nobody said
    struct text currency, market, cabin;
};

struct draft {
    struct arena *arena;
    struct text name;
    bool is_hotels;
    const struct pasted_call *call; // NULL: the template
    struct draft_secret secrets[DRAFT_SECRETS_MAX];
    size_t secret_count;
    struct text user; // of basic authentication, "name:password"; absent: none
    struct draft_search search;
    struct xml_tree xml;    // of a body of XML, where `is_xml`
    bool is_xml;            // the request's body is a tree of elements
    bool is_soap;           // … in an envelope
    bool counts_travellers; // the script needs its function `count`
    bool uses_number;       // the loop in hand needs the number of its element
    bool is_silent;         // what is taken now is not told: it stands nowhere
    bool uses_second_slice;
    bool has_way_back;                    // the fixture's search is a return; known once the script is written
    struct text their_city;               // a code of a city that is no word of ours; absent: there is none
    bool is_city_number;                  // … and stands there as a number
    struct text guesses[DRAFT_NOTES_MAX]; // "query from: the origin"
    size_t guess_count;
    struct text literals[DRAFT_NOTES_MAX]; // "query max": as it was pasted, whatever is searched for
    size_t literal_count;
    struct text left_out[DRAFT_NOTES_MAX]; // names of headers
    size_t left_out_count;
    bool is_out_of_memory;
};

void draft_init(struct draft *draft, struct arena *arena, struct text name, bool is_hotels,
                const struct pasted_call *call);
void draft_fini(struct draft *draft);
/// What the fixture searches for becomes unknown again.
void draft_forget_search(struct draft *draft);

/// The names of its fixtures, of an answer and of a refusal: "ok-one-way.json", "odd-key-refused.json". Known once the
/// script is written.
const char *draft_ok_name(const struct draft *draft);
const char *draft_odd_name(const struct draft *draft);

/// The script; before the fixture, for its guesses say what the fixture searches for.
void draft_write_script(struct draft *draft, struct buffer *out);
/// A fixture: of an answer, or (`is_odd`) of a refused key. What the script asks for stands there as "?", which running
/// it with an update replaces.
void draft_write_fixture(const struct draft *draft, bool is_odd, struct buffer *out);

/// Settings of editors, for the folder that has `suppliers_dir` and `scripts_dir` as these paths.
void draft_write_luarc(struct text scripts_dir, struct buffer *out);
void draft_write_luacheckrc(struct text suppliers_dir, struct text scripts_dir, struct buffer *out);

// ------------------------------------------------------------------------------------------- between the files of
// draft

enum draft_where { DRAFT_HEADER, DRAFT_QUERY, DRAFT_FORM, DRAFT_JSON, DRAFT_PATH, DRAFT_BODY };

/// A value of the pasted call.
struct draft_value {
    enum draft_where where;
    struct text key;    // absent: it has none
    struct text parent; // the key of what the key stands in; absent: none
    struct text path;   // of JSON, from the document on: segments[].from.code; absent: the key says it
    struct text value;
    bool is_number;
    bool differs;      // between the elements that one loop makes
    size_t index;      // in the list around it
    const char *slice; // the variable that holds the slice; NULL: the script has none
};

/// Declares a secret, or finds the one of that value; its name.
struct text draft_secret_of(struct draft *draft, const char *suffix, struct text value);
/// Does a value look like a secret? Then it is declared.
bool draft_take_secret(struct draft *draft, const struct draft_value *value);
/// The Lua expression that says the value by the search; absent: nothing does. Tells the guess.
struct text draft_take_field(struct draft *draft, const struct draft_value *value);
/// The same where the value spells a day.
struct text draft_take_date(struct draft *draft, const struct draft_value *value);
/// A copy in the draft's memory.
struct text draft_keep(struct draft *draft, const char *text);
/// Is the key one of an airport that a slice leaves from, or arrives at?
bool draft_is_origin(struct text key);
bool draft_is_destination(struct text key);
bool draft_is_airport(struct text value);

/// Notes the secrets of the whole call, so that no value of one is written wherever it stands.
void draft_find_secrets(struct draft *draft);
/// Words that are long, of letters and digits: nobody writes such a word for people.
void draft_find_words(struct draft *draft, struct text text);
/// Values behind names of secrets, in text that nothing else takes apart: `"password": "…"`, `;token=…`, `key: "…"`.
void draft_find_pairs(struct draft *draft, struct text text);
/// The Lua expression of what a message of XML says anew each time: its own id, when it was sent. NULL: it is no such.
const char *draft_made_anew(struct text key, struct text value);
/// A header that a browser adds, or that the engine makes itself; it is noted.
bool draft_is_header_left_out(struct draft *draft, const struct pasted_pair *header);
/// The value of a header as a Lua expression.
void draft_write_header(struct draft *draft, const struct pasted_pair *header, struct buffer *out);
/// Calls for each value of a body that stands at a name: `<Name>value<`, `name="value"`.
void draft_walk_body(struct text body, void (*take)(void *context, const struct draft_value *value), void *context);
/// Tells a guess, once; `what` is what the value is taken for.
void draft_tell(struct draft *draft, const struct draft_value *value, const char *what);

/// Tells that a value stays as it was pasted, once.
void draft_tell_literal(struct draft *draft, const struct draft_value *value);

/// "text" for Lua, with secrets in it taken out: `"Bearer " .. ctx.secret.ACME_TOKEN`.
void draft_write_text(const struct draft *draft, struct text text, struct buffer *out);
/// A value as a Lua expression: a secret, a field, or itself.
void draft_write_value(struct draft *draft, const struct draft_value *value, struct buffer *out);
void draft_write_indent(uint32_t indent, struct buffer *out);
void draft_write_json(struct draft *draft, const struct json_node *node, uint32_t indent, struct buffer *out);
/// The path of the URL as a Lua expression, segment by segment.
void draft_write_path(struct draft *draft, struct text path, struct buffer *out);
/// Takes a body of XML for what it is; nothing is done where elements stand within text.
void draft_read_xml(struct draft *draft);
/// Notes the secrets in it.
void draft_find_in_xml(struct draft *draft);
/// The body as a call of `xml.build`.
void draft_write_xml(struct draft *draft, uint32_t indent, struct buffer *out);
/// A body that is neither JSON nor a form nor a tree of XML; values of elements and attributes are guessed.
void draft_write_body(struct draft *draft, struct text body, struct buffer *out);
/// A name as a field of a table: `key` or `["key"]`, or `[ctx.secret.NAME]`.
void draft_write_key(const struct draft *draft, struct text key, struct buffer *out);

/// Kinds of travellers.
enum draft_traveller { DRAFT_ADULT, DRAFT_CHILD, DRAFT_INFANT_LAP, DRAFT_INFANT_SEAT, DRAFT_NO_TRAVELLER };

extern const char *const draft_traveller_names[DRAFT_NO_TRAVELLER];

enum draft_traveller draft_traveller_of(struct text word);
/// What a supplier may call all kinds, whose word for one is the sample.
void draft_traveller_words(struct text sample, struct text words[DRAFT_NO_TRAVELLER]);
/// Does it say how many travellers of a kind there are?
bool draft_is_traveller_count(struct text key, struct text value);
/// What the fixture searches for.
void draft_count_travellers(struct draft *draft, const uint64_t counts[DRAFT_NO_TRAVELLER]);

/// How a value goes on from one element of a list to the next, when a loop makes them all.
enum draft_numbering { DRAFT_SAME, DRAFT_FROM_ONE, DRAFT_FROM_ZERO, DRAFT_DIFFERS };
enum { DRAFT_FOLDED_MAX = 16 };

enum draft_numbering draft_numbering_of(struct text key, const struct text *values, size_t count);
/// The number of the element as a Lua expression.
void draft_write_number(struct draft *draft, const struct draft_value *value, enum draft_numbering numbering,
                        struct buffer *out);

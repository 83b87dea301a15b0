#include "app/settings_table.h"

#include "app/settings.h"

#include <string.h>

#define ENGINE(member) SETTING_OF_ENGINE, offsetof(struct settings, member), 0
#define ENGINE_LIST(member, count)                                                                                     \
    SETTING_OF_ENGINE, offsetof(struct settings, member), offsetof(struct settings, count)
#define SUPPLIER(member) SETTING_OF_SUPPLIER, offsetof(struct settings_supplier, member), 0
#define ACCOUNT(member) SETTING_OF_ACCOUNT, offsetof(struct settings_account, member), 0
#define ACCOUNT_LIST(member, count)                                                                                    \
    SETTING_OF_ACCOUNT, offsetof(struct settings_account, member), offsetof(struct settings_account, count)
#define TABLE(member) SETTING_OF_TABLE, offsetof(struct settings_table, member), 0
#define TABLE_LIST(member, count)                                                                                      \
    SETTING_OF_TABLE, offsetof(struct settings_table, member), offsetof(struct settings_table, count)
#define RULE(member) SETTING_OF_RULE, offsetof(struct settings_rule, member), 0
#define RULE_LIST(member, count)                                                                                       \
    SETTING_OF_RULE, offsetof(struct settings_rule, member), offsetof(struct settings_rule, count)
#define CONDITION_LIST(member, count)                                                                                  \
    SETTING_OF_CONDITION, offsetof(struct settings_condition, member), offsetof(struct settings_condition, count)
#define LATER(key, about)                                                                                              \
    {                                                                                                                  \
        key, SETTING_LATER, SETTING_OF_ENGINE, 0, 0, NULL, NULL, NULL, NULL, about, false                              \
    }

// clang-format off
//    key, kind, owner and place, least, most, preset, choices, about, needs a restart
const struct setting SETTINGS[] = {
    { "listen", SETTING_ADDRESS, ENGINE(listen), NULL, NULL, "127.0.0.1:8080", NULL,
      "where the public listener waits; port 0 picks a free one", true },
    { "admin.listen", SETTING_ADDRESS_OR_NONE, ENGINE(admin_listen), NULL, NULL, "127.0.0.1:8081", NULL,
      "where the admin listener waits; empty: there is none", true },
    { "admin.token_env", SETTING_VARIABLE, ENGINE(admin_token_env), NULL, NULL, NULL, NULL,
      "the environment variable that holds the admin listener's token; needed beyond loopback", true },
    { "attribution.file", SETTING_TEXT, ENGINE(attribution_file), NULL, NULL, NULL, NULL,
      "where each search's record goes, one line of JSON each; not set: none is written", true },
    { "callers", SETTING_NAMES, ENGINE_LIST(callers, caller_count), NULL, NULL, "", NULL,
      "the names that the header Search-Caller may give; labels of metrics", false },
    { "cors.origins", SETTING_ORIGINS, ENGINE_LIST(cors_origins, cors_origin_count), NULL, NULL, "", NULL,
      "web pages that may call from a browser; \"*\": all", false },
    { "cors.max_age", SETTING_DURATION, ENGINE(cors_max_age_us), "0s", "24h", "10min", NULL,
      "how long a browser may remember that it may call", false },
    { "deadline.default", SETTING_DURATION, ENGINE(deadline_default_us), "40ms", "5min", "2s", NULL,
      "the budget of a search that names none", false },
    { "deadline.min", SETTING_DURATION, ENGINE(deadline_min_us), "40ms", "5min", "100ms", NULL,
      "a smaller budget is raised to this, and the reply says so", false },
    { "deadline.max", SETTING_DURATION, ENGINE(deadline_max_us), "40ms", "5min", "10s", NULL,
      "a larger budget is lowered to this, and the reply says so", false },
    { "honour_deadline_headers", SETTING_FLAG, ENGINE(honours_deadline_headers), NULL, NULL, "false", NULL,
      "true: grpc-timeout and x-envoy-expected-rq-timeout-ms shorten a budget", false },
    { "io_threads", SETTING_INTEGER, ENGINE(io_threads), "1", "8", "1", NULL,
      "threads that hold searches, sockets and deadlines", true },
    { "script_threads", SETTING_INTEGER, ENGINE(script_threads), "1", "32", "auto", "auto",
      "threads that run Lua; auto takes them from the number of processors", true },
    { "suppliers_dir", SETTING_LIST, ENGINE_LIST(suppliers_dirs, suppliers_dir_count), NULL, NULL, "suppliers", NULL,
      "directories whose *.lua are the suppliers; one, or a list", false },
    { "scripts_dir", SETTING_TEXT, ENGINE(scripts_dir), NULL, NULL, "scripts", NULL,
      "the directory of products and helper modules", false },
    { "state_dir", SETTING_TEXT, ENGINE(state_dir), NULL, NULL, NULL, NULL,
      "the directory where operators' switches are kept over a restart; not set: a restart forgets them", true },
    { "store.backend", SETTING_TEXT, ENGINE(store_backend), NULL, NULL, "auto", "auto none lmdb redis",
      "what keeps the last known answers; auto: lmdb where state_dir is set, else none", true },
    { "store.path", SETTING_TEXT, ENGINE(store_path), NULL, NULL, NULL, NULL,
      "the directory of lmdb, made when it is missing; not set: `store` in state_dir", true },
    { "store.max_size", SETTING_SIZE, ENGINE(store_max_size), "16MiB", "1024GiB", "1GiB", NULL,
      "what the file of lmdb may grow to", true },
    { "store.url", SETTING_TEXT, ENGINE(store_url), NULL, NULL, NULL, NULL,
      "where redis is: redis://host:port/db or unix:///path?db=N, without a password", true },
    { "store.user", SETTING_TEXT, ENGINE(store_user), NULL, NULL, NULL, NULL,
      "the user to log in to redis as; not set: its default user", true },
    { "store.password_env", SETTING_VARIABLE, ENGINE(store_password_env), NULL, NULL, NULL, NULL,
      "the secret that is the password of redis; not set: there is none", true },
    { "store.prefix", SETTING_TEXT, ENGINE(store_prefix), NULL, NULL, "lastcall", NULL,
      "what the names of all that is kept in redis begin with: letters, digits and .:_-{}", true },
    { "store.read_slice", SETTING_DURATION, ENGINE(store_read_slice_us), "1ms", "1s", "15ms", NULL,
      "how long a search waits for what the store has", true },
    { "store.compress_above", SETTING_SIZE, ENGINE(store_compress_above), "1KiB", "16MiB", "2KiB", NULL,
      "larger answers are compressed before redis gets them", true },
    { "secrets_dir", SETTING_TEXT, ENGINE(secrets_dir), NULL, NULL, NULL, NULL,
      "the directory whose files are secrets, each named like its own; not set: $CREDENTIALS_DIRECTORY", false },
    { "network.allow_private", SETTING_RANGES, ENGINE_LIST(allow_private, allow_private_count), NULL, NULL, "", NULL,
      "private address ranges that suppliers may live in; all others are refused", true },
    { "network.ca_file", SETTING_TEXT, ENGINE(ca_file), NULL, NULL, "/etc/ssl/certs/ca-certificates.crt", NULL,
      "the certificates that suppliers' TLS is checked against", true },
    { "dns.servers", SETTING_NAME_SERVERS, ENGINE_LIST(dns_servers, dns_server_count), NULL, NULL, "", NULL,
      "name servers to ask; an empty list follows /etc/resolv.conf", true },
    { "reply.max_items", SETTING_INTEGER, ENGINE(max_items), "1", "10000", "200", NULL,
      "items in a reply when the search names no number", false },
    { "reply.max_offers_per_item", SETTING_INTEGER, ENGINE(max_offers_per_item), "1", "1000", "5", NULL,
      "offers for one item when the search names no number", false },
    { "reply.detail", SETTING_TEXT, ENGINE(reply_detail), NULL, NULL, "auto", "auto full public",
      "how much a reply tells of suppliers; auto: full when `listen` is loopback, else public", false },
    { "reply.token_env", SETTING_VARIABLE, ENGINE(reply_token_env), NULL, NULL, NULL, NULL,
      "the environment variable that holds the token of callers who are told everything", true },
    { "reply.max_age", SETTING_DURATION, ENGINE(reply_max_age_us), "0s", "1h", "0s", NULL,
      "how long the caller may keep a complete reply; 0s: not at all", false },
    { "scripts.build_limit", SETTING_DURATION, ENGINE(script_build_us), "1ms", "1s", "5ms", NULL,
      "how long one call of skip, ceiling or build_request may run", true },
    { "scripts.normalise_limit", SETTING_DURATION, ENGINE(script_normalise_us), "1ms", "10s", "50ms", NULL,
      "how long one call of normalise may run", true },
    { "scripts.memory", SETTING_SIZE, ENGINE(script_memory), "1MiB", "1GiB", "16MiB", NULL,
      "how much memory one call of a script may add", true },
    { "drain", SETTING_DURATION, ENGINE(drain_us), "100ms", "10min", "10s", NULL,
      "how long open searches may go on after SIGTERM; then they reply with what they have", false },
    { "reload.watch", SETTING_FLAG, ENGINE(reload_watches), NULL, NULL, "true", NULL,
      "true: scripts and settings are reloaded by themselves when their files change", true },
    { "reload.settle", SETTING_DURATION, ENGINE(reload_settle_us), "10ms", "1min", "300ms", NULL,
      "how long files must have stayed as they are before they are read", true },
    { "reload.scan", SETTING_DURATION, ENGINE(reload_scan_us), "100ms", "10min", "5s", NULL,
      "how often files are looked at, besides what the file system tells", true },
    { "reload.trial_calls", SETTING_INTEGER, ENGINE(reload_trial_calls), "0", "1000000", "200", NULL,
      "the first calls of a changed script, within which it can go back by itself; 0: it never does", false },
    { "reload.trial_errors", SETTING_INTEGER, ENGINE(reload_trial_errors), "1", "32", "5", NULL,
      "so many errors within its trial, and the version before runs again", false },
    { "shutdown.notice", SETTING_DURATION, ENGINE(notice_us), "0s", "10min", "auto", "auto",
      "how long searches are still taken after SIGTERM, while it is not ready; auto: 5s unless `listen` is loopback",
      false },
    { "shutdown.flush", SETTING_DURATION, ENGINE(flush_us), "100ms", "10min", "10s", NULL,
      "how long the end may take when all searches are over; then it exits with 6", false },
    { "breaker.enabled", SETTING_FLAG, ENGINE(breaker_is_on), NULL, NULL, "true", NULL,
      "true: a supplier that fails too often is left alone, then tried out", false },
    { "breaker.window", SETTING_DURATION, ENGINE(breaker_window_us), "1s", "1min", "10s", NULL,
      "how far a breaker looks back", false },
    { "breaker.min_calls", SETTING_INTEGER, ENGINE(breaker_min_calls), "5", "10000", "20", NULL,
      "with fewer calls in its window it looks back further, up to a minute", false },
    { "breaker.failure_share", SETTING_SHARE, ENGINE(breaker_failure_share), "5%", "60%", "35%", NULL,
      "a supplier of which surely more than this share of calls fails is left alone", false },
    { "linger.learn", SETTING_SHARE, ENGINE(linger_learn), "0%", "20%", "1%", NULL,
      "the share of cut attempts that go on for nobody, so that one learns how late they were; more while little is known",
      false },
    { "linger.fill", SETTING_FLAG, ENGINE(linger_fills), NULL, NULL, "true", NULL,
      "true: where there is a store, an attempt that the budget cut goes on for it, when it has nothing or something old",
      false },
    { "linger.limit", SETTING_DURATION, ENGINE(linger_limit_us), "100ms", "1min", "6s", NULL,
      "how long an attempt may go on for nobody, from its begin", false },
    { "last_known.max_age", SETTING_DURATION, ENGINE(last_known_max_age_us), "1s", "30d", "24h", NULL,
      "how old an answer may be to stand in for its supplier", false },
    { "last_known.empty_max_age", SETTING_DURATION, ENGINE(last_known_empty_max_age_us), "1s", "24h", "5min", NULL,
      "the same of an answer without offers", false },
    { "tokens.enabled", SETTING_FLAG, ENGINE(tokens_are_on), NULL, NULL, "false", NULL,
      "true: offers carry tokens, by which they are revalidated before somebody books", true },
    { "tokens.offer_keys", SETTING_LIST, ENGINE_LIST(offer_keys, offer_key_count), NULL, NULL, NULL, NULL,
      "the secrets that offers' tokens are made with, newest first; none: keys of this process alone", true },
    { "tokens.booking_keys", SETTING_LIST, ENGINE_LIST(booking_keys, booking_key_count), NULL, NULL, NULL, NULL,
      "the secrets that booking tokens are signed with, newest first; none: keys of this process alone", true },
    { "tokens.offer_life", SETTING_DURATION, ENGINE(offer_life_us), "1s", "24h", "30min", NULL,
      "how long an offer's token may be used; an offer that expires before ends it", false },
    { "tokens.booking_life", SETTING_DURATION, ENGINE(booking_life_us), "1s", "24h", "10min", NULL,
      "how long a booking token may be used; what the supplier says ends it before", false },
    { "revalidation.budget", SETTING_DURATION, ENGINE(revalidation_budget_us), "100ms", "1min", "8s", NULL,
      "how long a revalidation may take; a smaller Search-Budget-Ms wins", false },
    { "revalidation.quota_share", SETTING_SHARE, ENGINE(revalidation_quota_share), "0%", "90%", "10%", NULL,
      "the share of an account's rps, per_minute and per_day that searches leave to revalidations", false },
    { "admission.enabled", SETTING_FLAG, ENGINE(admission_is_on), NULL, NULL, "false", NULL,
      "true: an engine under pressure leaves out what it can, then suppliers, then searches", false },
    { "admission.target", SETTING_DURATION, ENGINE(admission_target_us), "1ms", "1s", "5ms", NULL,
      "what may wait for a script worker or the loop; unless nothing waited less for an interval", false },
    { "admission.interval", SETTING_DURATION, ENGINE(admission_interval_us), "10ms", "10s", "100ms", NULL,
      "how long pressure must last to count, each time it gets worse", false },
    { "patience.early_finish", SETTING_FLAG, ENGINE(patience_finishes_early), NULL, NULL, "false", NULL,
      "true: a search ends when nothing that is out is worth waiting for", false },
    { "patience.delay_cost", SETTING_DECIMAL, ENGINE(patience_delay_cost), "0", "1000000", "0", NULL,
      "how many new items a second of waiting must bring; 0: it is ended when nothing can come any more", false },
    { "patience.least_gain", SETTING_DECIMAL, ENGINE(patience_least_gain), "0", "1000000", "0.001", NULL,
      "a wait that brings fewer items than this, beyond its cost, is over", false },
    { "patience.novelty", SETTING_INTEGER, ENGINE(patience_novelty), "0", "1000000", "100", NULL,
      "with so many offers held the next ones are worth half; 0: always the same", false },
    { "patience.held_cost", SETTING_DECIMAL, ENGINE(patience_held_cost), "0", "1000", "0", NULL,
      "the share of an answer that a second of a held connection costs: ceilings of whom nobody gave one; 0: none",
      false },
    { "extra_calls.enabled", SETTING_FLAG, ENGINE(extra_is_on), NULL, NULL, "false", NULL,
      "true: a request that failed fast, or is likely to be late, may be made a second time", false },
    { "extra_calls.per_supplier", SETTING_SHARE, ENGINE(extra_per_supplier), "0%", "50%", "3%", NULL,
      "how many second requests an account may get, as a share of its first ones", false },
    { "extra_calls.engine", SETTING_SHARE, ENGINE(extra_engine), "0%", "50%", "10%", NULL,
      "how many of all suppliers together", false },
    { "extra_calls.coalesce", SETTING_FLAG, ENGINE(extra_coalesces), NULL, NULL, "false", NULL,
      "true: equal requests of an account, on one loop and at the same time, are one", false },
    { "max_body", SETTING_SIZE, ENGINE(max_body), "1KiB", "64MiB", "256KiB", NULL,
      "the largest request body that is read", true },
    { "log_level", SETTING_TEXT, ENGINE(log_level), NULL, NULL, "info", "debug info warning error",
      "the least important lines that are written", true },
    { "timing_file", SETTING_TEXT, ENGINE(timing_file), NULL, NULL, NULL, NULL,
      "a memory-mapped ring with one record per search, for benchmarks; not set: none", true },

    { "fx.file", SETTING_TEXT, ENGINE(fx_file), NULL, NULL, NULL, NULL,
      "the table of exchange rates, in JSON; not set: no price is converted", false },
    { "fx.max_age", SETTING_DURATION, ENGINE(fx_max_age_us), "1min", "366d", "36h", NULL,
      "how old the table may be; by an older one no price is converted", false },
    { "data.*.file", SETTING_TEXT, TABLE(file), NULL, NULL, NULL, NULL,
      "a table for `lookup`: tab-separated values, the first line names the columns", false },
    { "data.*.key", SETTING_LIST, TABLE_LIST(keys, key_count), NULL, NULL, NULL, NULL,
      "the columns that a look-up names, in its order", false },

    { "segments", SETTING_NAMES, ENGINE_LIST(segments, segment_count), NULL, NULL,
      "product,market,device,trip_type,lead_days", NULL,
      "the facts of a search that rules may ask for; products name those that there are", false },
    { "rules.*.when.*", SETTING_LIST, CONDITION_LIST(words, word_count), NULL, NULL, NULL, NULL,
      "the values of a fact that the rule is for: words, numbers, <7, >=30, 7..13", false },
    { "rules.*.supplier", SETTING_LIST, RULE_LIST(suppliers, supplier_count), NULL, NULL, NULL, NULL,
      "the suppliers whose ceiling it is about; without it all of them", false },
    { "rules.*.deadline", SETTING_DURATION, RULE(values[RULE_DEADLINE]), "40ms", "5min", NULL, NULL,
      "the budget of such a search that names none, and the most for one that does", false },
    { "rules.*.ceiling", SETTING_DURATION, RULE(values[RULE_CEILING]), "1ms", "5min", NULL, NULL,
      "how long after arrival an answer is worth waiting for; wins over settings and script", false },
    { "rules.*.ceiling_scale", SETTING_SHARE, RULE(values[RULE_CEILING_SCALE]), "1%", "100%", NULL, NULL,
      "the share of the ceiling, whoever gave it, that is waited for", false },
    { "rules.*.ceiling_max", SETTING_DURATION, RULE(values[RULE_CEILING_MAX]), "1ms", "5min", NULL, NULL,
      "no ceiling is longer than this, whoever gave it", false },
    { "rules.*.weight", SETTING_DECIMAL, RULE(values[RULE_WEIGHT]), "0.001", "1000", NULL, NULL,
      "how much more than others' what they add is worth; wins over the supplier's own", false },
    { "rules.*.delay_cost", SETTING_DECIMAL, RULE(values[RULE_DELAY_COST]), "0.000001", "1000000", NULL, NULL,
      "stands in for patience.delay_cost in such a search", false },

    { "suppliers.*.uses", SETTING_NAME, SUPPLIER(uses), NULL, NULL, NULL, NULL,
      "the supplier whose file plays this one too", false },
    { "suppliers.*.enabled", SETTING_FLAG, SUPPLIER(is_enabled), NULL, NULL, "true", NULL,
      "false: it is never asked", false },
    { "suppliers.*.because", SETTING_TEXT, SUPPLIER(because), NULL, NULL, NULL, NULL,
      "why it is switched off; shown in replies", false },
    { "suppliers.*.display_name", SETTING_TEXT, SUPPLIER(display_name), NULL, NULL, NULL, NULL,
      "the name that users see", false },
    { "suppliers.*.ceiling", SETTING_DURATION, SUPPLIER(ceiling_us), "1ms", "5min", NULL, NULL,
      "how long after arrival its answer is worth waiting for; wins over its script", false },
    { "suppliers.*.weight", SETTING_DECIMAL, SUPPLIER(weight), "0.001", "1000", "1", NULL,
      "how much more than others' what it adds is worth, when it is asked whether to wait", false },
    { "suppliers.*.fresh_for", SETTING_DURATION, SUPPLIER(fresh_for_us), "0s", "24h", "0s", NULL,
      "an answer younger than this is used again, and it is not asked; 0s: it always is", false },
    { "suppliers.*.max_age", SETTING_DURATION, SUPPLIER(max_age_us), "1s", "30d", NULL, NULL,
      "how old its answers may be to stand in for it; instead of last_known.max_age", false },
    { "suppliers.*.price_guard", SETTING_SHARE, SUPPLIER(price_guard), "0%", "99%", "0%", NULL,
      "an answer whose median price is lower than the last known one by more than this is held back; 0%: none is",
      false },
    { "suppliers.*.mode", SETTING_TEXT, SUPPLIER(mode), NULL, NULL, "live", "live dark test",
      "live: for every search; dark: for a share of them, never shown; test: for searches that are a test", false },
    { "suppliers.*.traffic", SETTING_SHARE, SUPPLIER(traffic), "0.01%", "100%", "5%", NULL,
      "the share of searches that reach what is dark of it", false },
    { "suppliers.*.accounts.*.mode", SETTING_TEXT, ACCOUNT(mode), NULL, NULL, NULL, "live dark test",
      "the mode of this account alone, instead of its supplier's", false },
    { "suppliers.*.accounts.*.secrets.*", SETTING_SECRET, ACCOUNT_LIST(secrets, secret_count), NULL, NULL, NULL, NULL,
      "the environment variable that holds this secret; without it, the one of the secret's own name", false },
    { "suppliers.*.accounts.*.options.*", SETTING_PAIR, ACCOUNT_LIST(options, option_count), NULL, NULL, NULL, NULL,
      "an option of the script, instead of the script's own value", false },
    { "suppliers.*.accounts.*.when.market", SETTING_LIST, ACCOUNT_LIST(markets, market_count), NULL, NULL, NULL, NULL,
      "the markets whose searches use this account; the first account that fits is taken", false },
    { "suppliers.*.accounts.*.tls.cert", SETTING_TEXT, ACCOUNT(certificate_file), NULL, NULL, NULL, NULL,
      "a file with the client certificate for this account, PEM", false },
    { "suppliers.*.accounts.*.tls.key", SETTING_TEXT, ACCOUNT(key_file), NULL, NULL, NULL, NULL,
      "the file with the certificate's private key, PEM, not encrypted", false },
    { "suppliers.*.accounts.*.proxy", SETTING_TEXT, ACCOUNT(proxy), NULL, NULL, NULL, NULL,
      "the HTTP proxy that this account's requests go through, as http://host:port", false },
    { "suppliers.*.accounts.*.limits.rps", SETTING_INTEGER, ACCOUNT(limits.per_second), "1", "100000", NULL, NULL,
      "requests of this account that may begin within a second; wins over its script", false },
    { "suppliers.*.accounts.*.limits.per_minute", SETTING_INTEGER, ACCOUNT(limits.per_minute), "1", "6000000", NULL,
      NULL, "requests that may begin within a minute; wins over its script", false },
    { "suppliers.*.accounts.*.limits.per_day", SETTING_INTEGER, ACCOUNT(limits.per_day), "1", "1000000000", NULL, NULL,
      "requests that may begin within 24 hours; wins over its script", false },
    { "suppliers.*.accounts.*.limits.concurrent", SETTING_INTEGER, ACCOUNT(limits.concurrent), "1", "100000", NULL,
      NULL, "requests that may be under way at once; wins over its script", false },
    { "suppliers.*.accounts.*.limits.body", SETTING_SIZE, ACCOUNT(body_cap), "1KiB", "64MiB", NULL, NULL,
      "the largest body, on the wire and once it is inflated; wins over its script", false },

    LATER("suppliers.*.limits", "limits of a supplier"),
    LATER("suppliers.*.accounts.*.limits.hedge", "whether it may be asked twice"),
    LATER("suppliers.*.accounts.*.limits.call_cost", "what a call costs"),
    LATER("suppliers.*.accounts.*.limits.retry_on", "the statuses that are asked again"),
};
// clang-format on
const size_t SETTINGS_COUNT = COUNT_OF(SETTINGS);

// Walks key and path together; returns how many parts agree and what is left of the key.
static size_t match_parts(const char *key, const struct setting_path *path, struct text *key_rest)
{
    size_t count = 0;
    *key_rest = text_of(key);
    while (key_rest->data != NULL && count < path->count) {
        struct text rest;
        struct text part = text_split(*key_rest, '.', &rest);
        if (!text_equals_c(part, "*") && !text_equals(part, path->parts[count])) {
            break;
        }
        *key_rest = rest;
        count++;
    }
    return count;
}

enum setting_match setting_find(const struct setting_path *path, const struct setting **row)
{
    enum setting_match match = SETTING_NONE;
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        struct text rest;
        size_t count = match_parts(SETTINGS[i].key, path, &rest);
        if (rest.data == NULL && (count == path->count || SETTINGS[i].kind == SETTING_LATER)) {
            *row = &SETTINGS[i];
            return SETTING_ROW;
        }
        if (count == path->count) {
            match = SETTING_SECTION;
        }
    }
    return match;
}

void setting_path_write(const struct setting_path *path, struct buffer *out)
{
    for (size_t i = 0; i < path->count; i++) {
        if (i > 0) {
            buffer_append_byte(out, '.');
        }
        buffer_append_text(out, path->parts[i]);
    }
}

enum { NAME_SIZE = 64, NAMES_MAX = 64 };

// The different names that may stand right below the first `depth` parts of `path`.
static size_t names_below(const struct setting_path *path, size_t depth, char names[NAMES_MAX][NAME_SIZE],
                          bool with_later)
{
    struct setting_path above = *path;
    above.count = depth;
    size_t count = 0;
    for (size_t i = 0; i < SETTINGS_COUNT && count < NAMES_MAX; i++) {
        struct text rest;
        struct text ignored;
        if (match_parts(SETTINGS[i].key, &above, &rest) != depth || rest.data == NULL ||
            (SETTINGS[i].kind == SETTING_LATER && !with_later)) {
            continue;
        }
        struct text name = text_split(rest, '.', &ignored);
        bool is_known = text_equals_c(name, "*");
        for (size_t j = 0; j < count && !is_known; j++) {
            is_known = text_equals_c(name, names[j]);
        }
        if (!is_known) {
            require(name.length < NAME_SIZE);
            memcpy(names[count], name.data, name.length);
            names[count++][name.length] = 0;
        }
    }
    return count;
}

static struct text last_part(struct text key)
{
    struct text last = key;
    for (struct text rest = key; rest.data != NULL;) {
        last = text_split(rest, '.', &rest);
    }
    return last;
}

static bool is_same_key(struct text key, struct text word)
{
    return text_equals(key, word);
}

static bool is_last_part(struct text key, struct text word)
{
    return text_equals(last_part(key), word);
}

// Appends the first key without `*` that is what `word` says.
static bool append_key(struct text word, bool (*is_meant)(struct text key, struct text word), struct buffer *out)
{
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        struct text key = text_of(SETTINGS[i].key);
        if (memchr(key.data, '*', key.length) == NULL && is_meant(key, word)) {
            buffer_append_text(out, key);
            return true;
        }
    }
    return false;
}

bool setting_nearest(const struct setting_path *path, struct buffer *out)
{
    char names[NAMES_MAX][NAME_SIZE];
    const char *candidates[NAMES_MAX];
    require(path->count > 0);
    struct text word = path->parts[path->count - 1];
    if (append_key(word, is_same_key, out)) { // sections joined by dots
        return true;
    }
    size_t count = names_below(path, path->count - 1, names, true);
    for (size_t i = 0; i < count; i++) {
        candidates[i] = names[i];
    }
    const char *nearest = text_nearest(word, candidates, count);
    if (nearest != NULL) {
        struct setting_path meant = *path;
        meant.parts[path->count - 1] = text_of(nearest);
        setting_path_write(&meant, out);
        return true;
    }
    return append_key(word, is_last_part, out); // the right word in the wrong place
}

void setting_children_write(const struct setting_path *path, struct buffer *out)
{
    char names[NAMES_MAX][NAME_SIZE];
    size_t count = names_below(path, path->count, names, false);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "%s%s", i > 0 ? ", " : "", names[i]);
    }
}

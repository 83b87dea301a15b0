#include "app/settings_apply.h"

#include "model/exchange.h"

#include <stdio.h>

// At the account, for its values stand on the lines below it.
static void find_account(struct settings_reader *reader, const struct settings_account *account, enum code code,
                         const char *sentence, const char *help)
{
    char message[256];
    snprintf(message, sizeof(message), "account `%.*s` %s", TEXT_ARGS(account->name), sentence);
    settings_find(reader, account->file, account->line, account->column, code, message, help);
}

static bool is_market(struct text text)
{
    return text.length == 2 && text.data[0] >= 'A' && text.data[0] <= 'Z' && text.data[1] >= 'A' && text.data[1] <= 'Z';
}

static bool is_proxy(struct text proxy)
{
    struct url_parts parts;
    return url_split(proxy, &parts) && !parts.is_https &&
           (parts.target.data == NULL || text_equals_c(parts.target, "/"));
}

static void check_account(struct settings_reader *reader, const struct settings_account *account)
{
    for (size_t i = 0; i < account->market_count; i++) {
        if (!is_market(account->markets[i])) {
            find_account(reader, account, CODE_SETTING_VALUE, "names a market that is no country",
                         "a market is a country of two capital letters, as in when: { market: [GB, IE] }");
        }
    }
    if ((account->certificate_file.data == NULL) != (account->key_file.data == NULL)) {
        find_account(reader, account, CODE_SETTING_CONFLICT, "has half of a client certificate",
                     "tls needs both `cert` and `key`");
    }
    if (account->proxy.data != NULL && !is_proxy(account->proxy)) {
        find_account(reader, account, CODE_SETTING_VALUE, "has a proxy that is not http://host:port",
                     "proxies speak plain HTTP here, without user and password; requests to https are tunnelled");
    }
}

enum mode settings_mode_of(const struct settings_supplier *supplier, const struct settings_account *account)
{
    struct text word = account != NULL && account->mode.data != NULL ? account->mode : supplier->mode;
    enum mode mode;
    return mode_find(word, &mode) ? mode : MODE_LIVE;
}

// Those of mode test are tried first, for only test searches see them; behind them, and among them, those without
// `when` last.
static int rank_of(const struct settings_supplier *supplier, const struct settings_account *account)
{
    int rank = settings_mode_of(supplier, account) == MODE_TEST ? 0 : 2;
    return rank + (account->market_count == 0 ? 1 : 0);
}

// By rank, else as they stand: a later file can then add accounts for markets to an earlier one's `main`.
static void sort_accounts(struct settings_supplier *supplier)
{
    for (size_t i = 1; i < supplier->account_count; i++) {
        struct settings_account moved = supplier->accounts[i];
        size_t place = i;
        int rank = rank_of(supplier, &moved);
        for (; place > 0 && rank_of(supplier, &supplier->accounts[place - 1]) > rank; place--) {
            supplier->accounts[place] = supplier->accounts[place - 1];
        }
        supplier->accounts[place] = moved;
    }
}

void settings_check_traffic(struct settings_reader *reader, const struct settings_supplier *supplier)
{
    bool has_dark = supplier->account_count == 0 && settings_mode_of(supplier, NULL) == MODE_DARK;
    char sentence[160];

    for (size_t i = 0; i < supplier->account_count && !has_dark; i++) {
        has_dark = settings_mode_of(supplier, &supplier->accounts[i]) == MODE_DARK;
    }
    if (supplier->traffic != 0 && !has_dark) {
        snprintf(sentence, sizeof(sentence), "supplier `%.*s` has `traffic`, but nothing of it is dark",
                 TEXT_ARGS(supplier->name));
        settings_find(reader, supplier->file, supplier->line, supplier->column, CODE_SETTING_CONFLICT, sentence,
                      "traffic is the share of searches that reach a supplier or account with `mode: dark`");
    }
}

// One of mode test leaves the searches that are no test to those behind it.
static bool takes_every_search(const struct settings_supplier *supplier, size_t index)
{
    const struct settings_account *accounts = supplier->accounts;
    bool has_other = false;

    for (size_t i = index + 1; i < supplier->account_count; i++) {
        has_other = has_other || settings_mode_of(supplier, &accounts[i]) != MODE_TEST;
    }
    return accounts[index].market_count == 0 &&
           (settings_mode_of(supplier, &accounts[index]) != MODE_TEST || !has_other);
}

void settings_finish_accounts(struct settings_reader *reader, struct settings_supplier *supplier)
{
    size_t last = supplier->account_count - 1;
    char sentence[160];

    sort_accounts(supplier);
    for (size_t i = 0; i <= last; i++) {
        const struct settings_account *account = &supplier->accounts[i];
        check_account(reader, account);
        if (i < last && takes_every_search(supplier, i)) {
            snprintf(sentence, sizeof(sentence), "takes every search, so that `%.*s` is never used",
                     TEXT_ARGS(supplier->accounts[i + 1].name));
            find_account(reader, account, CODE_SETTING_CONFLICT, sentence, "give one of them a `when`");
        }
    }
}

#include "app/switch_words.h"

#include <stdio.h>
#include <stdlib.h>

/// One row, one action.
static const struct {
    const char *name, *done;
} ACTIONS[] = {
    [SWITCH_DISABLE] = { "disable", "is switched off" },
    [SWITCH_DRAIN] = { "drain", "is switched off, and what is under way ends" },
    [SWITCH_ENABLE] = { "enable", "is asked again" },
    [SWITCH_OPEN] = { "open", "has its breaker open" },
    [SWITCH_CLOSE] = { "close", "has its breaker closed" },
    [SWITCH_RESET] = { "reset", "has its breaker as new" },
    [SWITCH_SET_CEILING] = { "ceiling", "has another ceiling" },
    [SWITCH_DROP_CEILING] = { "ceiling", "has its own ceiling again" },
    [SWITCH_PURGE] = { "purge", "has its last known answers forgotten" },
};

static void put_account(const char *account, char *place, size_t size)
{
    (void)snprintf(place, size, "%s%s", account[0] != '\0' ? "its account " : "it", account);
}

void switch_words_of(const struct switch_request *request, uint64_t now_us, uint64_t wall_us, struct failure *sentence)
{
    struct switch_item said = { .until_us = request->has_now ? request->now.until_us : SWITCH_NEVER };
    char words[SWITCH_WHO_SIZE + SWITCH_WHY_SIZE + 64];
    char what[SWITCH_NAME_SIZE + 16];

    (void)snprintf(said.who, sizeof(said.who), "%s", request->who);
    (void)snprintf(said.why, sizeof(said.why), "%s", request->why);
    switch_print(&said, now_us, wall_us, words, sizeof(words));
    put_account(request->account, what, sizeof(what));
    failure_set(sentence, "%s %s, %s", what, ACTIONS[request->action].done, words);
}

void switch_words_of_over(const struct switch_item *over, struct failure *sentence)
{
    static const char *const ENDS[SWITCH_KIND_COUNT] = {
        [SWITCH_DISABLED] = "is asked again",
        [SWITCH_DRAINING] = "is asked again",
        [SWITCH_BREAKER_OPEN] = "has its breaker held open no more",
        [SWITCH_BREAKER_CLOSED] = "has its breaker held closed no more",
        [SWITCH_CEILING] = "has its own ceiling again",
    };
    struct switch_item said = *over;
    char words[SWITCH_WHO_SIZE + SWITCH_WHY_SIZE + 64];
    char what[SWITCH_NAME_SIZE + 16];

    said.until_us = SWITCH_NEVER;
    switch_print(&said, 0, 0, words, sizeof(words));
    put_account(over->account, what, sizeof(what));
    failure_set(sentence, "%s %s: the time is over that was set %s", what, ENDS[over->kind], words);
}

void switch_words_of_start(const struct switch_item *items, size_t count, struct failure *sentence)
{
    struct buffer names;

    buffer_init(&names, 300);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(&names, "%s%s%s%s %s", i > 0 ? ", " : "", items[i].supplier,
                      items[i].account[0] != '\0' ? "/" : "", items[i].account, switch_kind_name(items[i].kind));
    }
    failure_set(sentence, "in force from before the start: %.*s%s", TEXT_ARGS(buffer_text(&names)),
                names.is_full ? ", …" : "");
    failure_help(sentence, "`lastcall suppliers` lists them, `lastcall enable NAME` takes one back");
    buffer_fini(&names);
}

// ------------------------------------------------------------------------------------------------------------- refusal

static void help_nearest(struct failure *because, const char *word, const char *const *names, size_t count)
{
    const char *nearest = text_nearest(text_of(word), names, count);

    if (nearest != NULL) {
        failure_help(because, "did you mean `%s`?", nearest);
    } else {
        failure_help(because, "`lastcall suppliers` lists those that there are");
    }
}

/// Terminated copies, for text_nearest; NULL without memory.
static const char **names_of(size_t count, char (**room)[SWITCH_NAME_SIZE])
{
    const char **names = calloc(count + 1, sizeof(*names));

    *room = calloc(count + 1, sizeof(**room));
    if (names == NULL || *room == NULL) {
        free(names);
        free(*room);
        *room = NULL;
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = (*room)[i];
    }
    return names;
}

void switch_words_on_stranger(struct switch_request *request, const struct catalogue *catalogue)
{
    char(*room)[SWITCH_NAME_SIZE];
    const char **names = names_of(catalogue->supplier_count, &room);

    failure_set(&request->because, "no supplier is called `%s`", request->supplier);
    for (size_t i = 0; names != NULL && i < catalogue->supplier_count; i++) {
        (void)snprintf(room[i], sizeof(room[i]), "%.*s", TEXT_ARGS(catalogue->suppliers[i].name));
    }
    help_nearest(&request->because, request->supplier, names, names != NULL ? catalogue->supplier_count : 0);
    free(names);
    free(room);
}

void switch_words_on_strange_account(struct switch_request *request, const struct catalogue_supplier *supplier)
{
    size_t count = catalogue_account_count(supplier);
    char(*room)[SWITCH_NAME_SIZE];
    const char **names = names_of(count, &room);

    failure_set(&request->because, "no account of %s is called `%s`", request->supplier, request->account);
    for (size_t i = 0; names != NULL && i < count; i++) {
        (void)snprintf(room[i], sizeof(room[i]), "%.*s", TEXT_ARGS(supplier->account[i].name));
    }
    help_nearest(&request->because, request->account, names, names != NULL ? count : 0);
    free(names);
    free(room);
}

void switch_words_on_enabled(struct switch_request *request, const struct catalogue_supplier *supplier, bool is_back,
                             bool is_off_still)
{
    if (is_off_still) {
        failure_set(&request->because, "all of %s is switched off, so this account is not asked either",
                    request->supplier);
        failure_help(&request->because, "`lastcall enable %s` without an account takes it back", request->supplier);
    } else if (supplier == NULL) {
        failure_set(&request->because, "there is no supplier of this name now");
    } else if (!supplier->is_enabled) {
        failure_set(&request->because, "it is not asked all the same: %.*s", TEXT_ARGS(supplier->because));
        failure_help(&request->because, "no operator has said so: mend it in the settings, then `lastcall reload`");
        request->end = is_back ? SWITCH_DONE : SWITCH_REFUSED;
    } else if (!is_back) {
        failure_set(&request->because, "no operator has switched it off");
    }
}

void switch_words_on_disabled(struct switch_request *request, const struct catalogue_supplier *supplier)
{
    if (supplier != NULL && !supplier->is_enabled) {
        failure_set(&request->because, "it is off anyway, and stays so with its settings: %.*s",
                    TEXT_ARGS(supplier->because));
    }
}

// ------------------------------------------------------------------------------------------------------------- answers

static void write_failure(const struct failure *failure, struct json_writer *json)
{
    json_begin_object(json);
    json_field_c(json, "message", failure->message);
    json_field_c(json, "file", failure->file);
    if (failure->line > 0) {
        json_field_u64(json, "line", failure->line);
    }
    json_field_c(json, "help", failure->help);
    json_end_object(json);
}

void switch_words_write_kept(const struct switch_keeping *keeping, struct json_writer *json)
{
    const struct failure *trouble = &keeping->trouble;
    bool has_file = keeping->path[0] != '\0';

    json_key(json, "kept");
    json_begin_object(json);
    json_field_bool(json, "over_restarts", keeping->is_kept);
    if (has_file) {
        json_field_c(json, "file", keeping->path);
    } else {
        json_field_c(json, "because", "state_dir is not set: a restart forgets what operators have said");
        json_field_c(json, "help", "set state_dir to a directory that the engine may write, and restart it");
    }
    if (has_file && trouble->message[0] != '\0') {
        json_field_c(json, "because", trouble->message);
        json_field_c(json, "help", trouble->help);
    }
    if (keeping->lost.message[0] != '\0') {
        json_key(json, "at_start");
        write_failure(&keeping->lost, json);
    }
    json_end_object(json);
}

void switch_words_write(const struct switch_request *request, uint64_t now_us, uint64_t wall_us,
                        struct json_writer *json)
{
    json_begin_object(json);
    json_field_c(json, "supplier", request->supplier);
    if (request->account[0] != '\0') {
        json_field_c(json, "account", request->account);
    }
    json_field_c(json, "action", ACTIONS[request->action].name);
    json_field_bool(json, "changed", request->end == SWITCH_DONE);
    if (request->has_now) {
        json_key(json, "switch");
        switch_write(&request->now, now_us, wall_us, json);
    }
    if (request->has_was) {
        json_key(json, "was");
        switch_write(&request->was, now_us, wall_us, json);
    }
    json_field_u64(json, "out", request->out);
    if (request->action == SWITCH_PURGE) {
        json_field_u64(json, "purged", request->purged);
    }
    switch_words_write_kept(&request->keeping, json);
    if (request->because.message[0] != '\0') {
        json_field_c(json, "remark", request->because.message);
        if (request->because.help[0] != '\0') {
            json_field_c(json, "help", request->because.help);
        }
    }
    json_end_object(json);
}

#include "app/startup.h"

#include "app/admin.h"
#include "app/bearer.h"
#include "app/settings_table.h"
#include "app/store_desk.h"
#include "io/identity.h"
#include "telemetry/attribution.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/// At the setting, where a file has it.
static void startup_tell(const struct settings *settings, const char *key, enum status status, struct failure *why,
                         settings_finding report, void *context)
{
    if (status == STATUS_OK) {
        return;
    }
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        const struct settings_place *place = &settings->places[i];
        if (strcmp(SETTINGS[i].key, key) == 0 && place->file != NULL) {
            failure_at(why, place->file, place->line, place->column);
        }
    }
    if (why->code == CODE_NONE) {
        failure_code(why, CODE_START);
    }
    report(context, why);
}

/// A directory that is not there holds no secret, and every one of them would be missed.
static enum status startup_check_secrets_dir(const char *path, struct failure *why)
{
    struct stat facts;

    if (path == NULL || path[0] == '\0') {
        return STATUS_OK;
    }
    bool is_there = stat(path, &facts) == 0;
    if (is_there && S_ISDIR(facts.st_mode)) {
        return STATUS_OK;
    }
    char words[128];
    failure_set(why, "the directory of secrets %s cannot be used: %s", path,
                is_there ? "it is no directory" : strerror_r(errno, words, sizeof(words)));
    failure_help(why, "make it, or take `secrets_dir` out: secrets are environment variables, too");
    return STATUS_INVALID;
}

void startup_check(const struct settings *settings, settings_finding report, void *context)
{
    struct failure of_reply = { 0 }, of_admin = { 0 }, of_authorities = { 0 }, of_attribution = { 0 }, of_dir = { 0 };
    struct failure of_store = { 0 };
    struct text token = { NULL, 0 };

    enum status status =
        bearer_read("reply.token_env", settings->reply_token_env, settings->secrets_dir, &token, &of_reply);
    startup_tell(settings, "reply.token_env", status, &of_reply, report, context);
    bearer_free(&token);
    status = admin_read_token(settings, &token, &of_admin);
    startup_tell(settings, settings->admin_token_env.data != NULL ? "admin.token_env" : "admin.listen", status,
                 &of_admin, report, context);
    bearer_free(&token);
    status = identity_check_authorities("network.ca_file", settings->ca_file.data, &of_authorities);
    startup_tell(settings, "network.ca_file", status, &of_authorities, report, context);
    status = attribution_check(settings->attribution_file.data, &of_attribution);
    startup_tell(settings, "attribution.file", status, &of_attribution, report, context);
    status = startup_check_secrets_dir(settings->secrets_dir.data, &of_dir);
    startup_tell(settings, "secrets_dir", status, &of_dir, report, context);
    status = store_desk_check(settings, &of_store);
    startup_tell(settings, settings->store_path.data != NULL ? "store.path" : "state_dir", status, &of_store, report,
                 context);
}

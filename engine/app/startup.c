#include "app/startup.h"

#include "app/admin.h"
#include "app/bearer.h"
#include "io/identity.h"
#include "telemetry/attribution.h"

static void startup_tell(enum status status, struct failure *why, settings_finding report, void *context)
{
    if (status != STATUS_OK) {
        if (why->code == CODE_NONE) {
            failure_code(why, CODE_START);
        }
        report(context, why);
    }
}

void startup_check(const struct settings *settings, settings_finding report, void *context)
{
    struct failure of_reply = { 0 }, of_admin = { 0 }, of_authorities = { 0 }, of_attribution = { 0 };
    struct text token = { NULL, 0 };

    enum status status =
        bearer_read("reply.token_env", settings->reply_token_env, settings->secrets_dir, &token, &of_reply);
    startup_tell(status, &of_reply, report, context);
    bearer_free(&token);
    status = admin_read_token(settings, &token, &of_admin);
    startup_tell(status, &of_admin, report, context);
    bearer_free(&token);
    status = identity_check_authorities("network.ca_file", settings->ca_file.data, &of_authorities);
    startup_tell(status, &of_authorities, report, context);
    status = attribution_check(settings->attribution_file.data, &of_attribution);
    startup_tell(status, &of_attribution, report, context);
}

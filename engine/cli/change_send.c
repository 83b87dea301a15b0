#include "cli/change_send.h"

#include "cli/admin_ask.h"
#include "cli/reload_print.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHANGE_BODY_CAP = 64 << 10 };

/// "ann@gateway-3": who has typed the command, and where.
static void write_who(struct json_writer *json)
{
    const struct passwd *user = getpwuid(geteuid());
    const char *name = user != NULL ? user->pw_name : getenv("USER");
    char host[256] = "";
    char who[256];

    if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0') {
        (void)snprintf(host, sizeof(host), "?");
    }
    (void)snprintf(who, sizeof(who), "%.100s@%.100s", name != NULL ? name : "?", host);
    json_field_c(json, "who", who);
}

void change_write_asker(const struct cli_options *options, struct json_writer *json)
{
    write_who(json);
    if (options->why != NULL) {
        json_field_c(json, "why", options->why);
    }
}

int change_send(const struct cli_options *options, const char *path, change_fields write)
{
    struct http_response *response = NULL;
    struct buffer body;
    struct json_writer json;

    buffer_init(&body, CHANGE_BODY_CAP);
    json_writer_init(&json, &body);
    json_begin_object(&json);
    change_write_asker(options, &json);
    write(options, &json);
    json_end_object(&json);
    int code = admin_change(options, path, buffer_text(&body), &response);
    if (code == CLI_OK) {
        code = reload_print(options, response);
        http_response_destroy(&response);
    }
    buffer_fini(&body);
    return code;
}

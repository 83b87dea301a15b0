#include "cli/findings.h"

enum { OUTPUT_MAX = 16 << 20 };

void findings_begin(struct findings *findings, const struct cli_options *options)
{
    *findings = (struct findings){ .options = options };
    buffer_init(&findings->out, OUTPUT_MAX);
    json_writer_init(&findings->json, &findings->out);
    json_begin_object(&findings->json);
    json_key(&findings->json, "findings");
    json_begin_array(&findings->json);
}

void findings_tell(void *context, const struct failure *failure)
{
    struct findings *findings = context;

    findings->count++;
    if (findings->options->is_json) {
        cli_tell_finding(&findings->json, failure, true);
    } else {
        cli_print_failure(stderr, failure, findings->options->is_colourless);
    }
}

void findings_end(struct findings *findings)
{
    if (findings->options->is_json && findings->count > 0) {
        json_end_array(&findings->json);
        json_end_object(&findings->json);
        buffer_append_byte(&findings->out, '\n');
        cli_flush(stdout, &findings->out);
    }
    buffer_fini(&findings->out);
}

int cli_fail(const struct cli_options *options, const struct failure *why, int code)
{
    struct findings findings;

    findings_begin(&findings, options);
    findings_tell(&findings, why);
    findings_end(&findings);
    return code;
}

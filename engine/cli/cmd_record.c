#include "cli/trying.h"

#include "app/try_fit.h"
#include "app/try_record.h"
#include "base/clock.h"
#include "base/json_write.h"

#include <string.h>

enum { FINDINGS_MAX = 16 << 20 };

struct record {
    struct trying trying;
    struct try_recording recording;
    struct json_writer *json; // NULL: for a person
};

static void report(void *context, const struct failure *failure)
{
    const struct record *record = context;
    cli_tell_finding(record->json, failure, record->trying.options->is_colourless);
}

/// What somebody should look at before the fixture goes to others.
static void print_cautions(const struct record *record, struct buffer *out)
{
    const struct try_run *run = &record->trying.run;
    size_t logins = 0;

    for (size_t i = 0; i < run->tap.count; i++) {
        logins += tap_at(&run->tap, i)->is_login ? 1 : 0;
    }
    if (logins > 0) {
        buffer_append_c(out, "look at the bodies before others see them: the answer to a login may name the account\n");
    }
    if (record->recording.is_invented_gone) {
        buffer_printf(out, "%s, which `lastcall new` invented, is gone: this one stands in its place\n",
                      record->recording.invented);
    } else if (record->recording.invented[0] != '\0') {
        const char *name = strrchr(record->recording.invented, '/') + 1;
        buffer_printf(out,
                      "%s is still the one that `lastcall new` invented: delete it, or record over it with --as %.*s "
                      "--force\n",
                      record->recording.invented, (int)strcspn(name, "."), name);
    }
    if (record->recording.renewed > 0) {
        buffer_printf(out, "%zu odd fixture%s that `lastcall new` invented now ask%s for the same\n",
                      record->recording.renewed, record->recording.renewed == 1 ? "" : "s",
                      record->recording.renewed == 1 ? "s" : "");
    }
    if (run->unused > 0) {
        buffer_printf(out, "%zu --body %s not asked for: the script sends fewer requests\n", run->unused,
                      run->unused == 1 ? "was" : "were");
    }
}

static void print_sentence(void *context, const char *sentence)
{
    buffer_printf(context, "%s\n", sentence);
}

static void print_end(const struct record *record, struct buffer *out)
{
    const struct try_recording *recording = &record->recording;
    struct text outcome = try_outcome(&record->trying.run);

    if (recording->is_kept) {
        buffer_printf(out, "%s: %.*s, %zu exchange%s; %s\n", recording->path, TEXT_ARGS(outcome),
                      record->trying.run.tap.count, record->trying.run.tap.count == 1 ? "" : "s",
                      recording->findings == 0 ? "it passes" : "it does not pass, and was kept all the same");
        struct try_fit fit;
        print_cautions(record, out);
        try_fit_read(&fit, &record->trying.run);
        try_fit_say(&fit, print_sentence, out);
        if (record->trying.run.clock_from != NULL && !record->trying.run.is_live) {
            char now[CLOCK_UTC_SIZE];
            clock_print_utc(record->trying.run.wall_us, now);
            buffer_printf(out, "its clock stands at %s%s\n", now,
                          strcmp(record->trying.run.clock_from, "fixture") == 0
                              ? ", as that of the fixture"
                              : ", the day before the search's first date, which is over");
        }
        buffer_printf(out, "next: lastcall test %.*s", TEXT_ARGS(recording->subject->script->name));
        trying_put_settings(record->trying.options, out);
        buffer_append_byte(out, '\n');
    } else {
        buffer_printf(out, "%s does not pass and was not kept (--force keeps it)\n", recording->path);
    }
}

static int make(struct record *record)
{
    struct failure why = { .code = CODE_NONE };
    struct json_writer json;
    struct buffer out;
    bool is_json = record->trying.options->is_json;

    buffer_init(&out, FINDINGS_MAX);
    json_writer_init(&json, &out);
    if (is_json) {
        record->json = &json;
        json_begin_object(&json);
        json_key(&json, "findings");
        json_begin_array(&json);
    }
    if (!try_record(&record->recording, &why)) {
        buffer_fini(&out);
        return cli_fail(record->trying.options, &why,
                        record->trying.run.is_live && why.code == CODE_CALL_FAILED ? CLI_CALL_FAILED : CLI_FINDINGS);
    }
    if (is_json) {
        json_end_array(&json);
        json_field_c(&json, "fixture", record->recording.path);
        json_field_bool(&json, "kept", record->recording.is_kept);
        if (record->recording.invented[0] != '\0') {
            json_field_c(&json, "invented", record->recording.invented);
            json_field_bool(&json, "invented_gone", record->recording.is_invented_gone);
        }
        json_field_text(&json, "outcome", try_outcome(&record->trying.run));
        json_field_u64(&json, "exchanges", record->trying.run.tap.count);
        json_end_object(&json);
        buffer_append_byte(&out, '\n');
    } else {
        print_end(record, &out);
    }
    cli_flush(stdout, &out);
    buffer_fini(&out);
    return record->recording.findings == 0 ? CLI_OK : CLI_FINDINGS;
}

/// The call comes after all that could be wrong before it.
static int run(struct record *record)
{
    struct trying *trying = &record->trying;
    struct failure why = { .code = CODE_NONE };

    record->recording = (struct try_recording){ .subject = &trying->subject,
                                                .run = &trying->run,
                                                .name = trying->options->as,
                                                .login = text_of(trying->options->login),
                                                .is_forced = trying->options->is_forced,
                                                .report = report,
                                                .context = record };
    bool is_named = record->recording.name != NULL;
    if (is_named && !try_record_check(&record->recording, &why)) {
        return cli_fail(trying->options, &why, CLI_USAGE);
    }
    int code = trying_run(trying);
    if (code == CLI_OK && try_outcome(&trying->run).data == NULL) {
        (void)!try_failure(&trying->run, &trying->subject, &why);
        return cli_fail(trying->options, &why, CLI_USAGE);
    }
    if (code == CLI_OK && !is_named && try_is_mistake(&trying->run)) {
        (void)!try_failure(&trying->run, &trying->subject, &why);
        failure_note(&why, "it is not kept, for it is the script's to mend; --as odd-NAME keeps it all the same");
        return cli_fail(trying->options, &why, CLI_FINDINGS);
    }
    if (code == CLI_OK && !is_named) {
        try_record_choose(&record->recording);
        if (!try_record_check(&record->recording, &why)) {
            return cli_fail(trying->options, &why, CLI_USAGE);
        }
    }
    return code == CLI_OK ? make(record) : code;
}

int cmd_record(const struct cli_options *options)
{
    struct record record = { .json = NULL };

    int code = trying_open(&record.trying, options);
    if (code == CLI_OK) {
        code = run(&record);
    }
    trying_close(&record.trying);
    return code;
}

#include "model/exchange_note.h"

#include "base/plain.h"
#include "base/redact.h"

#include <stdio.h>
#include <string.h>

enum { NOTE_SIZE = 512, NOTE_HEADERS_MAX = 8, NOTE_PARAMETERS_MAX = 8 };

/// A note in the making.
struct note {
    char text[NOTE_SIZE];
    size_t length;
};

static void note_add(struct note *note, const char *before, struct text words, const char *behind)
{
    size_t room = sizeof note->text - note->length;
    int added = snprintf(note->text + note->length, room, "%s%.*s%s", before, TEXT_ARGS(words), behind);

    note->length += added < 0 ? 0 : (size_t)added < room ? (size_t)added : room - 1;
}

/// The note, without secrets and control characters.
static void note_put(struct note *note, struct failure *why)
{
    char shown[NOTE_SIZE];

    (void)redact_copy(shown, sizeof shown, (struct text){ note->text, note->length });
    plain_clean(shown, strlen(shown));
    failure_note(why, "%s", shown);
}

static void note_add_url(struct note *note, struct text url)
{
    struct text rest = url;
    struct text path = text_split(url, '?', &rest);

    note_add(note, " ", path, "");
    if (path.length == url.length) {
        return;
    }
    for (size_t i = 0; rest.length > 0; i++) {
        struct text pair = text_split(rest, '&', &rest), value = pair;
        if (i == NOTE_PARAMETERS_MAX) {
            note_add(note, "&...", TEXT(""), "");
            return;
        }
        struct text name = text_split(pair, '=', &value);
        note_add(note, i == 0 ? "?" : "&", name, name.length == pair.length ? "" : "=***");
    }
}

void exchange_note_request(struct failure *why, const struct http_request *request)
{
    struct note note = { .length = 0 };

    if (why == NULL || request == NULL) {
        return;
    }
    note_add(&note, "request   ", request->method, "");
    note_add_url(&note, request->url);
    for (size_t i = 0; i < request->header_count && i < NOTE_HEADERS_MAX; i++) {
        note_add(&note, i == 0 ? " (" : ", ", request->headers[i].name, ": ***");
    }
    if (request->header_count > NOTE_HEADERS_MAX) {
        note_add(&note, ", ...", TEXT(""), "");
    }
    note_add(&note, request->header_count > 0 ? ")" : "", TEXT(""), "");
    note_put(&note, why);
}

static void note_add_size(struct note *note, size_t bytes)
{
    char size[48];

    if (bytes < 1000) {
        (void)snprintf(size, sizeof size, "%zu B", bytes);
    } else if (bytes < 1000000) {
        (void)snprintf(size, sizeof size, "%.1f kB", (double)bytes / 1e3);
    } else {
        (void)snprintf(size, sizeof size, "%.1f MB", (double)bytes / 1e6);
    }
    note_add(note, " ", text_of(size), "");
}

static void note_add_time(struct note *note, const char *before, uint64_t us)
{
    char time[48];

    (void)snprintf(time, sizeof time, "%llu ms", (unsigned long long)(us / 1000));
    note_add(note, before, text_of(time), "");
}

void exchange_note_response(struct failure *why, const struct http_response *response, uint64_t took_us,
                            const char *saved_to)
{
    struct note note = { .length = 0 };
    char status[16];

    if (why == NULL || response == NULL) {
        return;
    }
    (void)snprintf(status, sizeof status, "%u", response->status);
    note_add(&note, "response  ", text_of(status), "");
    struct text rest;
    struct text type = text_trim(text_split(http_response_header(response, "content-type"), ';', &rest));
    note_add(&note, type.length > 0 ? " " : "", type, "");
    note_add_size(&note, block_text(response->body).length);
    if (took_us > 0) {
        note_add_time(&note, " in ", took_us);
    }
    if (saved_to != NULL) {
        note_add(&note, ", saved to ", text_of(saved_to), "");
    }
    note_put(&note, why);
}

void exchange_note_fetch(struct failure *why, const struct fetch *fetch)
{
    struct note note = { .length = 0 };

    if (why == NULL) {
        return;
    }
    note_add(&note, "response  none: ", text_of(fetch->detail[0] != '\0' ? fetch->detail : "no answer in time"), "");
    if (fetch->phase != PHASE_NONE) {
        note_add(&note, ", in the phase ", text_of(phase_name(fetch->phase)), "");
    }
    if (fetch->started_us > 0 && fetch->done_us > fetch->started_us) {
        note_add_time(&note, ", after ", fetch->done_us - fetch->started_us);
    }
    note_put(&note, why);
}

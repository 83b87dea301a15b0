#include "farm/recording.h"
#include "base/buffer.h"
#include "farm/content.h"

#include <stdlib.h>
#include <string.h>

enum { ANSWERS_MAX = 64, STATUS_LENGTH_MAX = 64, TYPE_LENGTH_MAX = 64 };

/// A line of the file.
struct line {
    struct text method, path, query; // of the file's own bytes
    char status[STATUS_LENGTH_MAX + 1];
    char type[TYPE_LENGTH_MAX + 1];
    char headers[RECORDING_HEADERS_MAX + 1];
    char *body;
    struct recorded_answer answer;
};

struct recording {
    char *bytes;
    struct line lines[ANSWERS_MAX];
    size_t count;
};

bool recording_is_named(const char *path)
{
    static const char ending[] = ".answers";
    size_t length = strlen(path);

    return length >= sizeof(ending) && strcmp(path + length - (sizeof(ending) - 1), ending) == 0;
}

/// The next column with a zero byte behind it; false: it is empty or longer than `max`.
static bool next_column(struct text *rest, char *out, size_t max)
{
    struct text column = text_split(*rest, '\t', rest);

    if (column.length == 0 || column.length > max) {
        return false;
    }
    memcpy(out, column.data, column.length);
    out[column.length] = '\0';
    return true;
}

static bool read_headers(struct line *line, struct text rest)
{
    size_t length = 0;

    while (rest.length > 0) {
        struct text header = text_split(rest, '\t', &rest);
        if (length + header.length + 2 > RECORDING_HEADERS_MAX || memchr(header.data, ':', header.length) == NULL) {
            return false;
        }
        memcpy(line->headers + length, header.data, header.length);
        memcpy(line->headers + length + header.length, "\r\n", 2);
        length += header.length + 2;
    }
    line->headers[length] = '\0';
    return true;
}

static enum status read_line(struct line *line, struct text content, struct failure *why)
{
    char file[512];
    size_t length = 0;
    enum status status = STATUS_OK;

    line->method = text_split(content, '\t', &content);
    line->path = text_split(text_split(content, '\t', &content), '?', &line->query);
    if (line->method.length == 0 || !text_starts_with(line->path, TEXT("/")) ||
        !next_column(&content, line->status, STATUS_LENGTH_MAX) ||
        !next_column(&content, line->type, TYPE_LENGTH_MAX) || !next_column(&content, file, sizeof(file) - 1) ||
        !read_headers(line, content)) {
        failure_set(why, "method, target, status, type, file and header lines are expected, separated by tabs");
        return STATUS_INVALID;
    }
    if (strcmp(file, "-") != 0) {
        status = content_read(file, &line->body, &length, why);
    }
    struct text body = { line->body != NULL ? line->body : "", length };
    line->answer = (struct recorded_answer){ line->status, line->type, line->headers, body };
    return status;
}

enum status recording_read(const char *path, struct recording **recording, struct failure *why)
{
    struct recording *read = calloc(1, sizeof(*read));
    size_t length = 0;

    *recording = NULL;
    if (read == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = content_read(path, &read->bytes, &length, why);
    struct text rest = { read->bytes, length };
    for (uint32_t number = 1; status == STATUS_OK && rest.length > 0; number++) {
        struct text content = text_split(rest, '\n', &rest);
        if (content.length == 0 || content.data[0] == '#') {
            continue;
        }
        if (read->count == ANSWERS_MAX) {
            failure_set(why, "at most %d answers fit", ANSWERS_MAX);
            status = STATUS_FULL;
        } else {
            status = read_line(&read->lines[read->count++], content, why);
        }
        if (status != STATUS_OK) {
            failure_at(why, path, number, 1);
        }
    }
    if (status != STATUS_OK) {
        recording_destroy(&read);
    }
    *recording = read;
    return status;
}

void recording_destroy(struct recording **recording)
{
    if (*recording == NULL) {
        return;
    }
    for (size_t i = 0; i < (*recording)->count; i++) {
        free((*recording)->lines[i].body);
    }
    free((*recording)->bytes);
    free(*recording);
    *recording = NULL;
}

// A piece that begins so is looked for in the body.
static const char IN_BODY[] = "body~";

static bool has_piece(const struct request *request, struct text piece)
{
    struct text query = request->query_string;

    if (text_starts_with(piece, text_of(IN_BODY))) {
        size_t skipped = sizeof(IN_BODY) - 1;
        return memmem(request->body.data, request->body.length, piece.data + skipped, piece.length - skipped) != NULL;
    }
    while (query.length > 0) {
        if (text_equals(text_split(query, '&', &query), piece)) {
            return true;
        }
    }
    return false;
}

static bool has_all_pieces(const struct request *request, struct text pieces)
{
    while (pieces.length > 0) {
        if (!has_piece(request, text_split(pieces, '&', &pieces))) {
            return false;
        }
    }
    return true;
}

const struct recorded_answer *recording_find(const struct recording *recording, const struct request *request)
{
    for (size_t i = 0; i < recording->count; i++) {
        const struct line *line = &recording->lines[i];
        if (text_equals(line->method, request->method) && text_equals(line->path, request->path) &&
            has_all_pieces(request, line->query)) {
            return &line->answer;
        }
    }
    return NULL;
}

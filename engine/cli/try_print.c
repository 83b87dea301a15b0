#include "cli/try_print.h"

#include "app/pretty.h"

#include <stdio.h>
#include <string.h>

enum { BODY_LINES = 40, LIST_LINES = 12, LABEL = 11, BODY_MAX = 64 << 20 };

static struct text member(const struct json_node *node, const char *key)
{
    return json_tree_text(node, key);
}

static uint64_t number(const struct json_node *node, const char *key)
{
    uint64_t value = 0;

    (void)!json_tree_to_u64(json_tree_member(node, key), &value);
    return value;
}

static bool has(const struct json_node *node, const char *key)
{
    return json_tree_member(node, key) != NULL;
}

static bool is_true(const struct json_node *node, const char *key)
{
    const struct json_node *found = json_tree_member(node, key);
    return found != NULL && found->kind == JSON_TRUE;
}

static void put(struct paint *paint, struct text text)
{
    paint_text(paint, text, SIZE_MAX);
}

static void end_line(struct paint *paint)
{
    buffer_append_byte(paint->out, '\n');
}

static void label(struct paint *paint, const char *name)
{
    paint_on(paint, PAINT_BOLD);
    paint_cell(paint, text_of(name), LABEL, PAINT_LEFT);
    paint_off(paint, PAINT_BOLD);
}

static void put_size(struct paint *paint, uint64_t bytes)
{
    if (bytes < 1000) {
        buffer_printf(paint->out, "%llu B", (unsigned long long)bytes);
    } else {
        buffer_printf(paint->out, "%.1f kB", (double)bytes / 1000.0);
    }
}

// ----------------------------------------------------------------------------------------------------------- exchanges

static void print_headers(struct paint *paint, const struct json_node *headers, const char *mark)
{
    for (const struct json_node *at = headers == NULL ? NULL : headers->first; at != NULL; at = at->next) {
        buffer_printf(paint->out, "  %s ", mark);
        put(paint, member(at, "name"));
        buffer_append_c(paint->out, ": ");
        put(paint, member(at, "value"));
        if (is_true(at, "signed")) {
            buffer_printf(paint->out, " (%llu bytes, by sign)", (unsigned long long)number(at, "length"));
        }
        end_line(paint);
    }
}

static size_t count_lines(struct text text)
{
    size_t count = 0;

    while (text.data != NULL) {
        (void)text_split(text, '\n', &text);
        count++;
    }
    return count;
}

/// A long one is cut in its middle: the header of SOAP is in front, what is searched for behind.
static void print_body(struct paint *paint, struct text body, struct text type, bool shows_all)
{
    bool is_form = text_starts_with(type, TEXT("application/x-www-form-urlencoded"));
    struct buffer pretty;
    size_t lines = 0;

    buffer_init(&pretty, BODY_MAX);
    pretty_body(body, is_form, &pretty);
    size_t count = count_lines(buffer_text(&pretty)), cut = shows_all || count <= BODY_LINES ? 0 : count - BODY_LINES;
    for (struct text rest = buffer_text(&pretty); rest.data != NULL; lines++) {
        struct text line = text_split(rest, '\n', &rest);
        if (cut > 0 && lines >= BODY_LINES / 2 && lines < BODY_LINES / 2 + cut) {
            if (lines == BODY_LINES / 2) {
                buffer_printf(paint->out, "  > … (%zu lines; --all shows them)\n", cut);
            }
            continue;
        }
        buffer_append_c(paint->out, "  > ");
        paint_text(paint, line, shows_all ? SIZE_MAX : paint->width - 4);
        end_line(paint);
    }
    buffer_fini(&pretty);
}

static void print_times(struct paint *paint, const struct json_node *times)
{
    static const char *const NAMES[][2] = {
        { "queue", "queue" },     { "dns", "dns" },
        { "connect", "connect" }, { "tls", "tls" },
        { "send", "send" },       { "first_byte", "first byte" },
        { "body", "body" },       { "script_queue", "script queue" },
        { "script", "script" },
    };
    bool is_first = true;

    buffer_append_c(paint->out, "  ms");
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        struct text value = member(times, NAMES[i][0]);
        if (value.data != NULL) {
            buffer_printf(paint->out, "%s %s %.*s", is_first ? "" : ",", NAMES[i][1], TEXT_ARGS(value));
            is_first = false;
        }
    }
    buffer_append_c(paint->out, is_first ? " none\n" : "\n");
}

enum { UNREAD_FEW = 3, UNREAD_SHORT = 12 }; // lines, and bytes of a path, that are read as quickly with it as without

/// How many bytes of their paths all of them share, up to a dot; 0: not worth a line.
static size_t unread_shared(const struct json_node *unread)
{
    struct text first = member(unread->first, "path");
    size_t shared = first.length;

    for (const struct json_node *at = unread->first->next; at != NULL; at = at->next) {
        struct text path = member(at, "path");
        size_t same = 0;
        while (same < shared && same < path.length && path.data[same] == first.data[same]) {
            same++;
        }
        shared = same;
    }
    while (shared > 0 && first.data[shared - 1] != '.') {
        shared--;
    }
    return unread->count < UNREAD_FEW || shared < UNREAD_SHORT ? 0 : shared;
}

static void print_unread(struct paint *paint, const struct json_node *script, bool shows_all)
{
    const struct json_node *unread = json_tree_member(script, "unread");
    size_t lines = 0;

    if (is_true(script, "reads_all")) {
        buffer_append_c(
            paint->out,
            "  unread   nobody can tell: the script takes the whole body (a shape or a plan says what it reads)\n");
        return;
    }
    if (json_tree_member(script, "unread_unknown") != NULL) {
        buffer_append_c(paint->out, "  unread   not known: ");
        put(paint, member(script, "unread_unknown"));
        buffer_append_byte(paint->out, '\n');
        return;
    }
    size_t shared = unread == NULL || unread->first == NULL ? 0 : unread_shared(unread);
    if (shared > 0) {
        buffer_append_c(paint->out, "  unread   within ");
        put(paint, (struct text){ member(unread->first, "path").data, shared - 1 });
        buffer_append_c(paint->out, ":\n");
    }
    for (const struct json_node *at = unread == NULL ? NULL : unread->first; at != NULL; at = at->next) {
        struct text path = member(at, "path");
        if (!shows_all && lines++ == LIST_LINES) {
            buffer_printf(paint->out, "  unread   and %zu more (--all)\n", unread->count - LIST_LINES);
            return;
        }
        buffer_append_c(paint->out, "  unread   ");
        buffer_append_c(paint->out, shared > 0 ? "." : "");
        put(paint, (struct text){ path.data + shared, path.length - shared });
        buffer_append_c(paint->out, ", ");
        put(paint, member(at, "kind"));
        buffer_printf(paint->out, ", %llu×\n", (unsigned long long)number(at, "count"));
    }
}

static void print_dropped(struct paint *paint, const struct json_node *script, bool shows_all)
{
    const struct json_node *dropped = json_tree_member(script, "dropped");
    size_t lines = 0;

    for (const struct json_node *at = dropped == NULL ? NULL : dropped->first; at != NULL; at = at->next) {
        if (!shows_all && lines++ == LIST_LINES) {
            buffer_printf(paint->out, "  dropped  and %zu more (--all)\n", dropped->count - LIST_LINES);
            return;
        }
        paint_on(paint, PAINT_RED);
        buffer_append_c(paint->out, "  dropped  ");
        paint_off(paint, PAINT_RED);
        put(paint, at->text);
        end_line(paint);
    }
}

static void print_script(struct paint *paint, const struct json_node *script, bool shows_all)
{
    buffer_append_c(paint->out, "  script   ");
    if (text_equals(member(script, "verdict"), TEXT("none"))) {
        buffer_append_c(paint->out, "says nothing of this status, which decides\n");
        return;
    }
    put(paint, member(script, "verdict"));
    if (has(script, "offers")) {
        buffer_printf(paint->out, ", %llu offers", (unsigned long long)number(script, "offers"));
    }
    if (has(script, "code")) {
        buffer_append_c(paint->out, ", code ");
        put(paint, member(script, "code"));
    }
    if (has(script, "message")) {
        buffer_append_c(paint->out, ": ");
        put(paint, member(script, "message"));
    }
    if (is_true(script, "incomplete")) {
        buffer_append_c(paint->out, ", not complete");
    }
    if (has(script, "next_after_ms")) {
        buffer_printf(paint->out, ", the next step after %llu ms", (unsigned long long)number(script, "next_after_ms"));
    }
    if (is_true(script, "quota_used")) {
        buffer_printf(paint->out, ", the quota is used up for %llu ms",
                      (unsigned long long)number(script, "quota_wait_ms"));
    }
    if (has(script, "retry_after_ms")) {
        buffer_printf(paint->out, ", to be asked again after %llu ms",
                      (unsigned long long)number(script, "retry_after_ms"));
    }
    end_line(paint);
    if (has(script, "warnings")) {
        buffer_printf(paint->out, "  warnings %llu, the first: ", (unsigned long long)number(script, "warnings"));
        put(paint, member(script, "first_warning"));
        end_line(paint);
    }
    if (has(script, "over")) {
        buffer_printf(paint->out, "  over     %llu left out of their offers, the first: ",
                      (unsigned long long)number(script, "over"));
        put(paint, member(script, "first_over"));
        end_line(paint);
    }
    print_dropped(paint, script, shows_all);
    print_unread(paint, script, shows_all);
}

/// A few lines of an answer that means trouble.
static void print_beginning(struct paint *paint, struct text beginning)
{
    size_t lines = 0;

    for (struct text rest = beginning; rest.data != NULL && rest.length > 0;) {
        struct text line = text_split(rest, '\n', &rest);
        if (lines++ == LIST_LINES) {
            buffer_append_c(paint->out, "  < …\n");
            return;
        }
        buffer_append_c(paint->out, "  < ");
        paint_text(paint, line, paint->width - 4);
        end_line(paint);
    }
}

static void print_response(struct paint *paint, const struct json_node *exchange)
{
    const struct json_node *response = json_tree_member(exchange, "response");

    if (response == NULL) {
        paint_on(paint, PAINT_RED);
        buffer_append_c(paint->out, "  < no answer: ");
        put(paint, member(exchange, "result"));
        buffer_append_c(paint->out, ", phase ");
        put(paint, member(exchange, "phase"));
        if (has(exchange, "detail")) {
            buffer_append_c(paint->out, ": ");
            put(paint, member(exchange, "detail"));
        }
        paint_off(paint, PAINT_RED);
        end_line(paint);
        return;
    }
    buffer_printf(paint->out, "  < %llu, ", (unsigned long long)number(response, "status"));
    put_size(paint, number(response, "wire_bytes"));
    if (!has(response, "bytes")) {
        buffer_append_c(paint->out, " that cannot be unpacked");
    } else if (number(response, "bytes") != number(response, "wire_bytes")) {
        buffer_append_c(paint->out, " on the wire, ");
        put_size(paint, number(response, "bytes"));
        buffer_append_c(paint->out, " unpacked");
    }
    if (has(response, "saved")) {
        buffer_append_c(paint->out, ", saved to ");
        put(paint, member(response, "saved"));
    }
    end_line(paint);
    print_headers(paint, json_tree_member(response, "headers"), "<");
    print_beginning(paint, member(response, "beginning"));
}

static void print_exchange(struct paint *paint, const struct json_node *exchange, bool shows_all)
{
    const struct json_node *request = json_tree_member(exchange, "request");

    paint_on(paint, PAINT_BOLD);
    buffer_printf(paint->out, "#%llu ", (unsigned long long)number(exchange, "number"));
    if (text_equals(member(exchange, "kind"), TEXT("login"))) {
        buffer_append_c(paint->out, "login: ");
    } else {
        buffer_printf(paint->out, "part %llu, step %llu: ", (unsigned long long)number(exchange, "part"),
                      (unsigned long long)number(exchange, "step"));
    }
    put(paint, member(request, "method"));
    buffer_append_byte(paint->out, ' ');
    put(paint, member(request, "url"));
    paint_off(paint, PAINT_BOLD);
    end_line(paint);
    print_headers(paint, json_tree_member(request, "headers"), ">");
    if (has(request, "body")) {
        print_body(paint, member(request, "body"), member(request, "type"), shows_all);
    }
    print_response(paint, exchange);
    print_times(paint, json_tree_member(exchange, "times_ms"));
    if (has(exchange, "script")) {
        print_script(paint, json_tree_member(exchange, "script"), shows_all);
    }
    end_line(paint);
}

// ------------------------------------------------------------------------------------------------------------- the
// rest

static void print_errors(struct paint *paint, const struct json_node *root)
{
    const struct json_node *errors = json_tree_member(root, "errors");

    label(paint, "refused");
    put(paint, has(root, "title") ? member(root, "title") : TEXT("the product's script said no"));
    end_line(paint);
    for (const struct json_node *at = errors == NULL ? NULL : errors->first; at != NULL; at = at->next) {
        paint_spaces(paint, LABEL);
        put(paint, member(at, "pointer"));
        buffer_append_c(paint->out, ": ");
        put(paint, member(at, "detail"));
        end_line(paint);
    }
}

static void print_outcome(struct paint *paint, const struct json_node *report)
{
    static const char *const FACTS[] = { "bound", "phase", "kind", "http_status", "code", "reason", "detail" };
    bool is_good = text_equals(member(report, "outcome"), TEXT("answered"));

    label(paint, "outcome");
    paint_on(paint, is_good ? PAINT_GREEN : PAINT_YELLOW);
    put(paint, member(report, "outcome"));
    paint_off(paint, is_good ? PAINT_GREEN : PAINT_YELLOW);
    if (is_true(report, "partial")) {
        buffer_append_c(paint->out, ", partial");
    }
    for (size_t i = 0; i < COUNT_OF(FACTS); i++) {
        if (has(report, FACTS[i])) {
            buffer_printf(paint->out, ", %s ", FACTS[i]);
            put(paint, member(report, FACTS[i]));
        }
    }
    end_line(paint);
    const struct json_node *parts = json_tree_member(report, "parts");
    if (parts != NULL) {
        label(paint, "parts");
        buffer_printf(paint->out, "%llu sent, %llu ok, %llu failed\n", (unsigned long long)number(parts, "sent"),
                      (unsigned long long)number(parts, "ok"), (unsigned long long)number(parts, "failed"));
    }
}

static void print_ceiling(struct paint *paint, const struct json_node *ceiling)
{
    if (ceiling == NULL) {
        return;
    }
    label(paint, "ceiling");
    if (has(ceiling, "of_ms")) {
        buffer_printf(paint->out, "%llu of %llu ms, %llu %% (from: ", (unsigned long long)number(ceiling, "used_ms"),
                      (unsigned long long)number(ceiling, "of_ms"), (unsigned long long)number(ceiling, "percent"));
        put(paint, member(ceiling, "from"));
        buffer_append_c(paint->out, ")\n");
    } else {
        buffer_printf(paint->out, "none; %llu ms\n", (unsigned long long)number(ceiling, "used_ms"));
    }
}

static void print_clock(struct paint *paint, const struct json_node *root)
{
    if (!has(root, "now")) {
        return;
    }
    label(paint, "clock");
    put(paint, member(root, "now"));
    buffer_append_c(paint->out, text_equals(member(root, "now_from"), TEXT("fixture"))
                                    ? ", the fixture's\n"
                                    : ", the day before the search's first date, which is over\n");
}

void try_print(struct paint *paint, const struct json_node *root, bool shows_all)
{
    const struct json_node *exchanges = json_tree_member(root, "exchanges");
    const struct json_node *report = json_tree_member(root, "report");

    label(paint, "supplier");
    put(paint, member(root, "supplier"));
    buffer_append_c(paint->out, " (");
    put(paint, member(root, "file"));
    buffer_append_c(paint->out, is_true(root, "live") ? "), live" : "), over saved answers: nothing was sent");
    if (has(root, "off")) {
        buffer_append_c(paint->out, "; searches do not ask it: ");
        put(paint, member(root, "off"));
    }
    end_line(paint);
    print_clock(paint, root);
    end_line(paint);
    for (const struct json_node *at = exchanges->first; at != NULL; at = at->next) {
        print_exchange(paint, at, shows_all);
    }
    if (report == NULL) {
        print_errors(paint, root);
        return;
    }
    if (is_true(root, "interrupted")) {
        label(paint, "cut");
        buffer_append_c(paint->out, "by you (Ctrl-C): this is what was known by then\n");
    }
    if (has(root, "unused_answers")) {
        uint64_t unused = number(root, "unused_answers");
        label(paint, "unused");
        buffer_printf(paint->out, "%llu --body %s not asked for: the script sends fewer requests\n",
                      (unsigned long long)unused, unused == 1 ? "was" : "were");
    }
    print_outcome(paint, report);
    if (text_equals(member(report, "outcome"), TEXT("skipped"))) {
        label(paint, "not tried");
        buffer_append_c(paint->out,
                        "the supplier is not asked for such a search, so nothing was tried; give another one\n");
    }
    print_ceiling(paint, json_tree_member(root, "ceiling"));
    const struct json_node *fit = json_tree_member(root, "fit");
    for (const struct json_node *at = fit == NULL ? NULL : fit->first; at != NULL; at = at->next) {
        label(paint, "fit");
        put(paint, at->text);
        buffer_append_byte(paint->out, '\n');
    }
    try_print_offers(paint, root, shows_all);
}

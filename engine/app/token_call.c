#include "app/token_call.h"

#include "base/json_tree.h"

#include <stdio.h>

void token_call_reply(struct http_call *call, struct buffer *body)
{
    struct header_pair header = { "Cache-Control", "no-store" };
    struct block *block = block_from_buffer(body);
    struct http_reply reply = { .status = block != NULL ? 200 : 503,
                                .content_type = "application/json",
                                .body = block,
                                .headers = &header,
                                .header_count = 1 };
    http_call_reply(call, &reply);
    block_release(&block);
}

// False: `problem` says what is wrong.
static bool read_token(struct http_call *call, const char *field, struct arena *arena, struct text *token,
                       struct problem *problem)
{
    struct json_node *root = NULL;
    size_t offset = 0;
    const char *sentence = "there is none";
    struct text rest, body = block_text(http_call_body(call));
    struct text type = text_trim(text_split(http_call_header(call, "content-type"), ';', &rest));

    if (!text_equals_nocase(type, TEXT("application/json"))) {
        problem_init(problem, 415, "unsupported_media_type", "The body must be application/json");
        problem_add(problem, "", "unsupported_media_type", "send the header content-type: application/json");
        return false;
    }
    if (body.length == 0 || json_tree_read(arena, body, &root, &offset, &sentence) != STATUS_OK ||
        root->kind != JSON_BEGIN_OBJECT) {
        problem_init(problem, 400, "not_json", "The body is not a JSON object");
        problem_add(problem, "", "not_json", "%s, at byte %zu", sentence != NULL ? sentence : "no object", offset);
        return false;
    }
    problem_init(problem, 422, "bad_request", "The request is not valid");
    for (const struct json_node *at = root->first; at != NULL; at = at->next) {
        if (!text_equals_c(at->key, field)) {
            problem_add(problem, "", "unknown_field", "there is no field but \"%s\"", field);
        }
    }
    const struct json_node *node = json_tree_member(root, field);
    if (node == NULL || node->kind != JSON_STRING) {
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/%s", field);
        problem_add(problem, node == NULL ? "" : pointer, node == NULL ? "missing" : "not_a_text", "\"%s\": a text %s",
                    field, node == NULL ? "is missing" : "expected");
    }
    *token = node == NULL ? (struct text){ NULL, 0 } : node->text;
    return problem->error_count == 0;
}

bool token_call_read(struct http_call *call, const char *field, struct arena *arena, struct text *token)
{
    struct problem problem;

    if (read_token(call, field, arena, token, &problem)) {
        return true;
    }
    problem_reply(call, &problem, NULL, 0);
    return false;
}

void token_call_refuse(struct http_call *call, enum token_fault fault)
{
    struct problem problem;

    problem_init(&problem, fault == TOKEN_UNREADABLE ? 503 : 422, token_fault_code(fault), "The token is not accepted");
    problem_add(&problem, "/token", token_fault_code(fault), "%s", token_fault_sentence(fault));
    problem_reply(call, &problem, NULL, 0);
}

void token_call_refuse_off(struct http_call *call)
{
    struct problem problem;

    problem_init(&problem, 404, "tokens_are_off", "This engine gives no tokens: tokens.enabled is false");
    problem_reply(call, &problem, NULL, 0);
}

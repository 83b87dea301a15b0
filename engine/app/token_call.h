/// Token call: what the routes that take a token share: their body, and how they answer.
///
/// Threads: the I/O thread's.
/// Memory:  none of its own.
#pragma once

#include "app/problem.h"
#include "base/arena.h"
#include "io/http_server.h"
#include "token/token_fault.h"

/// The one field of the body; the token lives in the arena. False: it was refused.
MUST_CHECK bool token_call_read(struct http_call *call, const char *field, struct arena *arena, struct text *token);
void token_call_refuse(struct http_call *call, enum token_fault fault);
/// This engine gives no tokens.
void token_call_refuse_off(struct http_call *call);
/// JSON that nobody may keep; the buffer's memory goes with it.
void token_call_reply(struct http_call *call, struct buffer *body);

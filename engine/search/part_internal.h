/// Part, inside: what the files of a part share: its exchanges (part.c) and how its requests are made anew
/// (part_login.c).
///
/// Threads: its world's.
/// Memory:  as in part.h.
#pragma once

#include "search/part.h"

void part_enter(struct part *part, enum part_state state);
/// Ends it; the attempt may be gone afterwards.
void part_finish(struct part *part, enum outcome outcome);
/// What ended the call, for people, is the part's from now on.
void part_take_trouble(struct part *part, struct script_call *call);
void part_finish_saying(struct part *part, enum outcome outcome, const char *detail);

/// Sends its request, signed; the part may be gone afterwards.
void part_send(struct part *part);
/// Sends it as it is, once there is a place for it.
void part_fetch(struct part *part);
/// Waits a while for a place among the requests under way, which `refusal` denied it; then it is refused. The part may
/// be gone afterwards.
void part_queue(struct part *part, const struct permit_refusal *refusal);
void part_on_queue_due(struct part *part);

/// Its own fetch, if it is under way, is given up.
void part_cancel_fetch(struct part *part);
/// Ends it as a fetch without an answer did; the attempt may be gone afterwards.
void part_finish_fetch(struct part *part, const struct fetch *fetch);
/// Reads the answer of its own fetch, or of its second call.
void part_start_normalise(struct part *part, bool is_extra);
/// Its own fetch has sent nothing yet.
bool part_is_connecting(const struct part *part);
/// The whole request is out, in a fetch that stands here, or is over.
bool part_has_gone_out(enum phase phase);
bool part_has_sent(const struct fetch *fetch);
/// Builds its first request once more, and sends it.
void part_build_again(struct part *part);
/// Fills what scripts are told of the request.
void part_describe_request(const struct part *part, struct request_call *call);

/// Waits for a login other than the one of number `refused` (0: any), then builds the request and sends it.
void part_log_in(struct part *part, uint64_t refused);

/// Its script said that the login is no good. True: its request is made anew with another one; the part may be gone.
MUST_CHECK bool part_redo(struct part *part);

/// Has its request a signature that is fresh enough, or no need of one?
bool part_is_signed(const struct part *part);
/// Has its request signed by a worker, then sends it.
void part_sign(struct part *part);

/// Keeps what the request of the next step is made of, in case that it has to be made anew.
void part_keep_answer(struct part *part, struct normalise_call *normalise);

/// Hands a call to the workers; false: the part has ended.
MUST_CHECK bool part_submit(struct part *part, struct script_call *call, void (*on_done)(struct script_call *call));

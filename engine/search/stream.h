/// Stream: tells a caller what a search finds while it runs, as events whose fold is the single reply.
///
/// Events are finished JSON objects: `search` (it began), `offers` (items and offers, upserts by id), `retract` (ids
/// that are gone), `supplier` (a final outcome), `done` (the summary with the order of what counts, or the problem).
/// Each has `seq` from 1 on. The fold: keep items and offers by id, drop what is retracted; at `done` the offers in its
/// `order`, and the items they name, are those of the reply, byte for byte.
///
/// Threads: its search's.
/// Memory:  holds a reference to each batch whose offers were sent; scratch for one event.
#pragma once

#include "base/json_write.h"
#include "base/text_map.h"
#include "search/event.h"
#include "search/merge.h"

struct stream {
    search_on_event on_event; // NULL: off
    void *owner;
    uint64_t next_seq;
    struct text_map items;        // item -> the offer whose item_json was sent last
    struct offer_batch **batches; // those that `items` points into
    size_t batch_count, batch_capacity;
    struct buffer event; // the one being written
    struct buffer gone;  // ids to retract, as the inside of a JSON array
    struct json_writer json;
    bool is_broken; // no memory: only `done` is still told
};

void stream_init(struct stream *stream, search_on_event on_event, void *owner);
void stream_fini(struct stream *stream);

static inline bool stream_is_on(const struct stream *stream)
{
    return stream->on_event != NULL;
}

/// The search began.
void stream_began(struct stream *stream, const struct search *search);

/// New offers of an attempt, as upserts.
void stream_offers(struct stream *stream, const struct attempt *attempt, const struct stock_batch *held);

/// An offer is gone; told with the next stream_retract.
void stream_note_gone(struct stream *stream, const struct attempt *attempt, const struct offer *offer);
void stream_retract(struct stream *stream, const struct search *search, const char *reason);
void stream_supplier(struct stream *stream, const struct search *search, const struct attempt *attempt);

/// Before `done`: items whose bytes differ from the reply's are sent again, offers that the limits drop are retracted.
void stream_settle(struct stream *stream, const struct search *search, const struct merge_result *merged);

/// For the writer of `done`: its number.
uint64_t stream_take_seq(struct stream *stream);

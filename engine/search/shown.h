/// Shown: how a reply names a supplier, and with it its offers and the items that are known by the supplier's own name
/// for them: as the engine does, or to strangers by the display name, which is another for each supplier.
///
/// Offers are written when they are normalised, by the supplier's own name; for strangers their head is written anew.
///
/// Threads: the search's.
/// Memory:  writes into the caller's buffer; nothing is kept.
#pragma once

#include "base/json_write.h"
#include "model/catalogue.h"
#include "model/offer.h"
#include "search/search.h"

struct text shown_name(const struct catalogue_supplier *supplier, enum reply_detail detail);

/// "supplier:id" as a value.
void shown_write_id(struct json_writer *json, const struct catalogue_supplier *supplier, const struct offer *offer,
                    enum reply_detail detail);
/// The same as a key.
void shown_write_id_key(struct json_writer *json, const struct catalogue_supplier *supplier, const struct offer *offer,
                        enum reply_detail detail);
/// The offer's item as a key.
void shown_write_item_key(struct json_writer *json, const struct catalogue_supplier *supplier,
                          const struct offer *offer, enum reply_detail detail);
/// The whole offer, with its token; absent: it has none.
void shown_write_offer(struct json_writer *json, const struct catalogue_supplier *supplier, const struct offer *offer,
                       struct text token, enum reply_detail detail);
/// At most so many more bytes are written of an offer and its item than its own.
size_t shown_room(const struct catalogue_supplier *supplier, enum reply_detail detail);

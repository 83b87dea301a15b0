/// Shape xml: a supplier that is asked in XML: a search is begun, then asked again and again for what has come.
///
///     POST /xml  <Request><Login><User>…</User><Password>…</Password></Login></Request>
///                <Response xmlns="urn:farm:xml"><Login><LoginId>…</LoginId></Login></Response>
///     POST /xml  <Request><LoginId>…</LoginId><StartSearch><Way from="MAD" to="LHR" date="2030-05-12"/>…
///                    <Party>2</Party><Cabin>economy</Cabin><Currency>EUR</Currency></StartSearch></Request>
///                <Response …><StartSearch><RoutingId>…</RoutingId></StartSearch></Response>
///     POST /xml
///     <Request><LoginId>…</LoginId><CheckSearch><RoutingId>…</RoutingId><After>N</After></CheckSearch></Request>
///                <Response …><CheckSearch complete="false"><Offers><Offer
///                id="…">…</Offer>…</Offers></CheckSearch></Response>
///
/// A request without LoginId is served; one with another LoginId than the supplier's gets <Error code="login">. What is
/// wrong otherwise is an <Error>, too: the status is always 200. Flights are those of shape A (answer.h).
///
/// Threads: any, the loop's for what is read.
/// Memory:  plain values; an answer is written into the caller's.
#pragma once

#include "base/buffer.h"
#include "farm/step.h"

enum { SHAPE_XML_ANSWER_MAX = 1 << 20 }; // bytes

enum shape_xml_kind { SHAPE_XML_LOGIN, SHAPE_XML_START, SHAPE_XML_CHECK, SHAPE_XML_ERROR };

struct shape_xml {
    enum shape_xml_kind kind;
    struct step step;
    const char *code, *why; // of an error
};

/// What a request asks for. False: it is no POST to /xml.
MUST_CHECK bool shape_xml_read(struct shape_xml *asked, struct supplier *supplier, struct sessions *sessions,
                               const struct request *request);

/// Writes the answer into SHAPE_XML_ANSWER_MAX bytes; returns its length.
size_t shape_xml_render(const struct shape_xml *asked, const struct supplier *supplier, char *out);

/// Tape, XML: the declared part of an XML document.
///
/// The document is an object with one member, its root element. Of an element that is declared
///
///   as a scalar          its text is TEXT, without blanks at its ends; EMPTY without any; OTHER when elements are in
///   it as an object         members are elements by their names, attributes as `@name`, its own text as `#text` as a
///   list, in one    the elements of that name, also when one came as a map             its elements, by their local
///   names as raw               its bytes, from the first of its tag
///
/// An element that is no list and comes again is not looked at again. A list without elements is LIST only when its
/// parent is empty, else nothing: in <Offers><Fare/></Offers> a list of Offer is not empty, it is not there. An element
/// that says xsi:nil is NULL.
///
/// Threads: one owner.
/// Memory:  texts are in the tape; what is raw points into the document.
#pragma once

#include "script/tape.h"
#include "script/xml_names.h"

struct tape_xml {
    const struct xml_names *names;
    bool is_lenient;
    struct heap *heap;               // of the parser
    char sentence[XML_SENTENCE_MAX]; // out, of BROKEN
};

/// As tape_read_json, but for XML. BROKEN: the sentence tells why.
MUST_CHECK enum tape_result tape_read_xml(struct tape *tape, struct text xml, struct declared *declared,
                                          struct tape_xml *options, tape_is_stopped is_stopped, void *context);

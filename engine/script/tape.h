/// Tape: the declared part of a document, as nodes in one array.
///
/// The strict reader goes over the whole document once; what is declared becomes nodes, everything else is checked and
/// skipped. An object has one node for each of its declared members, side by side from `first` on, in the order of the
/// declaration; elements of lists are chained by `next`. Of equal keys the last one counts. Texts point into the
/// document, or, when they had escapes, into the tape.
///
/// Threads: one owner.
/// Memory:  owns its nodes and unescaped texts, both under a cap, and keeps them for the next document.
#pragma once

#include "base/buffer.h"
#include "script/declared.h"

enum tape_kind {
    TAPE_NONE, // was not there
    TAPE_NULL,
    TAPE_FALSE,
    TAPE_TRUE,
    TAPE_NUMBER, // its literal
    TAPE_TEXT,
    TAPE_RAW, // the bytes of a value
    TAPE_OBJECT,
    TAPE_MAP, // elements are pairs: a TEXT node with the key, right behind it the value
    TAPE_LIST,
    TAPE_OTHER, // an object or list where something else was declared; its bytes
    TAPE_EMPTY, // of XML: an element or attribute without text
};

struct tape_node {
    struct text text; // NUMBER, TEXT, RAW, OTHER; of XML's OBJECT its text, absent: none
    uint32_t first;   // OBJECT: its first member; LIST, MAP: its first element; 0: none
    uint32_t next;    // of an element: the one behind it; 0: the last
    uint32_t count;   // LIST, MAP: elements
    enum tape_kind kind;
};

struct tape {
    struct tape_node *nodes; // [0] is no node, [1] the root
    uint32_t count, capacity;
    uint32_t empty; // nodes before this one and behind `count` are empty already
    struct buffer texts;
    uint32_t *slots; // of whoever looks elements up by their names
    uint32_t slot_count, slot_capacity;
    const char *error; // what was wrong, a constant sentence
    size_t offset;     // where
};

enum tape_result { TAPE_OK, TAPE_BROKEN, TAPE_FULL, TAPE_STOPPED };

void tape_init(struct tape *tape);
void tape_fini(struct tape *tape);

/// Asked now and then: must the reading end?
typedef bool (*tape_is_stopped)(void *context);

/// Reads a JSON document. BROKEN: `error` and `offset` tell why. FULL: past the cap or out of memory. The nodes are
/// valid until the next call, texts as long as the document too.
MUST_CHECK enum tape_result tape_read_json(struct tape *tape, struct text json, struct declared *declared,
                                           tape_is_stopped is_stopped, void *context);

/// Forgets the document before.
void tape_restart(struct tape *tape);

/// `count` empty nodes side by side; 0: past the cap or out of memory. For readers of documents.
MUST_CHECK uint32_t tape_take(struct tape *tape, uint32_t count);

/// Puts `element` behind the list's or map's element `*last` (0: there is none), which it then is.
void tape_chain(struct tape *tape, uint32_t list, uint32_t *last, uint32_t element);

/// Takes `count` slots, all 0, and tells where they begin in `slots`, which may move. False: out of memory.
MUST_CHECK bool tape_take_slots(struct tape *tape, uint32_t count, uint32_t *first);

/// Gives memory back that only an unusually large document needed. Nodes are gone.
void tape_trim(struct tape *tape);

static inline const struct tape_node *tape_root(const struct tape *tape)
{
    return &tape->nodes[1];
}

/// The member at `place` of an object node.
static inline const struct tape_node *tape_member(const struct tape *tape, const struct tape_node *object,
                                                  uint32_t place)
{
    return &tape->nodes[object->first + place];
}

/// What an error calls the value of a node: "a list", "true".
const char *tape_kind_name(const struct tape_node *node);

/// List: an intrusive ring. A node outside of any list points at itself.
///
/// Threads: one owner.
/// Memory:  owns nothing.
#pragma once

#include "base/check.h"

#include <stdbool.h>

struct list {
    struct list *previous;
    struct list *next;
};

static inline void list_init(struct list *node)
{
    node->previous = node->next = node;
}
static inline bool list_is_empty(const struct list *head)
{
    return head->next == head;
}

static inline void list_append(struct list *head, struct list *node)
{
    node->previous = head->previous;
    node->next = head;
    head->previous->next = node;
    head->previous = node;
}

/// Takes the node out of its list, if any, and leaves it pointing at itself.
static inline void list_remove(struct list *node)
{
    node->previous->next = node->next;
    node->next->previous = node->previous;
    list_init(node);
}

/// From wherever it is to the end of another list.
static inline void list_move(struct list *head, struct list *node)
{
    list_remove(node);
    list_append(head, node);
}

/// The first node, taken out; NULL when empty.
static inline struct list *list_take_first(struct list *head)
{
    if (list_is_empty(head)) {
        return NULL;
    }
    struct list *node = head->next;
    head->next = node->next;
    node->next->previous = head;
    list_init(node);
    return node;
}

// NOLINTBEGIN(bugprone-macro-parentheses): the name is declared here
/// Walks a list whose current node may be removed inside the loop.
#define LIST_FOR_EACH(node, head)                                                                                      \
    for (struct list *node = (head)->next, *node##_next = (node)->next; (node) != (head);                              \
         (node) = node##_next, node##_next = (node)->next)
// NOLINTEND(bugprone-macro-parentheses)

// Texts are packed into two words, which are compared as such. Nothing that was kept is given up within an answer,
// because values of an offer in hand may point there.

#include "script/plan_memo.h"

enum { KEPT_MAX = 8, TEXT_MAX = 16, TRIES = 24 };

struct plan_said {
    uint64_t words[2]; // of the key
    size_t length;
    struct value value;
    char text[TEXT_MAX]; // of the value
};

struct plan_memo {
    uint64_t answer; // that it is about
    uint32_t count;
    uint32_t tries, hits;
    struct plan_said said[KEPT_MAX];
};

/// The memo of the node, about this answer; NULL: there is none, or it has turned out to be of no use.
static struct plan_memo *memo_of(const struct plan_row *row, const struct plan_node *node)
{
    struct plan_memo *memo = node->memo;

    if (memo != NULL && memo->answer != row->plan->answers) {
        memo->answer = row->plan->answers;
        memo->count = 0;
        memo->tries = 0;
        memo->hits = 0;
    }
    return memo != NULL && (memo->tries < TRIES || memo->hits >= memo->tries / 4) ? memo : NULL;
}

struct text plan_memo_key(const struct plan_row *row, const struct plan_node *node)
{
    const struct plan_node *argument = node->field_count == 1 ? node->fields[0] : NULL;

    if (argument == NULL || argument->op != PLAN_PATH || argument->path.is_key ||
        (node->memo != NULL && memo_of(row, node) == NULL)) {
        return (struct text){ NULL, 0 };
    }
    const struct tape_node *found = plan_find(row, &argument->path);
    bool is_text = found != NULL && (found->kind == TAPE_TEXT || found->kind == TAPE_NUMBER);
    return is_text && found->text.length <= TEXT_MAX ? found->text : (struct text){ NULL, 0 };
}

/// Both ends of the key, which may overlap: with its length they are all of it.
static void pack(struct text key, uint64_t words[2])
{
    words[0] = words[1] = 0;
    if (key.length < sizeof words[0]) {
        words[0] = text_short_word(key.data, key.length);
        return;
    }
    memcpy(&words[0], key.data, sizeof words[0]);
    memcpy(&words[1], key.data + key.length - sizeof words[1], sizeof words[1]);
}

const struct value *plan_memo_find(const struct plan_row *row, const struct plan_node *node, struct text key)
{
    struct plan_memo *memo = memo_of(row, node);
    uint64_t words[2];

    if (memo == NULL) {
        return NULL;
    }
    memo->tries++;
    pack(key, words);
    for (uint32_t i = 0; i < memo->count; i++) {
        const struct plan_said *said = &memo->said[i];
        if (said->words[0] == words[0] && said->words[1] == words[1] && said->length == key.length) {
            memo->hits++;
            return &said->value;
        }
    }
    return NULL;
}

static struct plan_memo *make_memo(const struct plan_row *row, const struct plan_node *node)
{
    struct plan *plan = (struct plan *)(uintptr_t)row->plan; // its state's own, as the row is
    struct plan_memo *memo = arena_alloc(&plan->arena, sizeof *memo);

    if (memo != NULL) {
        memo->answer = plan->answers;
        ((struct plan_node *)(uintptr_t)node)->memo = memo;
    }
    return memo;
}

void plan_memo_keep(struct plan_row *row, const struct plan_node *node, struct text key, const struct value *value)
{
    bool is_text = value->kind == VALUE_TEXT && value->text.length <= TEXT_MAX;
    bool is_plain = value->kind == VALUE_ABSENT || value->kind == VALUE_NUMBER || value->kind == VALUE_FLAG;
    struct plan_memo *memo = node->memo == NULL ? make_memo(row, node) : memo_of(row, node);

    if ((!is_text && !is_plain) || memo == NULL || memo->count == KEPT_MAX) {
        return;
    }
    struct plan_said *said = &memo->said[memo->count++];
    pack(key, said->words);
    said->length = key.length;
    said->value = *value;
    if (is_text) {
        if (value->text.length > 0) {
            memcpy(said->text, value->text.data, value->text.length);
        }
        said->value.text = (struct text){ said->text, value->text.length };
    }
}

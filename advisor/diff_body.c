#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "diff_internal.h"

/* A body as a list: statements in document order, an else as an item of its own. */
enum item_kind { ITEM_LET, ITEM_FOR, ITEM_IF, ITEM_ELSE, ITEM_ACCESS };

enum { NOWHERE = 0x7fffffff, PAIRS_MAX = 4000000 };

struct item {
    enum item_kind kind;
    const struct statement *statement; /* of an else: its if */
    unsigned around;                   /* the loop or side that it stands in, or NOWHERE */
    unsigned match;                    /* the item of the other list that it is, or NOWHERE */
};

struct items {
    struct item *list;
    unsigned count;
    size_t capacity;
};

struct bodies {
    struct differ *differ;
    const struct kernel_pair *pair;
    struct items before, after;
    struct scopes scopes;
};

static unsigned add_item(struct arena *arena, struct items *items, enum item_kind kind,
                         const struct statement *statement, unsigned around)
{
    items->list = arena_grow(arena, items->list, items->count, &items->capacity, sizeof(*items->list));
    items->list[items->count] = (struct item){kind, statement, around, NOWHERE};
    return items->count++;
}

/* Recursion ends with the nesting that reading allows. */
static void list_items(struct arena *arena, struct items *items, const struct statement *statement, unsigned around)
{
    for (; statement != NULL; statement = statement->next) {
        unsigned item;
        switch (statement->kind) {
        case STATEMENT_LET:
            (void)add_item(arena, items, ITEM_LET, statement, around);
            break;
        case STATEMENT_ACCESS:
            (void)add_item(arena, items, ITEM_ACCESS, statement, around);
            break;
        case STATEMENT_FOR:
            item = add_item(arena, items, ITEM_FOR, statement, around);
            list_items(arena, items, statement->body, item);
            break;
        case STATEMENT_IF:
            item = add_item(arena, items, ITEM_IF, statement, around);
            list_items(arena, items, statement->body, item);
            if (!statement->has_else)
                break;
            item = add_item(arena, items, ITEM_ELSE, statement, around);
            list_items(arena, items, statement->otherwise, item);
            break;
        }
    }
}

/* ---- which is which ---- */

static bool same_quoted(const struct quoted *a, const struct quoted *b)
{
    const char *x = a->text == NULL ? "" : a->text, *y = b->text == NULL ? "" : b->text;
    return strcmp(x, y) == 0;
}

static unsigned liken_accesses(const struct differ *differ, const struct access *a, const struct access *b)
{
    const char *array = diff_name_after(differ, "array", NULL, a->array->name.text);
    bool same_op = a->op == b->op, same_field = same_quoted(&a->field_text, &b->field_text);
    bool same_index = same_quoted(&a->index_text, &b->index_text);
    if (strcmp(array, b->array->name.text) != 0 || !(same_op || same_field))
        return 0;
    return 2 + 3 * (unsigned)same_op + 3 * (unsigned)same_field + 2 * (unsigned)same_index;
}

static unsigned liken_loops(const struct statement *a, const struct statement *b)
{
    bool same = same_quoted(&a->from_text, &b->from_text) && same_quoted(&a->to_text, &b->to_text) &&
                same_quoted(&a->while_text, &b->while_text) && same_quoted(&a->next_text, &b->next_text) &&
                same_quoted(&a->step_text, &b->step_text);
    return 2 + (unsigned)same * 2 + (strcmp(a->name.text, b->name.text) == 0);
}

/* How much two items are alike: 0 where the one cannot be what has become of the other. */
static unsigned liken(const struct differ *differ, const struct item *a, const struct item *b)
{
    if (a->kind != b->kind)
        return 0;
    const struct statement *x = a->statement, *y = b->statement;
    switch (a->kind) {
    case ITEM_LET:
        return strcmp(x->name.text, y->name.text) == 0 ? 3 + same_quoted(&x->value_text, &y->value_text) : 0;
    case ITEM_FOR:
        return liken_loops(x, y);
    case ITEM_IF:
    case ITEM_ELSE:
        return 2 + 2 * (unsigned)same_quoted(&x->test_text, &y->test_text);
    case ITEM_ACCESS:
        return liken_accesses(differ, x->access, y->access);
    }
    return 0;
}

/* The likest pairing that keeps the order of both lists, of items from `from` on, n and m of them. best[i][j] is its
 * worth for the first i and j. */
static void pair_middle(struct bodies *bodies, unsigned from, unsigned n, unsigned m)
{
    if (n == 0 || m == 0 || (uint64_t)n * m > PAIRS_MAX)
        return;
    struct item *before = bodies->before.list + from, *after = bodies->after.list + from;
    size_t width = (size_t)m + 1;
    unsigned *best = calloc((n + 1) * width, sizeof(*best));
    if (best == NULL)
        abort();
    for (unsigned i = 1; i <= n; i++)
        for (unsigned j = 1; j <= m; j++) {
            unsigned up = best[(i - 1) * width + j], left = best[i * width + j - 1];
            unsigned worth = liken(bodies->differ, &before[i - 1], &after[j - 1]),
                     both = best[(i - 1) * width + j - 1] + worth;
            best[i * width + j] = worth > 0 && both >= up && both >= left ? both : up > left ? up : left;
        }
    for (unsigned i = n, j = m; i > 0 && j > 0;) {
        unsigned here = best[i * width + j], worth = liken(bodies->differ, &before[i - 1], &after[j - 1]);
        if (worth > 0 && here == best[(i - 1) * width + j - 1] + worth) {
            before[--i].match = from + --j;
            after[j].match = from + i;
        } else if (here == best[(i - 1) * width + j]) {
            i--;
        } else {
            j--;
        }
    }
    free(best);
}

static bool alike(const struct differ *differ, const struct item *a, const struct item *b)
{
    enum { ALL_OF_AN_ACCESS = 10, ALL_OF_A_LOOP = 5, ALL_OF_THE_REST = 4 };
    unsigned all = a->kind == ITEM_ACCESS ? ALL_OF_AN_ACCESS : a->kind == ITEM_FOR ? ALL_OF_A_LOOP : ALL_OF_THE_REST;
    return liken(differ, a, b) == all;
}

static void pair_items(struct bodies *bodies)
{
    struct items *before = &bodies->before, *after = &bodies->after;
    unsigned n = before->count, m = after->count, head = 0;
    for (; head < n && head < m && alike(bodies->differ, &before->list[head], &after->list[head]); head++)
        before->list[head].match = after->list[head].match = head;
    for (; n > head && m > head && alike(bodies->differ, &before->list[n - 1], &after->list[m - 1]); n--, m--) {
        before->list[n - 1].match = m - 1;
        after->list[m - 1].match = n - 1;
    }
    pair_middle(bodies, head, n - head, m - head);
}

static void note_variables(struct arena *arena, struct variables *variables, const struct kernel *kernel,
                           const struct items *items)
{
    variables->kernel = kernel;
    variables->lets = arena_array(arena, kernel->slot_count + 1, sizeof(struct expr *));
    for (unsigned i = 0; i < items->count; i++)
        if (items->list[i].kind == ITEM_LET)
            variables->lets[items->list[i].statement->slot] = items->list[i].statement->value;
}

static void pair_slots(struct bodies *bodies)
{
    const struct items *before = &bodies->before;
    unsigned slots = bodies->pair->before->slot_count;
    bodies->scopes.slot_after = arena_array(bodies->differ->arena, slots + 1, sizeof(unsigned));
    for (unsigned i = 0; i < slots; i++)
        bodies->scopes.slot_after[i] = NO_SLOT;
    for (unsigned i = 0; i < before->count; i++) {
        const struct item *item = &before->list[i];
        if (item->match != NOWHERE && (item->kind == ITEM_LET || item->kind == ITEM_FOR))
            bodies->scopes.slot_after[item->statement->slot] = bodies->after.list[item->match].statement->slot;
    }
}

/* ---- what differs ---- */

const char *diff_access_name(struct arena *arena, const struct access *access)
{
    const char *array = access->array->name.text, *field = access->field_text.text;
    if (field == NULL)
        return array;
    return arena_printf(arena, strchr(field, ' ') == NULL ? "%s.%s" : "%s (%s)", array, field);
}

static const char *item_word(const struct item *item)
{
    switch (item->kind) {
    case ITEM_LET:
        return "let";
    case ITEM_FOR:
        return "for";
    case ITEM_IF:
        return "if";
    case ITEM_ELSE:
        return "else";
    case ITEM_ACCESS:
        return access_op_name(item->statement->access->op);
    }
    return "";
}

static const char *item_name(struct differ *differ, const struct item *item)
{
    switch (item->kind) {
    case ITEM_LET:
    case ITEM_FOR:
        return item->statement->name.text;
    case ITEM_IF:
    case ITEM_ELSE:
        return "";
    case ITEM_ACCESS:
        return diff_access_name(differ->arena, item->statement->access);
    }
    return "";
}

static struct change item_change(const struct bodies *bodies, const struct item *before, const struct item *after)
{
    const struct item *item = after != NULL ? after : before;
    struct differ *differ = bodies->differ;
    const struct kernel *kernel = after != NULL ? bodies->pair->after : bodies->pair->before;
    struct change change = {.of = item_word(item), .name = item_name(differ, item), .kernel = kernel};
    change.kind = before == NULL ? CHANGE_ADDED : after == NULL ? CHANGE_REMOVED : CHANGE_CHANGED;
    change.owner = arena_printf(differ->arena, "kernel %s", kernel->name.text);
    change.statement = item->statement;
    if (before != NULL)
        change.where_before = before->statement->where;
    if (after != NULL)
        change.where_after = after->statement->where;
    return change;
}

static void compare_texts(struct change *change, const char *what, const struct quoted *before,
                          const struct quoted *after)
{
    diff_aspect(change, what, before->text, after->text);
}

/* Expressions that differ are told by their texts. Where these are the same, names in them stand for something else:
 * loops of one name, a let where there was a loop. */
static void note_texts(struct change *change, const char *what, const char *before, const char *after)
{
    if (before != NULL && after != NULL && strcmp(before, after) == 0)
        diff_aspect(change, "meaning", before, "another value");
    else
        diff_aspect(change, what, before, after);
}

static void compare_exprs(const struct bodies *bodies, struct change *change, const char *what,
                          const struct expr *before, const struct expr *after, int64_t absent,
                          const struct quoted *texts[2])
{
    const char *usual = arena_printf(bodies->differ->arena, "%" PRId64, absent);
    if (!diff_same(&bodies->scopes, before, after, absent))
        note_texts(change, what, texts[0]->text == NULL ? usual : texts[0]->text,
                   texts[1]->text == NULL ? usual : texts[1]->text);
}

static void compare_loops(const struct bodies *bodies, struct change *change, const struct statement *a,
                          const struct statement *b)
{
    const struct quoted *from[] = {&a->from_text, &b->from_text}, *to[] = {&a->to_text, &b->to_text};
    const struct quoted *test[] = {&a->while_text, &b->while_text}, *step[] = {&a->step_text, &b->step_text};
    const struct quoted *next[] = {&a->next_text, &b->next_text};
    compare_exprs(bodies, change, "from", a->from, b->from, 0, from);
    if ((a->to == NULL) != (b->to == NULL)) {
        compare_texts(change, "to", to[0], to[1]);
        compare_texts(change, "while", test[0], test[1]);
    } else {
        compare_exprs(bodies, change, "to", a->to, b->to, 0, to);
        compare_exprs(bodies, change, "while", a->test, b->test, 0, test);
    }
    if ((a->advance == NULL) != (b->advance == NULL)) {
        compare_texts(change, "step", step[0], step[1]);
        compare_texts(change, "next", next[0], next[1]);
    } else {
        compare_exprs(bodies, change, "step", a->step, b->step, 1, step);
        compare_exprs(bodies, change, "next", a->advance, b->advance, 0, next);
    }
}

static bool same_subscripts(const struct bodies *bodies, const struct selected *a, const struct selected *b)
{
    if (a->subscript_count != b->subscript_count)
        return false;
    for (size_t i = 0; i < a->subscript_count; i++)
        if (!diff_same(&bodies->scopes, a->subscripts[i].index, b->subscripts[i].index, 0))
            return false;
    return true;
}

/* Whether two accesses move the same pieces, by name and order. */
static bool same_selection(const struct bodies *bodies, const struct access *a, const struct access *b)
{
    if (a->selected_count != b->selected_count)
        return false;
    for (size_t i = 0; i < a->selected_count; i++) {
        const struct selected *x = &a->selected[i], *y = &b->selected[i];
        const char *was = a->array->record->leaves[x->leaf].path, *is = b->array->record->leaves[y->leaf].path;
        if (strcmp(diff_path_after(bodies->differ, was), is) != 0 || x->inner_offset != y->inner_offset ||
            !same_subscripts(bodies, x, y))
            return false;
    }
    return true;
}

/* Names alike select alike, whatever has become of the type; but subscripts must mean the same. */
static bool same_fields(const struct bodies *bodies, const struct access *a, const struct access *b)
{
    bool alike_written = same_quoted(&a->field_text, &b->field_text) && a->subscript_count == b->subscript_count;
    for (size_t i = 0; i < a->subscript_count && alike_written; i++)
        alike_written = diff_same(&bodies->scopes, a->subscripts[i].index, b->subscripts[i].index, 0);
    return alike_written || same_selection(bodies, a, b);
}

/* Names in it may mean something else although the text is the same: then lets or loops differ, which is told there. */
static bool same_index(const struct bodies *bodies, const struct access *a, const struct access *b)
{
    for (unsigned i = 0; i < SPEC_DIMS_MAX; i++)
        if ((a->index[i] == NULL) != (b->index[i] == NULL) || !diff_same(&bodies->scopes, a->index[i], b->index[i], 0))
            return false;
    return true;
}

static const char *field_text(const struct access *access)
{
    return access->field_text.text == NULL ? "all of it" : access->field_text.text;
}

static void compare_accesses(const struct bodies *bodies, struct change *change, const struct access *a,
                             const struct access *b)
{
    diff_aspect(change, "op", access_op_name(a->op), access_op_name(b->op));
    if (!same_fields(bodies, a, b))
        note_texts(change, "field", field_text(a), field_text(b));
    if (!same_index(bodies, a, b))
        note_texts(change, "index", a->index_text.text, b->index_text.text);
    diff_number(bodies->differ, change, "bytes", a->bytes, b->bytes);
}

/* "if 'i lt N', for k"; of those around an item that the other body has too, or of all. */
static const char *around_text(const struct bodies *bodies, const struct items *items, unsigned at, bool all)
{
    const char *text = "";
    for (at = items->list[at].around; at != NOWHERE; at = items->list[at].around) {
        const struct item *item = &items->list[at];
        if (item->match == NOWHERE && !all)
            continue;
        const char *name = item->kind == ITEM_FOR ? item->statement->name.text : item->statement->test_text.text;
        text = arena_printf(bodies->differ->arena, item->kind == ITEM_FOR ? "%s %s%s%s" : "%s '%s'%s%s",
                            item_word(item), name, text[0] == '\0' ? "" : ", ", text);
    }
    return text[0] == '\0' ? NULL : text;
}

/* Whether an item stands in the same ones of those loops and sides that both bodies have. */
static bool same_around(const struct bodies *bodies, unsigned at)
{
    const struct item *before = bodies->before.list, *after = bodies->after.list;
    unsigned a = before[at].around, b = after[before[at].match].around;
    for (;;) {
        while (a != NOWHERE && before[a].match == NOWHERE)
            a = before[a].around;
        while (b != NOWHERE && after[b].match == NOWHERE)
            b = after[b].around;
        if (a == NOWHERE || b == NOWHERE)
            return a == b;
        if (before[a].match != b)
            return false;
        a = before[a].around;
        b = after[b].around;
    }
}

static void compare_items(const struct bodies *bodies, unsigned at)
{
    const struct item *before = &bodies->before.list[at], *after = &bodies->after.list[before->match];
    struct change change = item_change(bodies, before, after);
    const struct statement *a = before->statement, *b = after->statement;
    const struct quoted *value[] = {&a->value_text, &b->value_text}, *test[] = {&a->test_text, &b->test_text};
    switch (before->kind) {
    case ITEM_LET:
        compare_exprs(bodies, &change, "value", a->value, b->value, 0, value);
        break;
    case ITEM_FOR:
        compare_loops(bodies, &change, a, b);
        break;
    case ITEM_IF:
        compare_exprs(bodies, &change, "test", a->condition, b->condition, 0, test);
        break;
    case ITEM_ELSE:
        break;
    case ITEM_ACCESS:
        compare_accesses(bodies, &change, a->access, b->access);
        break;
    }
    if (before->kind != ITEM_LET && !same_around(bodies, at))
        diff_aspect(&change, "inside", around_text(bodies, &bodies->before, at, false),
                    around_text(bodies, &bodies->after, before->match, false));
    diff_commit(bodies->differ, &change);
}

/* "read p.x, write p.y": the accesses inside of an item that both bodies have. */
static const char *inside_text(const struct bodies *bodies, const struct items *items, unsigned at)
{
    enum { SHOWN_MAX = 3 };
    const char *text = NULL;
    unsigned shown = 0;
    for (unsigned i = at + 1; i < items->count && shown <= SHOWN_MAX; i++) {
        const struct item *item = &items->list[i];
        unsigned around = item->around;
        while (around != NOWHERE && around > at)
            around = items->list[around].around;
        if (around != at)
            break;
        if (item->kind != ITEM_ACCESS || item->match == NOWHERE)
            continue;
        text = ++shown > SHOWN_MAX
                   ? arena_printf(bodies->differ->arena, "%s, ...", text)
                   : arena_printf(bodies->differ->arena, "%s%s%s %s", text == NULL ? "" : text,
                                  text == NULL ? "" : ", ", item_word(item), item_name(bodies->differ, item));
    }
    return text;
}

/* The properties of an item that one side lacks. Lets are not told: what they mean shows where they are used. */
static void note_single(const struct bodies *bodies, const struct items *items, unsigned at, bool added)
{
    const struct item *item = &items->list[at];
    const struct statement *statement = item->statement;
    if (item->kind == ITEM_LET)
        return;
    struct change change = item_change(bodies, added ? NULL : item, added ? item : NULL);
    const struct {
        const char *what, *text;
    } texts[] = {
        {"index", item->kind == ITEM_ACCESS ? statement->access->index_text.text : NULL},
        {"test", item->kind == ITEM_IF || item->kind == ITEM_ELSE ? statement->test_text.text : NULL},
        {"from", statement->from_text.text},
        {"to", statement->to_text.text},
        {"while", statement->while_text.text},
        {"step", statement->step_text.text},
        {"next", statement->next_text.text},
        {"inside", around_text(bodies, items, at, true)},
        {"around", item->kind == ITEM_ACCESS ? NULL : inside_text(bodies, items, at)},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        diff_aspect(&change, texts[i].what, added ? NULL : texts[i].text, added ? texts[i].text : NULL);
    diff_commit(bodies->differ, &change);
}

static void note_accesses(struct arena *arena, struct kernel_pair *pair, const struct bodies *bodies)
{
    pair->access_after = arena_array(arena, pair->before->access_count + 1, sizeof(unsigned));
    for (unsigned i = 0; i < pair->before->access_count; i++)
        pair->access_after[i] = NO_ACCESS;
    for (unsigned i = 0; i < bodies->before.count; i++) {
        const struct item *item = &bodies->before.list[i];
        if (item->kind == ITEM_ACCESS && item->match != NOWHERE)
            pair->access_after[item->statement->access->number] =
                bodies->after.list[item->match].statement->access->number;
    }
}

void diff_bodies(struct differ *differ, struct kernel_pair *pair)
{
    struct bodies bodies = {.differ = differ, .pair = pair};
    list_items(differ->arena, &bodies.before, pair->before->body, NOWHERE);
    list_items(differ->arena, &bodies.after, pair->after->body, NOWHERE);
    pair_items(&bodies);
    note_variables(differ->arena, &bodies.scopes.before, pair->before, &bodies.before);
    note_variables(differ->arena, &bodies.scopes.after, pair->after, &bodies.after);
    pair_slots(&bodies);
    note_accesses(differ->arena, pair, &bodies);
    /* In the later body's order; what is gone, before what followed it. */
    unsigned gone = 0;
    for (unsigned i = 0; i < bodies.after.count; i++) {
        unsigned match = bodies.after.list[i].match;
        for (; match != NOWHERE && gone < match; gone++)
            if (bodies.before.list[gone].match == NOWHERE)
                note_single(&bodies, &bodies.before, gone, false);
        if (match == NOWHERE)
            note_single(&bodies, &bodies.after, i, true);
        else
            compare_items(&bodies, match);
    }
    for (; gone < bodies.before.count; gone++)
        if (bodies.before.list[gone].match == NOWHERE)
            note_single(&bodies, &bodies.before, gone, false);
}

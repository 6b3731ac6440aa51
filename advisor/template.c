#include "template.h"

#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "template_lex.h"

enum {
    TAGS_MAX = 1000 * 1000,
    NESTING_MAX = 200,
    PARTIALS_MAX = 100,
    DEPTH_MAX = 1000, /* of sections, blocks and partials together: bounds the stack */
    MIB = 1024 * 1024,
    OUTPUT_BYTES_MAX = 256 * MIB,
    MARGIN_BYTES_MAX = MIB,
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    STEPS_MAX = 1 << 20,
#else
    STEPS_MAX = 1 << 28, /* sections nested in sections multiply: a small template can ask for years */
#endif
    NAME_BYTES_STEP = 16, /* a look-up hashes the name, so long names count more */
    ARGUMENT_STEPS = 8,
    OFFERS_MAX = 2000, /* names compared for one "did you mean": views can be large */
    PARTIAL_BUCKETS = 1024
};

enum node_kind { NODE_TEXT, NODE_VARIABLE, NODE_SECTION, NODE_INVERTED, NODE_PARTIAL, NODE_PARENT, NODE_BLOCK };

/* A block given to a parent: {{<parent}}{{$name}}...{{/name}}{{/parent}}. */
struct argument {
    const char *name;
    size_t node;
};

/* What only partials, parents and blocks have: others' text is put in their place, so their white space matters. */
struct injection {
    bool standalone; /* alone on its lines: `margin` goes before each line of what is put here */
    bool midline;    /* of a block: its content starts on the line of its tag */
    struct span margin;
    struct span dedent;         /* of an argument: what its own lines are indented by, and lose */
    struct argument *arguments; /* of a parent: sorted by name, each name once */
    size_t argument_count;
};

/* A template is an array of nodes in the order of the text; what is inside a node follows it, up to `end`. */
struct node {
    enum node_kind kind;
    bool starts_line; /* of text: it begins a line, and is indented where the template is */
    bool raw;         /* of a variable: never escaped */
    bool dynamic;     /* of a partial or parent: its name is that of a value */
    bool reported;    /* strict mode complains once a tag, not once a round */
    size_t end;
    size_t offset; /* of the text; of the tag */
    size_t length;
    const char *name;
    size_t name_offset;
    struct injection *injection;
};

struct tree {
    const struct source *source;
    struct node *nodes;
    size_t count;
    size_t capacity;
};

/* A section, parent or block whose end was not yet seen. */
struct frame {
    size_t node;
    size_t lead;        /* the text node with the white space before the tag, SIZE_MAX where that was no concern */
    bool argument;      /* a block directly in a parent */
    bool clear_before;  /* only white space before the tag on its line */
    bool clear_after;   /* only white space after it */
    struct span dedent; /* of the innermost argument around, whose lines lose it */
};

struct parser {
    struct arena *arena;
    struct diags *diags;
    struct tree *tree;
    size_t text_start; /* what comes before is in the tree already */
    size_t tag_count;
    size_t depth;
    struct frame frames[NESTING_MAX];
    bool truncated; /* the rest of the text is lost, and with it perhaps the ends of sections */
};

static struct node *push_node(struct parser *parser, enum node_kind kind, size_t offset, size_t length)
{
    struct tree *tree = parser->tree;
    tree->nodes = arena_grow(parser->arena, tree->nodes, tree->count, &tree->capacity, sizeof(*tree->nodes));
    struct node *node = &tree->nodes[tree->count++];
    *node = (struct node){.kind = kind, .end = tree->count, .offset = offset, .length = length};
    return node;
}

static struct node *push_tag(struct parser *parser, enum node_kind kind, const struct template_tag *tag)
{
    struct node *node = push_node(parser, kind, tag->offset, tag->length);
    node->name = tag->name;
    node->name_offset = tag->name_offset;
    node->dynamic = tag->dynamic;
    node->raw = tag->kind == TEMPLATE_UNESCAPED;
    if (kind == NODE_PARTIAL || kind == NODE_PARENT || kind == NODE_BLOCK)
        node->injection = arena_alloc(parser->arena, sizeof(*node->injection));
    return node;
}

static bool is_line_start(const struct source *source, size_t offset)
{
    return offset == 0 || source->bytes[offset - 1] == '\n';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t skip_blanks(const struct source *source, size_t offset)
{
    while (offset < source->length && is_blank(source->bytes[offset]))
        offset++;
    return offset;
}

/* Where the white space before `offset` starts, if it starts the line too; else `offset` itself, and *clear false. */
static size_t find_lead(const struct source *source, size_t offset, bool *clear)
{
    size_t start = offset;
    while (start > 0 && is_blank(source->bytes[start - 1]))
        start--;
    *clear = is_line_start(source, start);
    return *clear ? start : offset;
}

/* The start of the next line if only white space is left on this one; else `offset` itself, and *clear false. */
static size_t find_next_line(const struct source *source, size_t offset, bool *clear)
{
    size_t at = skip_blanks(source, offset);
    *clear = true;
    if (at == source->length)
        return at;
    if (source->bytes[at] == '\r' && at + 1 < source->length)
        at++;
    if (source->bytes[at] == '\n')
        return at + 1;
    *clear = false;
    return offset;
}

static void take_text(struct parser *parser, size_t end)
{
    size_t start = parser->text_start;
    if (start < end)
        push_node(parser, NODE_TEXT, start, end - start)->starts_line = is_line_start(parser->tree->source, start);
    parser->text_start = end;
}

/* Takes the text before a tag that stays in its line. Where the tag itself starts the line, an empty text marks that,
 * so that an indentation comes before whatever the tag gives. */
static void take_text_inline(struct parser *parser, const struct template_tag *tag)
{
    take_text(parser, tag->offset);
    if (is_line_start(parser->tree->source, tag->offset))
        push_node(parser, NODE_TEXT, tag->offset, 0)->starts_line = true;
    parser->text_start = tag->offset + tag->length;
}

/* Takes the text before a tag that goes with its whole line, if it has it for itself. Returns whether it has. */
static bool take_text_standalone(struct parser *parser, const struct template_tag *tag)
{
    bool before, after;
    size_t lead = find_lead(parser->tree->source, tag->offset, &before);
    size_t next = find_next_line(parser->tree->source, tag->offset + tag->length, &after);
    if (!before || !after) {
        take_text_inline(parser, tag);
        return false;
    }
    take_text(parser, lead);
    parser->text_start = next;
    return true;
}

static struct span dedent_here(const struct parser *parser)
{
    const struct span none = {0};
    return parser->depth == 0 ? none : parser->frames[parser->depth - 1].dedent;
}

/* The white space from `start` to `end` as a margin: without what the lines of the argument around it lose. */
static struct span make_margin(const struct parser *parser, size_t start, size_t end)
{
    const struct source *source = parser->tree->source;
    struct span dedent = dedent_here(parser);
    if (dedent.length > 0 && dedent.length <= end - start &&
        memcmp(source->bytes + start, source->bytes + dedent.offset, dedent.length) == 0)
        start += dedent.length;
    return (struct span){source, start, end - start};
}

/* The frame for the node that was pushed last; NULL (and reported) beyond the limit. */
static struct frame *push_frame(struct parser *parser, const struct template_tag *tag)
{
    if (parser->depth == NESTING_MAX) {
        struct span where = {parser->tree->source, tag->offset, tag->length};
        diag_error(parser->diags, "template-too-large", where, "sections nested more than %d deep", NESTING_MAX);
        parser->truncated = true;
        return NULL;
    }
    struct span dedent = dedent_here(parser);
    struct frame *frame = &parser->frames[parser->depth++];
    *frame = (struct frame){.node = parser->tree->count - 1, .lead = SIZE_MAX, .dedent = dedent};
    return frame;
}

static void open_section(struct parser *parser, const struct template_tag *tag)
{
    (void)take_text_standalone(parser, tag);
    (void)push_tag(parser, tag->kind == TEMPLATE_SECTION ? NODE_SECTION : NODE_INVERTED, tag);
    (void)push_frame(parser, tag);
}

static void parse_partial(struct parser *parser, const struct template_tag *tag)
{
    bool clear;
    size_t lead = find_lead(parser->tree->source, tag->offset, &clear);
    bool standalone = take_text_standalone(parser, tag);
    struct node *node = push_tag(parser, NODE_PARTIAL, tag);
    node->injection->standalone = standalone;
    node->injection->margin = make_margin(parser, lead, tag->offset);
}

/* Opens a parent or block of which only its end will tell whether it is standalone. Until then the white space before
 * it is a text node of its own, which settle_lead turns into the margin. */
static void open_element(struct parser *parser, enum node_kind kind, const struct template_tag *tag)
{
    bool before;
    size_t lead = find_lead(parser->tree->source, tag->offset, &before);
    take_text(parser, lead);
    if (before)
        push_node(parser, NODE_TEXT, lead, tag->offset - lead)->starts_line = true;
    parser->text_start = tag->offset + tag->length;
    struct node *node = push_tag(parser, kind, tag);
    node->injection->midline = true;
    struct frame *frame = push_frame(parser, tag);
    if (frame == NULL)
        return;
    frame->clear_before = before;
    if (before)
        frame->lead = frame->node - 1;
}

/* A standalone element gets its margin, and the text node that stood for it gives nothing any more. */
static void settle_lead(struct parser *parser, const struct frame *frame)
{
    struct node *lead = &parser->tree->nodes[frame->lead];
    struct injection *injection = parser->tree->nodes[frame->node].injection;
    injection->standalone = true;
    injection->margin = make_margin(parser, lead->offset, lead->offset + lead->length);
    lead->starts_line = false;
    lead->length = 0;
}

/* A block directly in a parent is a text of its own: what is before its tag does not count, and its lines lose the
 * indentation of the first one, to get that of the place they are put in. */
static void open_argument(struct parser *parser, const struct template_tag *tag)
{
    bool after;
    const struct source *source = parser->tree->source;
    size_t next = find_next_line(source, tag->offset + tag->length, &after);
    take_text(parser, tag->offset);
    parser->text_start = next;
    struct injection *injection = push_tag(parser, NODE_BLOCK, tag)->injection;
    struct frame *frame = push_frame(parser, tag);
    if (frame == NULL)
        return;
    frame->argument = true;
    injection->midline = !after;
    frame->dedent = (struct span){source, next, after ? skip_blanks(source, next) - next : 0};
    injection->dedent = frame->dedent;
}

static void open_block(struct parser *parser, const struct template_tag *tag)
{
    if (parser->depth > 0 && parser->tree->nodes[parser->frames[parser->depth - 1].node].kind == NODE_PARENT) {
        open_argument(parser, tag);
        return;
    }
    bool before, after;
    (void)find_lead(parser->tree->source, tag->offset, &before);
    size_t next = find_next_line(parser->tree->source, tag->offset + tag->length, &after);
    open_element(parser, NODE_BLOCK, tag);
    if (!before || !after || parser->truncated)
        return;
    /* The tag has its line for itself, which is dropped; the margin is the indentation of the line after it. */
    struct frame *frame = &parser->frames[parser->depth - 1];
    struct injection *injection = parser->tree->nodes[frame->node].injection;
    frame->clear_after = true;
    parser->tree->nodes[frame->lead].starts_line = false;
    parser->tree->nodes[frame->lead].length = 0;
    injection->midline = false;
    injection->margin = make_margin(parser, next, skip_blanks(parser->tree->source, next));
    parser->text_start = next;
}

static void close_block(struct parser *parser, const struct frame *frame, const struct template_tag *tag)
{
    bool before, after;
    size_t lead = find_lead(parser->tree->source, tag->offset, &before);
    (void)find_next_line(parser->tree->source, tag->offset + tag->length, &after);
    if (frame->argument) {
        take_text(parser, lead);
        parser->text_start = tag->offset + tag->length;
        return;
    }
    (void)take_text_standalone(parser, tag);
    if (!frame->clear_before || !after)
        return;
    if (frame->clear_after)
        parser->tree->nodes[frame->node].injection->standalone = true;
    else
        settle_lead(parser, frame);
}

static int compare_arguments(const void *left, const void *right)
{
    const struct argument *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->node > b->node) - (a->node < b->node);
}

/* Lists the blocks directly in a parent, by name. Of several with one name the last counts. */
static void collect_arguments(struct parser *parser, size_t parent, size_t end)
{
    const struct node *nodes = parser->tree->nodes;
    struct injection *injection = nodes[parent].injection;
    size_t count = 0;
    for (size_t i = parent + 1; i < end; i = nodes[i].end)
        count += nodes[i].kind == NODE_BLOCK;
    if (count == 0)
        return;
    struct argument *arguments = arena_array(parser->arena, count, sizeof(*arguments));
    count = 0;
    for (size_t i = parent + 1; i < end; i = nodes[i].end)
        if (nodes[i].kind == NODE_BLOCK)
            arguments[count++] = (struct argument){nodes[i].name, i};
    qsort(arguments, count, sizeof(*arguments), compare_arguments);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || strcmp(arguments[i].name, arguments[i + 1].name) != 0)
            arguments[kept++] = arguments[i];
    injection->arguments = arguments;
    injection->argument_count = kept;
}

static void close_parent(struct parser *parser, const struct frame *frame, const struct template_tag *tag)
{
    bool after;
    size_t next = find_next_line(parser->tree->source, tag->offset + tag->length, &after);
    bool standalone = frame->clear_before && after;
    take_text(parser, tag->offset);
    parser->text_start = standalone ? next : tag->offset + tag->length;
    if (standalone)
        settle_lead(parser, frame);
    collect_arguments(parser, frame->node, parser->tree->count);
}

static struct span node_span(const struct tree *tree, const struct node *node)
{
    return (struct span){tree->source, node->offset, node->length};
}

static struct span name_span(const struct tree *tree, const struct node *node)
{
    return (struct span){tree->source, node->name_offset, strlen(node->name)};
}

static const char *describe_kind(enum node_kind kind)
{
    switch (kind) {
    case NODE_SECTION:
    case NODE_INVERTED:
        return "section";
    case NODE_PARENT:
        return "parent";
    case NODE_BLOCK:
        return "block";
    case NODE_TEXT:
    case NODE_VARIABLE:
    case NODE_PARTIAL:
        break;
    }
    return "tag";
}

static void report_unclosed(struct parser *parser, size_t first_frame)
{
    for (size_t i = first_frame; i < parser->depth; i++) {
        const struct node *node = &parser->tree->nodes[parser->frames[i].node];
        diag_error(parser->diags, "template-unclosed", node_span(parser->tree, node), "%s '%s' is never closed",
                   describe_kind(node->kind), node->name);
    }
}

/* Whether the end tag's name is that of the node; a dynamic one is repeated with its asterisk. */
static bool closes(const char *name, const struct node *node)
{
    if (node->dynamic && name[0] == '*')
        name += 1 + strspn(name + 1, " \t\r\n\v\f");
    return strcmp(name, node->name) == 0;
}

/* An end tag whose name no open section has. Returns whether it is taken as the end of the innermost one, misspelt. */
static bool report_unopened(struct parser *parser, const struct template_tag *tag)
{
    struct span where = {parser->tree->source, tag->offset, tag->length};
    if (parser->depth == 0) {
        diag_error(parser->diags, "template-unopened", where, "end tag '%s', but no section is open", tag->name);
        return false;
    }
    const struct node *open = &parser->tree->nodes[parser->frames[parser->depth - 1].node];
    diag_error(parser->diags, "template-unopened", where, "end tag '%s', but the open %s is '%s'", tag->name,
               describe_kind(open->kind), open->name);
    struct text_guess guess = {.wanted = tag->name};
    text_guess_offer(&guess, open->name);
    if (guess.best != NULL)
        diag_note(parser->diags, "did you mean '%s'?", guess.best);
    return guess.best != NULL;
}

/* Leaves the frame that an end tag closes on top. Returns whether there is one. */
static bool find_frame(struct parser *parser, const struct template_tag *tag)
{
    size_t i = parser->depth;
    while (i > 0 && !closes(tag->name, &parser->tree->nodes[parser->frames[i - 1].node]))
        i--;
    if (i == 0)
        return report_unopened(parser, tag);
    report_unclosed(parser, i);
    parser->depth = i;
    return true;
}

static void close_element(struct parser *parser, const struct template_tag *tag)
{
    if (!find_frame(parser, tag)) {
        take_text_inline(parser, tag);
        return;
    }
    struct frame frame = parser->frames[--parser->depth];
    switch (parser->tree->nodes[frame.node].kind) {
    case NODE_SECTION:
    case NODE_INVERTED:
        (void)take_text_standalone(parser, tag);
        break;
    case NODE_BLOCK:
        close_block(parser, &frame, tag);
        break;
    case NODE_PARENT:
        close_parent(parser, &frame, tag);
        break;
    case NODE_TEXT:
    case NODE_VARIABLE:
    case NODE_PARTIAL:
        break;
    }
    parser->tree->nodes[frame.node].end = parser->tree->count;
}

static void parse_tag(struct parser *parser, const struct template_tag *tag)
{
    switch (tag->kind) {
    case TEMPLATE_VARIABLE:
    case TEMPLATE_UNESCAPED:
        take_text_inline(parser, tag);
        (void)push_tag(parser, NODE_VARIABLE, tag);
        break;
    case TEMPLATE_SECTION:
    case TEMPLATE_INVERTED:
        open_section(parser, tag);
        break;
    case TEMPLATE_CLOSE:
        close_element(parser, tag);
        break;
    case TEMPLATE_PARTIAL:
        parse_partial(parser, tag);
        break;
    case TEMPLATE_PARENT:
        open_element(parser, NODE_PARENT, tag);
        break;
    case TEMPLATE_BLOCK:
        open_block(parser, tag);
        break;
    case TEMPLATE_COMMENT:
    case TEMPLATE_DELIMITERS:
        (void)take_text_standalone(parser, tag);
        break;
    case TEMPLATE_UNCLOSED:
        parser->truncated = true;
        break;
    }
}

static void parse_all(struct parser *parser, struct template_lexer *lexer)
{
    struct template_tag tag;
    while (!parser->truncated && template_lexer_next(lexer, &tag)) {
        if (++parser->tag_count > TAGS_MAX) {
            struct span where = {parser->tree->source, tag.offset, tag.length};
            diag_error(parser->diags, "template-too-large", where, "more than %d tags", TAGS_MAX);
            return;
        }
        parse_tag(parser, &tag);
    }
    take_text(parser, parser->tree->source->length);
    if (!parser->truncated)
        report_unclosed(parser, 0);
}

/* Returns NULL, and every error reported, for a text with errors. */
static struct tree *parse(struct arena *arena, const struct source *source, struct diags *diags)
{
    struct tree *tree = arena_alloc(arena, sizeof(*tree));
    struct parser *parser = arena_alloc(arena, sizeof(*parser));
    tree->source = source;
    parser->arena = arena;
    parser->diags = diags;
    parser->tree = tree;
    size_t errors_before = diags->error_count;
    struct template_lexer *lexer = template_lexer_new(source, arena, diags);
    parse_all(parser, lexer);
    template_lexer_free(lexer);
    return diags->error_count == errors_before ? tree : NULL;
}

struct partial {
    struct partial *next; /* in its bucket */
    const char *name;
    bool found;
    struct tree *tree; /* NULL: not found, or with errors */
};

struct renderer {
    struct text *out;
    size_t out_start;
    const struct template_options *options;
    struct diags *diags;
    struct arena arena; /* trees of this rendering */
    struct partial *partials[PARTIAL_BUCKETS];
    struct text margins; /* the indentation of each partial, one in another; a scope's is from its margin_start on */
    struct span where;   /* the tag at work, for errors */
    uint64_t steps;
    size_t partial_depth;
    size_t depth;
    bool stopped; /* by an error after which there is no point in going on */
};

struct context {
    const json_t *value;
    const struct context *outer;
};

/* The arguments of a parent that is being rendered. */
struct override {
    struct tree *tree; /* where the parent tag is */
    const struct injection *parent;
    const struct override *outer;
};

/* Everything that what is rendered depends on, apart from the nodes. */
struct scope {
    struct tree *tree;
    const struct context *context;
    const struct override *overrides;
    size_t margin_start;
    struct span dedent; /* what lines lose at their start */
};

static void render_nodes(struct renderer *renderer, const struct scope *scope, size_t from, size_t to);

static void stop(struct renderer *renderer, const char *id, const char *what, int limit, const char *unit)
{
    if (!renderer->stopped)
        diag_error(renderer->diags, id, renderer->where, "%s more than %d %s", what, limit, unit);
    renderer->stopped = true;
}

static void charge(struct renderer *renderer, uint64_t steps)
{
    renderer->steps += steps;
    if (renderer->steps > STEPS_MAX)
        stop(renderer, "template-too-large", "rendering takes", STEPS_MAX, "steps");
}

static bool enter(struct renderer *renderer)
{
    if (renderer->depth >= DEPTH_MAX) {
        stop(renderer, "template-recursion", "sections and partials nested", DEPTH_MAX, "deep");
        return false;
    }
    renderer->depth++;
    return true;
}

static void leave(struct renderer *renderer)
{
    renderer->depth--;
}

static void emit(struct renderer *renderer, const char *bytes, size_t length)
{
    if (renderer->stopped || length == 0)
        return;
    if (length > OUTPUT_BYTES_MAX - (renderer->out->length - renderer->out_start)) {
        stop(renderer, "template-too-large", "output of", OUTPUT_BYTES_MAX / MIB, "MiB");
        return;
    }
    text_append(renderer->out, bytes, length);
}

static const char *escape_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

static void emit_value(struct renderer *renderer, const char *bytes, size_t length, bool raw)
{
    size_t from = 0;
    for (size_t i = 0; i < length && !raw && renderer->options->escape_html; i++) {
        const char *escape = escape_of(bytes[i]);
        if (escape == NULL)
            continue;
        emit(renderer, bytes + from, i - from);
        emit(renderer, escape, strlen(escape));
        from = i + 1;
    }
    emit(renderer, bytes + from, length - from);
}

static void emit_margin(struct renderer *renderer, const struct scope *scope)
{
    size_t length = renderer->margins.length - scope->margin_start;
    if (length > 0)
        emit(renderer, renderer->margins.bytes + scope->margin_start, length);
}

static void emit_line_start(struct renderer *renderer, const struct scope *scope, const char **at, const char *end)
{
    struct span dedent = scope->dedent;
    emit_margin(renderer, scope);
    if (dedent.length > 0 && dedent.length <= (size_t)(end - *at) &&
        memcmp(*at, dedent.source->bytes + dedent.offset, dedent.length) == 0)
        *at += dedent.length;
}

static void render_text(struct renderer *renderer, const struct scope *scope, const struct node *node)
{
    const char *at = scope->tree->source->bytes + node->offset;
    const char *end = at + node->length;
    if (node->starts_line)
        emit_line_start(renderer, scope, &at, end);
    bool plain = scope->dedent.length == 0 && scope->margin_start == renderer->margins.length;
    while (at < end && !plain && !renderer->stopped) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (line_end == NULL || line_end + 1 == end)
            break;
        emit(renderer, at, (size_t)(line_end + 1 - at));
        at = line_end + 1;
        emit_line_start(renderer, scope, &at, end);
    }
    emit(renderer, at, (size_t)(end - at));
}

/* Copies the first part of a dotted name. Returns what is after it and its dot, NULL when it was the last. */
static const char *split_path(const char *path, char part[TEMPLATE_NAME_MAX + 1])
{
    size_t length = strcspn(path, ".");
    memcpy(part, path, length);
    part[length] = '\0';
    return path[length] == '.' ? path + length + 1 : NULL;
}

/* Where a name leads as far as it leads anywhere; for the mend of those that lead nowhere. */
struct path_end {
    const json_t *value; /* the value, NULL for none */
    const json_t *last;  /* the value of all parts before `rest`; NULL: not even the first part is known */
    const char *rest;    /* the parts from the unknown one on */
};

/* The first part is looked for from the innermost context outwards, the others only in what it gave. */
static struct path_end resolve_path(struct renderer *renderer, const struct scope *scope, const char *name)
{
    if (strcmp(name, ".") == 0)
        return (struct path_end){.value = scope->context->value};
    char part[TEMPLATE_NAME_MAX + 1];
    struct path_end end = {.rest = name};
    const char *rest = split_path(name, part);
    const json_t *value = NULL;
    uint64_t cost = 1 + strlen(part) / NAME_BYTES_STEP;
    for (const struct context *c = scope->context; c != NULL && value == NULL; c = c->outer) {
        value = json_object_get(c->value, part);
        charge(renderer, cost);
    }
    while (value != NULL && rest != NULL) {
        end.last = value;
        end.rest = rest;
        rest = split_path(rest, part);
        value = json_object_get(value, part);
    }
    end.value = value;
    return end;
}

/* Offers the names that an object has, as long as *left allows. */
static void offer_keys(struct text_guess *guess, const json_t *value, size_t *left)
{
    json_t *object = (json_t *)value; /* jansson's iterators are not const, but change nothing */
    for (void *i = json_object_iter(object); i != NULL && *left > 0; i = json_object_iter_next(object, i)) {
        text_guess_offer(guess, json_object_iter_key(i));
        --*left;
    }
}

static void note_known_name(struct renderer *renderer, const struct scope *scope, const char *name,
                            const struct path_end *end)
{
    char part[TEMPLATE_NAME_MAX + 1];
    const char *rest = split_path(end->rest == NULL ? "" : end->rest, part);
    struct text_guess guess = {.wanted = part};
    size_t left = OFFERS_MAX;
    if (end->last != NULL)
        offer_keys(&guess, end->last, &left);
    for (const struct context *c = scope->context; c != NULL && end->last == NULL; c = c->outer)
        offer_keys(&guess, c->value, &left);
    if (guess.best != NULL)
        diag_note(renderer->diags, "did you mean '%.*s%s%s%s'?", (int)(end->rest - name), name, guess.best,
                  rest == NULL ? "" : ".", rest == NULL ? "" : rest);
}

/* The value of the node's name in the view; NULL where there is none, which strict mode reports. */
static const json_t *resolve(struct renderer *renderer, const struct scope *scope, struct node *node)
{
    struct path_end end = resolve_path(renderer, scope, node->name);
    if (end.value != NULL || !renderer->options->strict || node->reported)
        return end.value;
    node->reported = true;
    diag_error(renderer->diags, "template-unknown-name", name_span(scope->tree, node), "unknown name '%s'", node->name);
    /* Beyond the limit nobody sees the note, and looking through a large view for it takes its time. */
    if (renderer->diags->error_count <= DIAG_MAX)
        note_known_name(renderer, scope, node->name, &end);
    return NULL;
}

/* A real takes as long to print as so many other steps. */
enum { NUMBER_BYTES = 64, REAL_STEPS = 32 };

/* jansson prints as many digits as it is told. 15 give back what was written with up to 15 (DBL_DIG), unless the real
 * is subnormal; 17 give back every real. jansson is also asked to read them, because strtod would go by the process's
 * locale. */
static size_t format_real(char buffer[NUMBER_BYTES], const json_t *real)
{
    size_t length = 0;
    double value = json_real_value(real);
    bool subnormal = value > -DBL_MIN && value < DBL_MIN;
    for (size_t digits = subnormal ? 1 : DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        length = json_dumpb(real, buffer, NUMBER_BYTES, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
        if (length > NUMBER_BYTES)
            return 0;
        json_t *again = json_loadb(buffer, length, JSON_DECODE_ANY, NULL);
        double difference = json_real_value(again) - value;
        json_decref(again);
        if (!(difference < 0) && !(difference > 0))
            break;
    }
    return length;
}

struct dump_target {
    struct renderer *renderer;
    bool raw;
};

static int emit_dump(const char *bytes, size_t length, void *context)
{
    const struct dump_target *target = context;
    emit_value(target->renderer, bytes, length, target->raw);
    return target->renderer->stopped ? -1 : 0;
}

static void render_value(struct renderer *renderer, const json_t *value, bool raw)
{
    char number[NUMBER_BYTES];
    struct dump_target target = {renderer, raw};
    switch (json_typeof(value)) {
    case JSON_STRING:
        emit_value(renderer, json_string_value(value), json_string_length(value), raw);
        break;
    case JSON_INTEGER:
        (void)snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        emit(renderer, number, strlen(number));
        break;
    case JSON_REAL:
        charge(renderer, REAL_STEPS);
        emit(renderer, number, format_real(number, value));
        break;
    case JSON_TRUE:
        emit(renderer, "true", strlen("true"));
        break;
    case JSON_FALSE:
        emit(renderer, "false", strlen("false"));
        break;
    case JSON_NULL:
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        (void)json_dump_callback(value, emit_dump, &target, JSON_COMPACT);
        break;
    }
}

static void render_variable(struct renderer *renderer, const struct scope *scope, struct node *node)
{
    const json_t *value = resolve(renderer, scope, node);
    if (value != NULL)
        render_value(renderer, value, node->raw);
}

static bool is_false(const json_t *value)
{
    return value == NULL || json_is_null(value) || json_is_false(value) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

static void render_round(struct renderer *renderer, const struct scope *scope, const json_t *value, size_t index)
{
    struct context context = {value, scope->context};
    struct scope inside = *scope;
    inside.context = &context;
    charge(renderer, 1);
    render_nodes(renderer, &inside, index + 1, scope->tree->nodes[index].end);
}

static void render_section(struct renderer *renderer, const struct scope *scope, size_t index)
{
    struct node *node = &scope->tree->nodes[index];
    const json_t *value = resolve(renderer, scope, node);
    if (is_false(value) != (node->kind == NODE_INVERTED) || !enter(renderer))
        return;
    if (node->kind == NODE_INVERTED)
        render_nodes(renderer, scope, index + 1, node->end);
    else if (!json_is_array(value))
        render_round(renderer, scope, value, index);
    else
        for (size_t i = 0; i < json_array_size(value) && !renderer->stopped; i++)
            render_round(renderer, scope, json_array_get(value, i), index);
    leave(renderer);
}

static size_t hash_name(const char *name)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return (size_t)(hash % PARTIAL_BUCKETS);
}

/* Finds and parses a partial at its first use in this rendering. */
static const struct partial *load_partial(struct renderer *renderer, const char *name)
{
    struct partial **bucket = &renderer->partials[hash_name(name)];
    for (struct partial *p = *bucket; p != NULL; p = p->next) {
        charge(renderer, 1);
        if (strcmp(p->name, name) == 0)
            return p;
    }
    struct partial *partial = arena_alloc(&renderer->arena, sizeof(*partial));
    partial->name = arena_copy(&renderer->arena, name, strlen(name));
    partial->next = *bucket;
    *bucket = partial;
    const struct template_options *options = renderer->options;
    const struct source *source = options->find == NULL ? NULL : options->find(options->find_context, name);
    partial->found = source != NULL;
    if (partial->found)
        partial->tree = parse(&renderer->arena, source, renderer->diags);
    return partial;
}

/* The name of the partial, which for {{>*name}} is a value of the view; NULL for none. */
static const char *partial_name(struct renderer *renderer, const struct scope *scope, struct node *node,
                                char number[NUMBER_BYTES])
{
    if (!node->dynamic)
        return node->name;
    const json_t *value = resolve(renderer, scope, node);
    if (json_is_integer(value)) {
        (void)snprintf(number, NUMBER_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return number;
    }
    const char *name = json_string_value(value);
    bool usable =
        name != NULL && json_string_length(value) <= TEMPLATE_NAME_MAX && strlen(name) == json_string_length(value);
    return usable ? name : NULL;
}

static struct tree *find_partial(struct renderer *renderer, const struct scope *scope, struct node *node)
{
    char number[NUMBER_BYTES];
    const char *name = partial_name(renderer, scope, node, number);
    if (name == NULL)
        return NULL;
    const struct partial *partial = load_partial(renderer, name);
    if (!partial->found && renderer->options->strict && !node->reported) {
        node->reported = true;
        diag_error(renderer->diags, "template-missing-partial", name_span(scope->tree, node), "missing partial '%s'",
                   name);
    }
    return partial->tree;
}

/* Renders nodes of another text in the place of `site`: with its margin, if it is standalone, after the one here. */
static void render_injected(struct renderer *renderer, const struct scope *here, const struct injection *site,
                            struct scope inside, size_t from, size_t to)
{
    size_t before = renderer->margins.length;
    inside.margin_start = site->standalone ? here->margin_start : before;
    if (site->standalone && site->margin.length > 0) {
        if (site->margin.length > MARGIN_BYTES_MAX - before) {
            stop(renderer, "template-too-large", "indentation of", MARGIN_BYTES_MAX / MIB, "MiB");
            return;
        }
        text_append(&renderer->margins, site->margin.source->bytes + site->margin.offset, site->margin.length);
    }
    /* Content that starts on the line of its own tag starts one here. */
    if (site->standalone && from > 0 && from < to && inside.tree->nodes[from - 1].injection != NULL &&
        inside.tree->nodes[from - 1].injection->midline)
        emit_margin(renderer, &inside);
    render_nodes(renderer, &inside, from, to);
    renderer->margins.length = before;
}

static void render_partial(struct renderer *renderer, const struct scope *scope, struct node *node)
{
    struct tree *tree = find_partial(renderer, scope, node);
    if (tree == NULL)
        return;
    if (renderer->partial_depth >= PARTIALS_MAX) {
        stop(renderer, "template-recursion", "partials nested", PARTIALS_MAX, "deep");
        return;
    }
    if (!enter(renderer))
        return;
    struct override own = {scope->tree, node->injection, scope->overrides};
    struct scope inside = {.tree = tree, .context = scope->context, .overrides = scope->overrides};
    if (node->injection->argument_count > 0)
        inside.overrides = &own;
    renderer->partial_depth++;
    render_injected(renderer, scope, node->injection, inside, 0, tree->count);
    renderer->partial_depth--;
    leave(renderer);
}

static int compare_name(const void *key, const void *element)
{
    return strcmp(key, ((const struct argument *)element)->name);
}

/* The argument for a block: the outermost counts, for a text overrides what its parent gives to its own parent. */
static const struct override *find_override(struct renderer *renderer, const struct scope *scope, const char *name,
                                            size_t *index)
{
    const struct override *found = NULL;
    for (const struct override *o = scope->overrides; o != NULL; o = o->outer) {
        charge(renderer, ARGUMENT_STEPS);
        const struct argument *argument =
            bsearch(name, o->parent->arguments, o->parent->argument_count, sizeof(*argument), compare_name);
        if (argument == NULL)
            continue;
        found = o;
        *index = argument->node;
    }
    return found;
}

/* The default content is text of this template: only the margin of its first line was set aside. */
static void render_default(struct renderer *renderer, const struct scope *scope, size_t index)
{
    const struct node *node = &scope->tree->nodes[index];
    const struct injection *block = node->injection;
    if (block->standalone && block->midline) {
        emit_margin(renderer, scope);
        emit(renderer, scope->tree->source->bytes + block->margin.offset, block->margin.length);
    }
    render_nodes(renderer, scope, index + 1, node->end);
}

static void render_block(struct renderer *renderer, const struct scope *scope, size_t index)
{
    size_t argument = 0;
    const struct node *node = &scope->tree->nodes[index];
    const struct override *override = find_override(renderer, scope, node->name, &argument);
    if (!enter(renderer))
        return;
    if (override == NULL) {
        render_default(renderer, scope, index);
    } else {
        /* Blocks inside the argument are those of the text that it stands in, or they could be itself. */
        struct scope inside = {.tree = override->tree, .context = scope->context, .overrides = override->outer};
        const struct node *content = &override->tree->nodes[argument];
        inside.dedent = content->injection->dedent;
        render_injected(renderer, scope, node->injection, inside, argument + 1, content->end);
    }
    leave(renderer);
}

static void render_node(struct renderer *renderer, const struct scope *scope, size_t index)
{
    struct node *node = &scope->tree->nodes[index];
    renderer->where = node_span(scope->tree, node);
    charge(renderer, 1);
    switch (node->kind) {
    case NODE_TEXT:
        render_text(renderer, scope, node);
        break;
    case NODE_VARIABLE:
        render_variable(renderer, scope, node);
        break;
    case NODE_SECTION:
    case NODE_INVERTED:
        render_section(renderer, scope, index);
        break;
    case NODE_PARTIAL:
    case NODE_PARENT:
        render_partial(renderer, scope, node);
        break;
    case NODE_BLOCK:
        render_block(renderer, scope, index);
        break;
    }
}

static void render_nodes(struct renderer *renderer, const struct scope *scope, size_t from, size_t to)
{
    for (size_t i = from; i < to && !renderer->stopped; i = scope->tree->nodes[i].end)
        render_node(renderer, scope, i);
}

static void render_tree(struct renderer *renderer, struct tree *tree, const json_t *view)
{
    struct context context = {view, NULL};
    struct scope scope = {.tree = tree, .context = &context};
    render_nodes(renderer, &scope, 0, tree->count);
}

bool template_render(struct text *out, const struct source *source, const json_t *view,
                     const struct template_options *options, struct diags *diags)
{
    size_t errors_before = diags->error_count;
    struct arena scratch = {0};
    struct renderer *renderer = arena_alloc(&scratch, sizeof(*renderer));
    *renderer = (struct renderer){.out = out, .out_start = out->length, .options = options, .diags = diags};
    struct tree *tree = parse(&renderer->arena, source, diags);
    if (tree != NULL)
        render_tree(renderer, tree, view);
    bool ok = diags->error_count == errors_before;
    if (!ok && out->bytes != NULL) {
        out->length = renderer->out_start;
        out->bytes[out->length] = '\0';
    }
    text_free(&renderer->margins);
    arena_free(&renderer->arena);
    arena_free(&scratch);
    return ok;
}

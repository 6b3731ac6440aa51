#include "read.h"

#include <string.h>

#include "read_rules.h"
#include "read_scan.h"
#include "read_xml.h"
#include "text.h"

static const char layout_space[] = "urn:sectorwise:layout:1";

enum element {
    ELEMENT_LAYOUT,
    ELEMENT_PARAM,
    ELEMENT_STRUCT,
    ELEMENT_UNION,
    ELEMENT_FIELD,
    ELEMENT_ARRAY,
    ELEMENT_TABLE,
    ELEMENT_KERNEL,
    ELEMENT_LET,
    ELEMENT_FOR,
    ELEMENT_IF,
    ELEMENT_ELSE,
    ELEMENT_READ,
    ELEMENT_WRITE,
    ELEMENT_UPDATE,
    ELEMENT_ATOMIC,
    ELEMENT_COUNT
};

/* Where an element stands, and what stands in it. */
enum context { CONTEXT_FILE, CONTEXT_LAYOUT, CONTEXT_RECORD, CONTEXT_BODY, CONTEXT_LEAF };

#define ATTRIBUTE(type, member, name, required, form)                                                                  \
    {                                                                                                                  \
        name, required, form, offsetof(struct type, member)                                                            \
    }
#define NAME(type, name) ATTRIBUTE(type, name, "name", true, RULE_NAME)
#define REQUIRED(type, member, name) ATTRIBUTE(type, member, name, true, RULE_QUOTED)
#define OPTIONAL(type, member, name) ATTRIBUTE(type, member, name, false, RULE_QUOTED)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct attribute_rule layout_rules[] = {NAME(spec, name)};
static const struct attribute_rule param_rules[] = {NAME(param, name), REQUIRED(param, value, "value")};
static const struct attribute_rule type_rules[] = {
    NAME(type, name),
    OPTIONAL(type, align_text, "align"),
    OPTIONAL(type, packed_text, "packed"),
};
static const struct attribute_rule field_rules[] = {
    NAME(field, name),
    REQUIRED(field, type_text, "type"),
    OPTIONAL(field, count_text, "count"),
    OPTIONAL(field, align_text, "align"),
};
static const struct attribute_rule array_rules[] = {
    NAME(array, name),
    REQUIRED(array, of_text, "of"),
    REQUIRED(array, extent_text, "extent"),
    OPTIONAL(array, space_text, "space"),
    OPTIONAL(array, align_text, "align"),
    OPTIONAL(array, offset_text, "offset"),
    OPTIONAL(array, pitch_text, "pitch"),
    OPTIONAL(array, layout_text, "layout"),
    OPTIONAL(array, conversions_text, "conversions"),
};
static const struct attribute_rule table_rules[] = {
    NAME(table, name),
    REQUIRED(table, extent_text, "extent"),
    OPTIONAL(table, file_text, "file"),
    OPTIONAL(table, values_text, "values"),
    OPTIONAL(table, range_text, "range"),
    OPTIONAL(table, seed_text, "seed"),
};
static const struct attribute_rule kernel_rules[] = {
    NAME(kernel, name),
    REQUIRED(kernel, block_text, "block"),
    REQUIRED(kernel, grid_text, "grid"),
    OPTIONAL(kernel, calls_text, "calls"),
    OPTIONAL(kernel, flops_text, "flops"),
    OPTIONAL(kernel, registers_text, "registers"),
};
static const struct attribute_rule let_rules[] = {
    NAME(statement, name),
    REQUIRED(statement, value_text, "value"),
};
static const struct attribute_rule for_rules[] = {
    ATTRIBUTE(statement, name, "var", true, RULE_NAME),
    OPTIONAL(statement, from_text, "from"),
    OPTIONAL(statement, to_text, "to"),
    OPTIONAL(statement, while_text, "while"),
    OPTIONAL(statement, step_text, "step"),
    OPTIONAL(statement, next_text, "next"),
};
static const struct attribute_rule if_rules[] = {REQUIRED(statement, test_text, "test")};
static const struct attribute_rule access_rules[] = {
    REQUIRED(access, array_text, "array"),
    OPTIONAL(access, field_text, "field"),
    REQUIRED(access, index_text, "index"),
    OPTIONAL(access, bytes_text, "bytes"),
};

static const struct element_rule {
    const char *name;
    enum context stands_in, holds;
    const struct attribute_rule *attributes;
    size_t attribute_count;
} elements[ELEMENT_COUNT] = {
    [ELEMENT_LAYOUT] = {"layout", CONTEXT_FILE, CONTEXT_LAYOUT, layout_rules, COUNT(layout_rules)},
    [ELEMENT_PARAM] = {"param", CONTEXT_LAYOUT, CONTEXT_LEAF, param_rules, COUNT(param_rules)},
    [ELEMENT_STRUCT] = {"struct", CONTEXT_LAYOUT, CONTEXT_RECORD, type_rules, COUNT(type_rules)},
    [ELEMENT_UNION] = {"union", CONTEXT_LAYOUT, CONTEXT_RECORD, type_rules, COUNT(type_rules)},
    [ELEMENT_FIELD] = {"field", CONTEXT_RECORD, CONTEXT_LEAF, field_rules, COUNT(field_rules)},
    [ELEMENT_ARRAY] = {"array", CONTEXT_LAYOUT, CONTEXT_LEAF, array_rules, COUNT(array_rules)},
    [ELEMENT_TABLE] = {"table", CONTEXT_LAYOUT, CONTEXT_LEAF, table_rules, COUNT(table_rules)},
    [ELEMENT_KERNEL] = {"kernel", CONTEXT_LAYOUT, CONTEXT_BODY, kernel_rules, COUNT(kernel_rules)},
    [ELEMENT_LET] = {"let", CONTEXT_BODY, CONTEXT_LEAF, let_rules, COUNT(let_rules)},
    [ELEMENT_FOR] = {"for", CONTEXT_BODY, CONTEXT_BODY, for_rules, COUNT(for_rules)},
    [ELEMENT_IF] = {"if", CONTEXT_BODY, CONTEXT_BODY, if_rules, COUNT(if_rules)},
    [ELEMENT_ELSE] = {"else", CONTEXT_BODY, CONTEXT_BODY, NULL, 0},
    [ELEMENT_READ] = {"read", CONTEXT_BODY, CONTEXT_LEAF, access_rules, COUNT(access_rules)},
    [ELEMENT_WRITE] = {"write", CONTEXT_BODY, CONTEXT_LEAF, access_rules, COUNT(access_rules)},
    [ELEMENT_UPDATE] = {"update", CONTEXT_BODY, CONTEXT_LEAF, access_rules, COUNT(access_rules)},
    [ELEMENT_ATOMIC] = {"atomic", CONTEXT_BODY, CONTEXT_LEAF, access_rules, COUNT(access_rules)},
};

struct reader {
    struct arena *arena;
    struct diags *diags;
    struct spec *spec;
    size_t param_capacity;
    struct type **types_tail;
    struct table **tables_tail;
    struct array **arrays_tail;
    struct kernel **kernels_tail;
};

static const char *context_name(enum context context)
{
    switch (context) {
    case CONTEXT_FILE:
        return "is the root element";
    case CONTEXT_LAYOUT:
        return "belongs in 'layout'";
    case CONTEXT_RECORD:
        return "belongs in 'struct' or 'union'";
    case CONTEXT_BODY:
        return "belongs in 'kernel', 'for', 'if' or 'else'";
    case CONTEXT_LEAF:
        break;
    }
    return "belongs nowhere";
}

/* Names that fit the place come first among those that are equally near. */
static void report_unknown_element(struct reader *reader, const struct xml_node *node, enum context context)
{
    diag_error(reader->diags, "unknown-element", node->where, "unknown element '%s'", node->name);
    struct text_guess guess = {.wanted = node->name};
    for (size_t i = 0; i < ELEMENT_COUNT; i++)
        if (elements[i].stands_in == context)
            text_guess_offer(&guess, elements[i].name);
    for (size_t i = 0; i < ELEMENT_COUNT; i++)
        text_guess_offer(&guess, elements[i].name);
    if (guess.best != NULL)
        diag_note(reader->diags, "did you mean '%s'?", guess.best);
}

/* Which element a child is; ELEMENT_COUNT after a diagnostic where it is none that may stand there. */
static enum element identify(struct reader *reader, const struct xml_node *node, enum context context)
{
    if (!rules_check_space(node, layout_space, reader->diags))
        return ELEMENT_COUNT;
    enum element element = ELEMENT_LAYOUT;
    while (element < ELEMENT_COUNT && strcmp(elements[element].name, node->name) != 0)
        element++;
    if (element == ELEMENT_COUNT) {
        report_unknown_element(reader, node, context);
    } else if (elements[element].stands_in != context) {
        diag_error(reader->diags, "misplaced-element", node->where, "'%s' cannot stand in '%s'", node->name,
                   node->parent->name);
        diag_note(reader->diags, "'%s' %s", node->name, context_name(elements[element].stands_in));
        return ELEMENT_COUNT;
    }
    return element;
}

static void fill(struct reader *reader, const struct xml_node *node, enum element element, void *target)
{
    rules_fill(node, elements[element].attributes, elements[element].attribute_count, target, reader->diags);
}

/* The next child, from `node` on, that may stand in `context`; others are reported. NULL: there is none. */
static const struct xml_node *next_child(struct reader *reader, const struct xml_node *node, enum context context,
                                         enum element *element)
{
    for (; node != NULL; node = node->next) {
        if (node->kind == XML_TEXT) {
            rules_report_text(node, reader->diags);
            continue;
        }
        *element = identify(reader, node, context);
        if (*element != ELEMENT_COUNT)
            return node;
    }
    return NULL;
}

static void read_nothing_inside(struct reader *reader, const struct xml_node *node)
{
    enum element element;
    (void)next_child(reader, node->first, CONTEXT_LEAF, &element);
}

/* ---- declarations. What has no name was reported, and is left out: nothing can refer to it. ---- */

static void read_param(struct reader *reader, const struct xml_node *node)
{
    struct param param = {0};
    fill(reader, node, ELEMENT_PARAM, &param);
    read_nothing_inside(reader, node);
    if (param.name.text == NULL)
        return;
    struct spec *spec = reader->spec;
    spec->params =
        arena_grow(reader->arena, spec->params, spec->param_count, &reader->param_capacity, sizeof(*spec->params));
    spec->params[spec->param_count++] = param;
}

static void read_fields(struct reader *reader, const struct xml_node *node, struct type *type)
{
    size_t capacity = 0;
    enum element element;
    for (node = node->first; (node = next_child(reader, node, CONTEXT_RECORD, &element)) != NULL; node = node->next) {
        struct field field = {0};
        fill(reader, node, element, &field);
        read_nothing_inside(reader, node);
        if (field.name.text == NULL)
            continue;
        type->fields = arena_grow(reader->arena, type->fields, type->field_count, &capacity, sizeof(*type->fields));
        type->fields[type->field_count++] = field;
    }
}

static void read_type(struct reader *reader, const struct xml_node *node, enum element element)
{
    struct type *type = arena_alloc(reader->arena, sizeof(*type));
    type->kind = element == ELEMENT_STRUCT ? TYPE_STRUCT : TYPE_UNION;
    fill(reader, node, element, type);
    read_fields(reader, node, type);
    if (type->name.text == NULL)
        return;
    *reader->types_tail = type;
    reader->types_tail = &type->next;
}

static void read_array(struct reader *reader, const struct xml_node *node)
{
    struct array *array = arena_alloc(reader->arena, sizeof(*array));
    fill(reader, node, ELEMENT_ARRAY, array);
    read_nothing_inside(reader, node);
    if (array->name.text == NULL)
        return;
    array->number = (unsigned)reader->spec->array_count++;
    *reader->arrays_tail = array;
    reader->arrays_tail = &array->next;
}

/* The integers of a table. Elements in between were reported; what follows them is left out. */
static struct quoted first_text(const struct xml_node *node)
{
    for (node = node->first; node != NULL; node = node->next)
        if (node->kind == XML_TEXT)
            return (struct quoted){node->text, node->where};
    return (struct quoted){0};
}

static void read_table(struct reader *reader, const struct xml_node *node)
{
    struct table *table = arena_alloc(reader->arena, sizeof(*table));
    fill(reader, node, ELEMENT_TABLE, table);
    for (const struct xml_node *child = node->first; child != NULL; child = child->next)
        if (child->kind == XML_ELEMENT)
            (void)identify(reader, child, CONTEXT_LEAF);
    table->content = first_text(node);
    if (table->name.text == NULL)
        return;
    reader->spec->table_count++;
    *reader->tables_tail = table;
    reader->tables_tail = &table->next;
}

/* ---- statements ---- */

static struct statement *read_body(struct reader *reader, const struct xml_node *node);

static enum access_op access_op_of(enum element element)
{
    return element == ELEMENT_READ     ? ACCESS_READ
           : element == ELEMENT_WRITE  ? ACCESS_WRITE
           : element == ELEMENT_UPDATE ? ACCESS_UPDATE
                                       : ACCESS_ATOMIC;
}

static void read_access(struct reader *reader, const struct xml_node *node, enum element element,
                        struct statement *statement)
{
    struct access *access = arena_alloc(reader->arena, sizeof(*access));
    statement->kind = STATEMENT_ACCESS;
    statement->access = access;
    access->op = access_op_of(element);
    access->where = node->where;
    access->line = node->line;
    fill(reader, node, element, access);
    access->whole = access->field_text.text == NULL;
    read_nothing_inside(reader, node);
}

/* How a loop ends and advances: one of `to` and `while`, at most one of `step` and `next`. */
static void check_loop_form(struct reader *reader, const struct statement *loop)
{
    bool has_to = loop->to_text.text != NULL, has_while = loop->while_text.text != NULL;
    if (has_to == has_while) {
        diag_error(reader->diags, "loop-form", loop->where,
                   has_to ? "'for' has both 'to' and 'while'" : "'for' has neither 'to' nor 'while'");
        diag_note(reader->diags, "a loop runs up to 'to', exclusive, or as long as 'while' holds");
    }
    if (loop->step_text.text != NULL && loop->next_text.text != NULL)
        diag_error(reader->diags, "loop-form", loop->where, "'for' has both 'step' and 'next'");
}

/* Fills a statement; false where it has no name that it needs, or its element is no statement. */
static bool read_statement(struct reader *reader, const struct xml_node *node, enum element element,
                           struct statement *statement)
{
    statement->where = node->where;
    switch (element) {
    case ELEMENT_LET:
        statement->kind = STATEMENT_LET;
        fill(reader, node, element, statement);
        read_nothing_inside(reader, node);
        return statement->name.text != NULL;
    case ELEMENT_FOR:
        statement->kind = STATEMENT_FOR;
        fill(reader, node, element, statement);
        check_loop_form(reader, statement);
        statement->body = read_body(reader, node);
        return statement->name.text != NULL;
    case ELEMENT_IF:
        statement->kind = STATEMENT_IF;
        fill(reader, node, element, statement);
        statement->body = read_body(reader, node);
        return true;
    case ELEMENT_READ:
    case ELEMENT_WRITE:
    case ELEMENT_UPDATE:
    case ELEMENT_ATOMIC:
        read_access(reader, node, element, statement);
        return true;
    case ELEMENT_LAYOUT:
    case ELEMENT_PARAM:
    case ELEMENT_STRUCT:
    case ELEMENT_UNION:
    case ELEMENT_FIELD:
    case ELEMENT_ARRAY:
    case ELEMENT_TABLE:
    case ELEMENT_KERNEL:
    case ELEMENT_ELSE:
    case ELEMENT_COUNT:
        break;
    }
    return false;
}

/* `before` is the statement of the element right before the 'else', NULL where that is none. */
static void read_else(struct reader *reader, const struct xml_node *node, struct statement *before)
{
    fill(reader, node, ELEMENT_ELSE, NULL);
    struct statement *body = read_body(reader, node);
    if (before == NULL || before->kind != STATEMENT_IF || before->has_else) {
        diag_error(reader->diags, "misplaced-else", node->where, "'else' does not follow an 'if'");
        diag_note(reader->diags, "an 'else' is the sibling right after its 'if'");
        return;
    }
    before->has_else = true;
    before->otherwise = body;
}

/* Recursion ends at READ_DEPTH_MAX, which read_xml sees to. */
static struct statement *read_body(struct reader *reader, const struct xml_node *node)
{
    struct statement *first = NULL, **tail = &first, *before = NULL;
    enum element element;
    for (node = node->first; (node = next_child(reader, node, CONTEXT_BODY, &element)) != NULL; node = node->next) {
        if (element == ELEMENT_ELSE) {
            read_else(reader, node, before);
            continue;
        }
        struct statement *statement = arena_alloc(reader->arena, sizeof(*statement));
        before = statement;
        if (!read_statement(reader, node, element, statement))
            continue;
        *tail = statement;
        tail = &statement->next;
    }
    return first;
}

static void read_kernel(struct reader *reader, const struct xml_node *node)
{
    struct kernel *kernel = arena_alloc(reader->arena, sizeof(*kernel));
    fill(reader, node, ELEMENT_KERNEL, kernel);
    kernel->body = read_body(reader, node);
    if (kernel->name.text == NULL)
        return;
    reader->spec->kernel_count++;
    *reader->kernels_tail = kernel;
    reader->kernels_tail = &kernel->next;
}

static void read_declaration(struct reader *reader, const struct xml_node *node, enum element element)
{
    switch (element) {
    case ELEMENT_PARAM:
        read_param(reader, node);
        break;
    case ELEMENT_STRUCT:
    case ELEMENT_UNION:
        read_type(reader, node, element);
        break;
    case ELEMENT_ARRAY:
        read_array(reader, node);
        break;
    case ELEMENT_TABLE:
        read_table(reader, node);
        break;
    case ELEMENT_KERNEL:
        read_kernel(reader, node);
        break;
    case ELEMENT_LAYOUT:
    case ELEMENT_FIELD:
    case ELEMENT_LET:
    case ELEMENT_FOR:
    case ELEMENT_IF:
    case ELEMENT_ELSE:
    case ELEMENT_READ:
    case ELEMENT_WRITE:
    case ELEMENT_UPDATE:
    case ELEMENT_ATOMIC:
    case ELEMENT_COUNT:
        break;
    }
}

static void read_layout(struct reader *reader, const struct xml_node *root)
{
    fill(reader, root, ELEMENT_LAYOUT, reader->spec);
    /* A description has a name wherever it is told of, even the one whose lack of it was reported. */
    if (reader->spec->name.text == NULL)
        reader->spec->name = (struct name){"unnamed", root->where};
    enum element element;
    for (const struct xml_node *node = root->first; (node = next_child(reader, node, CONTEXT_LAYOUT, &element)) != NULL;
         node = node->next)
        read_declaration(reader, node, element);
}

size_t read_attribute_order(struct span element, struct span attribute)
{
    const char *colon = memchr(element.source->bytes + element.offset, ':', element.length);
    size_t prefix = colon == NULL ? 0 : (size_t)(colon - element.source->bytes) + 1 - element.offset;
    element.offset += prefix;
    element.length -= prefix;
    for (size_t i = 0; i < ELEMENT_COUNT; i++) {
        if (!scan_span_is(element, elements[i].name))
            continue;
        for (size_t j = 0; j < elements[i].attribute_count; j++)
            if (scan_span_is(attribute, elements[i].attributes[j].name))
                return j;
    }
    return SIZE_MAX;
}

struct spec *read_spec(struct arena *arena, const struct source *source, struct diags *diags)
{
    const struct xml_node *root = read_xml(arena, source, diags);
    if (root == NULL || !rules_check_root(root, elements[ELEMENT_LAYOUT].name, layout_space, diags))
        return NULL;
    struct spec *spec = arena_alloc(arena, sizeof(*spec));
    spec->source = source;
    struct reader reader = {
        .arena = arena,
        .diags = diags,
        .spec = spec,
        .types_tail = &spec->types,
        .tables_tail = &spec->tables,
        .arrays_tail = &spec->arrays,
        .kernels_tail = &spec->kernels,
    };
    read_layout(&reader, root);
    return spec;
}

#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "diff_internal.h"

const struct type *diff_find_type(const struct spec *spec, const char *name)
{
    const struct type *type = spec->types;
    while (type != NULL && strcmp(type->name.text, name) != 0)
        type = type->next;
    return type;
}

const struct field *diff_find_field(const struct type *type, const char *name)
{
    for (size_t i = 0; i < type->field_count; i++)
        if (strcmp(type->fields[i].name.text, name) == 0)
            return &type->fields[i];
    return NULL;
}

static const char *kind_name(const struct type *type)
{
    return type->kind == TYPE_UNION ? "union" : "struct";
}

/* "[3][4]"; a count of 1 is the default, written or not. */
static const char *dims_text(struct differ *differ, const struct field *field)
{
    const char *text = "";
    for (unsigned i = 0; i < field->dim_count && (field->dim_count > 1 || field->count > 1); i++)
        text = arena_printf(differ->arena, "%s[%" PRIu64 "]", text, field->dims[i]);
    return text;
}

const char *diff_field_type(struct differ *differ, const struct field *field)
{
    return arena_printf(differ->arena, "%s%s", field->type->name.text, dims_text(differ, field));
}

const char *diff_plain_type(const char *type)
{
    if (strcmp(type, "int32") == 0)
        return "int";
    return strcmp(type, "uint32") == 0 ? "unsigned" : type;
}

/* The bytes of a record that nothing owns: "none", "4 bytes at 12 and 4 at 28", "40 bytes in 7 places". */
static const char *holes_text(struct differ *differ, const struct type *type)
{
    enum { SHOWN_MAX = 3 };
    const struct record *record = check_flatten(differ->arena, type);
    const char *text = "";
    uint64_t places = 0, bytes = 0;
    for (uint64_t at = 0, from = 0; record != NULL && at <= type->size; at++) {
        bool hole = at < type->size && !record->owned[at];
        if (hole && (at == 0 || record->owned[at - 1]))
            from = at;
        bytes += hole;
        if (hole || at == 0 || record->owned[at - 1])
            continue;
        if (places++ < SHOWN_MAX)
            text = arena_printf(differ->arena, "%s%s%" PRIu64 "%s at %" PRIu64, text, places == 1 ? "" : " and ",
                                at - from,
                                places > 1       ? ""
                                : at - from == 1 ? " byte"
                                                 : " bytes",
                                from);
    }
    if (places > SHOWN_MAX)
        return arena_printf(differ->arena, "%" PRIu64 " bytes in %" PRIu64 " places", bytes, places);
    return places == 0 ? "none" : text;
}

static struct change field_change(struct differ *differ, const struct type *type, const struct name *before,
                                  const struct name *after)
{
    struct change change = diff_start("field", before, after);
    change.type = type;
    change.owner = arena_printf(differ->arena, "%s %s", kind_name(type), type->name.text);
    return change;
}

static const char *offset_text(struct differ *differ, const struct field *field)
{
    return arena_printf(differ->arena, "%" PRIu64, field->offset);
}

static void compare_fields(struct differ *differ, const struct type *type, const struct field *before,
                           const struct field *after)
{
    struct change change = field_change(differ, type, &before->name, &after->name);
    const char *was = diff_field_type(differ, before), *is = diff_field_type(differ, after);
    /* A type that only has another name now is told where it is declared. */
    const char *renamed = diff_name_after(differ, "struct", NULL, before->type->name.text);
    if (strcmp(diff_plain_type(renamed), diff_plain_type(after->type->name.text)) != 0 ||
        strcmp(dims_text(differ, before), dims_text(differ, after)) != 0)
        diff_aspect(&change, "type", was, is);
    diff_aspect(&change, "offset", offset_text(differ, before), offset_text(differ, after));
    if (before->align_text.text != NULL || after->align_text.text != NULL)
        diff_number(differ, &change, "align", before->align, after->align);
    diff_commit(differ, &change);
}

static void note_field(struct differ *differ, const struct type *type, const struct field *field, bool added)
{
    struct change change = field_change(differ, type, added ? NULL : &field->name, added ? &field->name : NULL);
    const char *text = diff_field_type(differ, field), *offset = offset_text(differ, field);
    diff_aspect(&change, "type", added ? NULL : text, added ? text : NULL);
    diff_aspect(&change, "offset", added ? NULL : offset, added ? offset : NULL);
    diff_commit(differ, &change);
}

static void diff_fields(struct differ *differ, const struct type *before, const struct type *after)
{
    for (size_t i = 0; i < after->field_count; i++) {
        const struct field *field = &after->fields[i],
                           *old = diff_find_field(before, diff_name_before(differ, "field", after, field->name.text));
        if (old == NULL)
            note_field(differ, after, field, true);
        else
            compare_fields(differ, after, old, field);
    }
    for (size_t i = 0; i < before->field_count; i++)
        if (diff_find_field(after, diff_name_after(differ, "field", after, before->fields[i].name.text)) == NULL)
            note_field(differ, after, &before->fields[i], false);
}

static void compare_types(struct differ *differ, const struct type *before, const struct type *after)
{
    struct change change = diff_start(kind_name(after), &before->name, &after->name);
    change.type = after;
    diff_aspect(&change, "kind", kind_name(before), kind_name(after));
    diff_number(differ, &change, "size", before->size, after->size);
    diff_number(differ, &change, "align", before->align, after->align);
    diff_aspect(&change, "packed", before->packed ? "true" : "false", after->packed ? "true" : "false");
    diff_aspect(&change, "holes", holes_text(differ, before), holes_text(differ, after));
    diff_commit(differ, &change);
    diff_fields(differ, before, after);
}

static void note_type(struct differ *differ, const struct type *type, bool added)
{
    struct change change = diff_start(kind_name(type), added ? NULL : &type->name, added ? &type->name : NULL);
    const char *size = arena_printf(differ->arena, "%" PRIu64, type->size);
    change.type = type;
    diff_aspect(&change, "size", added ? NULL : size, added ? size : NULL);
    diff_commit(differ, &change);
}

void diff_types(struct differ *differ)
{
    for (const struct type *type = differ->after->types; type != NULL; type = type->next) {
        const struct type *old =
            diff_find_type(differ->before, diff_name_before(differ, "struct", NULL, type->name.text));
        if (old == NULL)
            note_type(differ, type, true);
        else
            compare_types(differ, old, type);
    }
    for (const struct type *type = differ->before->types; type != NULL; type = type->next)
        if (diff_find_type(differ->after, diff_name_after(differ, "struct", NULL, type->name.text)) == NULL)
            note_type(differ, type, false);
}

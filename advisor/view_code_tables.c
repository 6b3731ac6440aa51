#include <string.h>

#include "view_code_internal.h"

/* A table of a file goes into the checking program as numbers, up to this many. */
enum { NUMBERS_MAX = 1 << 16 };

const char *table_type(const struct table *table)
{
    return table->least >= INT32_MIN && table->most <= INT32_MAX ? "std::int32_t" : "std::int64_t";
}

static int64_t constant_or(const struct code *code, const struct quoted *text, int64_t absent)
{
    int64_t value = absent;
    if (text->text != NULL && !code_constant(code, text->text, strlen(text->text), &value))
        return absent;
    return value;
}

static void put_numbers(const struct code *code, const struct table *table, json_t *view)
{
    enum { A_LINE = 12 };
    json_t *lines = json_array();
    for (uint64_t i = 0; i < table->extent; i += A_LINE) {
        const char *line = "";
        for (uint64_t j = i; j < table->extent && j < i + A_LINE; j++)
            line =
                arena_printf(code->arena, "%s%s%s,", line, j == i ? "" : " ", code_number(code->arena, table->data[j]));
        add(lines, json_string(line));
    }
    put(view, "numbers", lines);
}

static json_t *table_view(const struct code *code, const struct table *table)
{
    const struct expr_scope scope = {.code = code};
    bool given = table->file_text.text != NULL || table->content.text != NULL;
    const char *values = given ? "" : table->values_text.text == NULL ? "permutation" : table->values_text.text;
    json_t *view = json_object();
    put_text(view, "name", table->name.text);
    put_text(view, "maker", name_fresh(code, arena_printf(code->arena, "make_%s", table->name.text)));
    put_text(view, "type", table_type(table));
    put_number(view, "extent", table->extent);
    put_text(view, "extent_value",
             table->extent_expr == NULL ? code_number(code->arena, (int64_t)table->extent)
                                        : code_expr(&scope, table->extent_expr));
    put_flag(view, "permutation", strcmp(values, "permutation") == 0);
    put_flag(view, "uniform", strcmp(values, "uniform") == 0);
    put_flag(view, "sorted", strcmp(values, "sorted") == 0);
    put_text(view, "range", code_number(code->arena, constant_or(code, &table->range_text, (int64_t)table->extent)));
    put_text(view, "seed", code_number(code->arena, constant_or(code, &table->seed_text, 0)));
    put_flag(view, "given", given && table->extent <= NUMBERS_MAX);
    put_flag(view, "too_large", given && table->extent > NUMBERS_MAX);
    if (given && table->extent <= NUMBERS_MAX)
        put_numbers(code, table, view);
    else
        put(view, "numbers", json_array());
    return view;
}

json_t *tables_view(const struct code *code)
{
    json_t *list = json_array();
    for (const struct table *table = code->spec->tables; table != NULL; table = table->next)
        add(list, table_view(code, table));
    mark_ends(list);
    return list;
}

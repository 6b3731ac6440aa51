#include "ncu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ncu_csv.h"

static const struct metric {
    const char *name;
    enum ncu_metric metric;
    double scale;
} metrics[] = {
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", NCU_LOAD_REQUESTS, 1},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", NCU_STORE_REQUESTS, 1},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", NCU_ATOMIC_REQUESTS, 1},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", NCU_REDUCTION_REQUESTS, 1},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", NCU_LOAD_SECTORS, 1},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", NCU_STORE_SECTORS, 1},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", NCU_ATOMIC_SECTORS, 1},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", NCU_REDUCTION_SECTORS, 1},
    {"l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum", NCU_LOAD_LINES, 1},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", NCU_SHARED_LOAD_WAVEFRONTS, 1},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", NCU_SHARED_STORE_WAVEFRONTS, 1},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", NCU_SHARED_LOAD_CONFLICTS, 1},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", NCU_SHARED_STORE_CONFLICTS, 1},
    {"lts__t_sectors_srcunit_tex_op_read.sum", NCU_L2_READ_SECTORS, 1},
    {"lts__t_sectors_srcunit_tex_op_write.sum", NCU_L2_WRITE_SECTORS, 1},
    {"l1tex__t_requests_pipe_lsu_mem_global.sum", NCU_REQUESTS, 1},
    {"l1tex__t_sectors_pipe_lsu_mem_global.sum", NCU_SECTORS, 1},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", NCU_SHARED_WAVEFRONTS, 1},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", NCU_SHARED_CONFLICTS, 1},
    {"lts__t_sectors_srcunit_tex.sum", NCU_L2_SECTORS, 1},
    {"dram__bytes_read.sum", NCU_DRAM_READ_BYTES, 1},
    {"dram__bytes_write.sum", NCU_DRAM_WRITE_BYTES, 1},
    {"gpu__time_duration.sum", NCU_TIME_NS, 1},
    /* From here on, other names of the same. */
    {"dram__sectors_read.sum", NCU_DRAM_READ_BYTES, 32},
    {"dram__sectors_write.sum", NCU_DRAM_WRITE_BYTES, 32},
    {"gpu__time_duration.avg", NCU_TIME_NS, 1},
    {"gpu__time_duration.max", NCU_TIME_NS, 1},
};

const char *ncu_metric_name(enum ncu_metric metric)
{
    size_t i = 0;
    while (metrics[i].metric != metric)
        i++;
    return metrics[i].name;
}

/* A counter is also meant by its name alone: sums are what is predicted. */
static const struct metric *find_metric(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        const char *rest = metrics[i].name + length;
        if (strncmp(metrics[i].name, name, length) == 0 && (*rest == '\0' || strcmp(rest, ".sum") == 0))
            return &metrics[i];
    }
    return NULL;
}

/* ---- units: "", "sector", "inst", "byte", "Mbyte", "us", "msecond", ... ---- */

static bool find_unit(double *scale, const char *unit)
{
    static const char *const plain[] = {"", "sector", "inst", "request", "byte", "block", "ns", "nsecond", "warp"};
    static const struct {
        const char *name;
        double scale;
    } times[] = {{"us", 1e3}, {"usecond", 1e3}, {"ms", 1e6}, {"msecond", 1e6}, {"s", 1e9}, {"second", 1e9}};
    static const char prefixes[] = "KMGT";
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        *scale = times[i].scale;
        if (strcmp(unit, times[i].name) == 0)
            return true;
    }
    const char *prefix = unit[0] == '\0' ? NULL : strchr(prefixes, unit[0]);
    *scale = prefix == NULL ? 1 : pow(1e3, (double)(prefix - prefixes + 1));
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (strcmp(unit + (prefix != NULL), plain[i]) == 0)
            return true;
    return false;
}

/* ---- numbers of any locale ---- */

enum decimal { DECIMAL_UNKNOWN, DECIMAL_POINT, DECIMAL_COMMA };

/* Groups of digits may be set apart by blanks (also those that do not break) and apostrophes. Returns what of such a
 * mark stands at `text`, 0 for none. */
static size_t group_mark(const char *text)
{
    static const char *const marks[] = {" ", "'", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (strncmp(text, marks[i], strlen(marks[i])) == 0)
            return strlen(marks[i]);
    return 0;
}

/* What a number says about the sign of fractions: the later of two signs is it, one that comes twice is not, nor is
 * one that three digits follow and one to three precede. */
static enum decimal read_evidence(const char *text)
{
    const char *point = strrchr(text, '.'), *comma = strrchr(text, ',');
    if (text[strspn(text, "0123456789.,")] != '\0' || (point == NULL && comma == NULL))
        return DECIMAL_UNKNOWN;
    if (point != NULL && comma != NULL)
        return point > comma ? DECIMAL_POINT : DECIMAL_COMMA;
    const char *last = point != NULL ? point : comma, *first = strchr(text, *last);
    bool groups = first != last || (strlen(last + 1) == 3 && first - text <= 3 && text[0] != '0');
    if (first == last && groups)
        return DECIMAL_UNKNOWN;
    return (*last == '.') != groups ? DECIMAL_POINT : DECIMAL_COMMA;
}

/* Not measured: "n/a", "nan", "", "-". */
static bool is_absent(const char *text)
{
    static const char *const words[] = {"", "-", "n/a", "N/A", "nan", "NaN", "-nan", "inf", "(!) n/a"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool read_number(double *out, const char *text, enum decimal decimal)
{
    char plain[64];
    size_t length = 0;
    bool fraction = false;
    while (*text != '\0') {
        size_t mark = group_mark(text);
        bool is_decimal = (*text == '.' && decimal == DECIMAL_POINT) || (*text == ',' && decimal == DECIMAL_COMMA);
        bool groups = mark > 0 || ((*text == '.' || *text == ',') && !is_decimal);
        if ((is_decimal || groups) && fraction)
            return false;
        if (length + 1 == sizeof(plain))
            return false;
        if (!groups)
            plain[length++] = is_decimal ? '.' : *text;
        fraction |= is_decimal;
        text += mark > 0 ? mark : 1;
    }
    plain[length] = '\0';
    char *end;
    *out = strtod(plain, &end);
    /* Counts are 63 bits wide. */
    return length > 0 && plain[strspn(plain, "0123456789.eE+-")] == '\0' && *end == '\0' && *out >= 0 && *out < 0x1p63;
}

/* ---- tables ---- */

struct reader {
    struct arena *arena;
    struct diags *diags;
    struct ncu_report *report;
    size_t capacity;
    enum decimal decimal;
    bool measured; /* a metric of ours is there */
};

static void report_field(struct reader *reader, const struct csv_field *field, const char *what, const char *of)
{
    const int shown = field->where.length > 40 ? 40 : (int)field->where.length;
    diag_error(reader->diags, "ncu-number", field->where, "'%.*s' is no %s of '%s'", shown, field->text, what, of);
}

static void store(struct reader *reader, struct ncu_launch *launch, const struct metric *metric,
                  const struct csv_field *number, const struct csv_field *unit)
{
    double value = 0, scale = 1;
    if (is_absent(number->text))
        return;
    if (!read_number(&value, number->text, reader->decimal))
        report_field(reader, number, "number", metric->name);
    else if (unit != NULL && !find_unit(&scale, unit->text))
        report_field(reader, unit, "unit", metric->name);
    else if (!launch->given[metric->metric]) {
        launch->given[metric->metric] = true;
        launch->value[metric->metric] = value * scale * metric->scale;
        reader->measured = true;
    }
}

/* The product of "(256, 1, 1)" or "256x1x1"; false where it has another form. */
static bool read_shape(uint64_t *out, const char *text)
{
    size_t numbers = 0;
    *out = 1;
    while (*text != '\0') {
        if (*text < '0' || *text > '9') {
            text++;
            continue;
        }
        char *end;
        unsigned long long number = strtoull(text, &end, 10);
        if (number == 0 || number > UINT32_MAX || *out > UINT64_MAX / UINT32_MAX)
            return false;
        *out *= number;
        numbers++;
        text = end;
    }
    return numbers == 3;
}

static const struct csv_field *field_of(const struct csv_table *table, const struct csv_row *row, const char *title)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->titles[i].text, title) == 0)
            return &row->fields[i];
    return NULL;
}

static struct ncu_launch *start_launch(struct reader *reader, const struct csv_table *table, const struct csv_row *row)
{
    struct ncu_report *report = reader->report;
    report->launches =
        arena_grow(reader->arena, report->launches, report->count, &reader->capacity, sizeof(*report->launches));
    struct ncu_launch *launch = &report->launches[report->count++];
    const struct csv_field *block = field_of(table, row, "Block Size"), *grid = field_of(table, row, "Grid Size");
    *launch = (struct ncu_launch){.id = field_of(table, row, "ID")->text,
                                  .kernel = field_of(table, row, "Kernel Name")->text,
                                  .where = row->where};
    launch->name = ncu_function_name(launch->kernel, reader->arena);
    launch->has_shape = block != NULL && grid != NULL && read_shape(&launch->block_threads, block->text) &&
                        read_shape(&launch->blocks, grid->text);
    return launch;
}

/* Page "raw": a row a launch, a column a metric. */
static void read_wide(struct reader *reader, const struct csv_table *table)
{
    for (size_t r = 0; r < table->row_count; r++) {
        const struct csv_row *row = &table->rows[r];
        struct ncu_launch *launch = start_launch(reader, table, row);
        for (size_t i = 0; i < table->column_count; i++) {
            const struct metric *metric = find_metric(table->titles[i].text);
            if (metric != NULL)
                store(reader, launch, metric, &row->fields[i], table->units == NULL ? NULL : &table->units[i]);
        }
    }
}

/* Page "details": a row a metric of a launch. */
static void read_long(struct reader *reader, const struct csv_table *table)
{
    struct ncu_launch *launch = NULL;
    for (size_t r = 0; r < table->row_count; r++) {
        const struct csv_row *row = &table->rows[r];
        const char *id = field_of(table, row, "ID")->text;
        const struct csv_field *name = field_of(table, row, "Metric Name");
        const struct metric *metric = find_metric(name->text);
        if (launch == NULL || strcmp(launch->id, id) != 0)
            launch = start_launch(reader, table, row);
        if (metric != NULL)
            store(reader, launch, metric, field_of(table, row, "Metric Value"), field_of(table, row, "Metric Unit"));
    }
}

static bool is_long(const struct csv_table *table)
{
    return csv_find(table, "Metric Name") && csv_find(table, "Metric Value") && csv_find(table, "Metric Unit");
}

/* Columns of counters; what a device is like, its version say, is written the same everywhere. */
static bool is_counter(const char *title)
{
    return strcmp(title, "Metric Value") == 0 || (strstr(title, "__") != NULL && strncmp(title, "device__", 8) != 0);
}

/* A table is of one locale: the first number that tells says how to read them all. */
static enum decimal survey_decimal(const struct csv_table *table)
{
    for (size_t r = 0; r < table->row_count; r++) {
        for (size_t i = 0; i < table->column_count; i++) {
            if (!is_counter(table->titles[i].text))
                continue;
            enum decimal evidence = read_evidence(table->rows[r].fields[i].text);
            if (evidence != DECIMAL_UNKNOWN)
                return evidence;
        }
    }
    return DECIMAL_UNKNOWN;
}

static void note_command(struct diags *diags)
{
    diag_note(diags, "'sectorwise verify --help' tells how to measure");
}

bool ncu_read(struct ncu_report *out, const struct source *source, struct arena *arena, struct diags *diags)
{
    struct csv csv;
    size_t errors = diags->error_count;
    struct reader reader = {.arena = arena, .diags = diags, .report = out};
    *out = (struct ncu_report){0};
    csv_read(&csv, source, arena, diags);
    for (size_t i = 0; i < csv.table_count; i++) {
        reader.decimal = survey_decimal(&csv.tables[i]);
        if (is_long(&csv.tables[i]))
            read_long(&reader, &csv.tables[i]);
        else
            read_wide(&reader, &csv.tables[i]);
    }
    struct span beginning = {source, 0, 0};
    if (diags->error_count > errors)
        return false;
    if (out->count == 0)
        diag_error(diags, "ncu-table", csv.table_count == 0 ? beginning : csv.tables[0].where,
                   csv.table_count == 0 ? "no table of Nsight Compute is in the file" : "the table has no launch");
    else if (!reader.measured)
        diag_error(diags, "ncu-metrics", csv.tables[0].where, "no counter that is predicted is in the table");
    if (out->count == 0 || !reader.measured)
        note_command(diags);
    return diags->error_count == errors;
}

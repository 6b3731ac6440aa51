#include "read.h"

#include <stddef.h>
#include <string.h>

#include "device.h"
#include "read_rules.h"
#include "read_xml.h"
#include "text.h"

static const char device_space[] = "urn:sectorwise:device:1";

enum figure_kind { FIGURE_LIMIT, FIGURE_RATE };

#define LIMIT(member)                                                                                                  \
    {                                                                                                                  \
#member, FIGURE_LIMIT, offsetof(struct device, member)                                                         \
    }
#define RATE(member)                                                                                                   \
    {                                                                                                                  \
#member, FIGURE_RATE, offsetof(struct device, member)                                                          \
    }

/* Every number of struct device by name. */
static const struct figure {
    const char *name;
    enum figure_kind kind;
    size_t offset;
} figures[] = {
    LIMIT(multiprocessors),
    LIMIT(threads_per_block),
    LIMIT(threads_per_multiprocessor),
    LIMIT(blocks_per_multiprocessor),
    LIMIT(registers_per_multiprocessor),
    LIMIT(shared_bytes_per_block),
    LIMIT(shared_bytes_per_multiprocessor),
    LIMIT(l1_bytes),
    LIMIT(l2_bytes),
    LIMIT(l2_kept_bytes),
    LIMIT(page_bytes),
    LIMIT(tlb_bytes),
    LIMIT(l1_merge_sectors),
    RATE(clock_ghz),
    RATE(dram_read_gbs),
    RATE(dram_write_gbs),
    RATE(dram_mixed_gbs),
    RATE(dram_random_pairs_per_ns),
    RATE(dram_spread_loss),
    RATE(dram_block_ns),
    RATE(dram_mixed_block_ns),
    RATE(l2_sectors_per_ns),
    RATE(l2_lines_per_ns),
    RATE(l2_updates_in_flight),
    RATE(l2_conflict_ns),
    RATE(l2_write_sectors_per_ns),
    RATE(l2_part_sectors_per_ns),
    RATE(l2_part_lines_per_ns),
    RATE(l2_fill_wait_ns),
    RATE(tlb_misses_per_ns),
    RATE(l1_sectors_per_clock),
    RATE(l1_wavefronts_per_clock),
    RATE(shared_wavefronts_per_clock),
    RATE(issue_per_clock),
    RATE(flops_per_clock),
    RATE(flop_latency_clocks),
    RATE(blocks_per_us),
    RATE(warps_per_us),
    RATE(dram_latency_ns),
    RATE(l2_latency_ns),
    RATE(l1_latency_ns),
    RATE(store_latency_share),
    RATE(barrier_ns),
    RATE(launch_us),
};

enum { FIGURE_COUNT = sizeof(figures) / sizeof(figures[0]) };

/* So many decimal digits a double holds exactly. */
enum { DIGITS_MAX = 15 };

/* A <limit> or <rate> as written. */
struct entry {
    struct name name;
    struct quoted value;
};

struct head {
    struct name name;
    struct quoted title, calibrated;
};

struct device_reader {
    struct device *device;
    struct diags *diags;
    bool given[FIGURE_COUNT];
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with at most one point among them. strtod would ask the locale what a point is. The significant digits go
 * into an integer, which one correctly rounded division by an exact power of ten then scales. */
static bool parse_decimal(double *out, const char *text)
{
    int64_t digits = 0;
    double scale = 1;
    int significant = 0;
    bool point = false, any = false;
    for (; is_digit(*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        any = true;
        significant += significant > 0 || *text != '0' || point;
        if (significant > DIGITS_MAX)
            return false;
        digits = digits * 10 + (*text - '0');
        scale *= point ? 10 : 1;
    }
    *out = (double)digits / scale;
    return any && *text == '\0' && digits > 0;
}

static bool parse_limit(int64_t *out, const char *text)
{
    double value;
    if (strchr(text, '.') != NULL || !parse_decimal(&value, text))
        return false;
    *out = (int64_t)value;
    return true;
}

static const char *kind_name(enum figure_kind kind)
{
    switch (kind) {
    case FIGURE_LIMIT:
        return "limit";
    case FIGURE_RATE:
        break;
    }
    return "rate";
}

static bool store_limit(int64_t *out, const struct quoted *value, struct diags *diags)
{
    if (parse_limit(out, value->text))
        return true;
    diag_error(diags, "device-value", value->where, "'%s' is not a positive integer", value->text);
    diag_note(diags, "a limit is up to %d digits", DIGITS_MAX);
    return false;
}

static bool store_rate(double *out, const struct quoted *value, struct diags *diags)
{
    if (parse_decimal(out, value->text))
        return true;
    diag_error(diags, "device-value", value->where, "'%s' is not a positive decimal number", value->text);
    diag_note(diags, "a rate is up to %d digits with at most one point, such as 1.98", DIGITS_MAX);
    return false;
}

static void store_figure(struct device_reader *reader, const struct figure *figure, const struct quoted *value)
{
    char *place = (char *)reader->device + figure->offset;
    int64_t limit = 0;
    double rate = 0;
    switch (figure->kind) {
    case FIGURE_LIMIT:
        if (store_limit(&limit, value, reader->diags))
            memcpy(place, &limit, sizeof(limit));
        break;
    case FIGURE_RATE:
        if (store_rate(&rate, value, reader->diags))
            memcpy(place, &rate, sizeof(rate));
        break;
    }
}

static void report_unknown_figure(struct device_reader *reader, const struct entry *entry, enum figure_kind kind)
{
    diag_error(reader->diags, "unknown-figure", entry->name.where, "unknown %s '%s'", kind_name(kind),
               entry->name.text);
    struct text_guess guess = {.wanted = entry->name.text};
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        if (strcmp(figures[i].name, entry->name.text) == 0) {
            diag_note(reader->diags, "'%s' is a %s", figures[i].name, kind_name(figures[i].kind));
            return;
        }
        if (figures[i].kind == kind)
            text_guess_offer(&guess, figures[i].name);
    }
    if (guess.best != NULL)
        diag_note(reader->diags, "did you mean '%s'?", guess.best);
}

static void read_figure(struct device_reader *reader, const struct xml_node *node, enum figure_kind kind)
{
    static const struct attribute_rule rules[] = {
        {"name", true, RULE_NAME, offsetof(struct entry, name)},
        {"value", true, RULE_QUOTED, offsetof(struct entry, value)},
    };
    struct entry entry = {0};
    rules_fill(node, rules, sizeof(rules) / sizeof(rules[0]), &entry, reader->diags);
    if (entry.name.text == NULL)
        return;
    size_t i = 0;
    while (i < FIGURE_COUNT && (figures[i].kind != kind || strcmp(figures[i].name, entry.name.text) != 0))
        i++;
    if (i == FIGURE_COUNT) {
        report_unknown_figure(reader, &entry, kind);
        return;
    }
    if (reader->given[i])
        diag_error(reader->diags, "duplicate-figure", entry.name.where, "%s '%s' is given twice", kind_name(kind),
                   entry.name.text);
    else if (entry.value.text != NULL)
        store_figure(reader, &figures[i], &entry.value);
    reader->given[i] = true;
}

static void report_element(struct device_reader *reader, const struct xml_node *node)
{
    diag_error(reader->diags, "unknown-element", node->where, "unknown element '%s'", node->name);
    struct text_guess guess = {.wanted = node->name};
    text_guess_offer(&guess, "limit");
    text_guess_offer(&guess, "rate");
    if (guess.best != NULL)
        diag_note(reader->diags, "did you mean '%s'?", guess.best);
    else
        diag_note(reader->diags, "a device holds 'limit' and 'rate'");
}

static void report_inside(struct device_reader *reader, const struct xml_node *node)
{
    for (node = node->first; node != NULL; node = node->next) {
        if (node->kind == XML_TEXT)
            rules_report_text(node, reader->diags);
        else
            diag_error(reader->diags, "misplaced-element", node->where, "'%s' cannot stand in '%s'", node->name,
                       node->parent->name);
    }
}

static void read_figures(struct device_reader *reader, const struct xml_node *root)
{
    for (const struct xml_node *node = root->first; node != NULL; node = node->next) {
        if (node->kind == XML_TEXT) {
            rules_report_text(node, reader->diags);
            continue;
        }
        bool is_limit = strcmp(node->name, "limit") == 0;
        if (!rules_check_space(node, device_space, reader->diags))
            continue;
        if (!is_limit && strcmp(node->name, "rate") != 0) {
            report_element(reader, node);
            continue;
        }
        read_figure(reader, node, is_limit ? FIGURE_LIMIT : FIGURE_RATE);
        report_inside(reader, node);
    }
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (!reader->given[i])
            diag_error(reader->diags, "missing-figure", root->where, "the device has no %s '%s'",
                       kind_name(figures[i].kind), figures[i].name);
}

static void read_head(struct device_reader *reader, const struct xml_node *root)
{
    static const struct attribute_rule rules[] = {
        {"name", true, RULE_NAME, offsetof(struct head, name)},
        {"title", false, RULE_QUOTED, offsetof(struct head, title)},
        {"calibrated", false, RULE_QUOTED, offsetof(struct head, calibrated)},
    };
    struct head head = {0};
    rules_fill(root, rules, sizeof(rules) / sizeof(rules[0]), &head, reader->diags);
    reader->device->name = head.name.text;
    reader->device->title = head.title.text != NULL ? head.title.text : head.name.text;
    const char *calibrated = head.calibrated.text != NULL ? head.calibrated.text : "false";
    reader->device->calibrated = strcmp(calibrated, "true") == 0;
    if (!reader->device->calibrated && strcmp(calibrated, "false") != 0)
        diag_error(reader->diags, "device-value", head.calibrated.where, "'%s' is neither 'true' nor 'false'",
                   calibrated);
}

struct device *read_device(struct arena *arena, const struct source *source, struct diags *diags)
{
    size_t errors_before = diags->error_count;
    const struct xml_node *root = read_xml(arena, source, diags);
    if (root == NULL || !rules_check_root(root, "device", device_space, diags))
        return NULL;
    struct device_reader reader = {.device = arena_alloc(arena, sizeof(*reader.device)), .diags = diags};
    read_head(&reader, root);
    read_figures(&reader, root);
    return diags->error_count == errors_before ? reader.device : NULL;
}

/* The check stage: sizes and places against those of the C compiler, names, constants, tables, selections, and for
 * each diagnostic a description that fires it and a near miss that does not. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "read.h"
#include "text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct device device = {
    .name = "h200", .threads_per_block = 1024, .registers_per_multiprocessor = 65536, .shared_bytes_per_block = 232448};

/* A description read and checked. */
struct run {
    struct arena arena;
    struct diags diags;
    struct spec *spec;
    bool fine;
};

static void run_start(struct run *run, const char *body, const struct definition *definitions, size_t count)
{
    *run = (struct run){.spec = NULL};
    run->diags.arena = &run->arena;
    const char *text =
        arena_printf(&run->arena, "<layout xmlns=\"urn:sectorwise:layout:1\" name=\"sample\">%s</layout>", body);
    const struct source *source = source_from_bytes(&run->arena, "tests/data/sample.xml", text, strlen(text));
    run->spec = read_spec(&run->arena, source, &run->diags);
    run->fine = run->spec != NULL && check_spec(run->spec, &run->arena, &device, definitions, count, &run->diags);
}

static void run_end(struct run *run)
{
    arena_free(&run->arena);
}

static const char *rendered(struct run *run)
{
    struct text text = {0};
    diag_render(&run->diags, &text, false);
    const char *copy = arena_copy(&run->arena, text_string(&text), text.length);
    text_free(&text);
    return copy;
}

/* Runs a description that is to have no error. */
static void run_fine(struct run *run, const char *row, const char *body)
{
    run_start(run, body, NULL, 0);
    ck_assert_msg(run->fine && run->diags.count == 0, "%s: %s", row, rendered(run));
}

/* ---- sizes and places: the C compiler is the judge; CUDA's vectors are structs with their alignment ---- */

typedef struct {
    float x, y, z;
} float3_t;
typedef struct {
    _Alignas(16) float x;
    float y, z, w;
} float4_t;
typedef struct {
    _Alignas(8) float x;
    float y;
} float2_t;
typedef struct {
    _Alignas(4) unsigned char x;
    unsigned char y, z, w;
} uchar4_t;
typedef struct {
    unsigned char x, y, z;
} uchar3_t;
typedef struct {
    _Alignas(16) double x;
    double y;
} double2_t;
typedef struct {
    _Alignas(8) int16_t x;
    int16_t y, z, w;
} short4_t;
typedef struct {
    _Alignas(4) uint16_t x;
    uint16_t y;
} half2_t;

struct plain {
    char a;
    double b;
    int16_t c;
    int32_t d;
};
struct tail {
    double a;
    char b;
};
struct arrays {
    char a[3];
    float b[4][3];
    uint16_t c[5];
};
struct vectors {
    char a;
    float3_t b;
    float4_t c;
    uchar4_t d;
    char e;
    double2_t f;
};
struct small_vectors {
    char a;
    uchar3_t b;
    half2_t c;
    char d;
    short4_t e;
    char f;
    float2_t g;
};
struct nested {
    char a;
    struct plain b;
    char c;
    struct tail d[2];
};
struct __attribute__((packed)) packed {
    char a;
    double b;
    int16_t c;
    struct plain d;
    char e;
};
struct __attribute__((packed)) packed_raised {
    char a;
    _Alignas(8) double b;
    char c;
    int32_t d;
};
struct __attribute__((packed, aligned(8))) packed_aligned {
    char a;
    int32_t b;
    char c;
};
struct aligned {
    char a;
    _Alignas(16) int32_t b;
    char c;
};
struct __attribute__((aligned(32))) wide {
    float a;
    char b;
};
/* Padding is the point. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct in_wide {
    char a;
    struct wide b;
    char c;
};
struct in_packed {
    char a;
    struct packed b;
    int16_t c;
};
union mixed {
    char a[9];
    double b;
    struct plain c;
};
union __attribute__((packed)) packed_union {
    char a[3];
    int32_t b;
};
union aligned_union {
    char a;
    _Alignas(32) float b;
};
struct with_unions {
    char a;
    union mixed b[2];
    union packed_union c;
    char d;
    union aligned_union e;
};
struct scalars {
    _Bool a;
    int8_t b;
    uint64_t c;
    uint8_t d;
    uint32_t e;
    uint16_t f;
    int64_t g;
    unsigned h;
};

#define FIELD(name, type) "<field name='" name "' type='" type "'/>"
#define FIELDS(name, type, count) "<field name='" name "' type='" type "' count='" count "'/>"
#define PLAIN                                                                                                          \
    "<struct name='plain'>" FIELD("a", "char") FIELD("b", "double") FIELD("c", "int16") FIELD("d", "int") "</struct>"
#define TAIL "<struct name='tail'>" FIELD("a", "double") FIELD("b", "char") "</struct>"
#define PACKED                                                                                                         \
    "<struct name='packed' packed='true'>" FIELD("a", "char") FIELD("b", "double") FIELD("c", "int16")                 \
        FIELD("d", "plain") FIELD("e", "char") "</struct>"
#define WIDE "<struct name='wide' align='32'>" FIELD("a", "float") FIELD("b", "char") "</struct>"
#define MIXED "<union name='mixed'>" FIELDS("a", "char", "9") FIELD("b", "double") FIELD("c", "plain") "</union>"
#define PACKED_UNION "<union name='packed_union' packed='1'>" FIELDS("a", "char", "3") FIELD("b", "int32") "</union>"
#define ALIGNED_UNION                                                                                                  \
    "<union name='aligned_union'>" FIELD("a", "char") "<field name='b' type='float' align='32'/></union>"

#define AT(type, field) offsetof(type, field)
#define SIZES(type) sizeof(type), _Alignof(type)

static const struct layout_row {
    const char *name, *body;
    size_t size, align, field_count;
    size_t offsets[8];
} layout_rows[] = {
    {"plain",
     PLAIN,
     SIZES(struct plain),
     4,
     {AT(struct plain, a), AT(struct plain, b), AT(struct plain, c), AT(struct plain, d)}},
    {"tail", TAIL, SIZES(struct tail), 2, {AT(struct tail, a), AT(struct tail, b)}},
    {"arrays",
     "<struct name='arrays'>" FIELDS("a", "char", "3") FIELDS("b", "float", "4 3")
         FIELDS("c", "uint16", "2 + 3") "</struct>",
     SIZES(struct arrays),
     3,
     {AT(struct arrays, a), AT(struct arrays, b), AT(struct arrays, c)}},
    {"vectors",
     "<struct name='vectors'>" FIELD("a", "char") FIELD("b", "float3") FIELD("c", "float4") FIELD("d", "uchar4")
         FIELD("e", "char") FIELD("f", "double2") "</struct>",
     SIZES(struct vectors),
     6,
     {AT(struct vectors, a), AT(struct vectors, b), AT(struct vectors, c), AT(struct vectors, d), AT(struct vectors, e),
      AT(struct vectors, f)}},
    {"small_vectors",
     "<struct name='small_vectors'>" FIELD("a", "char") FIELD("b", "uchar3") FIELD("c", "half2") FIELD("d", "char")
         FIELD("e", "short4") FIELD("f", "char") FIELD("g", "float2") "</struct>",
     SIZES(struct small_vectors),
     7,
     {AT(struct small_vectors, a), AT(struct small_vectors, b), AT(struct small_vectors, c),
      AT(struct small_vectors, d), AT(struct small_vectors, e), AT(struct small_vectors, f),
      AT(struct small_vectors, g)}},
    {"nested",
     "<struct name='nested'>" FIELD("a", "char") FIELD("b", "plain") FIELD("c", "char")
         FIELDS("d", "tail", "2") "</struct>" TAIL PLAIN,
     SIZES(struct nested),
     4,
     {AT(struct nested, a), AT(struct nested, b), AT(struct nested, c), AT(struct nested, d)}},
    {"packed",
     PACKED PLAIN,
     SIZES(struct packed),
     5,
     {AT(struct packed, a), AT(struct packed, b), AT(struct packed, c), AT(struct packed, d), AT(struct packed, e)}},
    {"packed_raised",
     "<struct name='packed_raised' packed='true'>" FIELD("a", "char") "<field name='b' type='double' align='8'/>" FIELD(
         "c", "char") FIELD("d", "int32") "</struct>",
     SIZES(struct packed_raised),
     4,
     {AT(struct packed_raised, a), AT(struct packed_raised, b), AT(struct packed_raised, c),
      AT(struct packed_raised, d)}},
    {"packed_aligned",
     "<struct name='packed_aligned' align='8' packed='true'>" FIELD("a", "char") FIELD("b", "int32")
         FIELD("c", "char") "</struct>",
     SIZES(struct packed_aligned),
     3,
     {AT(struct packed_aligned, a), AT(struct packed_aligned, b), AT(struct packed_aligned, c)}},
    {"aligned",
     "<struct name='aligned'>" FIELD("a", "char") "<field name='b' type='int32' align='1 shl 4'/>" FIELD(
         "c", "char") "</struct>",
     SIZES(struct aligned),
     3,
     {AT(struct aligned, a), AT(struct aligned, b), AT(struct aligned, c)}},
    {"wide", WIDE, SIZES(struct wide), 2, {AT(struct wide, a), AT(struct wide, b)}},
    {"in_wide",
     "<struct name='in_wide'>" FIELD("a", "char") FIELD("b", "wide") FIELD("c", "char") "</struct>" WIDE,
     SIZES(struct in_wide),
     3,
     {AT(struct in_wide, a), AT(struct in_wide, b), AT(struct in_wide, c)}},
    {"in_packed",
     "<struct name='in_packed'>" FIELD("a", "char") FIELD("b", "packed") FIELD("c", "int16") "</struct>" PACKED PLAIN,
     SIZES(struct in_packed),
     3,
     {AT(struct in_packed, a), AT(struct in_packed, b), AT(struct in_packed, c)}},
    {"mixed", MIXED PLAIN, SIZES(union mixed), 3, {0, 0, 0}},
    {"packed_union", PACKED_UNION, SIZES(union packed_union), 2, {0, 0}},
    {"aligned_union", ALIGNED_UNION, SIZES(union aligned_union), 2, {0, 0}},
    {"with_unions",
     "<struct name='with_unions'>" FIELD("a", "char") FIELDS("b", "mixed", "2") FIELD("c", "packed_union")
         FIELD("d", "char") FIELD("e", "aligned_union") "</struct>" MIXED PLAIN PACKED_UNION ALIGNED_UNION,
     SIZES(struct with_unions),
     5,
     {AT(struct with_unions, a), AT(struct with_unions, b), AT(struct with_unions, c), AT(struct with_unions, d),
      AT(struct with_unions, e)}},
    {"scalars",
     "<struct name='scalars'>" FIELD("a", "bool") FIELD("b", "int8") FIELD("c", "uint64") FIELD("d", "uint8")
         FIELD("e", "uint32") FIELD("f", "uint16") FIELD("g", "int64") FIELD("h", "unsigned") "</struct>",
     SIZES(struct scalars),
     8,
     {AT(struct scalars, a), AT(struct scalars, b), AT(struct scalars, c), AT(struct scalars, d), AT(struct scalars, e),
      AT(struct scalars, f), AT(struct scalars, g), AT(struct scalars, h)}},
};

START_TEST(layouts_are_those_of_c)
{
    const struct layout_row *row = &layout_rows[_i];
    struct run run;
    run_fine(&run, row->name, row->body);
    const struct type *type = run.spec->types;
    while (strcmp(type->name.text, row->name) != 0)
        type = type->next;
    ck_assert_msg(type->size == row->size, "%s: size %d, not %d", row->name, (int)type->size, (int)row->size);
    ck_assert_msg(type->align == row->align, "%s: align %d, not %d", row->name, (int)type->align, (int)row->align);
    ck_assert_msg(type->field_count == row->field_count, "%s: fields", row->name);
    for (size_t i = 0; i < row->field_count; i++)
        ck_assert_msg(type->fields[i].offset == row->offsets[i], "%s: field %s at %d, not %d", row->name,
                      type->fields[i].name.text, (int)type->fields[i].offset, (int)row->offsets[i]);
    run_end(&run);
}
END_TEST

static const struct builtin_row {
    const char *name;
    uint64_t size, align;
    unsigned components;
} builtin_rows[] = {
    {"bool", 1, 1, 1},      {"char", 1, 1, 1},        {"int8", 1, 1, 1},       {"uint8", 1, 1, 1},
    {"int16", 2, 2, 1},     {"uint16", 2, 2, 1},      {"half", 2, 2, 1},       {"bfloat16", 2, 2, 1},
    {"int32", 4, 4, 1},     {"uint32", 4, 4, 1},      {"int", 4, 4, 1},        {"unsigned", 4, 4, 1},
    {"float", 4, 4, 1},     {"int64", 8, 8, 1},       {"uint64", 8, 8, 1},     {"double", 8, 8, 1},
    {"char1", 1, 1, 1},     {"char2", 2, 2, 2},       {"char3", 3, 1, 3},      {"char4", 4, 4, 4},
    {"uchar1", 1, 1, 1},    {"uchar2", 2, 2, 2},      {"uchar3", 3, 1, 3},     {"uchar4", 4, 4, 4},
    {"short1", 2, 2, 1},    {"short2", 4, 4, 2},      {"short3", 6, 2, 3},     {"short4", 8, 8, 4},
    {"ushort1", 2, 2, 1},   {"ushort2", 4, 4, 2},     {"ushort3", 6, 2, 3},    {"ushort4", 8, 8, 4},
    {"int1", 4, 4, 1},      {"int2", 8, 8, 2},        {"int3", 12, 4, 3},      {"int4", 16, 16, 4},
    {"uint1", 4, 4, 1},     {"uint2", 8, 8, 2},       {"uint3", 12, 4, 3},     {"uint4", 16, 16, 4},
    {"long1", 8, 8, 1},     {"long2", 16, 16, 2},     {"ulong1", 8, 8, 1},     {"ulong2", 16, 16, 2},
    {"longlong1", 8, 8, 1}, {"longlong2", 16, 16, 2}, {"ulonglong1", 8, 8, 1}, {"ulonglong2", 16, 16, 2},
    {"float1", 4, 4, 1},    {"float2", 8, 8, 2},      {"float3", 12, 4, 3},    {"float4", 16, 16, 4},
    {"double1", 8, 8, 1},   {"double2", 16, 16, 2},   {"half2", 4, 4, 2},      {"bfloat162", 4, 4, 2},
};

START_TEST(builtin_types_are_those_of_cuda)
{
    for (size_t i = 0; i < COUNT(builtin_rows); i++) {
        const struct builtin_row *row = &builtin_rows[i];
        const struct type *type = type_builtin(row->name);
        ck_assert_msg(type != NULL, "%s: unknown", row->name);
        ck_assert_msg(type->size == row->size && type->align == row->align && type->components == row->components,
                      "%s: %d bytes, align %d, %u components", row->name, (int)type->size, (int)type->align,
                      type->components);
    }
    static const char *const none[] = {"double3", "double4", "long3", "ulonglong4", "half4", "float5", "", "Float"};
    for (size_t i = 0; i < COUNT(none); i++)
        ck_assert_msg(type_builtin(none[i]) == NULL, "%s", none[i]);
    const char *name;
    size_t count = 0;
    while ((name = type_builtin_name(count)) != NULL) {
        ck_assert_str_eq(type_builtin(name)->name.text, name);
        ck_assert_uint_le(type_builtin(name)->size, VECTOR_BYTES_MAX);
        count++;
    }
    ck_assert_uint_eq(count, COUNT(builtin_rows));
}
END_TEST

/* ---- leaves ---- */

#define BOX "<struct name='Box'>" FIELD("lo", "float3") FIELDS("hi", "float", "2") "</struct>"
#define U                                                                                                              \
    "<union name='U'>" FIELDS("f", "float", "4") FIELD("d", "double2") FIELD("box", "Box")                             \
        FIELDS("g", "Box", "2") "</union>"
#define RICH                                                                                                           \
    "<struct name='Rich'>" FIELDS("f", "float", "2 3") FIELDS("box", "Box", "2") FIELD("u", "U") FIELD("v", "float4")  \
        FIELD("h", "half2") FIELD("one", "int1") FIELD("c", "char") FIELDS("us", "U", "2") "</struct>"

static const struct leaf_row {
    const char *type, *body, *leaves;
} leaf_rows[] = {
    {"float", "", "@0:4/4"},
    {"float4", "", "@0:16/16"},
    {"float3", "", "x@0:4/4 y@4:4/4 z@8:4/4"},
    {"U", U BOX, "@0:48/16"},
    {"Box", BOX, "lo.x@0:4/4 lo.y@4:4/4 lo.z@8:4/4 hi[0]@12:4/4 hi[1]@16:4/4"},
    {"M", "<struct name='M'>" FIELDS("m", "int8", "2 1 2") FIELDS("one", "short2", "1") "</struct>",
     "m[0][0][0]@0:1/1 m[0][0][1]@1:1/1 m[1][0][0]@2:1/1 m[1][0][1]@3:1/1 one[0]@4:4/4"},
    {"Two", "<struct name='Two'>" FIELDS("b", "Box", "2") FIELDS("u", "U", "2") "</struct>" BOX U,
     "b[0].lo.x@0:4/4 b[0].lo.y@4:4/4 b[0].lo.z@8:4/4 b[0].hi[0]@12:4/4 b[0].hi[1]@16:4/4 "
     "b[1].lo.x@20:4/4 b[1].lo.y@24:4/4 b[1].lo.z@28:4/4 b[1].hi[0]@32:4/4 b[1].hi[1]@36:4/4 "
     "u[0]@48:48/16 u[1]@96:48/16"},
    {"P", "<struct name='P' packed='true'>" FIELD("c", "char") FIELD("d", "double") FIELD("v", "float4") "</struct>",
     "c@0:1/1 d@1:8/8 v@9:16/16"},
};

static const char *leaf_list(struct run *run, const struct record *record)
{
    const char *list = "";
    for (size_t i = 0; i < record->leaf_count; i++) {
        const struct leaf *leaf = &record->leaves[i];
        list = arena_printf(&run->arena, "%s%s%s@%d:%d/%d", list, i == 0 ? "" : " ", leaf->path, (int)leaf->offset,
                            (int)leaf->size, (int)leaf->align);
        ck_assert_uint_eq(leaf->size, leaf->type->size);
    }
    return list;
}

START_TEST(types_flatten_to_leaves)
{
    const struct leaf_row *row = &leaf_rows[_i];
    char body[2000];
    struct run run;
    (void)snprintf(body, sizeof(body), "%s<array name='a' of='%s' extent='4'/>", row->body, row->type);
    run_fine(&run, row->type, body);
    const struct record *record = run.spec->arrays->record;
    ck_assert_str_eq(leaf_list(&run, record), row->leaves);
    for (uint64_t byte = 0; byte < record->type->size; byte++) {
        bool owned = false;
        for (size_t i = 0; i < record->leaf_count; i++)
            owned =
                owned || (byte >= record->leaves[i].offset && byte < record->leaves[i].offset + record->leaves[i].size);
        ck_assert_msg(owned == record->owned[byte], "%s: byte %d", row->type, (int)byte);
    }
    run_end(&run);
}
END_TEST

/* ---- selections: "leaf+inner:size[extent,stride_bytes,stride_leaves]..." ---- */

/* Leaves of Rich: f 0-5, box 6-15 (five each), u 16, v 17, h 18, one 19, c 20, us 21-22. */
static const struct selection_row {
    const char *field, *selected;
} selection_rows[] = {
    {"c", "20+0:1"},
    {"f", "0+0:4 1+0:4 2+0:4 3+0:4 4+0:4 5+0:4"},
    {"f[1]", "3+0:4 4+0:4 5+0:4"},
    {"f[1][2]", "5+0:4"},
    {"f[ONE][ONE + 1]", "5+0:4"},
    {"f[q]", "0+0:4[2,12,3] 1+0:4[2,12,3] 2+0:4[2,12,3]"},
    {"f[q][2]", "2+0:4[2,12,3]"},
    {"f[1][q]", "3+0:4[3,4,1]"},
    {"f[q][q + 1]", "0+0:4[2,12,3][3,4,1]"},
    {"f[ rows[q] ][ min(q, 2) ]", "0+0:4[2,12,3][3,4,1]"},
    {"f[rows[2]][0]", "0+0:4"},
    {"box.lo.y", "7+0:4 12+0:4"},
    {"box[1].lo", "11+0:4 12+0:4 13+0:4"},
    {"box[q].hi", "9+0:4[2,20,5] 10+0:4[2,20,5]"},
    {"box[q].hi[q]", "9+0:4[2,20,5][2,4,1]"},
    {"box.hi[1]", "10+0:4 15+0:4"},
    {"box.hi[q]", "9+0:4[2,4,1] 14+0:4[2,4,1]"},
    {"v", "17+0:16"},
    {"v.z", "17+8:4"},
    {"v.x v.y v.w", "17+0:4 17+4:4 17+12:4"},
    {"v.x v", "17+0:16"},
    {"h h.y", "18+0:4"},
    {"h.y", "18+2:2"},
    {"one", "19+0:4"},
    {"one.x", "19+0:4"},
    {"u", "16+0:16 16+16:16 16+32:16"},
    {"u.d", "16+0:16"},
    {"u.d.y", "16+8:8"},
    {"u.f[2]", "16+8:4"},
    {"u.f[q]", "16+0:4[4,4,0]"},
    {"u.f", "16+0:4 16+4:4 16+8:4 16+12:4"},
    {"u.box", "16+0:4 16+4:4 16+8:4 16+12:4 16+16:4"},
    {"u.box.lo.z", "16+8:4"},
    {"u.g[q].hi[1]", "16+16:4[2,20,0]"},
    {"u.g.hi[1]", "16+16:4 16+36:4"},
    {"u.f u.d", "16+0:16"},
    {"u.d u.g[1].hi", "16+0:16 16+32:4 16+36:4"},
    {"u.f[q] u.f[q] u.f[q + 1]", "16+0:4[4,4,0] 16+0:4[4,4,0]"},
    {"us[1].f[0]", "22+0:4"},
    {"us[q].f[3]", "21+12:4[2,48,1]"},
    {"us[q].f[q]", "21+0:4[2,48,1][4,4,0]"},
    {"us.f[0]", "21+0:4 22+0:4"},
    {"c f[0] f[0][1] c", "0+0:4 1+0:4 2+0:4 20+0:1"},
    {"  c\n\t one  ", "19+0:4 20+0:1"},
};

static const char *selection_list(struct run *run, const struct access *access)
{
    struct text list = {0};
    for (size_t i = 0; i < access->selected_count; i++) {
        const struct selected *selected = &access->selected[i];
        text_printf(&list, "%s%d+%d:%d", i == 0 ? "" : " ", (int)selected->leaf, (int)selected->inner_offset,
                    (int)selected->size);
        for (size_t j = 0; j < selected->subscript_count; j++)
            text_printf(&list, "[%d,%d,%d]", (int)selected->subscripts[j].extent,
                        (int)selected->subscripts[j].stride_bytes, (int)selected->subscripts[j].stride_leaves);
    }
    const char *copy = arena_copy(&run->arena, text_string(&list), list.length);
    text_free(&list);
    return copy;
}

static const char selection_frame[] =
    "<param name='ONE' value='1'/><table name='rows' extent='3'>1 1 0</table>" RICH U BOX
    "<array name='a' of='Rich' extent='4'/><kernel name='k' block='1' grid='1'><let name='q' value='thread'/>"
    "<read array='a' field='%s' index='0'/></kernel>";

START_TEST(paths_select_scalars)
{
    const struct selection_row *row = &selection_rows[_i];
    char body[2000];
    struct run run;
    (void)snprintf(body, sizeof(body), selection_frame, row->field);
    run_fine(&run, row->field, body);
    const struct access *access = run.spec->kernels->accesses[0];
    const char *list = selection_list(&run, access);
    ck_assert_msg(strcmp(list, row->selected) == 0, "'%s' selects %s, not %s", row->field, list, row->selected);
    ck_assert(!access->whole);
    run_end(&run);
}
END_TEST

static const struct selection_row whole_rows[] = {
    {"float", "0+0:4"},
    {"double2", "0+0:16"},
    {"char3", "0+0:1 1+0:1 2+0:1"},
    {"Box", "0+0:4 1+0:4 2+0:4 3+0:4 4+0:4"},
    {"U", "0+0:16 0+16:16 0+32:16"},
    {"Bytes", "0+0:1 0+1:1 0+2:1 0+3:1 0+4:1"},
    {"Rich", "0+0:4 1+0:4 2+0:4 3+0:4 4+0:4 5+0:4 6+0:4 7+0:4 8+0:4 9+0:4 10+0:4 11+0:4 12+0:4 13+0:4 14+0:4 15+0:4 "
             "16+0:16 16+16:16 16+32:16 17+0:16 18+0:4 19+0:4 20+0:1 21+0:16 21+16:16 21+32:16 22+0:16 22+16:16 "
             "22+32:16"},
};

START_TEST(whole_elements_are_selected)
{
    const struct selection_row *row = &whole_rows[_i];
    char body[2000];
    struct run run;
    (void)snprintf(body, sizeof(body),
                   RICH U BOX "<union name='Bytes' packed='true'>" FIELDS("b", "char", "5")
                       FIELD("i", "int") "</union>"
                                         "<array name='a' of='%s' extent='4'/><kernel name='k' block='1' grid='1'>"
                                         "<update array='a' index='0'/></kernel>",
                   row->field);
    run_fine(&run, row->field, body);
    const struct access *access = run.spec->kernels->accesses[0];
    ck_assert_str_eq(selection_list(&run, access), row->selected);
    ck_assert(access->whole);
    ck_assert_int_eq(access->op, ACCESS_UPDATE);
    run_end(&run);
}
END_TEST

START_TEST(vectors_have_components)
{
    struct run run;
    run_fine(&run, "vectors",
             "<array name='a' of='float4' extent='4'/><array name='b' of='float3' extent='4'/>"
             "<kernel name='k' block='1' grid='1'><read array='a' field='x w' index='0'/>"
             "<read array='a' field='.y' index='0'/><read array='b' field='y' index='0'/>"
             "<read array='b' field='.z x' index='0'/></kernel>");
    struct access **accesses = run.spec->kernels->accesses;
    ck_assert_str_eq(selection_list(&run, accesses[0]), "0+0:4 0+12:4");
    ck_assert_str_eq(selection_list(&run, accesses[1]), "0+4:4");
    ck_assert_str_eq(selection_list(&run, accesses[2]), "1+0:4");
    ck_assert_str_eq(selection_list(&run, accesses[3]), "0+0:4 2+0:4");
    run_end(&run);
}
END_TEST

/* ---- constants and tables ---- */

START_TEST(constants_come_in_any_order)
{
    struct run run;
    run_fine(&run, "order",
             "<param name='LAST' value='offsets[ROWS]'/><table name='offsets' extent='ROWS + 1'>0 3 7 20</table>"
             "<param name='ROWS' value='HALF * 2 - 1'/><param name='HALF' value='2'/>"
             "<array name='a' of='int' extent='LAST HALF'/><kernel name='k' block='LAST' grid='HALF HALF' calls='LAST' "
             "flops='HALF' registers='LAST + 1'/>");
    const struct array *array = run.spec->arrays;
    ck_assert_int_eq(run.spec->params[0].number, 20);
    ck_assert_uint_eq(array->extent[0], 20);
    ck_assert_uint_eq(array->extent[1], 2);
    ck_assert_uint_eq(array->extent[2], 1);
    ck_assert_uint_eq(array->dim_count, 2);
    ck_assert_uint_eq(array->records, 40);
    ck_assert_uint_eq(array->align, 256);
    const struct kernel *kernel = run.spec->kernels;
    ck_assert_uint_eq(kernel->block_threads, 20);
    ck_assert_uint_eq(kernel->block_count, 4);
    ck_assert_ptr_null(kernel->block_exprs[1]);
    ck_assert_ptr_nonnull(kernel->grid_exprs[1]);
    ck_assert_int_eq(kernel->calls, 20);
    ck_assert_int_eq(kernel->flops, 2);
    ck_assert_int_eq(kernel->registers, 21);
    run_end(&run);
}
END_TEST

START_TEST(defaults_are_filled)
{
    struct run run;
    run_fine(&run, "defaults",
             "<array name='a' of='int' extent='4'/><kernel name='k' block='32' grid='7'>"
             "<for var='i' to='4'><read array='a' index='i'/></for></kernel>");
    const struct array *array = run.spec->arrays;
    ck_assert_int_eq(array->space, SPACE_GLOBAL);
    ck_assert_uint_eq(array->offset + array->pitch + (uint64_t)array->conversions, 0);
    const struct kernel *kernel = run.spec->kernels;
    ck_assert_int_eq(kernel->calls, 1);
    ck_assert_int_eq(kernel->flops, 0);
    ck_assert_int_eq(kernel->registers, 32);
    const struct statement *loop = kernel->body;
    ck_assert_int_eq(loop->from->value, 0);
    ck_assert_int_eq(loop->step->value, 1);
    ck_assert_ptr_nonnull(loop->to);
    ck_assert(loop->test == NULL && loop->advance == NULL);
    run_end(&run);
}
END_TEST

START_TEST(definitions_override_params)
{
    static const struct definition definitions[] = {{"N", "3"}, {"M", "N * 2 < 7 && 1"}, {"N", "K shl 2"}};
    struct run run;
    run_start(&run, "<param name='N' value='1 / 0'/><param name='M' value='0'/><param name='K' value='5'/>",
              definitions, COUNT(definitions));
    ck_assert_msg(run.fine, "%s", rendered(&run));
    ck_assert_int_eq(run.spec->params[0].number, 20);
    ck_assert_int_eq(run.spec->params[1].number, 0);
    run_end(&run);
}
END_TEST

static const struct {
    const char *name, *value, *expected;
} bad_definitions[] = {
    {"NN", "1",
     "<command line>:1:1: error: -D names no param: 'NN' [unknown-param]\n    1 | NN=1\n      | ^~\n"
     "<command line>:1:1: note: did you mean 'N'?\n"},
    {"t", "1", "<command line>:1:1: error: -D names no param: 't' [unknown-param]\n    1 | t=1\n      | ^\n"},
    {"N", "1 / 0",
     "<command line>:1:3: error: division by zero [division-by-zero]\n    1 | N=1 / 0\n"
     "      |   ^~~~~\n"},
    {"N", "", "<command line>:1:3: error: empty expression [expr-syntax]\n    1 | N=\n      |   ^\n"},
};

START_TEST(bad_definitions_are_located)
{
    struct definition definition = {bad_definitions[_i].name, bad_definitions[_i].value};
    struct run run;
    run_start(&run, "<param name='N' value='4'/><table name='t' extent='4' values='permutation'/>", &definition, 1);
    ck_assert(!run.fine);
    ck_assert_str_eq(rendered(&run), bad_definitions[_i].expected);
    run_end(&run);
}
END_TEST

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

START_TEST(permutations_are_fisher_yates)
{
    static const size_t extents[] = {1, 2, 3, 31, 32, 33, 34, 65, 5000};
    for (size_t row = 0; row < sizeof(extents) / sizeof(extents[0]); row++) {
        int64_t expected[5000] = {0};
        char body[128];
        struct run run;
        uint64_t state = 9;
        (void)snprintf(body, sizeof(body), "<table name='t' extent='%zu' values='permutation' seed='9'/>",
                       extents[row]);
        run_fine(&run, "permutation", body);
        for (size_t i = 0; i < extents[row]; i++)
            expected[i] = (int64_t)i;
        for (size_t i = extents[row] - 1; i >= 1; i--) {
            const size_t j = (size_t)(splitmix(&state) % (i + 1));
            const int64_t swapped = expected[i];
            expected[i] = expected[j];
            expected[j] = swapped;
        }
        ck_assert_msg(memcmp(run.spec->tables->data, expected, extents[row] * sizeof(expected[0])) == 0, "%zu of them",
                      extents[row]);
        run_end(&run);
    }
}
END_TEST

START_TEST(generated_tables_are_reproducible)
{
    /* Outputs of splitmix64 seeded with 0, as published with it: e220a8397b1dcdaf 6e789e6aa1b965f4
     * 06c45d188009454f f88bb8a8724c81ec. */
    static const uint64_t published[] = {0xe220a8397b1dcdafu, 0x6e789e6aa1b965f4u, 0x06c45d188009454fu,
                                         0xf88bb8a8724c81ecu};
    struct run run;
    run_fine(&run, "tables",
             "<table name='u' extent='4' values='uniform' range='1000'/><table name='s' extent='4' values='sorted' "
             "range='1000'/><table name='p' extent='4' values='permutation'/><table name='d' extent='4' "
             "values='uniform'/><table name='w' extent='5000' values='sorted' range='1 shl 40' seed='-3'/>");
    const struct table *uniform = run.spec->tables, *sorted = uniform->next, *permutation = sorted->next;
    const struct table *narrow = permutation->next, *wide = narrow->next;
    int64_t expected[4] = {0, 1, 2, 3};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(uniform->data[i], (int64_t)(published[i] % 1000));
        ck_assert_int_eq(narrow->data[i], (int64_t)(published[i] % 4));
    }
    for (size_t i = 3; i >= 1; i--) {
        size_t j = (size_t)(published[3 - i] % (i + 1));
        int64_t swapped = expected[i];
        expected[i] = expected[j];
        expected[j] = swapped;
    }
    ck_assert_mem_eq(permutation->data, expected, sizeof(expected));
    for (size_t i = 1; i < 4; i++)
        ck_assert_int_le(sorted->data[i - 1], sorted->data[i]);
    ck_assert_int_eq(sorted->least, uniform->least);
    ck_assert_int_eq(sorted->most, uniform->most);
    for (size_t i = 1; i < wide->extent; i++)
        ck_assert_int_le(wide->data[i - 1], wide->data[i]);
    ck_assert_int_ge(wide->least, 0);
    ck_assert_int_lt(wide->most, (int64_t)1 << 40);
    ck_assert_int_gt(wide->most, (int64_t)1 << 39);
    run_end(&run);
}
END_TEST

START_TEST(table_files_are_read_beside_the_description)
{
    struct run run;
    run_start(&run, "<table name='t' extent='6' file='../invalid/table-syntax.txt'/>", NULL, 0);
    ck_assert(!run.fine);
    ck_assert_str_eq(run.diags.items[0].id, "table-syntax");
    ck_assert_str_eq(run.diags.items[0].where.source->name, "tests/data/../invalid/table-syntax.txt");
    ck_assert_uint_eq(run.diags.items[0].where.offset, 8);
    run_end(&run);
    run_fine(&run, "text",
             "<table name='t' extent='5'> -0x10 +7\n\t9223372036854775807 -9223372036854775808 00 </table>");
    static const int64_t expected[] = {-16, 7, INT64_MAX, INT64_MIN, 0};
    ck_assert_mem_eq(run.spec->tables->data, expected, sizeof(expected));
    ck_assert_int_eq(run.spec->tables->least, INT64_MIN);
    ck_assert_int_eq(run.spec->tables->most, INT64_MAX);
    run_end(&run);
}
END_TEST

/* ---- scopes ---- */

START_TEST(variables_have_slots_and_scopes)
{
    struct run run;
    run_fine(
        &run, "scopes",
        "<array name='a' of='int' extent='64'/><kernel name='k' block='1' grid='1'>"
        "<for var='i' to='4'><let name='x' value='i + 1'/><read array='a' index='x'/></for>"
        "<for var='i' from='3' while='i >= 0' next='i - 1'><let name='x' value='i'/><write array='a' index='x'/></for>"
        "<if test='lane'><let name='y' value='0'/><update array='a' index='y'/></if>"
        "<else><let name='y' value='1'/><atomic array='a' index='y'/></else><let name='x' value='2'/>"
        "<read array='a' index='x'/></kernel>"
        "<kernel name='x' block='1' grid='1'><let name='i' value='0'/><read array='a' index='i'/></kernel>");
    const struct kernel *kernel = run.spec->kernels;
    static const char *const names[] = {"i", "x", "i", "x", "y", "y", "x"};
    ck_assert_uint_eq(kernel->slot_count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        ck_assert_str_eq(kernel->slot_names[i], names[i]);
    static const unsigned slots[] = {1, 3, 4, 5, 6};
    ck_assert_uint_eq(kernel->access_count, COUNT(slots));
    for (unsigned i = 0; i < COUNT(slots); i++) {
        ck_assert_uint_eq(kernel->accesses[i]->index[0]->slot, slots[i]);
        ck_assert_uint_eq(kernel->accesses[i]->number, i);
    }
    const struct statement *second = kernel->body->next;
    ck_assert_uint_eq(second->test->operand[0]->slot, 2);
    ck_assert_uint_eq(second->advance->operand[0]->slot, 2);
    ck_assert_ptr_null(second->step);
    ck_assert_uint_eq(kernel->next->slot_count, 1);
    run_end(&run);
}
END_TEST

/* ---- diagnostics: each fires once where it should, and not at all on a near miss ---- */

#define ARRAY "<array name='a' of='float' extent='4096'/>"
#define KERNEL(body) "<kernel name='k' block='256' grid='16'>" body "</kernel>"
#define READ(index) "<read array='a' index='" index "'/>"
#define STRUCT(fields) "<struct name='S'>" fields "</struct>"
#define S_ARRAY "<array name='s' of='S' extent='16'/>"
#define S_READ(field) KERNEL("<read array='s' field='" field "' index='thread'/>")
#define PAIR STRUCT(FIELDS("f", "float", "3") FIELD("b", "uint8") FIELD("v", "float3")) S_ARRAY
#define SHARED(name, bytes) "<array name='" name "' of='uint8' extent='" bytes "' space='shared'/>"
#define NAME_51 "n23456789012345678901234567890123456789012345678901"
#define NAME_255 NAME_51 NAME_51 NAME_51 NAME_51 NAME_51

static const struct diagnostic_row {
    const char *id, *fires, *near_miss;
} diagnostic_rows[] = {
    {"bad-name", "<param name='2N' value='1'/>", "<param name='N2' value='1'/>"},
    {"bad-name", "<param name='x; system(1)' value='1'/>", "<param name='x_system_1_' value='1'/>"},
    {"bad-name", "<param name='" NAME_255 "4' value='1'/>", "<param name='" NAME_255 "' value='1'/>"},
    {"bad-name", STRUCT(FIELD("a b", "int")), STRUCT(FIELD("a_b", "int"))},
    {"bad-name", "<kernel name='k()' block='1' grid='1'/>", "<kernel name='k' block='1' grid='1'/>"},
    {"bad-name", KERNEL("<for var='i+' to='1'/>"), KERNEL("<for var='i' to='1'/>")},
    {"reserved-name", "<param name='while' value='1'/>", "<param name='While' value='1'/>"},
    {"reserved-name", "<param name='band' value='1'/>", "<param name='bor' value='1'/>"},
    {"reserved-name", KERNEL("<let name='lane' value='1'/>"), KERNEL("<let name='lane_' value='1'/>")},
    {"reserved-name", "<array name='min' of='int' extent='4'/>",
     "<union name='min'>" FIELD("max", "int")
         FIELD("lane", "int") "</union><kernel name='thread' block='1' grid='1'/>"},
    {"reserved-name", "<struct name='float'>" FIELD("x", "int") "</struct>",
     "<struct name='Float'>" FIELD("x", "int") "</struct>"},
    {"duplicate-name", "<param name='N' value='1'/><array name='N' of='int' extent='1'/>",
     "<param name='N' value='1'/><kernel name='N' block='1' grid='1'/><struct name='N'>" FIELD("N", "int") "</struct>"},
    {"duplicate-name", STRUCT(FIELD("x", "int") FIELD("x", "float")), STRUCT(FIELD("x", "int") FIELD("X", "float"))},
    {"duplicate-name", STRUCT(FIELD("x", "int")) "<union name='S'>" FIELD("x", "int") "</union>",
     STRUCT(FIELD("x", "int")) "<union name='T'>" FIELD("x", "int") "</union>"},
    {"duplicate-name", "<struct name='uchar4'>" FIELD("x", "int") "</struct>",
     "<struct name='uchar5'>" FIELD("x", "int") "</struct>"},
    {"duplicate-name", KERNEL("<for var='i' to='1'><let name='i' value='0'/></for>"),
     KERNEL("<for var='i' to='1'/><let name='i' value='0'/>")},
    {"shadowed-name", "<param name='N' value='1'/>" KERNEL("<let name='N' value='2'/>"),
     "<param name='N' value='1'/>" KERNEL("<let name='n' value='2'/>")},
    {"shadowed-name", ARRAY KERNEL("<for var='a' to='2'/>"), ARRAY KERNEL("<for var='k' to='2'/>")},
    {"param-cycle", "<param name='A' value='B'/><param name='B' value='A'/>",
     "<param name='A' value='B'/><param name='B' value='1'/>"},
    {"param-cycle", "<param name='A' value='t[0]'/><table name='t' extent='A' values='permutation'/>",
     "<param name='A' value='t[0]'/><table name='t' extent='2'>5 6</table>"},
    {"division-by-zero", "<param name='A' value='1 % (2 - 2)'/>", "<param name='A' value='0 and 1 / 0'/>"},
    {"overflow", "<param name='A' value='0x7fffffffffffffff + 1'/>",
     "<param name='A' value='0x7fffffffffffffff + 0'/>"},
    {"shift-range", "<param name='A' value='1 shl 64'/>", "<param name='A' value='1 shl 62'/>"},
    {"table-range", "<table name='t' extent='2'>1 2</table><param name='A' value='t[2]'/>",
     "<table name='t' extent='2'>1 2</table><param name='A' value='t[1]'/>"},
    {"unknown-name", "<param name='A' value='B'/>", "<param name='A' value='B'/><param name='B' value='1'/>"},
    {"unknown-name", ARRAY KERNEL(READ("i") "<let name='i' value='0'/>"),
     ARRAY KERNEL("<let name='i' value='0'/>" READ("i"))},
    {"unknown-name", ARRAY KERNEL("<let name='i' value='i'/>"), ARRAY KERNEL("<let name='i' value='0'/>")},
    {"unknown-name", ARRAY KERNEL("<for var='i' to='1'/>" READ("i")),
     ARRAY KERNEL("<for var='i' to='1'>" READ("i") "</for>")},
    {"unknown-name", ARRAY KERNEL("<for var='i' to='i + 1'/>"), ARRAY KERNEL("<for var='i' while='i lt 1'/>")},
    {"unknown-name", ARRAY KERNEL(READ("a")), ARRAY KERNEL(READ("1"))},
    {"unknown-name", ARRAY KERNEL(READ("t[0]")), "<table name='t' extent='1'>0</table>" ARRAY KERNEL(READ("t[0]"))},
    {"not-a-table", ARRAY KERNEL(READ("a[0]")), "<table name='t' extent='1'>0</table>" ARRAY KERNEL(READ("t[0]"))},
    {"not-a-table", ARRAY KERNEL(READ("thread[0]")), ARRAY KERNEL(READ("thread"))},
    {"not-a-table", "<table name='t' extent='1'>0</table>" ARRAY KERNEL(READ("t")),
     "<table name='t' extent='1'>0</table>" ARRAY KERNEL(READ("t[0]"))},
    {"not-constant", "<param name='A' value='blockDim.x'/>", ARRAY KERNEL(READ("blockDim.x"))},
    {"not-constant", "<array name='a' of='int' extent='lane'/>", "<array name='a' of='int' extent='1'/>"},
    {"unknown-type", STRUCT(FIELD("x", "float5")), STRUCT(FIELD("x", "float4"))},
    {"unknown-type", "<array name='a' of='double4' extent='1'/>", "<array name='a' of='double2' extent='1'/>"},
    {"recursive-type", STRUCT(FIELD("x", "S")), STRUCT(FIELD("S", "int"))},
    {"recursive-type", STRUCT(FIELD("t", "T")) "<union name='T'>" FIELD("s", "S") "</union>",
     STRUCT(FIELD("t", "T")) "<union name='T'>" FIELD("s", "int") "</union>"},
    {"empty-type", "<struct name='S'/>", STRUCT(FIELD("x", "char"))},
    {"bad-count", STRUCT(FIELDS("x", "int", "0")), STRUCT(FIELDS("x", "int", "1"))},
    {"bad-extent", "<array name='a' of='int' extent='0'/>", "<array name='a' of='int' extent='1'/>"},
    {"list-length", STRUCT(FIELDS("x", "int", "1 1 1 1 1 1 1 1 1")), STRUCT(FIELDS("x", "int", "1 1 1 1 1 1 1 2"))},
    {"list-length", "<array name='a' of='int' extent='1 1 1 1'/>", "<array name='a' of='int' extent='1 1 1'/>"},
    {"bad-align", STRUCT("<field name='x' type='int' align='3'/>"), STRUCT("<field name='x' type='int' align='4'/>")},
    {"bad-align", STRUCT("<field name='x' type='int' align='2'/>"), STRUCT("<field name='x' type='int16' align='2'/>")},
    {"bad-align", STRUCT("<field name='x' type='int' align='512'/>"),
     STRUCT("<field name='x' type='int' align='256'/>")},
    {"bad-align", "<struct name='S' align='4'>" FIELD("x", "double") "</struct>",
     "<struct name='S' align='4' packed='true'>" FIELD("x", "double") "</struct>"},
    {"bad-align", "<array name='a' of='float4' extent='1' align='8'/>",
     "<array name='a' of='float4' extent='1' align='16'/>"},
    {"bad-align", "<array name='a' of='int' extent='1' align='1 shl 21'/>",
     "<array name='a' of='int' extent='1' align='1 shl 20'/>"},
    {"too-large", "<union name='S'>" FIELDS("x", "char", "16777216") FIELDS("y", "double", "2097153") "</union>",
     "<union name='S'>" FIELDS("x", "char", "16777216") FIELDS("y", "double", "2097152") "</union>"},
    {"too-large", "<array name='a' of='double' extent='1 shl 44'/>",
     "<array name='a' of='double' extent='(1 shl 44) - 1'/>"},
    {"too-large", "<array name='a' of='int' extent='1 shl 32 1 shl 32'/>",
     "<array name='a' of='int' extent='1 shl 22 1 shl 22'/>"},
    {"too-large", "<table name='t' extent='(1 shl 26) + 1' values='uniform'/>",
     "<table name='t' extent='1' values='uniform'/>"},
    {"too-many-leaves", STRUCT(FIELDS("x", "char", "65536") FIELD("y", "char")), STRUCT(FIELDS("x", "char", "65536"))},
    {"too-many-leaves", STRUCT(FIELDS("x", "char", "4097")) S_ARRAY S_READ("x"),
     STRUCT(FIELDS("x", "char", "4096")) S_ARRAY S_READ("x")},
    {"misaligned", "<array name='a' of='int' extent='1' offset='2'/>",
     "<array name='a' of='int' extent='1' offset='4'/>"},
    {"misaligned", STRUCT(FIELD("x", "int")) "<array name='a' of='S' extent='1' offset='1'/>",
     "<struct name='S' packed='true'>" FIELD("x", "int") "</struct><array name='a' of='S' extent='1' offset='1'/>"},
    {"bad-pitch", "<array name='a' of='int' extent='4' pitch='16'/>",
     "<array name='a' of='int' extent='4 4' pitch='16'/>"},
    {"bad-pitch", "<array name='a' of='int' extent='4 4' pitch='12'/>",
     "<array name='a' of='int' extent='4 4' pitch='20'/>"},
    {"bad-pitch", "<array name='a' of='int' extent='4 4' pitch='18'/>",
     "<array name='a' of='int16' extent='4 4' pitch='18'/>"},
    {"bad-value", "<array name='a' of='int' extent='1' space='Shared'/>",
     "<array name='a' of='int' extent='1' space='shared'/>"},
    {"bad-value", "<struct name='S' packed='2'>" FIELD("x", "int") "</struct>",
     "<struct name='S' packed='false'>" FIELD("x", "int") "</struct>"},
    {"bad-value", "<array name='a' of='int' extent='1' offset='-4'/>",
     "<array name='a' of='int' extent='1' offset='0'/>"},
    {"bad-value", "<array name='a' of='int' extent='1' conversions='-1'/>",
     "<array name='a' of='int' extent='1' conversions='0'/>"},
    {"bad-value", "<table name='t' extent='1' values='Sorted'/>", "<table name='t' extent='1' values='sorted'/>"},
    {"bad-value", "<table name='t' extent='1' values='sorted' range='0'/>",
     "<table name='t' extent='1' values='sorted' range='1'/>"},
    {"bad-value", "<kernel name='k' block='1' grid='1' calls='-1'/>",
     "<kernel name='k' block='1' grid='1' calls='0'/>"},
    {"bad-value", "<kernel name='k' block='1' grid='1' registers='0'/>",
     "<kernel name='k' block='1' grid='1' registers='255'/>"},
    {"shared-too-large", SHARED("a", "232449"), SHARED("a", "232448")},
    {"shared-too-large", SHARED("a", "232192") SHARED("b", "257") KERNEL(READ("0") "<read array='b' index='0'/>"),
     SHARED("a", "232192") SHARED("b", "256") KERNEL(READ("0") "<read array='b' index='0'/>" READ("0"))},
    {"shared-too-large", SHARED("a", "200000") SHARED("b", "200000") KERNEL(READ("0") "<read array='b' index='0'/>"),
     SHARED("a", "200000") SHARED("b", "200000")
         KERNEL(READ("0")) "<kernel name='l' block='1' grid='1'><read array='b' index='0'/></kernel>"},
    {"table-form", "<table name='t' extent='1'/>", "<table name='t' extent='1'>1</table>"},
    {"table-form", "<table name='t' extent='1' values='uniform'>1</table>",
     "<table name='t' extent='1' values='uniform'> </table>"},
    {"table-form", "<table name='t' extent='2' values='permutation' range='1'/>",
     "<table name='t' extent='2' values='permutation' range='2'/>"},
    {"table-form", "<table name='t' extent='1' seed='1'>1</table>",
     "<table name='t' extent='1' values='permutation' seed='1'/>"},
    {"table-file", "<table name='t' extent='1' file='/dev/zero'/>", "<table name='t' extent='1'>0</table>"},
    {"table-file", "<table name='t' extent='1' file='-'/>", "<table name='t' extent='1'>0</table>"},
    {"table-count", "<table name='t' extent='2'>1</table>", "<table name='t' extent='2'>1<!-- and --> 2</table>"},
    {"table-count", "<table name='t' extent='2'>1 2 3</table>", "<table name='t' extent='2'>1 23</table>"},
    {"table-syntax", "<table name='t' extent='2'>1 2x</table>", "<table name='t' extent='2'>1 0x2</table>"},
    {"table-syntax", "<table name='t' extent='1'>9223372036854775808</table>",
     "<table name='t' extent='1'>-9223372036854775808</table>"},
    {"table-syntax", "<table name='t' extent='1'>- 1</table>", "<table name='t' extent='1'>-1</table>"},
    {"launch-limits", "<kernel name='k' block='1025' grid='1'/>", "<kernel name='k' block='1024' grid='1'/>"},
    {"launch-limits", "<kernel name='k' block='1 1 65' grid='1'/>", "<kernel name='k' block='16 1 64' grid='1'/>"},
    {"launch-limits", "<kernel name='k' block='32 33' grid='1'/>", "<kernel name='k' block='32 32' grid='1'/>"},
    {"launch-limits", "<kernel name='k' block='1' grid='0'/>", "<kernel name='k' block='1' grid='1'/>"},
    {"launch-limits", "<kernel name='k' block='1' grid='1 65536'/>", "<kernel name='k' block='1' grid='65536 65535'/>"},
    {"launch-limits", "<kernel name='k' block='1' grid='1 shl 31'/>",
     "<kernel name='k' block='1' grid='(1 shl 31) - 1'/>"},
    {"launch-limits", "<kernel name='k' block='2' grid='2147483647 65535 65535'/>",
     "<kernel name='k' block='1' grid='2147483647 65535 65535'/>"},
    {"loop-step", KERNEL("<for var='i' to='1' step='0'/>"), KERNEL("<for var='i' to='1' step='1'/>")},
    {"loop-step", KERNEL("<for var='i' to='1' step='-1'/>"), KERNEL("<for var='i' while='i > -9' step='-1'/>")},
    {"unknown-array", ARRAY KERNEL("<read array='b' index='0'/>"), ARRAY KERNEL(READ("0"))},
    {"unknown-array", "<table name='a' extent='1'>0</table>" KERNEL(READ("0")), ARRAY KERNEL(READ("0"))},
    {"index-dimensions", ARRAY KERNEL(READ("0, 0")), "<array name='a' of='int' extent='2 2'/>" KERNEL(READ("0, 0"))},
    {"index-dimensions", "<array name='a' of='int' extent='2 2 2'/>" KERNEL(READ("0, 0")),
     "<array name='a' of='int' extent='2 2 2'/>" KERNEL(READ("0, 0, 0"))},
    {"subscript-range", PAIR S_READ("f[3]"), PAIR S_READ("f[2]")},
    {"subscript-range", PAIR S_READ("f[0 - 1]"), PAIR S_READ("f[lane - 1]")},
    {"unknown-field", PAIR S_READ("g"), PAIR S_READ("f")},
    {"unknown-field", PAIR S_READ("f.x"), PAIR S_READ("v.x")},
    {"unknown-field", PAIR S_READ("v.w"), PAIR S_READ("v.z")},
    {"field-syntax", PAIR S_READ(" "), PAIR KERNEL("<read array='s' index='0'/>")},
    {"field-syntax", PAIR S_READ("f[0"), PAIR S_READ("f[0]")},
    {"field-syntax", PAIR S_READ("f [0]"), PAIR S_READ("f[ 0 ]")},
    {"field-syntax", PAIR S_READ("f,b"), PAIR S_READ("f b")},
    {"field-syntax", PAIR S_READ(".f"), PAIR S_READ("f")},
    {"expr-syntax", PAIR S_READ("f[]"), PAIR S_READ("f[0]")},
    {"not-an-array", PAIR S_READ("b[0]"), PAIR S_READ("b")},
    {"not-an-array", PAIR S_READ("f[0][0]"), PAIR S_READ("f[0]")},
    {"bad-bytes", ARRAY KERNEL("<read array='a' index='0' bytes='3'/>"),
     ARRAY KERNEL("<read array='a' index='0' bytes='16'/>")},
    {"bad-bytes", ARRAY KERNEL("<read array='a' index='0' bytes='32'/>"),
     ARRAY KERNEL("<read array='a' index='0' bytes='1'/>")},
    {"bad-atomic", PAIR KERNEL("<atomic array='s' field='b' index='0'/>"),
     PAIR KERNEL("<atomic array='s' field='f' index='0'/>")},
    {"bad-atomic", PAIR KERNEL("<atomic array='s' field='f' index='0' bytes='1'/>"),
     PAIR KERNEL("<atomic array='s' field='f' index='0' bytes='2'/>")},
};

START_TEST(diagnostics_fire_once)
{
    const struct diagnostic_row *row = &diagnostic_rows[_i];
    struct run run;
    run_start(&run, row->fires, NULL, 0);
    ck_assert_msg(!run.fine && run.diags.count == 1 && strcmp(run.diags.items[0].id, row->id) == 0,
                  "[%s] alone was to fire on %s, not\n%s", row->id, row->fires, rendered(&run));
    ck_assert_msg(run.diags.items[0].where.source != NULL, "[%s] has a place", row->id);
    run_end(&run);
}
END_TEST

START_TEST(near_misses_are_silent)
{
    struct run run;
    run_fine(&run, diagnostic_rows[_i].id, diagnostic_rows[_i].near_miss);
    run_end(&run);
}
END_TEST

/* What uses a failed item says nothing of it. */
static const struct {
    const char *body;
    size_t errors;
} silent_rows[] = {
    {"<param name='A' value='1 / 0'/><param name='B' value='A + 1'/><array name='a' of='int' extent='B'/>"
     "<table name='t' extent='A' values='permutation'/><kernel name='k' block='B' grid='A'>"
     "<let name='x' value='t[B]'/><read array='a' field='oops' index='x, x'/></kernel>",
     1},
    {"<struct name='S'>" FIELD("x", "nothing") "</struct><struct name='T'>" FIELD(
         "s", "S") "</struct>"
                   "<array name='a' of='T' extent='4'/>" KERNEL("<read array='a' field='s.y' index='0, 1'/>"),
     1},
    {"<struct name='S'>" FIELD("x", "T") "</struct><struct name='T'>" FIELD(
         "s", "S") "</struct>"
                   "<array name='a' of='T' extent='4'/><array name='b' of='S' extent='4'/>" KERNEL(READ("0")),
     1},
    {"<array name='a' of='int' extent='4' align='3' offset='2' pitch='1'/>" KERNEL(READ("0, 0")), 4},
    {ARRAY KERNEL("<let name='x y' value='u'/><let name='z' value='w'/>" READ("z") READ("v")), 4},
    {"<table name='t' extent='2'>1</table>" ARRAY KERNEL("<let name='x' value='t[5]'/>" READ("t[x]")), 1},
    {"<param name='A' value='B'/><param name='B' value='C'/><param name='C' value='A'/><param name='D' value='A'/>"
     "<param name='E' value='D'/>",
     1},
    {ARRAY KERNEL("<let name='x' value='1 +'/><for var='i' to='x' step='('>" READ("i + x") "</for>"), 2},
};

START_TEST(registers_beyond_a_multiprocessor_are_warned_of)
{
    struct run run;
    run_fine(&run, "registers", "<kernel name='k' block='1024' grid='1' registers='64'/>");
    run_end(&run);
    run_start(&run, "<kernel name='k' block='31 32' grid='1' registers='67'/>", NULL, 0);
    ck_assert(run.fine);
    ck_assert_ptr_nonnull(strstr(rendered(&run), "warning: a block of 992 threads takes 66464 registers, "
                                                 "a multiprocessor of 'h200' has 65536 [registers]"));
    ck_assert_ptr_nonnull(strstr(rendered(&run), "note: at most 66 a thread fit such a block"));
    run_end(&run);
}
END_TEST

START_TEST(users_of_failed_items_are_silent)
{
    struct run run;
    run_start(&run, silent_rows[_i].body, NULL, 0);
    ck_assert(!run.fine);
    ck_assert_msg(run.diags.error_count == silent_rows[_i].errors, "row %d: %d errors, not %d:\n%s", _i,
                  (int)run.diags.error_count, (int)silent_rows[_i].errors, rendered(&run));
    run_end(&run);
}
END_TEST

static const struct {
    const char *body, *note;
} note_rows[] = {
    {STRUCT(FIELD("x", "flot")), "did you mean 'float'?"},
    {STRUCT(FIELD("x", "int32_t")), "did you mean 'int32'?"},
    {STRUCT(FIELD("x", "long")), "did you mean 'int64'?"},
    {STRUCT(FIELD("x", "double4")), "types wider than 16 bytes are not in version 1"},
    {STRUCT(FIELD("x", "Vektor")) "<struct name='Vector'>" FIELD("x", "int") "</struct>", "did you mean 'Vector'?"},
    {"<param name='COUNT' value='1'/><param name='A' value='CUONT'/>", "did you mean 'COUNT'?"},
    {ARRAY KERNEL(READ("thread_idx.x")), NULL},
    {ARRAY KERNEL(READ("threadIdx.w")), "did you mean 'threadIdx.x'?"},
    {ARRAY KERNEL("<let name='index' value='0'/>" READ("indx")), "did you mean 'index'?"},
    {ARRAY KERNEL("<for var='k' to='2'/>" READ("k")),
     "the 'k' of line 1 is known inside its 'for', 'if' or 'else' only"},
    {"<array name='masses' of='int' extent='4'/>" KERNEL("<read array='mases' index='0'/>"), "did you mean 'masses'?"},
    {PAIR S_READ("ff"), "did you mean 'f'?"},
    {"\n<param name='N' value='1'/>\n<array name='N' of='int' extent='1'/>", "the first 'N' is on line 2"},
};

START_TEST(notes_tell_the_mend)
{
    struct run run;
    run_start(&run, note_rows[_i].body, NULL, 0);
    ck_assert_uint_eq(run.diags.count, 1);
    const char *note = run.diags.items[0].note, *expected = note_rows[_i].note;
    if (expected != NULL)
        ck_assert_msg(note != NULL && strcmp(note, expected) == 0, "%s: note '%s'", expected, note == NULL ? "" : note);
    run_end(&run);
}
END_TEST

START_TEST(errors_are_told_from_top_to_bottom)
{
    struct run run;
    run_start(
        &run,
        "<kernel name='k' block='0' grid='1'><read array='z' index='0'/></kernel><array name='b' of='S' extent='0'/>"
        "<struct name='S'><field name='x' type='q'/></struct><param name='P' value='P'/>",
        NULL, 0);
    ck_assert_uint_eq(run.diags.count, 5);
    for (size_t i = 1; i < run.diags.count; i++)
        ck_assert_uint_lt(run.diags.items[i - 1].where.offset, run.diags.items[i].where.offset);
    run_end(&run);
}
END_TEST

/* ---- descriptions far out of size: an answer, and soon ---- */

static void append_chain(struct text *text, const char *more, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        text_printf(text, "<param name='p%u' value='p%u%s'/>", i, i + 1, more);
}

START_TEST(long_chains_do_not_recurse)
{
    struct text body = {0};
    struct run run;
    append_chain(&body, " + 1", 30000);
    text_puts(&body, "<param name='p30000' value='1'/>");
    run_fine(&run, "chain", text_string(&body));
    ck_assert_int_eq(run.spec->params[0].number, 30001);
    run_end(&run);
    text_free(&body);
    append_chain(&body, "", 30000);
    text_puts(&body, "<param name='p30000' value='p0'/>");
    run_start(&run, text_string(&body), NULL, 0);
    ck_assert_uint_eq(run.diags.error_count, 1);
    ck_assert_str_eq(run.diags.items[0].id, "param-cycle");
    run_end(&run);
    text_free(&body);
}
END_TEST

START_TEST(deep_types_are_refused_in_any_order)
{
    for (int backward = 0; backward <= 1; backward++) {
        for (unsigned depth = 32; depth <= 33; depth++) {
            struct text body = {0};
            for (unsigned i = 0; i < depth; i++) {
                unsigned n = backward ? depth - 1 - i : i;
                text_printf(&body, "<struct name='S%u'>", n);
                if (n == 0)
                    text_puts(&body, FIELD("x", "int") "</struct>");
                else
                    text_printf(&body, "<field name='x' type='S%u'/></struct>", n - 1);
            }
            struct run run;
            run_start(&run, text_string(&body), NULL, 0);
            ck_assert_msg(run.fine == (depth == 32), "%u levels: %s", depth, rendered(&run));
            if (!run.fine)
                ck_assert_str_eq(run.diags.items[0].id, "deep-type");
            ck_assert_uint_eq(run.diags.error_count, depth - 32);
            run_end(&run);
            text_free(&body);
        }
    }
}
END_TEST

START_TEST(doubling_types_are_refused)
{
    struct text body = {0};
    text_puts(&body, "<union name='T0'>" FIELD("x", "int") "</union>");
    for (unsigned i = 1; i < 60; i++)
        text_printf(&body, "<union name='T%u'><field name='a' type='T%u' count='2'/></union>", i, i - 1);
    struct run run;
    run_start(&run, text_string(&body), NULL, 0);
    ck_assert_uint_eq(run.diags.error_count, 1);
    ck_assert_str_eq(run.diags.items[0].id, "too-large");
    run_end(&run);
    text_free(&body);
}
END_TEST

START_TEST(many_whole_records_are_refused)
{
    struct text body = {0};
    text_puts(&body,
              STRUCT(FIELDS("x", "char", "4096")) "<array name='a' of='S' extent='1'/><kernel name='k' block='1' "
                                                  "grid='1'>");
    for (unsigned i = 0; i < 300; i++)
        text_puts(&body, READ("0"));
    text_puts(&body, "</kernel>");
    struct run run;
    run_start(&run, text_string(&body), NULL, 0);
    ck_assert_uint_eq(run.diags.error_count, 1);
    ck_assert_str_eq(run.diags.items[0].id, "too-many-leaves");
    run_end(&run);
    text_free(&body);
}
END_TEST

START_TEST(many_large_records_are_refused)
{
    struct text body = {0};
    text_puts(&body, "<union name='U'>" FIELDS("x", "char", "1 shl 24") "</union>");
    for (unsigned i = 0; i < 5; i++)
        text_printf(&body,
                    "<struct name='S%u'><field name='u' type='U'/></struct><array name='a%u' of='S%u' extent='1'/>"
                    "<array name='b%u' of='S%u' extent='1'/>",
                    i, i, i, i, i);
    struct run run;
    run_start(&run, text_string(&body), NULL, 0);
    ck_assert_uint_eq(run.diags.error_count, 1);
    ck_assert_str_eq(run.diags.items[0].id, "too-many-leaves");
    run_end(&run);
    text_free(&body);
}
END_TEST

/* ---- garbage ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Puts another value, or a piece of one, into one attribute. */
static void mutate(struct text *text, uint64_t *state)
{
    static const char *const words[] = {"0",    "-1",  "N",    "q",    "f[q]", "f[9]", "1 shl 40", "a",     "x", "[",
                                        "a, b", "S",   "Rich", "U",    "box",  "",     "1 / 0",    "lane",  "-", "rows",
                                        "3 4",  "u.f", "true", "half", "2",    "((",   "u.d.y us", "float3"};
    size_t starts[400] = {0}, count = 0;
    for (size_t i = 0; i + 1 < text->length && count < COUNT(starts); i++)
        if (text->bytes[i] == '=' && text->bytes[i + 1] == '\'')
            starts[count++] = i + 2;
    if (count == 0)
        return;
    size_t from = starts[next_random(state) % count];
    size_t to = from + strcspn(text->bytes + from, "'");
    size_t kept = next_random(state) % 2 == 0 ? from : from + next_random(state) % (to - from + 1);
    struct text result = {0};
    text_append(&result, text->bytes, kept);
    text_puts(&result, words[next_random(state) % COUNT(words)]);
    text_puts(&result, text->bytes + to);
    text_free(text);
    *text = result;
}

START_TEST(garbage_does_not_crash)
{
    static const char *const seeds[] = {
        "<param name='N' value='64'/><param name='ONE' value='1'/><table name='rows' extent='3'>1 1 0</table>"
        "<table name='order' extent='N' values='permutation' seed='3'/>" RICH U BOX
        "<array name='a' of='Rich' extent='N N' "
        "pitch='N * 288' offset='32' align='32'/><array name='s' of='float' extent='N' space='shared'/><kernel "
        "name='k' "
        "block='32 2' grid='N / 32' calls='2' flops='N'><for var='q' from='0' to='2' step='ONE'><let name='i' "
        "value='order[thread % N]'/><read array='a' field='f[q] u.f[q] box.lo v.x' index='i, rows[q]'/><if test='i lt "
        "3'>"
        "<write array='s' index='i' bytes='4'/></if><else><atomic array='s' index='q'/></else></for></kernel>",
    };
    uint64_t state = (uint64_t)_i;
    for (unsigned round = 0; round < 200; round++) {
        struct text body = {0};
        text_puts(&body, seeds[round % COUNT(seeds)]);
        for (unsigned edits = 1 + (unsigned)(next_random(&state) % 4); edits > 0; edits--)
            mutate(&body, &state);
        struct run run;
        run_start(&run, text_string(&body), NULL, 0);
        ck_assert_msg(run.fine == (run.diags.error_count == 0), "%s", text_string(&body));
        (void)rendered(&run);
        run_end(&run);
        text_free(&body);
    }
}
END_TEST

static void add_rows(TCase *tests)
{
    tcase_add_loop_test(tests, layouts_are_those_of_c, 0, (int)COUNT(layout_rows));
    tcase_add_test(tests, builtin_types_are_those_of_cuda);
    tcase_add_loop_test(tests, types_flatten_to_leaves, 0, (int)COUNT(leaf_rows));
    tcase_add_loop_test(tests, paths_select_scalars, 0, (int)COUNT(selection_rows));
    tcase_add_loop_test(tests, whole_elements_are_selected, 0, (int)COUNT(whole_rows));
    tcase_add_test(tests, vectors_have_components);
    tcase_add_loop_test(tests, diagnostics_fire_once, 0, (int)COUNT(diagnostic_rows));
    tcase_add_loop_test(tests, near_misses_are_silent, 0, (int)COUNT(diagnostic_rows));
    tcase_add_test(tests, registers_beyond_a_multiprocessor_are_warned_of);
    tcase_add_loop_test(tests, users_of_failed_items_are_silent, 0, (int)COUNT(silent_rows));
    tcase_add_loop_test(tests, notes_tell_the_mend, 0, (int)COUNT(note_rows));
    tcase_add_test(tests, errors_are_told_from_top_to_bottom);
}

Suite *check_suite(void);

Suite *check_suite(void)
{
    Suite *suite = suite_create("check");
    TCase *rows = tcase_create("rows"), *values = tcase_create("values"), *large = tcase_create("large");
    add_rows(rows);
    tcase_add_test(values, constants_come_in_any_order);
    tcase_add_test(values, defaults_are_filled);
    tcase_add_test(values, definitions_override_params);
    tcase_add_loop_test(values, bad_definitions_are_located, 0, (int)COUNT(bad_definitions));
    tcase_add_test(values, permutations_are_fisher_yates);
    tcase_add_test(values, generated_tables_are_reproducible);
    tcase_add_test(values, table_files_are_read_beside_the_description);
    tcase_add_test(values, variables_have_slots_and_scopes);
    tcase_set_timeout(large, 60);
    tcase_add_test(large, long_chains_do_not_recurse);
    tcase_add_test(large, deep_types_are_refused_in_any_order);
    tcase_add_test(large, doubling_types_are_refused);
    tcase_add_test(large, many_whole_records_are_refused);
    tcase_add_test(large, many_large_records_are_refused);
    tcase_add_loop_test(large, garbage_does_not_crash, 0, 10);
    suite_add_tcase(suite, rows);
    suite_add_tcase(suite, values);
    suite_add_tcase(suite, large);
    return suite;
}

#include "check_internal.h"
#include "checked.h"

bool check_array_bytes(const struct array *array, uint64_t *out)
{
    uint64_t row_records = array->extent[array->dim_count - 1], row = array->pitch;
    if (row == 0 && !checked_mul_u64(&row, row_records, array->record->type->size))
        return false;
    return checked_mul_u64(out, array->records / row_records, row) && *out < ARRAY_BYTES_MAX;
}

static bool check_extents(struct checker *checker, struct array *array)
{
    const struct bounds bounds = {"extent", "bad-extent", 1, INT64_MAX};
    int64_t extents[SPEC_DIMS_MAX];
    size_t found = check_integers(checker, &array->extent_text, &bounds, SPEC_DIMS_MAX, extents, array->extent_exprs);
    array->dim_count = (unsigned)found;
    array->records = 1;
    for (size_t i = 0; i < SPEC_DIMS_MAX; i++) {
        array->extent[i] = i < found ? (uint64_t)extents[i] : 1;
        if (!checked_mul_u64(&array->records, array->records, array->extent[i])) {
            diag_error(checker->diags, "too-large", array->extent_text.where, "array '%s' has 2^64 records or more",
                       array->name.text);
            return false;
        }
    }
    return found > 0;
}

static bool check_offset(struct checker *checker, struct array *array, const struct type *type)
{
    const struct bounds bounds = {"offset", "bad-value", 0, (int64_t)ARRAY_BYTES_MAX};
    int64_t offset;
    if (!check_integer(checker, &array->offset_text, &bounds, 0, &offset))
        return false;
    array->offset = (uint64_t)offset;
    if (type == NULL || array->offset % type->align == 0)
        return true;
    diag_error(checker->diags, "misaligned", array->offset_text.where,
               "offset %llu is no multiple of the alignment of '%s', %llu", (unsigned long long)array->offset,
               type->name.text, (unsigned long long)type->align);
    return false;
}

static bool check_pitch(struct checker *checker, struct array *array, const struct type *type)
{
    const struct bounds bounds = {"pitch", "bad-pitch", 1, (int64_t)ARRAY_BYTES_MAX};
    int64_t pitch;
    if (!check_integer(checker, &array->pitch_text, &bounds, 0, &pitch))
        return false;
    array->pitch = (uint64_t)pitch;
    if (array->pitch_text.text == NULL || type == NULL || array->dim_count == 0)
        return true;
    struct span where = array->pitch_text.where;
    uint64_t row;
    if (array->dim_count == 1) {
        diag_error(checker->diags, "bad-pitch", where, "array '%s' has one dimension and so no pitch",
                   array->name.text);
        return false;
    }
    if (!checked_mul_u64(&row, array->extent[array->dim_count - 1], type->size) || array->pitch < row) {
        diag_error(checker->diags, "bad-pitch", where, "pitch %lld is less than a row: %llu records of %llu bytes",
                   (long long)pitch, (unsigned long long)array->extent[array->dim_count - 1],
                   (unsigned long long)type->size);
        return false;
    }
    if (array->pitch % type->align == 0)
        return true;
    diag_error(checker->diags, "bad-pitch", where, "pitch %lld is no multiple of the alignment of '%s', %llu",
               (long long)pitch, type->name.text, (unsigned long long)type->align);
    return false;
}

static void report_size(struct checker *checker, const struct array *array, uint64_t bytes)
{
    uint64_t most = (uint64_t)checker->device->shared_bytes_per_block;
    if (array->space == SPACE_SHARED && bytes > most)
        diag_error(checker->diags, "shared-too-large", array->extent_text.where,
                   "shared array '%s' takes %llu bytes, a block of '%s' has %llu", array->name.text,
                   (unsigned long long)bytes, checker->device->name, (unsigned long long)most);
}

/* Sizes, once the parts that they are made of are right. */
static void check_size(struct checker *checker, const struct array *array)
{
    uint64_t bytes;
    if (check_array_bytes(array, &bytes) && array->offset < ARRAY_BYTES_MAX - bytes) {
        report_size(checker, array, array->offset + bytes);
        return;
    }
    diag_error(checker->diags, "too-large", array->extent_text.where, "array '%s' takes 2^47 bytes or more",
               array->name.text);
}

static void check_array(struct checker *checker, struct array *array)
{
    static const char *const spaces[] = {"global", "shared", NULL};
    const struct bounds conversions = {"conversions", "bad-value", 0, INT64_MAX};
    unsigned space;
    const struct type *type = check_find_type(checker, &array->of_text);
    bool extents = check_extents(checker, array);
    bool fine = check_word(checker, &array->space_text, "space", spaces, SPACE_GLOBAL, &space);
    array->space = (enum array_space)space;
    fine = check_alignment(checker, &array->align_text, ARRAY_ALIGN_MAX, ALIGN_MAX, &array->align) && fine;
    if (fine && type != NULL)
        fine = check_align_least(checker, &array->align_text, array->align, type->align);
    fine = check_offset(checker, array, type) && fine;
    fine = check_pitch(checker, array, extents ? type : NULL) && fine;
    fine = check_integer(checker, &array->conversions_text, &conversions, 0, &array->conversions) && fine;
    if (type == NULL || !extents || array->name.text == NULL)
        return;
    /* Whoever uses an array needs its record and dimensions alone; what else is wrong does not concern them. */
    array->record = check_find_record(checker, type, array->of_text.where);
    if (fine && array->record != NULL)
        check_size(checker, array);
}

void check_arrays(struct checker *checker)
{
    unsigned number = 0;
    for (struct array *array = checker->spec->arrays; array != NULL; array = array->next) {
        array->number = number++;
        check_array(checker, array);
    }
}

#include "json_schema.h"

#include <string.h>

struct walk {
    const json_t *root; /* the schema as a whole: references begin there */
    struct text *fault;
    struct text place; /* in the value: "/kernels/0/name" */
};

static bool refuse(struct walk *walk, const char *format, const char *word)
{
    text_printf(walk->fault, "%s: ", text_string(&walk->place));
    text_printf(walk->fault, format, word); /* NOLINT(clang-diagnostic-format-nonliteral) */
    text_putc(walk->fault, '\n');
    return false;
}

static const json_t *follow(const json_t *root, const json_t *reference)
{
    static const char beginning[] = "#/$defs/";
    const char *text = json_string_value(reference);
    if (text == NULL || strncmp(text, beginning, strlen(beginning)) != 0)
        return NULL;
    return json_object_get(json_object_get(root, "$defs"), text + strlen(beginning));
}

/* ---- the schema itself ---- */

enum keyword_kind { NOTE, VALUE, SCHEMA, SCHEMAS, SCHEMA_LIST, REFERENCE };

static const struct keyword {
    const char *name;
    enum keyword_kind kind;
} keywords[] = {
    {"$schema", NOTE},       {"$id", NOTE},      {"title", NOTE},        {"description", NOTE},
    {"type", VALUE},         {"const", VALUE},   {"enum", VALUE},        {"required", VALUE},
    {"minimum", VALUE},      {"maximum", VALUE}, {"items", SCHEMA},      {"additionalProperties", SCHEMA},
    {"properties", SCHEMAS}, {"$defs", SCHEMAS}, {"anyOf", SCHEMA_LIST}, {"$ref", REFERENCE},
};

static const struct keyword *find_keyword(const char *name)
{
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
        if (strcmp(keywords[i].name, name) == 0)
            return &keywords[i];
    return NULL;
}

static bool is_known(struct walk *walk, const json_t *schema);

static bool are_known(struct walk *walk, const json_t *schemas)
{
    const char *key;
    size_t index;
    json_t *schema;
    bool known = true;
    json_object_foreach((json_t *)schemas, key, schema)
    {
        known &= is_known(walk, schema);
    }
    json_array_foreach(schemas, index, schema)
    {
        known &= is_known(walk, schema);
    }
    return known;
}

static bool is_known(struct walk *walk, const json_t *schema)
{
    const char *key;
    json_t *value;
    bool known = true;
    if (!json_is_object(schema))
        return refuse(walk, "a schema is no object%s", "");
    json_object_foreach((json_t *)schema, key, value)
    {
        const struct keyword *keyword = find_keyword(key);
        if (keyword == NULL)
            known = refuse(walk, "the keyword '%s' is not known here", key);
        else if (keyword->kind == SCHEMA)
            known &= is_known(walk, value);
        else if (keyword->kind == SCHEMAS || keyword->kind == SCHEMA_LIST)
            known &= are_known(walk, value);
        else if (keyword->kind == REFERENCE && follow(walk->root, value) == NULL)
            known = refuse(walk, "a reference to nowhere%s", "");
    }
    return known;
}

bool json_schema_is_known(const json_t *schema, struct text *fault)
{
    struct walk walk = {schema, fault, {0}};
    bool known = is_known(&walk, schema);
    text_free(&walk.place);
    return known;
}

/* ---- a value ---- */

static bool has_type(const json_t *value, const char *type)
{
    static const struct {
        const char *name;
        json_type type;
    } types[] = {{"object", JSON_OBJECT},   {"array", JSON_ARRAY},   {"string", JSON_STRING},
                 {"integer", JSON_INTEGER}, {"number", JSON_REAL},   {"number", JSON_INTEGER},
                 {"boolean", JSON_TRUE},    {"boolean", JSON_FALSE}, {"null", JSON_NULL}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].name, type) == 0 && types[i].type == json_typeof(value))
            return true;
    return false;
}

static bool check_type(struct walk *walk, const json_t *type, const json_t *value)
{
    size_t index;
    json_t *one;
    if (json_is_string(type) && has_type(value, json_string_value(type)))
        return true;
    json_array_foreach(type, index, one)
    {
        if (has_type(value, json_string_value(one)))
            return true;
    }
    return refuse(walk, "not of the type%s", "");
}

static bool check_words(struct walk *walk, const json_t *words, const json_t *value)
{
    size_t index;
    json_t *word;
    json_array_foreach(words, index, word)
    {
        if (json_equal(word, value))
            return true;
    }
    return refuse(walk, "none of the values listed%s", "");
}

static bool accepts(struct walk *walk, const json_t *schema, const json_t *value);

/* Goes into a part of the value. */
static bool accepts_part(struct walk *walk, const json_t *schema, const json_t *part, const char *key, size_t index)
{
    size_t length = walk->place.length;
    if (key != NULL)
        text_printf(&walk->place, "/%s", key);
    else
        text_printf(&walk->place, "/%zu", index);
    bool valid = schema == NULL ? refuse(walk, "the schema does not know this key%s", "") : accepts(walk, schema, part);
    walk->place.length = length;
    walk->place.bytes[length] = '\0';
    return valid;
}

static bool check_object(struct walk *walk, const json_t *schema, const json_t *value)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    size_t index;
    json_t *name, *part;
    const char *key;
    bool valid = true;
    json_array_foreach(json_object_get(schema, "required"), index, name)
    {
        if (json_object_get(value, json_string_value(name)) == NULL)
            valid = refuse(walk, "'%s' is missing", json_string_value(name));
    }
    json_object_foreach((json_t *)value, key, part)
    {
        const json_t *own = json_object_get(properties, key);
        if (own != NULL || others != NULL || properties != NULL)
            valid &= accepts_part(walk, own != NULL ? own : others, part, key, 0);
    }
    return valid;
}

static bool check_number(struct walk *walk, const json_t *schema, const json_t *value)
{
    const json_t *least = json_object_get(schema, "minimum"), *most = json_object_get(schema, "maximum");
    if (least != NULL && json_number_value(value) < json_number_value(least))
        return refuse(walk, "below the minimum%s", "");
    if (most != NULL && json_number_value(value) > json_number_value(most))
        return refuse(walk, "above the maximum%s", "");
    return true;
}

static bool check_any(struct walk *walk, const json_t *schemas, const json_t *value)
{
    size_t index;
    json_t *schema;
    struct text *fault = walk->fault, unheard = {0};
    bool valid = false;
    walk->fault = &unheard;
    json_array_foreach(schemas, index, schema)
    {
        valid = valid || accepts(walk, schema, value);
    }
    walk->fault = fault;
    text_free(&unheard);
    return valid || refuse(walk, "valid by none of several schemas%s", "");
}

static bool accepts(struct walk *walk, const json_t *schema, const json_t *value)
{
    const json_t *part;
    size_t index;
    json_t *item;
    bool valid = true;
    if ((part = json_object_get(schema, "$ref")) != NULL)
        valid &= accepts(walk, follow(walk->root, part), value);
    if ((part = json_object_get(schema, "type")) != NULL && !check_type(walk, part, value))
        return false;
    if ((part = json_object_get(schema, "const")) != NULL && !json_equal(part, value))
        valid = refuse(walk, "not the one value it can have%s", "");
    if ((part = json_object_get(schema, "enum")) != NULL)
        valid &= check_words(walk, part, value);
    if ((part = json_object_get(schema, "anyOf")) != NULL)
        valid &= check_any(walk, part, value);
    if (json_is_number(value))
        valid &= check_number(walk, schema, value);
    if (json_is_object(value))
        valid &= check_object(walk, schema, value);
    part = json_object_get(schema, "items");
    json_array_foreach(value, index, item)
    {
        valid &= part == NULL || accepts_part(walk, part, item, NULL, index);
    }
    return valid;
}

bool json_schema_accepts(const json_t *schema, const json_t *value, struct text *fault)
{
    struct walk walk = {schema, fault, {0}};
    bool valid = accepts(&walk, schema, value);
    text_free(&walk.place);
    return valid;
}

#include "read_rules.h"

#include <string.h>

#include "read_scan.h"
#include "spec.h"
#include "text.h"

static const char xml_space[] = "http://www.w3.org/XML/1998/namespace";

static struct span declaration_or_name(const struct xml_node *element)
{
    return element->declaration.source != NULL ? element->declaration : element->where;
}

static void report_space(const struct xml_node *element, const char *space, struct diags *diags)
{
    if (element->space == NULL)
        diag_error(diags, "wrong-namespace", element->where, "'%s' is in no namespace", element->name);
    else
        diag_error(diags, "wrong-namespace", declaration_or_name(element), "'%s' is in the namespace '%s'",
                   element->name, element->space);
    if (element->parent == NULL)
        diag_note(diags, "write xmlns=\"%s\"", space);
    else
        diag_note(diags, "every element is in the namespace '%s', as the root is", space);
}

bool rules_check_space(const struct xml_node *element, const char *space, struct diags *diags)
{
    if (element->space != NULL && strcmp(element->space, space) == 0)
        return true;
    report_space(element, space, diags);
    return false;
}

bool rules_check_root(const struct xml_node *root, const char *name, const char *space, struct diags *diags)
{
    if (strcmp(root->name, name) == 0)
        return rules_check_space(root, space, diags);
    diag_error(diags, "wrong-root", root->where, "the root element is '%s', not '%s'", root->name, name);
    diag_note(diags, "a %s begins with <%s xmlns=\"%s\" name=\"...\">", name, name, space);
    return false;
}

static const struct attribute_rule *find_rule(const char *name, const struct attribute_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

/* "'a', 'b' and 'c'" */
static const char *list_names(struct arena *arena, const struct attribute_rule *rules, size_t count)
{
    const char *list = "";
    for (size_t i = 0; i < count; i++)
        list = arena_printf(arena, "%s%s'%s'", list, i == 0 ? "" : i + 1 < count ? ", " : " and ", rules[i].name);
    return list;
}

static void report_unknown(const struct xml_node *element, const struct xml_attribute *attribute,
                           const struct attribute_rule *rules, size_t count, struct diags *diags)
{
    diag_error(diags, "unknown-attribute", attribute->where, "unknown attribute '%s' of '%s'", attribute->name,
               element->name);
    if (diags->error_count > DIAG_MAX)
        return; /* the note would not be kept */
    struct text_guess guess = {.wanted = attribute->name};
    for (size_t i = 0; i < count; i++)
        text_guess_offer(&guess, rules[i].name);
    if (attribute->space != NULL)
        diag_note(diags, "attributes are in no namespace");
    else if (guess.best != NULL)
        diag_note(diags, "did you mean '%s'?", guess.best);
    else if (count == 0)
        diag_note(diags, "'%s' has no attributes", element->name);
    else
        diag_note(diags, "'%s' has %s", element->name, list_names(diags->arena, rules, count));
}

static void store(void *target, const struct attribute_rule *rule, const struct quoted *value)
{
    void *place = (char *)target + rule->offset;
    switch (rule->form) {
    case RULE_QUOTED:
        *(struct quoted *)place = *value;
        break;
    case RULE_NAME:
        *(struct name *)place = (struct name){value->text, value->where};
        break;
    }
}

static bool has_attribute(const struct xml_node *element, const char *name)
{
    for (size_t i = 0; i < element->attribute_count; i++)
        if (element->attributes[i].space == NULL && strcmp(element->attributes[i].name, name) == 0)
            return true;
    return false;
}

void rules_fill(const struct xml_node *element, const struct attribute_rule *rules, size_t rule_count, void *target,
                struct diags *diags)
{
    for (size_t i = 0; i < element->attribute_count; i++) {
        const struct xml_attribute *attribute = &element->attributes[i];
        if (attribute->space != NULL && strcmp(attribute->space, xml_space) == 0)
            continue;
        const struct attribute_rule *rule =
            attribute->space == NULL ? find_rule(attribute->name, rules, rule_count) : NULL;
        if (rule == NULL)
            report_unknown(element, attribute, rules, rule_count, diags);
        else
            store(target, rule, &attribute->value);
    }
    for (size_t i = 0; i < rule_count; i++)
        if (rules[i].required && !has_attribute(element, rules[i].name))
            diag_error(diags, "missing-attribute", element->where, "'%s' has no '%s'", element->name, rules[i].name);
}

void rules_report_text(const struct xml_node *text, struct diags *diags)
{
    const char *bytes = text->where.source->bytes;
    size_t from = text->where.offset, end = from + text->where.length;
    while (from < end && scan_is_white(bytes[from]))
        from++;
    size_t to = from;
    while (to < end && bytes[to] != '\n')
        to++;
    while (to > from && scan_is_white(bytes[to - 1]))
        to--;
    diag_error(diags, "stray-text", (struct span){text->where.source, from, to - from}, "text inside '%s'",
               text->parent->name);
    diag_note(diags, "comments are written <!-- so -->");
}

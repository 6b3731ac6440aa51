/* Takes elements of a tree and tables of what they may hold, gives plain structs filled and everything else reported:
 * what the forms of our XML files have in common. */
#ifndef SW_READ_RULES_H
#define SW_READ_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"
#include "read_xml.h"

enum rule_form { RULE_QUOTED, RULE_NAME };

/* Where an attribute goes: a struct quoted or a struct name at `offset` of the struct that is filled. */
struct attribute_rule {
    const char *name;
    bool required;
    enum rule_form form;
    size_t offset;
};

/* The root must be `name` in `space`; false after a diagnostic. */
bool rules_check_root(const struct xml_node *root, const char *name, const char *space, struct diags *diags)
    __attribute__((warn_unused_result));

/* Fills *target from the element's attributes; reports those that no rule knows and the required ones that are
 * missing, which stay as they are. */
void rules_fill(const struct xml_node *element, const struct attribute_rule *rules, size_t rule_count, void *target,
                struct diags *diags);

/* Whether the element is in `space`, or else reported. */
bool rules_check_space(const struct xml_node *element, const char *space, struct diags *diags)
    __attribute__((warn_unused_result));

/* Reports text where only elements may stand: the node's first line of it. */
void rules_report_text(const struct xml_node *text, struct diags *diags);

#endif

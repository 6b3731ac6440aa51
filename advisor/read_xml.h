/* Takes XML text, gives its elements as a plain tree with the place of every name, value and text. read_xml.c alone
 * includes libxml2. */
#ifndef SW_READ_XML_H
#define SW_READ_XML_H

#include <stddef.h>

#include "arena.h"
#include "diag.h"
#include "source.h"

struct xml_attribute {
    const char *name;  /* without a prefix */
    const char *space; /* its namespace; NULL: none */
    struct span where; /* its name as written */
    struct quoted value;
};

enum xml_kind { XML_ELEMENT, XML_TEXT };

/* An element, or the text between two tags; text of white space alone is left out. Comments and processing
 * instructions in a text are blanks in it. */
struct xml_node {
    enum xml_kind kind;
    const char *name;                 /* element: without a prefix */
    const char *space;                /* element: its namespace; NULL: none */
    const char *text;                 /* text: decoded */
    struct span where;                /* element: the name in its start tag; text: all of it, as written */
    size_t line;                      /* element: of its '<', from 1 */
    struct xml_attribute *attributes; /* in the order written, namespace declarations left out */
    size_t attribute_count;
    struct span declaration; /* the value of its xmlns; source == NULL: it has none */
    struct xml_node *parent;
    struct xml_node *first, *last; /* children */
    struct xml_node *next;
};

/* Returns the root element, or NULL after a diagnostic where the text is not well-formed, not UTF-8, has a DTD, or is
 * beyond READ_DEPTH_MAX or READ_ELEMENTS_MAX. */
struct xml_node *read_xml(struct arena *arena, const struct source *source, struct diags *diags)
    __attribute__((warn_unused_result));

#endif

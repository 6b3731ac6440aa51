/* Takes XML text, says whether its outer form is acceptable: UTF-8, no DTD, tags that match, bounded nesting. What is
 * wrong there gets its exact place and the mend in our own words, whatever the version of the XML library; and that
 * library then never sees what it would be slow on (thousands of attributes, deep nesting). It still has the last word
 * on what is well-formed. */
#ifndef SW_READ_FORM_H
#define SW_READ_FORM_H

#include <stdbool.h>

#include "diag.h"
#include "source.h"

/* Returns false after a diagnostic: one where what follows it would be guesswork, else all that values and texts have
 * wrong. */
bool read_form(const struct source *source, struct diags *diags) __attribute__((warn_unused_result));

#endif

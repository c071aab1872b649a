/* SPDX-License-Identifier: Apache-2.0 */
/* html.h - texts of pages and drawings, in HTML and in XML. */
#ifndef ASCOPE_BASE_HTML_H
#define ASCOPE_BASE_HTML_H

#include "base/out.h"

void html_raw(struct out *o, const char *text); /* markup of our own */

/* Untrusted text, in an element or in a quoted attribute: markup is escaped; characters that XML cannot have become question marks,
 * and so do bytes that are no UTF-8. */
void html_bytes(struct out *o, const char *text, size_t len);
void html_text(struct out *o, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* html.h - texts of pages and drawings, in HTML and in XML. */
#ifndef ASCOPE_BASE_TEXT_HTML_H
#define ASCOPE_BASE_TEXT_HTML_H

#include "base/files/out.h"

void html_raw(struct out *o, const char *text); /* markup of our own */
/* The same with numbers in it; up to 320 bytes, and never an untrusted text. */
void html_put(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void html_duration(struct out *o, double ns); /* 12.345 ms */

/* Untrusted text, in an element or in a quoted attribute: markup is escaped; characters that XML cannot have become
 * question marks, and so do bytes that are no UTF-8. */
void html_bytes(struct out *o, const char *text, size_t len);
void html_text(struct out *o, const char *text);
void html_fitting(struct out *o, const char *text, size_t len,
                  size_t most); /* at most so many bytes of it, and an ellipsis if it is longer */

#endif

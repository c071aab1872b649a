/* SPDX-License-Identifier: Apache-2.0 */
/* memory_page.h - the memory timeline as a page for a browser: one file that needs no other, and no network. */
#ifndef ASCOPE_EXPORT_PAGES_MEMORY_PAGE_H
#define ASCOPE_EXPORT_PAGES_MEMORY_PAGE_H

#include "analyse/memory_timeline/memory_timeline.h"

bool memory_page_write(const struct memory_timeline *m, const char *of, const char *path, struct error *e);

#endif

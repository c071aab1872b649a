/* SPDX-License-Identifier: Apache-2.0 */
/* view_pages.h - the pages of the viewer, which are part of the program. */
#ifndef ASCOPE_VIEW_SERVER_VIEW_PAGES_H
#define ASCOPE_VIEW_SERVER_VIEW_PAGES_H

struct view_page {
    const char *name, *type, *text;
};

const struct view_page *view_page_find(const char *name); /* NULL: there is none */

#endif

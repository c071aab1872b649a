/* SPDX-License-Identifier: Apache-2.0 */
/* advise_page.h - the findings of `ascope advise` as one page for a browser, without scripts and without network
 * access. */
#ifndef ASCOPE_REPORT_ADVISE_PAGE_H
#define ASCOPE_REPORT_ADVISE_PAGE_H

#include "report/advise_report.h"

/* Writes the file atomically. False: see e. */
bool advise_page_write(const struct advise_report *r, const char *path, struct error *e);

#endif

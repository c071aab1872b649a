/* SPDX-License-Identifier: Apache-2.0 */
/* compare_page.h - a comparison as one page for a browser, without scripts and network access. Names are escaped. */
#ifndef ASCOPE_REPORT_COMPARE_PAGE_H
#define ASCOPE_REPORT_COMPARE_PAGE_H

#include "report/compare_report.h"

bool compare_page_write(const struct compare_report *r, const char *dir, struct error *e); /* DIR/comparison.html */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* advise_page.h - what `ascope advise` found, as one page for a browser, without scripts and without a network. */
#ifndef ASCOPE_CLI_ADVISE_PAGE_H
#define ASCOPE_CLI_ADVISE_PAGE_H

#include "cli/advise_report.h"

/* The file is written atomically. False: with the reason in e. */
bool advise_page_write(const struct advise_report *r, const char *path, struct error *e);

#endif

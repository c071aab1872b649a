/* SPDX-License-Identifier: Apache-2.0 */
/* collection_info.h - settings and files of a collection of a framework, as text and JSON, without analysis. */
#ifndef ASCOPE_REPORT_COLLECTION_INFO_H
#define ASCOPE_REPORT_COLLECTION_INFO_H

#include <jansson.h>

#include "report/term.h"
#include "load/framework/collection_load.h"

void collection_info_print(const struct term *t, const struct collection *s, const struct collection_look *l);
json_t *collection_info_json(const struct collection *s,
                             const struct collection_look *l); /* a new reference; NULL: no memory */

#endif

/* collection_info.h - what a *_ascend_pt directory holds, without analysing it: how it was set up, and its files. */
#ifndef ASCOPE_CLI_COLLECTION_INFO_H
#define ASCOPE_CLI_COLLECTION_INFO_H

#include "cli/term.h"
#include "load/pt.h"

void session_info_print(const struct term *t, const struct session *s, const struct session_look *l);
json_t *session_info_json(const struct session *s, const struct session_look *l); /* a new reference; NULL: no memory */

#endif

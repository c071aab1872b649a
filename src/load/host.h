/* host.h - the records of the host folder into tables: dictionaries first, then calls and what was reported beside them. */
#ifndef ASCOPE_LOAD_HOST_H
#define ASCOPE_LOAD_HOST_H

#include "load/records.h"
#include "profile/profile.h"

bool dictionary_load(struct profile *p, struct error *e);
bool host_load(struct profile *p, struct error *e);

/* One family of compact or additional records, sorted by (thread, time). When wanted, `call` gets room for the call that
 * each row belongs to (NO_ROW so far), and is_static tells the rows that came from unaging files. */
bool host_load_sorted(struct profile *p, const char *family, const struct layout *l, struct records *r, uint32_t **call,
                      bool **is_static, struct error *e);

#endif

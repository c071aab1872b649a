/* communication.h - collectives and overlap: two processes of the timeline, communication_statistic and three tables. */
#ifndef ASCOPE_EXPORT_COMMUNICATION_H
#define ASCOPE_EXPORT_COMMUNICATION_H

#include "export/export.h"

bool communication_track(const struct export *x, struct trace *t, struct error *e);
bool communication_statistic(const struct export *x, struct table *out, struct error *e);
bool communication_db(const struct export *x, struct db *db, struct error *e);

bool overlap_track(const struct export *x, struct trace *t, struct error *e);
bool overlap_db(const struct export *x, struct db *db, struct error *e);

#endif

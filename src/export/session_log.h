/* session_log.h - logs/: what one analysis found, wrote and lost, as lines that people read later. */
#ifndef ASCOPE_EXPORT_SESSION_LOG_H
#define ASCOPE_EXPORT_SESSION_LOG_H

#include "export/session_write.h"

/* DIR/logs/profiler_{YYYYmmddHHMMSS}_{pid}_ascope.log */
bool session_log_write(const struct session_result *r, const char *dir, struct error *e);

#endif

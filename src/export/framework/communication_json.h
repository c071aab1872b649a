/* communication_json.h - communication of a PyTorch session by step: communication.json (time of each collective,
 * and how much went over which kind of link), communication_matrix.json (between which ranks), and the same as tables
 * of analysis.db.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_COMMUNICATION_JSON_H
#define ASCOPE_EXPORT_FRAMEWORK_COMMUNICATION_JSON_H

#include "export/framework/collection_export.h"

bool session_communication_write(const struct session_export *x, const char *path, uint64_t *n_rows, struct error *e);
bool session_matrix_write(const struct session_export *x, const char *path, uint64_t *n_rows, struct error *e);

/* CommAnalyzerTime, CommAnalyzerBandwidth, CommAnalyzerMatrix. */
bool session_communication_db(const struct session_export *x, struct db *db, struct error *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* communication_json.h - the communication of a collection by step.
 *
 * communication.json (time of each collective, bytes by kind of link), communication_matrix.json (bytes between ranks),
 * and the same as tables of analysis.db.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_COMMUNICATION_JSON_H
#define ASCOPE_EXPORT_FRAMEWORK_COMMUNICATION_JSON_H

#include "export/framework/collection_export.h"

bool communication_json_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);
bool communication_matrix_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

/* communication_analyzer.db: the collectives of the whole collection without steps, as `ascope communication` has
 * them. */
bool communication_analyzer_write(const struct collection_export *x, const char *path, uint64_t *n_rows,
                                  struct error *e);

/* CommAnalyzerTime, CommAnalyzerBandwidth, CommAnalyzerMatrix. */
bool communication_json_db(const struct collection_export *x, struct db *db, struct error *e);

#endif

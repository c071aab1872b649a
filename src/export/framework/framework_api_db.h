/* SPDX-License-Identifier: Apache-2.0 */
/* framework_api_db.h - the framework's calls in the database: PYTORCH_API and its texts. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_API_DB_H
#define ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_API_DB_H

#include "export/framework/framework_db.h"

/* PYTORCH_API, CONNECTION_IDS and PYTORCH_CALLCHAINS. */
bool pytorch_api_db(const struct collection_export *x, struct db *db, struct error *e);

#endif

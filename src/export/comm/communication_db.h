/* SPDX-License-Identifier: Apache-2.0 */
/* communication_db.h - collectives in the database: COMMUNICATION_OP and COMMUNICATION_TASK_INFO. */
#ifndef ASCOPE_EXPORT_COMM_COMMUNICATION_DB_H
#define ASCOPE_EXPORT_COMM_COMMUNICATION_DB_H

#include "export/comm/communication.h"

bool communication_db(const struct export *x, struct db *db, struct error *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* answer_tables.h - answers with tables: their list, one of them sorted and filtered, and the result of an SQL
 * statement. */
#ifndef ASCOPE_VIEW_ANSWER_TABLES_H
#define ASCOPE_VIEW_ANSWER_TABLES_H

#include "view/question.h"

void answer_tables(struct question *a);
void answer_table(struct question *a);
void answer_sql(struct question *a);

#endif

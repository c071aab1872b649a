/* SPDX-License-Identifier: Apache-2.0 */
/* run_sources.h - the tables of a run as sources for SQL. */
#ifndef ASCOPE_SQL_RUN_RUN_SOURCES_H
#define ASCOPE_SQL_RUN_RUN_SOURCES_H

#include "sql/run/run_tables.h"
#include "sql/sql_source.h"

/* The tables are lent as long as the sources are used, and may be filled later. */
void run_sources(struct sql_source out[SQL_RUN_TABLES], const struct run_tables *t);

#endif

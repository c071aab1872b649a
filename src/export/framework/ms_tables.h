/* SPDX-License-Identifier: Apache-2.0 */
/* ms_tables.h - tables of what MindSpore records of its operators and datasets: dataset.csv, operator_details.csv. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_MS_TABLES_H
#define ASCOPE_EXPORT_FRAMEWORK_MS_TABLES_H

#include "export/framework/collection_export.h"

bool ms_dataset_table(const struct collection_export *x, struct table *out, struct error *e);
bool ms_operator_details_table(const struct collection_export *x, struct table *out, struct error *e);

#endif

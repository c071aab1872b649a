/* SPDX-License-Identifier: Apache-2.0 */
/* count_tables.h - reports about NUMA nodes and RDMA ports of the host. */
#ifndef ASCOPE_EXPORT_SAMPLERS_COUNT_TABLES_H
#define ASCOPE_EXPORT_SAMPLERS_COUNT_TABLES_H

#include "export/samplers/usage_export.h"

report_build host_numa_usage_table, host_roce_usage_table;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* link_counters.h - links and ports of a device (HCCS, NIC, RoCE, PCIe): reports, tracks and tables. */
#ifndef ASCOPE_EXPORT_SAMPLERS_LINK_COUNTERS_H
#define ASCOPE_EXPORT_SAMPLERS_LINK_COUNTERS_H

#include "export/samplers/counter_tracks.h"

extern const struct counter_process pcie_process, hccs_process, nic_process, roce_process, ub_process;
extern const struct family_table link_tables[];
extern const size_t n_link_tables;

bool pcie_report(const struct export *x, struct table *out, struct error *e);
bool hccs_report(const struct export *x, struct table *out, struct error *e);
bool nic_report(const struct export *x, struct table *out, struct error *e);
bool ub_report(const struct export *x, struct table *out, struct error *e);
bool roce_report(const struct export *x, struct table *out, struct error *e);

#endif

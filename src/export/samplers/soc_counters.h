/* SPDX-License-Identifier: Apache-2.0 */
/* soc_counters.h - traffic inside a chip (QoS, SIO, SoC, accelerators): tracks and tables. */
#ifndef ASCOPE_EXPORT_SAMPLERS_SOC_COUNTERS_H
#define ASCOPE_EXPORT_SAMPLERS_SOC_COUNTERS_H

#include "export/samplers/counter_tracks.h"

extern const struct counter_process soc_process, chip_trans_process, acc_process, sio_process, qos_process;
extern const struct family_table soc_tables[];
extern const size_t n_soc_tables;

#endif

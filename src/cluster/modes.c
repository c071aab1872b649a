/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/modes.h"

#include <string.h>

#include "cluster/modes/mode_parts.h"

const struct mode *const modes[] = {
    &mode_all,
    &mode_verdicts,
    &mode_communication_time,
    &mode_communication_matrix,
    &mode_communication_group_map,
    &mode_cluster_time_summary,
    &mode_cluster_time_compare_summary,
    &mode_slow_rank,
    &mode_slow_link,
    &mode_free_analysis,
    &mode_communication_bottleneck,
    &mode_compute_op_sum,
    &mode_hccl_sum,
    &mode_cann_api_sum,
    &mode_mstx_sum,
    &mode_freq_analysis,
    &mode_computational_op_masking,
    &mode_p2p_pairing,
    &mode_pp_chart,
    &mode_mstx2commop,
    &mode_ep_load_balance,
    &mode_module_statistic,
    &mode_operator_mfu,
    &mode_export_summary,
    &mode_communication_time_sum,
    &mode_communication_matrix_sum,
    NULL,
};

const struct mode *mode_find(const char *name, size_t len)
{
    for (size_t i = 0; modes[i]; i++)
        if (strlen(modes[i]->name) == len && strncmp(modes[i]->name, name, len) == 0)
            return modes[i];
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sim_torch_tables.h - the networks of a simulated process, module by module. */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_TORCH_TABLES_H
#define ASCOPE_SIM_FRAMEWORK_SIM_TORCH_TABLES_H

#include "sim/framework/sim_torch.h"

extern const struct torch_network torch_networks[]; /* as sim_operators */

#endif

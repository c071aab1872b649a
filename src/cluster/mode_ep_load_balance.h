/* SPDX-License-Identifier: Apache-2.0 */
/* mode_ep_load_balance.h - tokens that each rank of a group of experts computed. */
#ifndef ASCOPE_CLUSTER_MODE_EP_LOAD_BALANCE_H
#define ASCOPE_CLUSTER_MODE_EP_LOAD_BALANCE_H

#include "cluster/modes.h"

extern const struct mode mode_ep_load_balance;

#endif

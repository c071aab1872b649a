/* SPDX-License-Identifier: Apache-2.0 */
/* ccu_load.h - loads the records of collective communication units. */
#ifndef ASCOPE_LOAD_PROF_CCU_LOAD_H
#define ASCOPE_LOAD_PROF_CCU_LOAD_H

#include "profile/profile.h"

bool ccu_load(struct device *d, struct error *e);        /* of a device */
bool ccu_plans_load(struct profile *p, struct error *e); /* of the host */

#endif

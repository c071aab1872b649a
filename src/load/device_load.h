/* SPDX-License-Identifier: Apache-2.0 */
/* device_load.h - loads the records of a device's scheduler and AI CPU into tables. */
#ifndef ASCOPE_LOAD_DEVICE_LOAD_H
#define ASCOPE_LOAD_DEVICE_LOAD_H

#include "profile/profile.h"

bool device_load(struct profile *p, struct device *d, struct error *e);

#endif

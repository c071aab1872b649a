/* SPDX-License-Identifier: Apache-2.0 */
/* release.h - columns that no later step of the analysis and no output reads go back to the system.
 *
 * Raw records of the host are as large as everything that is made of them; without this an export would hold both. Each
 * function stands in analyse.c behind the last step that needs what it releases.
 */
#ifndef ASCOPE_ANALYSE_RELEASE_H
#define ASCOPE_ANALYSE_RELEASE_H

#include "profile/profile.h"

void release_host_records(struct profile *p); /* but for those of communication, which the devices ask for */
void release_device_log(struct device *d);    /* once tasks and counters are made of it */
void release_requests(struct profile *p);     /* once every device is analysed */

#endif

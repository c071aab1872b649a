/* SPDX-License-Identifier: Apache-2.0 */
/* release.h - releases columns that no later step of the analysis and no output reads.
 *
 * Raw records of the host are as large as everything that is derived from them; without this an export would hold both.
 * Each function is called after the last step that needs what it releases.
 */
#ifndef ASCOPE_ANALYSE_RELEASE_H
#define ASCOPE_ANALYSE_RELEASE_H

#include "profile/profile.h"

void release_host_records(struct profile *p); /* without those of communication, which the devices need */
void release_device_log(struct device *d);    /* after tasks and counters are built from it */
void release_requests(struct profile *p);     /* once every device is analysed */

#endif

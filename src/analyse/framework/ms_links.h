/* SPDX-License-Identifier: Apache-2.0 */
/* ms_links.h - which range of MindSpore launched which kernel and set which mark.
 *
 * They are matched by thread and time: a kernel belongs to the launch range during which its thread called the device's
 * runtime. A mark belongs to the range that MindSpore recorded around it.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_MS_LINKS_H
#define ASCOPE_ANALYSE_FRAMEWORK_MS_LINKS_H

#include "profile/collection.h"

/* Fills collection.links and collection.launches; after kernels_collect(). False: no memory. */
bool ms_links_find(struct collection *s, struct arena *spare);

#endif

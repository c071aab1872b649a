/* SPDX-License-Identifier: Apache-2.0 */
/* ms_links.h - which range of MindSpore launched which kernel, and set which mark.
 *
 * By time and thread: a kernel belongs to the launch range of the thread that called the device's runtime for it, in whose time the call
 * began. A mark belongs to the range that MindSpore recorded around its call.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_MS_LINKS_H
#define ASCOPE_ANALYSE_FRAMEWORK_MS_LINKS_H

#include "profile/collection.h"

/* Fills collection.links and collection.launches; after kernels_collect(). False: no memory. */
bool ms_links_find(struct collection *s, struct arena *spare);

#endif

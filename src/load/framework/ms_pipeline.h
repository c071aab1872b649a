/* SPDX-License-Identifier: Apache-2.0 */
/* ms_pipeline.h - reads what MindSpore records of its dataset pipeline: the nodes and their queues, their CPU use, and
 * batches. */
#ifndef ASCOPE_LOAD_FRAMEWORK_MS_PIPELINE_H
#define ASCOPE_LOAD_FRAMEWORK_MS_PIPELINE_H

#include "profile/framework.h"

/* Of the three files FRAMEWORK_PIPELINE…, which are open. What cannot be used is counted. False: no memory. */
bool ms_pipeline_load(struct framework *f);

#endif

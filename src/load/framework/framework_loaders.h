/* SPDX-License-Identifier: Apache-2.0 */
/* framework_loaders.h - registry: the readers of the files of FRAMEWORK. */
#ifndef ASCOPE_LOAD_FRAMEWORK_FRAMEWORK_LOADERS_H
#define ASCOPE_LOAD_FRAMEWORK_FRAMEWORK_LOADERS_H

#include <stdint.h>

#include "base/memory/names.h"
#include "load/framework/framework_load.h"
#include "load/framework/tlv.h"
#include "profile/framework.h"
#include "profile/profile.h"

/* ms_pipeline.c: reads what MindSpore records of its dataset pipeline: the nodes and their queues, their CPU use, and
 * batches. */

/* Of the three files FRAMEWORK_PIPELINE…, which are open. What cannot be used is counted. False: no memory. */
bool ms_pipeline_load(struct framework *f);

/* python.c: makes calls of the enter and leave records of Python frames. */

/* Of the files FRAMEWORK_PYTHON and FRAMEWORK_PYTHON_KEYS. False: no memory. */
bool python_load(struct framework *f, const struct framework_request *r);

/* tensors.c: shapes, data types and formats of operators, from numbers to the texts of the reports. */

bool tensors_load(struct profile *p, struct error *e);      /* tensor_info: one row for each operator */
bool captured_ops_load(struct profile *p, struct error *e); /* capture_op_info, in its fixed and its variable form */

/* ms_ranges.c: reads the ranges that MindSpore records: operators, Python calls, stages of datasets, and flows between
 * them. */

void ms_ranges_load(struct framework_loading *l, struct framework_file *file);     /* mindspore.op_range */
void ms_old_ranges_load(struct framework_loading *l, struct framework_file *file); /* op_range_{rank} */

/* ms_load.c: the files of MindSpore's FRAMEWORK directory, and how each is read into columns.
 *
 * Ranges come in two forms, distinguished by the name of their file; see raw/mindspore.h. The rank is a part of most
 * names. */

/* Finds the names of the files of a collection, allocated in mem: those of the given rank, or if it has none, of the
 * lowest rank that has. False: out of memory. */
bool ms_format_find(struct framework_format *out, const char *path, int64_t rank, struct arena *mem);

/* Whether a FRAMEWORK directory holds files of MindSpore, by their names. */
bool ms_files_are_there(const char *framework);

/* The files that are loaded if the activity CPU was off. */
enum {
    MS_FILES_WITHOUT_CPU = FRAMEWORK_FILE(FRAMEWORK_PIPELINE) | FRAMEWORK_FILE(FRAMEWORK_PIPELINE_CPU) |
                           FRAMEWORK_FILE(FRAMEWORK_PIPELINE_BATCHES)
};

/* torch_load.c: the files of PyTorch's FRAMEWORK directory, and how each is read into columns. */

extern const struct framework_format torch_format;

/* ms_load.c: texts in MindSpore's records: one that is not UTF-8 is "N/A" as a whole, as the reference has it, and
 * *is_bad is set. */

struct tlv_text ms_text_checked(struct tlv_text t, bool *is_bad);
name_id ms_text_name(struct names *names, struct tlv_text t, name_id otherwise,
                     bool *is_bad); /* otherwise: it is not there */

/* raw_bytes.c: the approximate number of bytes to read of a collection, for the progress display. */

uint64_t raw_bytes(const char *path); /* of all files in its data and FRAMEWORK folders; links are not followed */

#endif

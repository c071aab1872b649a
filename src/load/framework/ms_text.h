/* SPDX-License-Identifier: Apache-2.0 */
/* ms_text.h - texts in MindSpore's records: one that is not UTF-8 is "N/A" as a whole, as the reference has it, and
 * *is_bad is set. */
#ifndef ASCOPE_LOAD_FRAMEWORK_MS_TEXT_H
#define ASCOPE_LOAD_FRAMEWORK_MS_TEXT_H

#include "base/memory/names.h"
#include "load/framework/tlv.h"

struct tlv_text ms_text_checked(struct tlv_text t, bool *is_bad);
name_id ms_text_name(struct names *names, struct tlv_text t, name_id otherwise,
                     bool *is_bad); /* otherwise: it is not there */

#endif

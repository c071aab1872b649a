/* SPDX-License-Identifier: Apache-2.0 */
/* raw_bytes.h - the approximate number of bytes to read of a collection, for the progress display. */
#ifndef ASCOPE_LOAD_FRAMEWORK_RAW_BYTES_H
#define ASCOPE_LOAD_FRAMEWORK_RAW_BYTES_H

#include <stdint.h>

uint64_t raw_bytes(const char *path); /* of all files in its data and FRAMEWORK folders; links are not followed */

#endif

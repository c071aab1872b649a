/* SPDX-License-Identifier: Apache-2.0 */
/* source_stamp.h - detects changes of a file or directory: a hash of the sizes and times of all files in it.
 *
 * Results that an analysis wrote into a collection are ignored. Of large trees only a part is examined, so that a
 * change may be missed.
 */
#ifndef ASCOPE_VIEW_SERVER_SOURCE_STAMP_H
#define ASCOPE_VIEW_SERVER_SOURCE_STAMP_H

#include <stdint.h>

enum { SOURCE_GONE = 0 };

uint64_t source_stamp(const char *path); /* SOURCE_GONE: it is not there */

#endif

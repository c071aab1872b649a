/* SPDX-License-Identifier: Apache-2.0 */
/* source_stamp.h - whether a file or directory is still what it was: a number of the sizes and times of all files in it.
 *
 * What an analysis wrote into a collection is not part of it. Large trees are looked at in part: a change there may be missed.
 */
#ifndef ASCOPE_VIEW_SOURCE_STAMP_H
#define ASCOPE_VIEW_SOURCE_STAMP_H

#include <stdint.h>

enum { SOURCE_GONE = 0 };

uint64_t source_stamp(const char *path); /* SOURCE_GONE: it is not there */

#endif

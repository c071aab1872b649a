/* SPDX-License-Identifier: Apache-2.0 */
/* memory_timeline_file.h - the memory timeline as a file: numbers for programs, a page for people.
 *
 *   *.html                    a page that needs nothing else: areas over time, with what each category holds
 *   *raw.json, *raw.json.gz   [[time ns, action, bytes, category], ...], each change by itself; -1 is before all
 *   everything else           [[time us, ...], [[0, bytes of each category in order], ...]]; compressed where it ends with .gz
 */
#ifndef ASCOPE_EXPORT_PAGES_MEMORY_TIMELINE_FILE_H
#define ASCOPE_EXPORT_PAGES_MEMORY_TIMELINE_FILE_H

#include "analyse/memory_timeline/memory_timeline.h"

/* Reads "cpu", "npu:0" or "cuda:0". False: it is none of these. */
bool memory_device_read(const char *text, struct memory_device *out);
enum { MEMORY_DEVICE_TEXT = 24 };
const char *memory_device_text(struct memory_device d, char out[MEMORY_DEVICE_TEXT]);

/* `of` is the title of the page: the name of the directory. */
bool memory_timeline_write(const struct memory_timeline *m, const char *of, const char *path, struct error *e);

#endif

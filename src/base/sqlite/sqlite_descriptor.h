/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_descriptor.h - lets SQLite open a descriptor of ours.
 *
 * SQLite opens paths, and follows links in them; /proc, which has a path for each descriptor, is not there everywhere.
 * So the call by which it opens files is replaced, as its interface for other systems allows: a name that
 * descriptor_uri() has made becomes a copy of the descriptor, and any other is opened as before. It is to be used
 * without a journal: there is nothing beside it.
 */
#ifndef ASCOPE_BASE_SQLITE_SQLITE_DESCRIPTOR_H
#define ASCOPE_BASE_SQLITE_SQLITE_DESCRIPTOR_H

enum { DESCRIPTOR_URI = 64 };
/* A name to be opened with SQLITE_OPEN_URI while fd is open. Returns `to`. */
const char *descriptor_uri(char to[DESCRIPTOR_URI], int fd);

#endif

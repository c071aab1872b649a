/* SPDX-License-Identifier: Apache-2.0 */
/* escaped.h - names as JSON strings, escaped once instead of each time they are written.
 *
 * A timeline contains the same few names and call stacks a million times. Those that fit into a bounded amount of
 * memory are kept; the others are escaped as they are written. The output is the same.
 */
#ifndef ASCOPE_EXPORT_ESCAPED_H
#define ASCOPE_EXPORT_ESCAPED_H

#include "base/memory/names.h"
#include "base/files/out.h"

struct escaped;

struct escaped *escaped_new(
    const struct names *names);       /* of the names that exist now; owner: the caller; NULL: no memory */
void escaped_free(struct escaped *e); /* NULL is fine */

/* Writes a name without the quotes around it. Several threads may call it at once. `e` NULL: nothing was kept. */
void escaped_write(const struct escaped *e, const struct names *names, name_id name, struct out *o);

#endif

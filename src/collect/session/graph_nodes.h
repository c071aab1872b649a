/* SPDX-License-Identifier: Apache-2.0 */
/* graph_nodes.h - which operator each node of a captured graph is of.
 *
 * The device's library reports nodes on the thread that captures them; the operator that is open there
 * (ascope_graph_op_begin()) is theirs. The graph that is launched later is a copy, whose nodes have ids of their own:
 * those of a copy are of the operator of the original. Ids are never used again in a process.
 *
 * Everything is kept from one session to the next, up to a limit; what is above it is counted. One thread of a session
 * writes it (graph_nodes_write()), because rings have no room for all of it at once.
 */
#ifndef ASCOPE_COLLECT_SESSION_GRAPH_NODES_H
#define ASCOPE_COLLECT_SESSION_GRAPH_NODES_H

#include <stdint.h>

void graph_nodes_add(uint64_t id); /* of the operator that is open on this thread; without one it is forgotten */
void graph_nodes_copy(uint64_t id, uint64_t of_id); /* of the operator of another node */

void graph_nodes_begin(void); /* of a session: nothing is written yet */
void graph_nodes_write(
    void); /* what is not written yet: by one thread of the session, again and again. Waits for room */

#endif

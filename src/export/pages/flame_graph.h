/* SPDX-License-Identifier: Apache-2.0 */
/* flame_graph.h - a flame graph as a page for a browser: one file that needs no other. */
#ifndef ASCOPE_EXPORT_PAGES_FLAME_GRAPH_H
#define ASCOPE_EXPORT_PAGES_FLAME_GRAPH_H

#include "export/pages/stacks.h"

/* The same, added up and drawn, with operators as innermost frames: an SVG file that needs nothing else, in which one can
 * zoom and search. */
bool flame_graph_write(const struct collection *s, enum time_metric metric, const char *path, struct error *e);

#endif

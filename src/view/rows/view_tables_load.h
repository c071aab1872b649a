/* SPDX-License-Identifier: Apache-2.0 */
/* view_tables_load.h - a folder of tables (the text results of a cluster: *.csv and *.json) as an input of the viewer.
 *
 * Each file is a table of SQL; of a JSON file, one row for each of its values with the path to it. There is no
 * timeline.
 */
#ifndef ASCOPE_VIEW_ROWS_VIEW_TABLES_LOAD_H
#define ASCOPE_VIEW_ROWS_VIEW_TABLES_LOAD_H

#include "view/rows/view_input.h"

bool view_tables_load(struct view_input *in,
                      struct error *e); /* a `load` of struct view_input; its path is the folder */

#endif

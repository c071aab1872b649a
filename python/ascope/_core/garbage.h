/* SPDX-License-Identifier: Apache-2.0 */
/* garbage.h - records garbage collections of Python above a threshold. With the GIL. */
#ifndef ASCOPE_PYTHON_GARBAGE_H
#define ASCOPE_PYTHON_GARBAGE_H

void garbage_on(double threshold_ms);
void garbage_off(void); /* also if it is not on */

#endif

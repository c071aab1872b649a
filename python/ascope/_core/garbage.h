/* garbage.h - collections of Python's garbage, recorded where they take as long as a threshold says. With the GIL. */
#ifndef ASCOPE_PYTHON_GARBAGE_H
#define ASCOPE_PYTHON_GARBAGE_H

void garbage_on(double threshold_ms);
void garbage_off(void); /* also where it is not on */

#endif

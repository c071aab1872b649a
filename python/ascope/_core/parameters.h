/* SPDX-License-Identifier: Apache-2.0 */
/* parameters.h - records the parameters of modules and optimizers, once for each, when it is called. With the GIL. */
#ifndef ASCOPE_PYTHON_PARAMETERS_H
#define ASCOPE_PYTHON_PARAMETERS_H

#include "known.h"

extern bool parameters_are_recorded;

/* Takes the reference to ascope._modules, which turns tensors into texts; NULL: there is no PyTorch. */
void parameters_begin(PyObject *words, bool is_recorded, bool is_sim);
void parameters_end(void);

/* Of a call that has just begun: `known` is the module or the optimizer's step, `code` the code that is called. False:
 * an exception is set that the program has to see. */
bool parameters_record(PyFrameObject *frame, struct known *known, const struct known *code);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What Python says of a frame in other ways in every version. The first argument of a call: before 3.12 there is no
 * function for it but one that makes a dict of all variables, which would keep them alive; there it is read where
 * the interpreter has it. */
#include "versions.h"

#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
#define Py_BUILD_CORE 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <internal/pycore_frame.h>
#pragma GCC diagnostic pop
#endif

#include "known.h"

#if PY_VERSION_HEX >= 0x030c0000
int frame_instruction(PyFrameObject *frame)
{
    return PyFrame_GetLasti(frame);
}
#elif PY_VERSION_HEX >= 0x030b0000
int frame_instruction(PyFrameObject *frame)
{
    return _PyInterpreterFrame_LASTI(frame->f_frame);
}
#else
int frame_instruction(PyFrameObject *frame)
{
    return frame->f_lasti;
}
#endif

#if PY_VERSION_HEX >= 0x030c0000
PyObject *frame_first_argument(PyFrameObject *frame)
{
    PyCodeObject *const code = PyFrame_GetCode(frame);
    PyObject *const names = PyCode_GetVarnames(code);
    PyObject *const first =
        names && PyTuple_GET_SIZE(names) > 0 ? PyFrame_GetVar(frame, PyTuple_GET_ITEM(names, 0)) : NULL;
    if (!first)
        PyErr_Clear();
    Py_XDECREF(names);
    Py_DECREF(code);
    return first;
}
#else
PyObject *frame_first_argument(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    PyObject *const first = frame->f_frame->f_code->co_argcount > 0 ? frame->f_frame->localsplus[0] : NULL;
#else
    const PyCodeObject *const code = frame->f_code;
    PyObject *first = code->co_argcount > 0 ? frame->f_localsplus[0] : NULL;
    /* One that a closure uses is in a cell behind the variables. */
    for (Py_ssize_t i = 0; !first && code->co_cell2arg && i < PyTuple_GET_SIZE(code->co_cellvars); i++)
        if (code->co_cell2arg[i] == 0)
            first = frame->f_localsplus[code->co_nlocals + i];
#endif
    return Py_XNewRef(first && PyCell_Check(first) ? PyCell_GET(first) : first);
}
#endif

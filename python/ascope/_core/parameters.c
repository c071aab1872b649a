/* SPDX-License-Identifier: Apache-2.0 */
#include "parameters.h"

#include "ascope/record.h"

bool parameters_are_recorded;
static PyObject *words_of_torch; /* ascope._modules */
static bool is_sim;              /* the device is simulated: it has names of its own */

void parameters_begin(PyObject *words, bool is_recorded, bool of_sim)
{
    words_of_torch = words;
    parameters_are_recorded = is_recorded && words;
    is_sim = of_sim;
}

void parameters_end(void)
{
    parameters_are_recorded = false;
    Py_CLEAR(words_of_torch);
}

/* Exceptions that a program's tensors may raise when they are asked for their properties: these stay here. All others
 * are not about tensors: Ctrl-C, or a signal handler that raises because the time is up. */
static bool is_of_tensors(void)
{
    PyObject *const kinds[] = { PyExc_AttributeError, PyExc_TypeError, PyExc_ValueError, PyExc_RuntimeError,
                                PyExc_LookupError };
    bool is_one = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        is_one |= PyErr_ExceptionMatches(kinds[i]) != 0;
    return is_one;
}

static bool record(PyObject *of, const struct known *known, const struct known *code)
{
    const bool is_optimizer = !known->module;
    PyObject *type, *value, *trouble;
    PyErr_Fetch(&type, &value, &trouble);
    PyObject *const texts = PyObject_CallMethod(
        words_of_torch, is_optimizer ? "optimizer_parameters" : "module_parameters", "Oi", of, (int)is_sim);
    const Py_ssize_t n = texts && PyList_Check(texts) ? PyList_GET_SIZE(texts) : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t bytes = 0;
        const char *const words = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(texts, i), &bytes);
        /* A record has a limit. Further texts belong to calls of the same name that were never made, of no length. */
        const struct known *const to = i == 0 ? known : known_again(code);
        if (!words || !to)
            continue;
        ascope_python_parameters(to->key, is_optimizer, (struct ascope_text){ words, (uint32_t)bytes });
        if (i > 0) {
            ascope_python_event(ASCOPE_PYTHON_CALL, to->key);
            ascope_python_event(ASCOPE_PYTHON_RETURN, known_exit()->key);
        }
    }
    Py_XDECREF(texts);
    if (PyErr_Occurred() && !type && !is_of_tensors())
        return false;
    PyErr_Restore(type, value, trouble);
    return true;
}

APART bool parameters_record(PyFrameObject *frame, struct known *known, const struct known *code)
{
    PyObject *const self = frame_first_argument(frame);
    known->is_recorded = true;
    const bool is_well = !self || record(self, known, code);
    Py_XDECREF(self);
    return is_well;
}

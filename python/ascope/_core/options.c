/* SPDX-License-Identifier: Apache-2.0 */
/* Options as Python values. The table of libascope says what there is; nothing here knows a single option. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#include "ascope/recorder_options.h"

/* New reference to a text; NULL with the Python error set. */
static PyObject *text_of(PyObject *value)
{
    if (PyUnicode_Check(value))
        return Py_NewRef(value);
    if (PyBool_Check(value))
        return PyUnicode_FromString(value == Py_True ? "true" : "false");
    if (PyLong_Check(value) || PyFloat_Check(value))
        return PyObject_Str(value);
    PyObject *const list = PySequence_Fast(value, "an option is a string, a number, a boolean, or a list of strings");
    PyObject *const comma = list ? PyUnicode_FromString(",") : NULL;
    PyObject *const joined = comma ? PyUnicode_Join(comma, list) : NULL;
    Py_XDECREF(comma);
    Py_XDECREF(list);
    return joined;
}

bool options_of_dict(struct ascope_options *o, PyObject *dict)
{
    ascope_options_init(o);
    if (dict == NULL || dict == Py_None)
        return true;
    if (!PyDict_Check(dict)) {
        PyErr_Format(PyExc_TypeError, "options: expected a dict, got %s", Py_TYPE(dict)->tp_name);
        return false;
    }
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) {
        const char *const name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
        if (!name) {
            PyErr_SetString(PyExc_TypeError, "options: expected strings as names");
            return false;
        }
        if (value == Py_None)
            continue;
        PyObject *const text = text_of(value);
        const char *const bytes = text ? PyUnicode_AsUTF8(text) : NULL;
        const bool is_known = bytes && ascope_options_set(o, name, bytes);
        Py_XDECREF(text);
        if (!bytes)
            return false;
        if (!is_known) {
            PyErr_Format(core_error, "options: unknown name \"%s\"; docs/recorder-options.md lists them all", name);
            return false;
        }
    }
    return true;
}

/* ---- from libascope ---- */

static bool put(PyObject *dict, const char *key, PyObject *value) /* takes the value */
{
    const bool is_put = value && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return is_put;
}

static PyObject *text_or_none(const char *text)
{
    return text ? PyUnicode_DecodeFSDefault(text) : Py_NewRef(Py_None);
}

static PyObject *split(const char *list)
{
    PyObject *const text = PyUnicode_DecodeFSDefault(list);
    PyObject *const items = text ? PyObject_CallMethod(text, "split", "s", ",") : NULL;
    Py_XDECREF(text);
    return items;
}

/* New reference: a bool, an int, a float, a str or a list of them, as the kind says; None: nothing is set. */
static PyObject *value_of(const struct ascope_options *o, const struct ascope_option *r)
{
    char *const text = ascope_options_get(o, r->names->name);
    PyObject *value;
    if (!text)
        value = Py_NewRef(Py_None);
    else if (r->kind == ASCOPE_OPTION_BOOLEAN)
        value = PyBool_FromLong(strcmp(text, "true") == 0 || strcmp(text, "on") == 0);
    else if (r->kind == ASCOPE_OPTION_NUMBER)
        value = PyLong_FromString(text, NULL, 10);
    else if (r->kind == ASCOPE_OPTION_MS)
        value = PyFloat_FromDouble(PyOS_string_to_double(text, NULL, NULL));
    else if (r->kind == ASCOPE_OPTION_LIST || r->kind == ASCOPE_OPTION_NAMES)
        value = split(text);
    else
        value = text_or_none(text);
    free(text);
    return value;
}

PyObject *options_to_dict(const struct ascope_options *o)
{
    PyObject *const dict = PyDict_New();
    bool is_well = dict;
    const struct ascope_option *r;
    for (size_t i = 0; is_well && (r = ascope_option_at(i)); i++)
        is_well = put(dict, r->names->name, value_of(o, r));
    if (is_well)
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

/* ---- the table ---- */

/* The usual names; the others are accepted by libascope, too. */
static PyObject *choices_of(const struct ascope_option *r)
{
    PyObject *const list = PyList_New(0);
    bool is_well = list;
    for (const struct ascope_choice *c = r->choices; is_well && c && c->name; c++) {
        bool is_first = true;
        for (const struct ascope_choice *before = r->choices; before < c; before++)
            is_first &= before->value != c->value;
        PyObject *const name = is_first ? PyUnicode_FromString(c->name) : NULL;
        is_well = !is_first || (name && PyList_Append(list, name) == 0);
        Py_XDECREF(name);
    }
    if (is_well)
        return list;
    Py_XDECREF(list);
    return NULL;
}

static PyObject *row_of(const struct ascope_option *r)
{
    static const char *const kinds[] = {
        [ASCOPE_OPTION_BOOLEAN] = "boolean", [ASCOPE_OPTION_CHOICE] = "choice", [ASCOPE_OPTION_LIST] = "list",
        [ASCOPE_OPTION_NUMBER] = "number",   [ASCOPE_OPTION_MS] = "ms",         [ASCOPE_OPTION_TEXT] = "text",
        [ASCOPE_OPTION_NAMES] = "names"
    };
    static const char *const sections[] = {
        [ASCOPE_SECTION_COMMON] = "common_config", [ASCOPE_SECTION_EXPERIMENTAL] = "experimental_config"
    };
    struct ascope_options defaults;
    char values[400];
    PyObject *const row = PyDict_New();
    ascope_options_init(&defaults);
    ascope_option_values(r, values, sizeof values);
    if (row && put(row, "name", text_or_none(r->names->name)) && put(row, "kind", text_or_none(kinds[r->kind])) &&
        put(row, "choices", choices_of(r)) && put(row, "values", text_or_none(values)) &&
        put(row, "default", value_of(&defaults, r)) && put(row, "otherwise", text_or_none(r->otherwise)) &&
        put(row, "help", text_or_none(r->help)) && put(row, "section", text_or_none(sections[r->section])) &&
        put(row, "key", text_or_none(r->key)) && put(row, "parameter", PyLong_FromUnsignedLong(r->parameter)) &&
        put(row, "is_old", PyBool_FromLong(r->is_old)))
        return row;
    Py_XDECREF(row);
    return NULL;
}

static PyObject *core_option_table(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *const table = PyList_New(0);
    const struct ascope_option *r;
    bool is_well = table;
    for (size_t i = 0; is_well && (r = ascope_option_at(i)); i++) {
        PyObject *const row = row_of(r);
        is_well = row && PyList_Append(table, row) == 0;
        Py_XDECREF(row);
    }
    if (is_well)
        return table;
    Py_XDECREF(table);
    return NULL;
}

static PyObject *core_check_options(PyObject *module, PyObject *dict)
{
    (void)module;
    struct ascope_options o;
    if (!options_of_dict(&o, dict))
        return NULL;
    ascope_options_check(&o);
    return options_to_dict(&o);
}

static PyMethodDef functions[] = {
    { "check_options", core_check_options, METH_O,
      "check_options(options) -> dict\n\nAll options as a session would have them that is given these: invalid values and\n"
      "combinations are replaced, each with a warning." },
    { "option_table", core_option_table, METH_NOARGS,
      "option_table() -> list\n\nA dict for each option of a recording: name, kind, choices, values and default, otherwise\n"
      "(what holds without a value), help, section and key in profiler_info.json, parameter (its place in\n"
      "_ExperimentalConfig, from 1; 0: not one of them), is_old." },
    { NULL, NULL, 0, NULL },
};

bool options_add(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}

#include "core.h"

#include <stdio.h>
#include <string.h>

/* New reference to a text; NULL with the Python error set. */
static PyObject *text_of(PyObject *value)
{
    if (PyUnicode_Check(value))
        return Py_NewRef(value);
    if (PyBool_Check(value))
        return PyUnicode_FromString(value == Py_True ? "true" : "false");
    if (PyLong_Check(value) || PyFloat_Check(value))
        return PyObject_Str(value);
    PyObject *const list = PySequence_Fast(value, "an option is a text, a number, a truth, or a list of texts");
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
        PyErr_Format(PyExc_TypeError, "options: wanted a dict, found %s", Py_TYPE(dict)->tp_name);
        return false;
    }
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) {
        const char *const name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
        if (!name) {
            PyErr_SetString(PyExc_TypeError, "options: names are texts");
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
            PyErr_Format(core_error, "options: there is none with the name \"%s\"; docs/collector.md has them all",
                         name);
            return false;
        }
    }
    return true;
}

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

PyObject *options_to_dict(const struct ascope_options *o)
{
    static const char *const levels[] = { "Level0", "Level1", "Level2", "Level_none" };
    const struct {
        const char *name;
        bool is_on;
    } truth[] = {
        { "record_shapes", o->record_shapes },
        { "profile_memory", o->profile_memory },
        { "with_stack", o->with_stack },
        { "with_flops", o->with_flops },
        { "with_modules", o->with_modules },
        { "l2_cache", o->l2_cache },
        { "mstx", o->mstx },
        { "op_attr", o->op_attr },
        { "record_op_args", o->record_op_args },
        { "sys_io", o->sys_io },
        { "export_text", o->export_text },
        { "export_db", o->export_db },
        { "sys_interconnection", o->sys_interconnection },
    };
    PyObject *const dict = PyDict_New();
    bool is_well = dict;
    for (size_t i = 0; is_well && i < sizeof truth / sizeof *truth; i++)
        is_well = put(dict, truth[i].name, PyBool_FromLong(truth[i].is_on));
    is_well = is_well && put(dict, "activities", PyLong_FromUnsignedLong(o->activities)) &&
              put(dict, "rank", PyLong_FromLong(o->rank)) && put(dict, "device", text_or_none(o->device)) &&
              put(dict, "profiler_level",
                  text_or_none(o->level < sizeof levels / sizeof *levels ? levels[o->level] : NULL)) &&
              put(dict, "gc_detect_threshold",
                  o->gc_threshold_ms < 0 ? Py_NewRef(Py_None) : PyFloat_FromDouble(o->gc_threshold_ms)) &&
              put(dict, "mstx_domain_include", text_or_none(o->mstx_domain_include)) &&
              put(dict, "mstx_domain_exclude", text_or_none(o->mstx_domain_exclude));
    if (is_well)
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascope/record.h"

enum { CLASSES_FIRST = 64, TABLE_FIRST = 4096 };

/* How many modules of a class there are: they are numbered as in the timeline. */
struct class_count {
    char *name;
    unsigned n;
};

static struct known **table; /* open addressing; a power of two */
static size_t room, n_known;
static uint64_t last_key;
static struct known *again; /* those with words of others, in a chain by `also` */
static struct known leaves;
static PyObject *code_of_modules, *code_of_optimizers;
static bool is_mindspore;
static struct class_count *classes;
static size_t n_classes, classes_room;
static char **prefix; /* directories that modules are found in, each with a slash at the end */
static size_t n_prefixes;
static char package[KNOWN_TEXT_MOST],
    runpy[KNOWN_TEXT_MOST]; /* our directory, with a slash at the end; a file. Empty: unknown */

/* ---- words ---- */

/* Copies a text into `out` as UTF-8, cut between two characters where it is too long. Characters that separate the
 * frames of a stack become '?'. Returns the length. */
static size_t words_of(PyObject *text, char *out, size_t most)
{
    PyObject *const bytes = text && PyUnicode_Check(text) ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;
    size_t n = 0;
    if (bytes) {
        const char *const from = PyBytes_AS_STRING(bytes);
        n = (size_t)PyBytes_GET_SIZE(bytes);
        if (n >= most)
            for (n = most - 1; n > 0 && ((unsigned char)from[n] & 0xC0) == 0x80;)
                n--; /* a byte that continues a character */
        memcpy(out, from, n);
        for (size_t i = 0; i < n; i++)
            if (out[i] == ';' || out[i] == '\n' || out[i] == '\r' || out[i] == '\0')
                out[i] = '?';
    } else {
        PyErr_Clear();
    }
    out[n] = '\0';
    Py_XDECREF(bytes);
    return n;
}

static void prefixes_find(void)
{
    PyObject *const path = PySys_GetObject("path");
    const Py_ssize_t n = path && PyList_Check(path) ? PyList_GET_SIZE(path) : 0;
    char words[KNOWN_TEXT_MOST];
    prefix = calloc((size_t)n + 1, sizeof *prefix);
    for (Py_ssize_t i = 0; prefix && i < n; i++) {
        const size_t bytes = words_of(PyList_GET_ITEM(path, i), words, sizeof words - 1);
        if (bytes == 0 || words[0] != '/')
            continue;
        if (words[bytes - 1] != '/')
            memcpy(words + bytes, "/", 2);
        if ((prefix[n_prefixes] = strdup(words)))
            n_prefixes++;
    }
}

static const char *without_prefix(const char *path)
{
    size_t longest = 0;
    for (size_t i = 0; i < n_prefixes; i++) {
        const size_t n = strlen(prefix[i]);
        if (n > longest && strncmp(path, prefix[i], n) == 0)
            longest = n;
    }
    return path + longest;
}

/* An attribute of a module that was imported, by steps; empty where there is none. Its length. */
static size_t imported(const char *module, const char *const *step, char *out, size_t most)
{
    PyObject *const loaded = PyImport_GetModuleDict();
    PyObject *at = loaded ? Py_XNewRef(PyDict_GetItemString(loaded, module)) : NULL;
    for (; at && *step; step++) {
        PyObject *const next = PyObject_GetAttrString(at, *step);
        Py_DECREF(at);
        at = next;
    }
    const size_t n = words_of(at, out, most);
    PyErr_Clear();
    Py_XDECREF(at);
    return n;
}

static void ours_find(void)
{
    static const char *const file[] = { "__file__", NULL }, *const code[] = { "run_path", "__code__", "co_filename",
                                                                              NULL };
    imported("ascope", file, package, sizeof package);
    char *const slash = strrchr(package, '/');
    package[slash ? slash + 1 - package : 0] = '\0';
    imported("runpy", code, runpy, sizeof runpy);
}

/* Files of the package, and Python's own that runs scripts for it. */
static bool is_ours(const char *file)
{
    const size_t n = strlen(package);
    if (n > 0 && strncmp(file, package, n) == 0)
        return true;
    return *runpy && strcmp(file, runpy) == 0;
}

static void record_text(uint64_t key, const char *words)
{
    ascope_python_key(key, ascope_text_of(words));
}

/* ---- the table ---- */

static size_t place_of(const void *what, const void *also)
{
    const uint64_t mixed = ((uint64_t)(uintptr_t)what ^ ((uint64_t)(uintptr_t)also << 7)) * 0x9E3779B97F4A7C15u;
    return (size_t)(mixed >> 20) & (room - 1);
}

static bool grow(void)
{
    const size_t had = room;
    struct known **const old = table;
    struct known **const more = calloc(had ? had * 2 : TABLE_FIRST, sizeof *more);
    if (!more)
        return false;
    table = more;
    room = had ? had * 2 : TABLE_FIRST;
    for (size_t i = 0; i < had; i++)
        if (old[i]) {
            size_t at = place_of(old[i]->what, old[i]->also);
            while (table[at])
                at = (at + 1) & (room - 1);
            table[at] = old[i];
        }
    free(old);
    return true;
}

static inline struct known *find(const void *what, const void *also)
{
    if (room == 0)
        return NULL;
    for (size_t at = place_of(what, also); table[at]; at = (at + 1) & (room - 1))
        if (table[at]->what == what && table[at]->also == also)
            return table[at];
    return NULL;
}

static struct known *add(const void *what, const void *also, PyObject *kept)
{
    if (n_known * 2 >= room && !grow())
        return NULL;
    struct known *const k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    *k = (struct known){ .key = ++last_key, .what = what, .also = also, .kept = Py_XNewRef(kept) };
    size_t at = place_of(what, also);
    while (table[at])
        at = (at + 1) & (room - 1);
    table[at] = k;
    n_known++;
    return k;
}

/* ---- code ---- */

static void words_add(struct known *k, PyCodeObject *code)
{
    char file[KNOWN_TEXT_MOST], name[KNOWN_TEXT_MOST], words[2 * KNOWN_TEXT_MOST + 32];
    words_of(code->co_filename, file, sizeof file);
    words_of(code->co_name, name, sizeof name);
    if ((k->is_ours = is_ours(file)))
        return;
    snprintf(words, sizeof words, "%s(%d):%s%s", without_prefix(file), code->co_firstlineno, is_mindspore ? "" : " ",
             name);
    record_text(k->key, words);
    k->path_n = (uint32_t)snprintf(words, sizeof words, "%s(", file);
    k->path = strdup(words);
    k->function_n = (uint32_t)snprintf(words, sizeof words, "): %s", name);
    k->function = strdup(words);
    if (!k->path || !k->function)
        k->path_n = k->function_n = 0;
}

static APART struct known *code_add(PyCodeObject *code)
{
    struct known *const k = add(code, NULL, (PyObject *)code);
    if (!k)
        return NULL;
    k->calls_module = (PyObject *)code == code_of_modules;
    k->steps_optimizer = (PyObject *)code == code_of_optimizers;
    words_add(k, code);
    return k;
}

struct known *known_code(PyCodeObject *code)
{
    struct known *const k = find(code, NULL);
    return __builtin_expect(k != NULL, 1) ? k : code_add(code);
}

struct known *known_again(const struct known *code)
{
    struct known *const k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    *k = (struct known){ .key = ++last_key, .also = again };
    again = k;
    words_add(k, (PyCodeObject *)(uintptr_t)code->what);
    return k;
}

/* ---- C functions ---- */

/* The name of the type that defines a method: the first object that calls list.append may be of a class of its own, and
 * the others are not. */
static const char *defining_type(const PyTypeObject *type, const PyMethodDef *method)
{
    for (Py_ssize_t i = 0; type->tp_mro && i < PyTuple_GET_SIZE(type->tp_mro); i++) {
        const PyTypeObject *const base = (const PyTypeObject *)PyTuple_GET_ITEM(type->tp_mro, i);
        for (const PyMethodDef *m = base->tp_methods; m && m->ml_name; m++)
            if (m == method)
                return base->tp_name;
    }
    return type->tp_name;
}

/* As they show themselves, but without the address of the object: there may be a million lists. */
static void c_words(PyObject *function, char *words, size_t most)
{
    char name[KNOWN_TEXT_MOST];
    if (!PyCFunction_Check(function)) {
        snprintf(words, most, "<%s object>", Py_TYPE(function)->tp_name);
        return;
    }
    PyObject *const of = PyCFunction_GET_SELF(function);
    PyObject *const text =
        PyUnicode_DecodeUTF8(((PyCFunctionObject *)function)->m_ml->ml_name,
                             (Py_ssize_t)strlen(((PyCFunctionObject *)function)->m_ml->ml_name), "replace");
    words_of(text, name, sizeof name);
    if (!of || PyModule_Check(of))
        snprintf(words, most, "<built-in function %s>", name);
    else
        snprintf(words, most, "<built-in method %s of %s object>", name,
                 defining_type(Py_TYPE(of), ((PyCFunctionObject *)function)->m_ml));
    Py_XDECREF(text);
    PyErr_Clear();
}

static APART struct known *c_add(PyObject *function, const void *what, const void *also)
{
    char words[KNOWN_TEXT_MOST + 600];
    /* Objects of the program are not kept: when they end is the program's business. */
    const bool is_c = PyCFunction_Check(function);
    PyObject *const of = is_c ? PyCFunction_GET_SELF(function) : NULL;
    const bool is_kept = is_c && (!of || PyModule_Check(of) || PyCapsule_CheckExact(of));
    struct known *const k = add(what, also, is_kept ? function : NULL);
    if (!k)
        return NULL;
    c_words(function, words, sizeof words);
    record_text(k->key, words);
    return k;
}

struct known *known_c(PyObject *function)
{
    const bool is_c = PyCFunction_Check(function);
    const PyMethodDef *const method = is_c ? ((PyCFunctionObject *)function)->m_ml : NULL;
    const void *const what = is_c ? (const void *)method : (const void *)Py_TYPE(function);
    const void *const also = is_c ? (const void *)method->ml_name : (const void *)&leaves;
    struct known *const k = find(what, also);
    return __builtin_expect(k != NULL, 1) ? k : c_add(function, what, also);
}

/* ---- modules ---- */

static unsigned class_number(const char *name)
{
    for (size_t i = 0; i < n_classes; i++)
        if (strcmp(classes[i].name, name) == 0)
            return classes[i].n++;
    if (n_classes == classes_room) {
        const size_t more = classes_room ? classes_room * 2 : CLASSES_FIRST;
        struct class_count *const grown = realloc(classes, more * sizeof *grown);
        if (!grown)
            return 0;
        classes = grown;
        classes_room = more;
    }
    char *const copy = strdup(name);
    if (copy)
        classes[n_classes++] = (struct class_count){ copy, 1 };
    return 0;
}

static void cell_words(const struct known *code, const char *name, char *words, size_t most)
{
    const PyCodeObject *const of = (const PyCodeObject *)code->what;
    char file[KNOWN_TEXT_MOST];
    words_of(of->co_filename, file, sizeof file);
    snprintf(words, most, "%s(%d):nn.Cell.%s.__call__", without_prefix(file), of->co_firstlineno, name);
}

static APART struct known *module_add(const struct known *code, PyObject *module)
{
    char name[KNOWN_TEXT_MOST], words[2 * KNOWN_TEXT_MOST + 64];
    struct known *const k = add(module, Py_TYPE(module), NULL);
    if (!k)
        return NULL;
    PyObject *const text = PyObject_GetAttrString((PyObject *)Py_TYPE(module), "__name__");
    words_of(text, name, sizeof name);
    Py_XDECREF(text);
    PyErr_Clear();
    if (is_mindspore)
        cell_words(code, name, words, sizeof words);
    else
        snprintf(words, sizeof words, "%s######%llu", name, (unsigned long long)(uintptr_t)module);
    record_text(k->key, words);
    k->module_n = (uint32_t)snprintf(words, sizeof words, "%s_%u", name, class_number(name));
    k->module = strdup(words);
    k->path = code->path ? strdup(code->path) : NULL;
    k->function = code->function ? strdup(code->function) : NULL;
    if (k->path && k->function) {
        k->path_n = code->path_n;
        k->function_n = code->function_n;
    }
    return k;
}

struct known *known_module(const struct known *code, PyObject *module)
{
    struct known *const k = find(module, Py_TYPE(module));
    return __builtin_expect(k != NULL, 1) ? k : module_add(code, module);
}

struct known *known_frame(PyFrameObject *frame, const struct known **code)
{
    PyCodeObject *const of = PyFrame_GetCode(frame);
    struct known *const known = known_code(of);
    Py_DECREF(of);
    if (code)
        *code = known;
    if (__builtin_expect(!known || !known->calls_module, 1))
        return known;
    PyObject *const self = frame_first_argument(frame);
    struct known *const module = self ? known_module(known, self) : NULL;
    Py_XDECREF(self);
    return module ? module : known;
}

/* ---- life ---- */

const struct known *known_exit(void)
{
    return &leaves;
}

void known_begin(bool of_mindspore, PyObject *module_call, PyObject *optimizer_step)
{
    is_mindspore = of_mindspore;
    code_of_modules = Py_XNewRef(module_call);
    code_of_optimizers = Py_XNewRef(optimizer_step);
    prefixes_find();
    ours_find();
    leaves.key = ++last_key;
    record_text(leaves.key, "__torch_npu_profiler_python_tracer_exit");
}

static void forget(struct known *k)
{
    Py_XDECREF(k->kept);
    free(k->path);
    free(k->function);
    free(k->module);
    free(k);
}

void known_end(void)
{
    struct known **const old = table;
    const size_t had = room;
    table = NULL;
    room = n_known = 0;
    last_key = 0;
    for (size_t i = 0; i < had; i++)
        if (old[i])
            forget(old[i]);
    free(old);
    while (again) {
        struct known *const next = (struct known *)(uintptr_t)again->also;
        forget(again);
        again = next;
    }
    for (size_t i = 0; i < n_classes; i++)
        free(classes[i].name);
    free(classes);
    classes = NULL;
    n_classes = classes_room = 0;
    while (n_prefixes > 0)
        free(prefix[--n_prefixes]);
    free(prefix);
    prefix = NULL;
    Py_CLEAR(code_of_modules);
    Py_CLEAR(code_of_optimizers);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_memory.h"

/* The script prints each answer as one line: a mark, and a JSON object whose members are added to those of earlier
 * lines. */
#define MARK "ascope-doctor:"
static const char script[] =
    "import sys\n"
    "sys.path[:] = [path for path in sys.path if path]\n" /* without the working directory, whose files would be
                                                             imported */
    "import json\n"
    "def say(**facts):\n"
    "    print('\\n" MARK "' + json.dumps(facts), flush=True)\n"
    "def reason(error):\n"
    "    return ('%s: %s' % (type(error).__name__, error)).strip().splitlines()[0][:200]\n"
    "say(version='.'.join(map(str, sys.version_info[:3])), executable=sys.executable)\n"
    "import importlib.util\n"
    "try:\n"
    "    from importlib.metadata import version\n"
    "except ImportError:\n"
    "    version = None\n" /* Python 3.7 */
    "def find(module, names):\n"
    "    try:\n"
    "        spec = importlib.util.find_spec(module)\n"
    "    except Exception:\n"
    "        spec = None\n"
    "    if spec is None:\n"
    "        return {'found': False}\n"
    "    for name in names:\n"
    "        try:\n"
    "            return {'found': True, 'path': spec.origin or '', 'version': version(name)}\n"
    "        except Exception:\n"
    "            pass\n"
    "    return {'found': True, 'path': spec.origin or '', 'version': ''}\n"
    "say(torch=find('torch', ['torch']), torch_npu=find('torch_npu', ['torch-npu', 'torch_npu']),\n"
    "    mindspore=find('mindspore', ['mindspore']),\n"
    "    tensorflow=find('tensorflow', ['tensorflow', 'tensorflow-cpu', 'tensorflow-gpu']))\n"
    "package = find('ascope', [])\n"
    "if package['found']:\n"
    "    try:\n"
    "        import ascope\n"
    "        package['version'] = ascope.__version__\n"
    "    except BaseException as error:\n"
    "        package['trouble'] = reason(error)\n"
    "say(ascope=package)\n"
    "if find('torch', [])['found']:\n"
    "    try:\n"
    "        import torch\n"
    "        say(torch_import={'version': torch.__version__})\n"
    "    except BaseException as error:\n"
    "        say(torch_import={'trouble': reason(error)})\n"
    "    else:\n"
    "        if package['found'] and 'trouble' not in package:\n"
    "            try:\n"
    "                from ascope.torch import _build\n"
    "                say(listener=_build.planned())\n"
    "            except BaseException as error:\n"
    "                say(listener={'trouble': str(error).strip().splitlines()[0][:300] if str(error).strip() else "
    "repr(error)[:300]})\n"
    "say(is_complete=True)\n";

static void answer_read(struct python_answer *a, const char *text)
{
    for (const char *at = text; (at = strstr(at, "\n" MARK));) {
        at += strlen("\n" MARK);
        json_error_t wrong;
        json_t *const part = json_read(at, strcspn(at, "\n"), 0, &wrong);
        if (json_is_object(part))
            json_object_update(a->said, part);
        json_decref(part);
    }
}

/* The last line of the output: the error message of a failed interpreter. */
static void last_line(const char *text, char *out, size_t size)
{
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
        n--;
    size_t begin = n;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    snprintf(out, size, "%.*s", (int)(n - begin), text + begin);
}

void python_ask(struct python_answer *a, const char *name, unsigned limit_ms)
{
    static struct program_output o;
    char line[160];
    *a = (struct python_answer){ .said = json_object() };
    if (strchr(name, '/'))
        snprintf(a->path, sizeof a->path, "%s", name);
    else if (!program_find(name, a->path)) {
        snprintf(a->trouble, sizeof a->trouble, "%.100s: not found in the PATH", name);
        return;
    }
    char *const argv[] = { a->path, (char *)"-B", (char *)"-c", (char *)script,
                           NULL }; /* -B: no *.pyc files are written */
    program_run(argv, limit_ms, &o);
    answer_read(a, o.text);
    last_line(o.text, line, sizeof line);
    if (o.why)
        snprintf(a->trouble, sizeof a->trouble, "cannot be started: %s", strerror(o.why));
    else if (o.is_late)
        snprintf(a->trouble, sizeof a->trouble, "no answer within %u s", (limit_ms + 999) / 1000);
    else if (o.is_cut)
        snprintf(a->trouble, sizeof a->trouble, "it printed more than %d KiB", PROGRAM_OUTPUT_MOST >> 10);
    else if (!json_object_get(a->said, "is_complete") && o.exit_code < 0)
        snprintf(a->trouble, sizeof a->trouble, "it was killed by a signal");
    else if (!json_object_get(a->said, "is_complete"))
        snprintf(a->trouble, sizeof a->trouble, "exit code %d: %s", o.exit_code, *line ? line : "it printed nothing");
}

void python_forget(struct python_answer *a)
{
    json_decref(a->said);
    a->said = NULL;
}

/* The text of said.what.member, or of said.what without a member; "" if there is none. */
static const char *said(const struct python_answer *a, const char *what, const char *member)
{
    const json_t *const inside = json_object_get(a->said, what);
    const char *const text = json_string_value(member ? json_object_get(inside, member) : inside);
    return text ? text : "";
}

static bool is_found(const struct python_answer *a, const char *what)
{
    return json_is_true(json_object_get(json_object_get(a->said, what), "found"));
}

/* A finding about something that Python was not asked for, or did not answer. */
static enum finding_state unknown(const struct examined *m, struct machine_finding *f)
{
    fact_set(f, "unknown: %s", *m->python->path ? m->python->trouble : "no Python");
    return FINDING_NOT_APPLICABLE;
}

static enum finding_state look_python(const struct examined *m, struct machine_finding *f)
{
    const struct python_answer *a = m->python;
    const char *const version = said(a, "version", NULL);
    place_add(f, "%s", *a->path ? a->path : "PATH");
    if (!*version) {
        fact_set(f, "%.150s%s%s", a->path, *a->path ? ": " : "", *a->trouble ? a->trouble : "no Python");
        return FINDING_MISSING;
    }
    fact_set(f, "%s, %s", version, *said(a, "executable", NULL) ? said(a, "executable", NULL) : a->path);
    if (!*a->trouble)
        return FINDING_OK;
    fact_add(f, "; %s", a->trouble);
    return FINDING_LIMITED;
}

static enum finding_state look_package(const struct examined *m, struct machine_finding *f)
{
    const struct python_answer *a = m->python;
    if (!json_object_get(a->said, "ascope"))
        return unknown(m, f);
    place_add(f, "modules of %s", a->path);
    if (!is_found(a, "ascope")) {
        fact_set(f, "not found");
        return FINDING_MISSING;
    }
    const char *const trouble = said(a, "ascope", "trouble");
    if (*trouble) {
        fact_set(f, "%.100s: cannot be imported: %s", said(a, "ascope", "path"), trouble);
        advice_set(f, "reinstall ascope for this interpreter");
        return FINDING_MISSING;
    }
    fact_set(f, "%s, %s", said(a, "ascope", "version"), said(a, "ascope", "path"));
    if (strcmp(said(a, "ascope", "version"), ASCOPE_VERSION) == 0)
        return FINDING_OK;
    advice_set(f, "install the version of this command, " ASCOPE_VERSION);
    return FINDING_LIMITED;
}

static const char *torch_version(const struct python_answer *a)
{
    const char *const imported = said(a, "torch_import", "version");
    return *imported ? imported : said(a, "torch", "version");
}

static enum finding_state look_torch(const struct examined *m, struct machine_finding *f)
{
    const struct python_answer *a = m->python;
    if (!json_object_get(a->said, "torch"))
        return unknown(m, f);
    place_add(f, "modules of %s", a->path);
    if (!is_found(a, "torch")) {
        fact_set(f, "not installed");
        return FINDING_NOT_APPLICABLE;
    }
    fact_set(f, "%.40s, %.120s", *torch_version(a) ? torch_version(a) : "version unknown", said(a, "torch", "path"));
    if (*said(a, "torch_import", "version"))
        return FINDING_OK;
    fact_add(f, "; import: %s",
             json_object_get(a->said, "torch_import") ? said(a, "torch_import", "trouble") : a->trouble);
    return FINDING_MISSING;
}

static enum finding_state look_listener(const struct examined *m, struct machine_finding *f)
{
    const struct python_answer *a = m->python;
    if (!is_found(a, "torch")) {
        fact_set(f, "no PyTorch");
        return FINDING_NOT_APPLICABLE;
    }
    if (!json_object_get(a->said, "listener")) {
        fact_set(f, "unknown: %s",
                 *said(a, "torch_import", "version") ? "the package ascope cannot be imported"
                                                     : "PyTorch cannot be imported");
        return FINDING_MISSING;
    }
    if (*said(a, "listener", "trouble")) {
        fact_set(f, "%s", said(a, "listener", "trouble"));
        return FINDING_MISSING;
    }
    place_add(f, "%s", said(a, "listener", "path"));
    if (json_is_true(json_object_get(json_object_get(a->said, "listener"), "is_built"))) {
        fact_set(f, "compiled for PyTorch %s", torch_version(a));
        return FINDING_OK;
    }
    fact_set(f, "not compiled yet; compiler %s", said(a, "listener", "compiler"));
    effect_set(f, "compiled at the first recording, which then takes longer");
    return FINDING_OK;
}

static enum finding_state installed(const struct examined *m, struct machine_finding *f, const char *module,
                                    enum finding_state then)
{
    const struct python_answer *a = m->python;
    if (!json_object_get(a->said, module))
        return unknown(m, f);
    place_add(f, "modules of %s", a->path);
    if (!is_found(a, module)) {
        fact_set(f, "not installed");
        return FINDING_NOT_APPLICABLE;
    }
    fact_set(f, "%s, %s", *said(a, module, "version") ? said(a, module, "version") : "version unknown",
             said(a, module, "path"));
    return then;
}

static enum finding_state look_torch_npu(const struct examined *m, struct machine_finding *f)
{
    return installed(m, f, "torch_npu", FINDING_OK);
}

static enum finding_state look_mindspore(const struct examined *m, struct machine_finding *f)
{
    return installed(m, f, "mindspore", FINDING_LIMITED);
}

static enum finding_state look_tensorflow(const struct examined *m, struct machine_finding *f)
{
    return installed(m, f, "tensorflow", FINDING_LIMITED);
}

const char *frameworks_text(const struct python_answer *a, char *out, size_t size)
{
    const json_t *const listener = json_object_get(a->said, "listener");
    *out = '\0';
    if (is_found(a, "torch"))
        snprintf(out, size, "PyTorch %s %s", torch_version(a),
                 json_is_true(json_object_get(listener, "is_built")) ? "with listener"
                 : listener && !*said(a, "listener", "trouble")      ? "(listener is compiled at the first recording)"
                                                                     : "without listener");
    return out;
}

/* clang-format off */
#define ANOTHER "if another interpreter has it: ascope doctor --python PATH"
#define HOST_ONLY "no front end for it: ascope records its host and device, not its operators"
const struct machine_check framework_checks[] = {
    { "Python", .look = look_python,
      .effect = { [FINDING_MISSING] = "Python programs cannot be recorded with their framework",
                  [FINDING_LIMITED] = "the rows below show what is unknown" },
      .advice = { [FINDING_MISSING] = "install python3, or ascope doctor --python PATH",
                  [FINDING_LIMITED] = "run it by hand and import the modules of the rows below" } },
    { "package ascope", .look = look_package,
      .effect = { [FINDING_OK] = "python3 -m ascope run works",
                  [FINDING_LIMITED] = "its libascope has a different version than this command",
                  [FINDING_MISSING] = "python3 -m ascope run and ascope.torch do not work with this interpreter" },
      .advice = { [FINDING_MISSING] = "install ascope for this interpreter; " ANOTHER } },
    { "PyTorch", .look = look_torch,
      .effect = { [FINDING_MISSING] = "scripts that import it do not run",
                  [FINDING_NOT_APPLICABLE] = "its operators are not recorded with this interpreter" },
      .advice = { [FINDING_MISSING] = "repair its installation: import torch fails", [FINDING_NOT_APPLICABLE] = ANOTHER } },
    { "PyTorch listener", .look = look_listener,
      .effect = { [FINDING_OK] = "operators, modules and memory of PyTorch are recorded",
                  [FINDING_MISSING] = "operators of PyTorch are not recorded" },
      .advice = { [FINDING_MISSING] = "install what is missing; ascope compiles the listener itself" } },
    { "torch_npu", .look = look_torch_npu,
      .effect = { [FINDING_OK] = "ascope.torch replaces its profiler" } },
    { "MindSpore", .look = look_mindspore, .effect = { [FINDING_LIMITED] = HOST_ONLY },
      .advice = { [FINDING_LIMITED] = "mark steps with libascope or mstx" } },
    { "TensorFlow", .look = look_tensorflow, .effect = { [FINDING_LIMITED] = HOST_ONLY },
      .advice = { [FINDING_LIMITED] = "mark steps with libascope or mstx" } },
    { 0 },
};
/* clang-format on */

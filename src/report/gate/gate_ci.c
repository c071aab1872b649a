/* SPDX-License-Identifier: Apache-2.0 */
#include "report/gate/gate_ci.h"

#include <stdlib.h>
#include <string.h>

#include "base/files/out.h"
#include "base/text/html.h"
#include "base/text/json_memory.h"
#include "base/text/utf8.h"

/* ---- GitHub ------------------------------------------------------------------------------------------------------ */

/* A command is one line; "%" begins an escape. Text that cannot be shown becomes "?". */
static void annotation_text(FILE *to, const char *text)
{
    bool is_shown;
    for (size_t i = 0, n; text[i]; i += n) {
        n = utf8_shown(text + i, &is_shown);
        if (!is_shown || ((unsigned char)text[i] >= 0x80 && n == 1))
            fputc('?', to);
        else if (text[i] == '%')
            fputs("%25", to);
        else
            fwrite(text + i, 1, n, to);
    }
}

void gate_annotate(FILE *to, const struct gate_ci *x)
{
    static const char *const command[] = { "notice", "warning", "error" };
    bool all_pass = true;
    for (size_t i = 0; i < x->n; i++)
        all_pass &= x->c[i].verdict == GATE_PASS;
    for (size_t i = 0; i < (all_pass ? 1 : x->n); i++) {
        const struct gate_case *c = &x->c[i];
        if (c->verdict == GATE_PASS && !all_pass)
            continue;
        fprintf(to, "::%s title=ascope gate, %s %s::", command[c->verdict], c->key, gate_verdict_key[c->verdict]);
        annotation_text(to, c->text);
        fputc('\n', to);
    }
}

/* ---- JUnit ------------------------------------------------------------------------------------------------------- */

bool gate_junit_write(const struct gate_ci *x, const char *path, struct error *e)
{
    static const char *const element[] = { "system-out", "skipped", "failure" };
    static const char *const attribute[] = { "", " message=\"inconclusive\"", " message=\"regressed\"" };
    size_t n_of[GATE_REGRESSED + 1] = { 0 };
    struct out o;
    if (!out_open_named(&o, path, e))
        return false;
    for (size_t i = 0; i < x->n; i++)
        n_of[x->c[i].verdict]++;
    html_raw(&o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    html_put(&o, "<testsuite name=\"ascope gate\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", x->n,
             n_of[GATE_REGRESSED], n_of[GATE_INCONCLUSIVE]);
    for (size_t i = 0; i < x->n; i++) {
        const struct gate_case *c = &x->c[i];
        html_put(&o, "<testcase classname=\"ascope.gate\" name=\"%s\"><%s%s>", c->key, element[c->verdict],
                 attribute[c->verdict]);
        html_text(&o, c->text);
        html_put(&o, "</%s>", element[c->verdict]);
        html_raw(&o, "</testcase>\n");
    }
    html_raw(&o, "</testsuite>\n</testsuites>\n");
    return out_close(&o, e);
}

/* ---- SARIF ------------------------------------------------------------------------------------------------------- */

/* A path as a URI: relative ones remain relative to the working directory. NULL: no memory. */
static json_t *uri_json(const char *path)
{
    static const char plain[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.~/";
    char *text = malloc(3 * strlen(path) + sizeof "file://"), *to = text;
    if (!text)
        return NULL;
    to += sprintf(to, "%s", *path == '/' ? "file://" : "");
    for (; *path; path++)
        to += sprintf(to, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
    json_t *uri = json_string(text);
    free(text);
    return uri;
}

static json_t *rule_json(const struct gate_case *c)
{
    return json_pack("{s:s+, s:{s:s+}}", "id", "gate/", c->key, "shortDescription", "text",
                     "a new run is not slower than allowed: ", c->key);
}

static json_t *result_json(const struct gate_case *c, const char *path)
{
    return json_pack("{s:s+, s:s, s:{s:o}, s:[{s:{s:{s:o}}}], s:{s:s}}", "ruleId", "gate/", c->key, "level",
                     c->verdict == GATE_REGRESSED ? "error" : "warning", "message", "text", text_json(c->text),
                     "locations", "physicalLocation", "artifactLocation", "uri", uri_json(path), "partialFingerprints",
                     "ascopeGate/v1", c->key);
}

bool gate_sarif_write(const struct gate_ci *x, const char *path, struct error *e)
{
    struct out o;
    if (!out_open_named(&o, path, e))
        return false;
    json_t *rules = json_array(), *results = json_array();
    for (size_t i = 0; i < x->n; i++) {
        json_array_append_new(rules, rule_json(&x->c[i]));
        if (x->c[i].verdict != GATE_PASS)
            json_array_append_new(results, result_json(&x->c[i], x->path));
    }
    json_t *all = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:o}]}", "$schema",
                            "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
                            "driver", "name", "ascope", "version", ASCOPE_VERSION, "rules", rules, "results", results);
    char *text = all && !json_memory_failed() ? json_dumps(all, JSON_INDENT(1)) : NULL;
    json_decref(all);
    if (!text) {
        out_discard(&o);
        return error_no_memory(e, "SARIF");
    }
    out_bytes(&o, text, strlen(text));
    out_lit(&o, "\n");
    free(text);
    return out_close(&o, e);
}

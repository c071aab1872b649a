/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/recorder_options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/options/option_values.h"
#include "collect/options/sized.h"

const struct ascope_option *ascope_option_at(size_t i)
{
    return i < n_recorder_options ? &recorder_options[i].is : NULL;
}

char *ascope_options_get(const struct ascope_options *o, const char *name)
{
    const struct recorder_option *r = name ? recorder_option_find(name) : NULL;
    struct ascope_options whole; /* the caller's may be a shorter one */
    struct json_text text = { 0 };
    ascope_options_init(&whole);
    if (!r || !sized_over(&whole, sizeof whole, o) || !option_is_set(&whole, r))
        return NULL;
    option_text(&whole, r, &text);
    if (text.n > 0 && !text.is_short)
        return text.at;
    json_text_fini(&text);
    return NULL;
}

struct recorder_options_words {
    char *text;
    size_t n, size;
};

__attribute__((format(printf, 2, 3))) static void words_add(struct recorder_options_words *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (w->n < w->size)
        w->n += (size_t)vsnprintf(w->text + w->n, w->size - w->n, fmt, args);
    va_end(args);
}

static bool is_usual(const struct ascope_choice *all, const struct ascope_choice *one)
{
    return strcmp(choice_name(all, one->value), one->name) == 0;
}

/* "off, l0, l1 = on": a boolean and a list are shown without the names that are only accepted. */
static void add_choices(struct recorder_options_words *w, const struct ascope_option *option)
{
    const char *comma = "";
    for (const struct ascope_choice *c = option->choices; c->name; c++) {
        if (is_usual(option->choices, c))
            words_add(w, "%s%s", comma, c->name);
        else if (option->kind == ASCOPE_OPTION_CHOICE && c > option->choices && c[-1].value == c->value)
            words_add(w, " = %s", c->name);
        comma = ", ";
    }
}

void ascope_option_values(const struct ascope_option *option, char *text, size_t size)
{
    static const char *const of_kind[] = { [ASCOPE_OPTION_LIST] = "list of ",
                                           [ASCOPE_OPTION_MS] = "ms from 0, or none",
                                           [ASCOPE_OPTION_TEXT] = "text",
                                           [ASCOPE_OPTION_NAMES] = "list of names" };
    struct recorder_options_words w = { text, 0, size };
    if (option->values) {
        words_add(&w, "%s", option->values);
        return;
    }
    if (option->kind < sizeof of_kind / sizeof *of_kind && of_kind[option->kind])
        words_add(&w, "%s", of_kind[option->kind]);
    if (option->kind == ASCOPE_OPTION_NUMBER)
        words_add(&w, "%llu to %llu%s%s", (unsigned long long)option->low, (unsigned long long)option->high,
                  option->unit ? " " : "", option->unit ? option->unit : "");
    if (option->choices)
        add_choices(&w, option);
    if (option->more_values)
        words_add(&w, ", %s", option->more_values);
}

void ascope_option_default(const struct ascope_option *option, char *text, size_t size)
{
    struct ascope_options o;
    ascope_options_init(&o);
    char *const value = option->otherwise ? NULL : ascope_options_get(&o, option->names->name);
    snprintf(text, size, "%s", option->otherwise ? option->otherwise : value ? value : "");
    free(value);
}

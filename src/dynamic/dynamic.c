/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/dynamic.h"

#include <stdio.h>

#include "collect/message.h"
#include "collect/sized.h"

static int64_t current_step;
static bool is_listening;

static bool fail(struct ascope_error *e, const char *text)
{
    if (e)
        snprintf(e->text, sizeof e->text, "%s", text);
    return false;
}

bool ascope_dynamic_init(const struct ascope_dynamic_setup *setup, struct ascope_error *e)
{
    if (!sized_is_set(setup))
        return fail(e, "dynamic_profile: set the size of struct ascope_dynamic_setup");
    is_listening = true;
    return true;
}

void ascope_dynamic_step(void)
{
    current_step++;
    if (!is_listening)
        message(ASCOPE_ERROR, "dynamic_profile: step() ignored: init() was not called");
}

bool ascope_dynamic_start(const char *config_file, struct ascope_error *e)
{
    (void)config_file;
    return fail(e, "dynamic_profile: start() ignored: init() was not called");
}

bool ascope_dynamic_set_step(int64_t step)
{
    if (step < 0)
        return false;
    current_step = step;
    return true;
}

int64_t ascope_dynamic_current_step(void)
{
    return current_step;
}

enum ascope_dynamic_state ascope_dynamic_state(void)
{
    return is_listening ? ASCOPE_DYNAMIC_IDLE : ASCOPE_DYNAMIC_OFF;
}

void ascope_dynamic_end(void)
{
    is_listening = false;
}

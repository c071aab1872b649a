/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/session/message.h"
#include "collect/session/recording.h"

static const uint64_t MARKS_BESIDE = UINT64_C(1) << 40; /* the engine counts its own from 1 on */

bool engine_is_of(const struct ascope_session *s)
{
    return s->device && s->device->begin;
}

/* The collection of PyTorch holds PROF directories; else they lie side by side. */
static void engine_parent(const struct ascope_session *s, char dir[PATH_MAX])
{
    memcpy(dir, s->path, sizeof s->path);
    if (s->o.layout == ASCOPE_LAYOUT_PROF)
        *strrchr(dir, '/') = '\0';
    if (!*dir)
        strcpy(dir, "/");
}

static bool is_own_directory(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && access(path, W_OK) == 0 &&
           strlen(path) < PATH_MAX - 2 * NAME_MAX;
}

/* Removes the PROF directory that the session made for itself, if it is empty. */
static void own_remove(const char *path)
{
    static const char *const parts[] = { "/host/data", "/host", "" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char part[PATH_MAX];
        snprintf(part, sizeof part, "%.*s%s", PATH_MAX - NAME_MAX, path, parts[i]);
        rmdir(part);
    }
}

static void adopt(struct ascope_session *s, const char *prof)
{
    if (s->o.layout == ASCOPE_LAYOUT_PROF) {
        own_remove(s->path);
        memcpy(s->path, prof, strlen(prof) + 1);
    }
    memcpy(s->prof, prof, strlen(prof) + 1);
    s->is_adopted = true;
    recording_marks_from = MARKS_BESIDE;
}

enum engine_state engine_begin(struct ascope_session *s, bool warms_up)
{
    static struct device_place place; /* one session at a time */
    char dir[PATH_MAX];
    struct error e = { 0 };
    if (!engine_is_of(s))
        return ENGINE_NONE;
    place = (struct device_place){ 0 };
    engine_parent(s, dir);
    s->device_runs = s->device->begin(&s->o, dir, warms_up, &place, &e);
    if (!s->device_runs) {
        message(ASCOPE_WARNING, "%s; recording the host only", e.text);
        s->device = NULL;
        return s->is_adopted ? ENGINE_ADOPTED : ENGINE_NONE;
    }
    if (s->is_adopted)
        return ENGINE_ADOPTED;
    if (!*place.prof && warms_up)
        return ENGINE_WAITS;
    if (!*place.prof || !is_own_directory(place.prof)) {
        message(ASCOPE_WARNING,
                "device %s: %s %s; its data and that of the host are in two PROF directories, which are analysed "
                "separately",
                s->device->name, *place.prof ? place.prof : "no PROF directory found in",
                *place.prof ? "cannot be written to" : dir);
        return ENGINE_APART;
    }
    if (!host_clock_follow(!place.counts_ns)) {
        message(
            ASCOPE_WARNING,
            "device %s: its times are CPU counts, which are not a trusted clock here; its data and that of the host "
            "are in two PROF directories",
            s->device->name);
        return ENGINE_APART;
    }
    adopt(s, place.prof);
    return ENGINE_ADOPTED;
}

bool engine_devices(struct ascope_session *s, struct error *e)
{
    const unsigned n = engine_is_of(s) && s->is_adopted ? s->device->probe(e) : 0;
    struct session_device *all = n > 0 ? calloc(n, sizeof *all) : NULL;
    if (n > 0 && !all)
        return error_no_memory(e, "the devices of the session");
    free(s->devices);
    s->devices = all;
    s->n_devices = 0;
    for (unsigned i = 0; i < n; i++) {
        struct session_device *d = &all[s->n_devices];
        char folder[PATH_MAX + 32];
        if (!s->device->describe(i, &d->is, e))
            return false;
        snprintf(folder, sizeof folder, "%s/device_%d", s->prof, d->is.id);
        if (access(folder, F_OK) != 0)
            continue;
        struct error unread = { 0 }; /* if the clock cannot be read, only the engine's own readings are used */
        if (!s->device->read_clock(i, &d->first, &unread))
            d->first = (struct device_reading){ 0 };
        d->last = d->first;
        s->n_devices++;
    }
    return true;
}

void engine_forget(struct ascope_session *s)
{
    if (s->is_adopted && s->o.layout != ASCOPE_LAYOUT_PROF)
        *s->prof = '\0';
    s->is_adopted = false;
    recording_marks_from = 0;
}

/* family.h - the families of files in a data folder: what each one holds, and how long its records are. */
#ifndef ASCOPE_RAW_FAMILY_H
#define ASCOPE_RAW_FAMILY_H

#include <stddef.h>
#include <stdint.h>

struct family {
    const char
        *name; /* "api_event.data"; "compact.*" stands for all that begin so, "*-CpuUsage.data" for all that end so */
    uint16_t size;     /* of a record in bytes; 0: lines of text, or records of several lengths */
    const char *holds; /* for people */
};

/* The family that a stream belongs to, the most exact one; NULL when nobody knows it. */
const struct family *family_find(const char *stream);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/os_calls/preload.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

static bool is_for_this_machine(const Elf64_Ehdr *head)
{
    return head->e_ident[EI_CLASS] == ELFCLASS64 && (MACHINE == EM_NONE || head->e_machine == MACHINE);
}

/* ---- where it is ---- */

/* Libraries of several kinds of processors may be installed side by side. */
static bool is_library(const char *path)
{
    Elf64_Ehdr head;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is_read = fd >= 0 && pread(fd, &head, sizeof head, 0) == sizeof head;
    if (fd >= 0)
        close(fd);
    return is_read && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && is_for_this_machine(&head);
}

/* From the folder of a program, or of libascope.so: a build tree, a wheel, an installed one. `below` is a pattern, the
 * folder is literal. */
static bool is_below(char path[PATH_MAX], const char *dir, const char *below, const char *name)
{
    char pattern[2 * PATH_MAX];
    size_t n = 0;
    glob_t found = { 0 };
    bool is_found = false;
    for (; *dir && n < PATH_MAX; pattern[n++] = *dir++)
        if (strchr("*?[\\", *dir))
            pattern[n++] = '\\';
    snprintf(pattern + n, sizeof pattern - n, "%s/%s", below, name);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && !is_found; i++)
            is_found = realpath(found.gl_pathv[i], path) && is_library(path);
    globfree(&found);
    return is_found;
}

static bool is_near(char path[PATH_MAX], const char *file, const char *name)
{
    static const char *const below[] = {
        "",        "/ascope",   "/..",      "/../lib/ascope", "/../lib64/ascope", "/../lib/*/ascope",
        "/../lib", "/../lib64", "/../lib/*"
    };
    char dir[PATH_MAX];
    const char *const slash = strrchr(file, '/');
    if (!slash || snprintf(dir, sizeof dir, "%.*s", (int)(slash - file), file) >= PATH_MAX)
        return false;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        if (is_below(path, dir, below[i], name))
            return true;
    return false;
}

/* `named`: the path that the environment has; NULL: none. */
static bool find(char path[PATH_MAX], const char *named, const char *name)
{
    char program[PATH_MAX];
    Dl_info own;
    if (named && *named)
        return snprintf(path, PATH_MAX, "%s", named) < PATH_MAX && access(path, R_OK) == 0;
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    return is_near(path, program, name) ||
           (dladdr(PRELOAD_NAME, &own) != 0 && own.dli_fname && is_near(path, own.dli_fname, name));
}

bool preload_find(char path[PATH_MAX])
{
    return find(path, secure_getenv("ASCOPE_RUN_LIBRARY"), PRELOAD_NAME);
}

bool library_find(char path[PATH_MAX])
{
    return find(path, secure_getenv("ASCOPE_CUDA_LIBRARY"), "libascope.so*");
}

bool preload_can_name(const char *path)
{
    return !strpbrk(path, " :");
}

static bool preload_add(const char *path, const char *name)
{
    char both[2 * PATH_MAX];
    const char *const others = getenv("LD_PRELOAD");
    if (others && strstr(others, name))
        return true;
    return preload_can_name(path) &&
           snprintf(both, sizeof both, "%s%s%s", path, others && *others ? ":" : "", others ? others : "") <
               (int)sizeof both &&
           setenv("LD_PRELOAD", both, 1) == 0;
}

bool preload_set(void)
{
    char path[PATH_MAX];
    return preload_find(path) && preload_add(path, PRELOAD_NAME);
}

bool preload_find_mspti(char path[PATH_MAX])
{
    static const struct {
        const char *variable, *dir;
    } place[] = {
        { "ASCEND_HOME_PATH", "/lib64" },
        { "ASCEND_TOOLKIT_HOME", "/lib64" },
        { NULL, "/usr/local/Ascend/cann/lib64" },
        { NULL, "/usr/local/Ascend/ascend-toolkit/latest/lib64" },
    };
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        const char *const base = place[i].variable ? secure_getenv(place[i].variable) : "";
        if (base && (*base || !place[i].variable) &&
            snprintf(path, PATH_MAX, "%s%s/libmspti.so", base, place[i].dir) < PATH_MAX && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

bool preload_set_mspti(void)
{
    char path[PATH_MAX];
    return preload_find_mspti(path) && preload_add(path, "libmspti.so");
}

/* ---- what a program is ---- */

enum { INTERPRETERS_MOST = 5, FIRST_BYTES = 256 };

/* Searches as execvp() does. False: there is no such program. */
static bool program_find(const char *name, char path[PATH_MAX])
{
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    const char *at = getenv("PATH");
    for (at = at ? at : "/bin:/usr/bin"; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        const int bytes = (int)strcspn(at, ":");
        if (snprintf(path, PATH_MAX, "%.*s%s%s", bytes, at, bytes > 0 ? "/" : "", name) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* The loader runs such a program with rights that its caller may not have, and listens to nobody. */
static bool has_rights(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 &&
           ((st.st_mode & S_ISUID && st.st_uid != geteuid()) || (st.st_mode & S_ISGID && st.st_gid != getegid()) ||
            (geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0));
}

/* The loader that the program names. "": it names none. False: the file is too short. */
static bool loader_read(int fd, const Elf64_Ehdr *head, char loader[PATH_MAX])
{
    *loader = '\0';
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr part;
        if (pread(fd, &part, sizeof part, (off_t)(head->e_phoff + i * sizeof part)) != sizeof part)
            return false;
        if (part.p_type != PT_INTERP || part.p_filesz == 0 || part.p_filesz >= PATH_MAX)
            continue;
        const ssize_t n = pread(fd, loader, part.p_filesz, (off_t)part.p_offset);
        loader[n > 0 ? n : 0] = '\0';
        return n > 0;
    }
    return true;
}

static const char *elf_trouble(int fd, const uint8_t *first, size_t n)
{
    enum { PARTS_MOST = 65536 / sizeof(Elf64_Phdr) }; /* the kernel's limit */
    Elf64_Ehdr head;
    char loader[PATH_MAX];
    if (n < sizeof head)
        return NULL;
    memcpy(&head, first, sizeof head);
    if (!is_for_this_machine(&head))
        return "is for another architecture";
    if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum == 0 || head.e_phnum > PARTS_MOST ||
        !loader_read(fd, &head, loader))
        return NULL;
    return *loader == '\0' ? "is linked statically" : strstr(loader, "musl") ? "uses another C library (musl)" : NULL;
}

/* "#!interpreter argument", in a line that is there whole. */
static bool script_interpreter(const uint8_t *first, size_t n, char path[PATH_MAX])
{
    if (n < 3 || first[0] != '#' || first[1] != '!')
        return false;
    size_t from = 2;
    while (from < n && (first[from] == ' ' || first[from] == '\t'))
        from++;
    size_t to = from;
    while (to < n && !strchr(" \t\n", first[to]))
        to++;
    if (to == from || to == FIRST_BYTES)
        return false;
    memcpy(path, first + from, to - from);
    path[to - from] = '\0';
    return true;
}

bool preload_works(const char *program, const char **why)
{
    char path[PATH_MAX];
    *why = NULL;
    bool is_found = program_find(program, path);
    for (int i = 0; is_found && !*why && i < INTERPRETERS_MOST; i++) {
        uint8_t first[FIRST_BYTES];
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
            break;
        const ssize_t n = read(fd, first, sizeof first);
        const size_t got = n > 0 ? (size_t)n : 0;
        is_found = script_interpreter(first, got, path); /* whose rights count, not the script's */
        if (!is_found && has_rights(fd))
            *why = "runs as another user";
        else if (!is_found && got >= SELFMAG && memcmp(first, ELFMAG, SELFMAG) == 0)
            *why = elf_trouble(fd, first, got);
        close(fd);
    }
    return !*why;
}

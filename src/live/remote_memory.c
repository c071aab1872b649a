/* SPDX-License-Identifier: Apache-2.0 */
#include "live/remote_memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/files/file.h"

bool remote_read(pid_t pid, uint64_t at, void *to, size_t n)
{
    const struct iovec here = { to, n }, there = { (void *)(uintptr_t)at, n };
    const ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (got >= 0 && (size_t)got < n)
        errno = EFAULT;
    return got >= 0 && (size_t)got == n;
}

/* ---- symbols of a file ------------------------------------------------------------------------------------------- */

struct elf_view {
    const uint8_t *data;
    size_t size;
};

/* n things of one size; NULL: not within the file. */
static const void *elf_part(const struct elf_view *f, uint64_t at, uint64_t n, size_t size)
{
    return at <= f->size && n <= (f->size - at) / size ? f->data + at : NULL;
}

static uint64_t elf_symbol_in(const struct elf_view *f, const Elf64_Shdr *table, const Elf64_Shdr *names,
                              const char *symbol)
{
    const uint64_t n = table->sh_size / sizeof(Elf64_Sym);
    const char *const text = elf_part(f, names->sh_offset, names->sh_size, 1);
    const uint8_t *const row = elf_part(f, table->sh_offset, n, sizeof(Elf64_Sym));
    const size_t bytes = strlen(symbol) + 1;
    if (!row || !text)
        return 0;
    for (uint64_t i = 0; i < n; i++) {
        Elf64_Sym s;
        memcpy(&s, row + i * sizeof s, sizeof s);
        if (s.st_value != 0 && s.st_name < names->sh_size && names->sh_size - s.st_name >= bytes &&
            memcmp(text + s.st_name, symbol, bytes) == 0)
            return s.st_value;
    }
    return 0;
}

/* As the file has it, less the address at which its first byte is linked. 0: none. */
static uint64_t elf_symbol(const struct elf_view *f, const char *symbol)
{
    Elf64_Ehdr head;
    if (f->size < sizeof head)
        return 0;
    memcpy(&head, f->data, sizeof head);
    const uint8_t *const program = elf_part(f, head.e_phoff, head.e_phnum, sizeof(Elf64_Phdr)),
                         *const section = elf_part(f, head.e_shoff, head.e_shnum, sizeof(Elf64_Shdr));
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 || !program || !section)
        return 0;
    uint64_t base = 0, value = 0;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, program + i * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && p.p_offset == 0)
            base = p.p_vaddr;
    }
    for (unsigned i = 0; i < head.e_shnum && value == 0; i++) {
        Elf64_Shdr table, names;
        memcpy(&table, section + i * sizeof table, sizeof table);
        if ((table.sh_type != SHT_DYNSYM && table.sh_type != SHT_SYMTAB) || table.sh_link >= head.e_shnum)
            continue;
        memcpy(&names, section + table.sh_link * sizeof names, sizeof names);
        value = elf_symbol_in(f, &table, &names, symbol);
    }
    return value > base ? value - base : 0;
}

static uint64_t file_symbol(pid_t pid, const char *path, const char *symbol)
{
    char inside[PATH_MAX + 32]; /* of a container */
    struct stat st;
    int why = 0;
    snprintf(inside, sizeof inside, "/proc/%d/root%s", (int)pid, path);
    const int fd = file_open(AT_FDCWD, inside, &st, &why);
    if (fd < 0)
        return 0;
    struct elf_view f = { .size = (size_t)st.st_size };
    void *const data = f.size > 0 ? mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (data == MAP_FAILED)
        return 0;
    f.data = data;
    const uint64_t value = elf_symbol(&f, symbol);
    munmap(data, f.size);
    return value;
}

uint64_t remote_symbol(pid_t pid, const char *const *prefix, size_t n_prefixes, const char *symbol)
{
    char path[64], *line = NULL;
    size_t room = 0;
    uint64_t found = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *const maps = fopen(path, "re");
    while (maps && found == 0 && getline(&line, &room, maps) > 0) {
        unsigned long long begin, offset;
        int n = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%llx-%*x %*s %llx %*s %*u %n", &begin, &offset, &n) != 2 || n == 0 || offset != 0)
            continue;
        const char *const name = strrchr(line + n, '/');
        for (size_t i = 0; name && i < n_prefixes && found == 0; i++)
            if (strncmp(name + 1, prefix[i], strlen(prefix[i])) == 0) {
                const uint64_t value = file_symbol(pid, line + n, symbol);
                found = value ? begin + value : 0;
            }
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

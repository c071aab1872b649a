/* damage - every prefix and every changed byte of every file of a collection, each through a whole export.
 *
 *   damage [--every N] [--deep N] [--jobs N] [--only TEXT] [--learn] PROF_DIR...
 *
 * Works on copies in memory, in processes that may die: what a run must not do is noted, and the next one goes on behind it.
 * After each run must hold: a refusal has a reason; nothing half-written is left; a loss names a file that exists and a place
 * in it; a file that is cut inside a record is reported there; reports that have nothing to do with the file are, byte for
 * byte, what they are without the damage. After each --deep'th run every JSON file parses and the database is sound.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/write.h"
#include "raw/family.h"

enum { MOST_FILES = 512, MOST_OUTPUTS = 256, MOST_JOBS = 64, RUN_SECONDS = 30, SHOWN = 40 };

/* What a report is made of, where that is not nearly everything: damage to the file may change these outputs only (and the
 * timelines and the database, which hold everything). */
static const struct {
    const char *file, *outputs; /* patterns; several outputs are separated by blanks */
} made_of[] = {
    { "*/hbm.data*", "hbm_*" },
};

static const struct {
    const char *name;
    uint8_t keep, flip; /* the new byte: old & keep ^ flip */
} change[] = {
    { "all bits", 0xFF, 0xFF }, { "high bit", 0xFF, 0x80 }, { "low bit", 0xFF, 0x01 },
    { "zero", 0, 0 },           { "ones", 0, 0xFF },
};
enum { CHANGES = sizeof change / sizeof *change };

struct file {
    char *path; /* below the collection */
    uint8_t *data;
    size_t size;
    const struct family *family; /* NULL: settings */
};

struct output {
    char name[160]; /* below the place for results */
    uint64_t hash;
};

struct input {
    const struct file *file;
    int change; /* -1: cut at `at` */
    size_t at;
};

/* Shared by all processes. */
struct board {
    atomic_size_t next, n_done, n_refused, n_lossy, n_deep, n_wrong;
    atomic_size_t current[MOST_JOBS];
    atomic_bool changed[MOST_FILES][MOST_OUTPUTS]; /* --learn */
};

static struct options {
    size_t every, deep;
    unsigned jobs;
    const char *only;
    bool learn;
} options = { .every = 1, .deep = 16, .jobs = 1, .only = "" };

static struct file files[MOST_FILES];
static size_t n_files, prof_len;
static struct output undamaged[MOST_OUTPUTS], now[MOST_OUTPUTS];
static size_t n_undamaged, n_now;
static struct board *board;
static char home[100], prof[200], out[200];

static void die(const char *what)
{
    fprintf(stderr, "damage: %s: %s\n", what, strerror(errno));
    exit(2);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    const int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        die(path);
    uint8_t *data = malloc((size_t)st.st_size + 1);
    *size = 0;
    for (ssize_t got; data && (got = read(fd, data + *size, (size_t)st.st_size - *size)) > 0;)
        *size += (size_t)got;
    close(fd);
    return data;
}

/* The family as the loader sees it: without aging, device and slice. */
static const struct family *family_of(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    if (!strstr(path, "/data/"))
        return NULL;
    char stream[200];
    name += strncmp(name, "aging.", 6) == 0 ? 6 : strncmp(name, "unaging.", 8) == 0 ? 8 : 0;
    snprintf(stream, sizeof stream, "%s", name);
    char *slice = strstr(stream, ".slice_");
    if (slice)
        *slice = 0;
    char *device = strrchr(stream, '.');
    if (strncmp(path, "device_", 7) == 0 && device && device[1] >= '0' && device[1] <= '9')
        *device = 0;
    return family_find(stream);
}

static int take_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)ftw;
    const size_t len = strlen(path);
    if (type != FTW_F || n_files == MOST_FILES || (len > 5 && strcmp(path + len - 5, ".done") == 0))
        return 0;
    struct file *f = &files[n_files++];
    f->path = strdup(path + prof_len + 1);
    f->data = read_file(path, &f->size);
    f->family = family_of(f->path);
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

static const char *in_prof(const char *path)
{
    static char full[512];
    snprintf(full, sizeof full, "%s/%s", prof, path);
    return full;
}

static void put_file(const struct file *f)
{
    const int fd = open(in_prof(f->path), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, f->data, f->size) != (ssize_t)f->size)
        die(f->path);
    close(fd);
}

/* A copy of the collection for this process alone. */
static void make_home(unsigned worker)
{
    snprintf(home, sizeof home, "%s/ascope-damage-%ld-%u", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
             (long)getppid(), worker);
    snprintf(prof, sizeof prof, "%s/PROF_1", home);
    snprintf(out, sizeof out, "%s/out", home);
    mkdir(home, 0700);
    mkdir(prof, 0700);
    for (size_t i = 0; i < n_files; i++) {
        for (char *slash = files[i].path; (slash = strchr(slash, '/')); slash++) {
            *slash = 0;
            mkdir(in_prof(files[i].path), 0700);
            *slash = '/';
        }
        put_file(&files[i]);
    }
}

static int forget(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void do_damage(const struct input *in)
{
    const struct file *f = in->file;
    const int fd = open(in_prof(f->path), O_WRONLY);
    if (in->change < 0) {
        if (ftruncate(fd, (off_t)in->at) != 0)
            die("ftruncate");
    } else {
        const uint8_t byte = (uint8_t)((f->data[in->at] & change[in->change].keep) ^ change[in->change].flip);
        if (pwrite(fd, &byte, 1, (off_t)in->at) != 1)
            die("pwrite");
    }
    close(fd);
}

static void mend(const struct input *in)
{
    const struct file *f = in->file;
    const int fd = open(in_prof(f->path), O_WRONLY);
    const size_t from = in->at, n = in->change < 0 ? f->size - from : 1;
    if (pwrite(fd, f->data + from, n, (off_t)from) != (ssize_t)n)
        die("pwrite");
    close(fd);
}

/* Inputs are numbered: for each file its prefixes, then each change of each byte. */
static size_t inputs_of(const struct file *f)
{
    return strstr(f->path, options.only) ? f->size * (1 + CHANGES) : 0;
}

static bool input_at(size_t number, struct input *in)
{
    for (size_t i = 0; i < n_files; i++) {
        const size_t n = inputs_of(&files[i]);
        if (number < n) {
            *in = (struct input){ &files[i], (int)(number / files[i].size) - 1, number % files[i].size };
            return true;
        }
        number -= n;
    }
    return false;
}

static const char *input_name(const struct input *in)
{
    static char text[300];
    snprintf(text, sizeof text, "%s, %s %zu", in->file->path, in->change < 0 ? "cut at" : change[in->change].name,
             in->at);
    return text;
}

static const char *wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char complaint[1000];
static const char *wrong(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!complaint[0])
        vsnprintf(complaint, sizeof complaint, fmt, args);
    va_end(args);
    return complaint;
}

static bool looks_deep;

static bool is_everything(const char *name)
{
    return strncmp(name, "msprof_", 7) == 0 || strcmp(name, "README.txt") == 0;
}

static int look_at(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    if (type != FTW_F)
        return 0;
    if (strstr(path, ".part-"))
        wrong("%s was left behind", path);
    const char *name = path + ftw->base;
    if (n_now < MOST_OUTPUTS && !is_everything(name)) {
        size_t size;
        uint8_t *data = read_file(path, &size);
        uint64_t hash = 14695981039346656037U;
        for (size_t i = 0; i < size; i++)
            hash = (hash ^ data[i]) * 1099511628211U;
        free(data);
        snprintf(now[n_now].name, sizeof now[n_now].name, "%s", name);
        now[n_now++].hash = hash;
    }
    const char *ending = strrchr(name, '.');
    if (!looks_deep || !ending)
        return 0;
    if (strcmp(ending, ".json") == 0) {
        json_error_t why;
        json_t *json = json_load_file(path, JSON_DECODE_INT_AS_REAL, &why);
        if (!json)
            wrong("%s:%d: %s", name, why.position, why.text);
        json_decref(json);
    } else if (strcmp(ending, ".db") == 0) {
        sqlite3 *db = NULL;
        sqlite3_stmt *q = NULL;
        if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
            sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &q, NULL) != SQLITE_OK ||
            sqlite3_step(q) != SQLITE_ROW || strcmp((const char *)sqlite3_column_text(q, 0), "ok") != 0)
            wrong("%s: the database is not sound: %s", name, q ? (const char *)sqlite3_column_text(q, 0) : "");
        sqlite3_finalize(q);
        sqlite3_close(db);
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct output *)a)->name, ((const struct output *)b)->name);
}

static void look_at_results(bool deep)
{
    n_now = 0;
    looks_deep = deep;
    nftw(out, look_at, 16, FTW_PHYS);
    qsort(now, n_now, sizeof *now, by_name);
}

static bool one_of(const char *patterns, const char *name)
{
    char copy[400];
    snprintf(copy, sizeof copy, "%s", patterns);
    for (char *rest = copy, *p; (p = strsep(&rest, " "));)
        if (fnmatch(p, name, 0) == 0)
            return true;
    return false;
}

/* Outputs that have nothing to do with the file are as they always are. */
static void check_others(const struct input *in)
{
    const char *mine = NULL;
    for (size_t i = 0; i < sizeof made_of / sizeof *made_of && !mine; i++)
        mine = fnmatch(made_of[i].file, in->file->path, 0) == 0 ? made_of[i].outputs : NULL;
    for (size_t i = 0, k = 0; i < n_undamaged; i++) {
        while (k < n_now && strcmp(now[k].name, undamaged[i].name) < 0)
            k++;
        const bool same = k < n_now && strcmp(now[k].name, undamaged[i].name) == 0 && now[k].hash == undamaged[i].hash;
        if (!same && options.learn)
            board->changed[in->file - files][i] = true;
        if (!same && mine && !one_of(mine, undamaged[i].name))
            wrong("%s is another, and has nothing to do with it", undamaged[i].name);
    }
}

static void check_losses(const struct input *in, const struct losses *lost)
{
    for (int why = 0; why < LOSS_KINDS; why++) {
        if (lost->by[why].n == 0 || !loss_is_damage((enum loss)why) || why == LOSS_UNREADABLE)
            continue;
        const char *file = lost->by[why].file;
        struct stat st;
        if (!file || stat(in_prof(file), &st) != 0)
            wrong("%s: said to be in %s, which is no file", loss_key((enum loss)why), file);
        else if (lost->by[why].first_at > (uint64_t)st.st_size)
            wrong("%s: said to be at %s:%" PRIu64 ", which has %jd bytes", loss_key((enum loss)why), file,
                  lost->by[why].first_at, (intmax_t)st.st_size);
    }
    const struct family *family = in->file->family;
    if (in->change < 0 && family && family->size > 0 && in->at % family->size != 0) {
        const uint64_t at = in->at - in->at % family->size;
        if (lost->by[LOSS_CUT_SHORT].n == 0 || strcmp(lost->by[LOSS_CUT_SHORT].file, in->file->path) != 0 ||
            lost->by[LOSS_CUT_SHORT].first_at != at)
            wrong("not told that a record is cut short at %" PRIu64 "; told %" PRIu64 " at %s:%" PRIu64, at,
                  lost->by[LOSS_CUT_SHORT].n, lost->by[LOSS_CUT_SHORT].file, lost->by[LOSS_CUT_SHORT].first_at);
    }
}

static bool export_it(const struct input *in)
{
    const struct request request = {
        .want = WANT_ALL, .format = FORMAT_CSV, .n_threads = 1, .out_dir = out, .stamp = "20240601080000"
    };
    struct result r = { 0 };
    struct error e = { 0 };
    const bool done = collection_export(prof, &request, &r, &e);
    if (!done && (e.fault == FAULT_NONE || !e.text[0]))
        wrong("a refusal without a reason");
    if (done && in) {
        check_losses(in, &r.profile.lost);
        board->n_lossy += losses_damage(&r.profile.lost) > 0;
    }
    result_free(&r);
    return done;
}

static void run_one(unsigned worker, size_t number)
{
    struct input in;
    board->current[worker] = number;
    if (!input_at(number, &in))
        return;
    alarm(RUN_SECONDS);
    do_damage(&in);
    const bool deep = number / options.every % options.deep == 0;
    const bool done = export_it(&in);
    look_at_results(deep);
    if (done)
        check_others(&in);
    else if (n_now > 0)
        wrong("refused, and %s is there", now[0].name);
    nftw(out, forget, 16, FTW_DEPTH | FTW_PHYS);
    mend(&in);
    alarm(0);
    board->n_done++;
    board->n_refused += !done;
    board->n_deep += deep;
    if (complaint[0] && board->n_wrong++ < SHOWN)
        printf("  %s:\n      %s\n", input_name(&in), complaint);
    complaint[0] = 0;
    fflush(stdout);
}

void __lsan_do_leak_check(void) __attribute__((weak));

static void work(unsigned worker)
{
    size_t total = 0;
    for (size_t i = 0; i < n_files; i++)
        total += inputs_of(&files[i]);
    make_home(worker);
    for (size_t number; (number = (board->next += options.every) - options.every) < total;)
        run_one(worker, number);
    nftw(home, forget, 16, FTW_DEPTH | FTW_PHYS);
}

static pid_t start(unsigned worker)
{
    board->current[worker] = SIZE_MAX;
    const pid_t pid = fork();
    if (pid == 0) {
        work(worker);
        exit(0); /* where leaks are found */
    }
    return pid;
}

static void note_death(unsigned worker, int status)
{
    struct input in;
    board->n_wrong++;
    if (input_at(board->current[worker], &in))
        printf("  %s:\n      died: %s %d\n", input_name(&in), WIFSIGNALED(status) ? "signal" : "status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    else
        printf("  a worker died at its end: leaks?\n");
    fflush(stdout);
}

static void campaign(const char *path)
{
    n_files = n_undamaged = 0;
    prof_len = strlen(path);
    nftw(path, take_file, 16, FTW_PHYS);
    qsort(files, n_files, sizeof *files, by_path);
    memset(board, 0, sizeof *board);
    make_home(MOST_JOBS);
    if (!export_it(NULL))
        die("the undamaged collection cannot be exported");
    look_at_results(true);
    memcpy(undamaged, now, sizeof now);
    n_undamaged = n_now;
    nftw(home, forget, 16, FTW_DEPTH | FTW_PHYS);

    pid_t pid[MOST_JOBS];
    unsigned running = 0;
    for (; running < options.jobs; running++)
        pid[running] = start(running);
    while (running > 0) {
        int status;
        const pid_t ended = wait(&status);
        for (unsigned i = 0; i < options.jobs; i++) {
            if (pid[i] != ended)
                continue;
            if (status == 0) {
                running--;
                continue;
            }
            const bool at_end = board->current[i] == SIZE_MAX;
            note_death(i, status);
            if (at_end)
                running--;
            else
                pid[i] = start(i);
        }
    }
    printf("%s: %zu inputs, %zu refused, %zu with losses, %zu looked at deeply, %zu wrong\n", path, board->n_done,
           board->n_refused, board->n_lossy, board->n_deep, board->n_wrong);
    for (size_t i = 0; i < n_files && options.learn; i++) {
        printf("%s:", files[i].path);
        for (size_t k = 0; k < n_undamaged; k++)
            if (board->changed[i][k])
                printf(" %s", undamaged[k].name);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        { "every", required_argument, NULL, 'e' }, { "deep", required_argument, NULL, 'd' },
        { "jobs", required_argument, NULL, 'j' },  { "only", required_argument, NULL, 'o' },
        { "learn", no_argument, NULL, 'l' },       { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;)
        switch (c) {
        case 'e': options.every = strtoul(optarg, NULL, 10); break;
        case 'd': options.deep = strtoul(optarg, NULL, 10); break;
        case 'j': options.jobs = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'o': options.only = optarg; break;
        case 'l': options.learn = true; break;
        default: return 2;
        }
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED || options.every == 0 || options.deep == 0 || options.jobs == 0 ||
        options.jobs >= MOST_JOBS)
        die("options");
    size_t n_wrong = 0;
    for (int i = optind; i < argc; i++) {
        campaign(argv[i]);
        n_wrong += board->n_wrong;
    }
    return n_wrong > 0;
}

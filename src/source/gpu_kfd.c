/* gpu_kfd.c - which process holds memory and queues on which GPU, from KFD's own files.
 *
 * Never reads sdma_*: that takes the queue lock of the GPU and may block when it hangs; vram_* is a plain counter.
 */
#include "config.h"

#include "source/gpu.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "parse/gpu_files.h"

#define PIDS_MAX 4096
#define QUEUES_MAX 4096        /* of one process */
#define QUEUE_COMPUTE 0        /* the kernel's number for compute queues */
#define INITIAL_PID_NAMESPACE "pid:[4026531836]"

/* Compute queues of a process, a GPU each. Counted anew only when the list of its queues has changed. */
struct kfd_queues {
	int64_t pid;
	uint64_t list;                 /* hash of names and inodes */
	int *count;
	bool seen;
};

void kfd_processes_init(struct kfd_processes *k, const char *sys_root, const char *proc_root)
{
	memset(k, 0, sizeof *k);
	k->root = mem_text(sys_root);
	k->proc_root = mem_text(proc_root);
	gpu_list_init(&k->list);
}

void kfd_processes_release(struct kfd_processes *k)
{
	for (size_t i = 0; i < k->queue_count; i++)
		free(k->queues[i].count);
	free(k->queues);
	free(k->root);
	free(k->proc_root);
	gpu_list_release(&k->list);
}

static struct span read_at(int folder, const char *name, char *block, size_t size)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, block, size);

	if (fd >= 0)
		close(fd);
	return span_make(block, n > 0 ? (size_t)n : 0);
}

/* A whole number; -1 when it cannot be read. */
static int64_t number_at(int folder, const char *name)
{
	char block[64];
	double value = gpu_file_number(read_at(folder, name, block, sizeof block));

	return value >= 0 ? (int64_t)value : -1;
}

static int open_folder(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int gpu_of_id(const struct kfd_processes *k, struct span id)
{
	for (size_t i = 0; i < k->gpus; i++)
		if (k->gpu_id[i][0] && span_is(id, k->gpu_id[i]))
			return (int)i;
	return -1;
}

/* --- queues --- */

static struct kfd_queues *queues_of(struct kfd_processes *k, int64_t pid)
{
	struct kfd_queues *q;

	for (size_t i = 0; i < k->queue_count; i++)
		if (k->queues[i].pid == pid)
			return &k->queues[i];
	k->queues = mem_array(k->queues, k->queue_count + 1, sizeof *k->queues);
	q = memset(&k->queues[k->queue_count++], 0, sizeof *q);
	q->pid = pid;
	q->count = mem_alloc((k->gpus ? k->gpus : 1) * sizeof *q->count);
	return q;
}

static void forget_gone(struct kfd_processes *k)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->queue_count; i++) {
		if (k->queues[i].seen)
			k->queues[kept++] = k->queues[i];
		else
			free(k->queues[i].count);
	}
	k->queue_count = kept;
	for (size_t i = 0; i < kept; i++)
		k->queues[i].seen = false;
}

static uint64_t hash_entry(uint64_t hash, const struct dirent *e)
{
	uint64_t part[2] = { map_hash(e->d_name, strlen(e->d_name)), (uint64_t)e->d_ino };

	return hash + map_hash(part, sizeof part); /* a sum: the order of a folder says nothing */
}

static void count_queues(struct kfd_processes *k, struct kfd_queues *q, DIR *dir)
{
	memset(q->count, 0, k->gpus * sizeof *q->count);
	rewinddir(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		char name[300], block[64];
		int gpu;

		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/type", e->d_name);
		if (number_at(dirfd(dir), name) != QUEUE_COMPUTE)
			continue;
		snprintf(name, sizeof name, "%s/gpuid", e->d_name);
		gpu = gpu_of_id(k, span_trim(read_at(dirfd(dir), name, block, sizeof block)));
		if (gpu >= 0)
			q->count[gpu]++;
	}
}

/* NULL when the process has no folder of queues. */
static struct kfd_queues *read_queues(struct kfd_processes *k, int folder, int64_t pid)
{
	int fd = open_folder(folder, "queues"), entries = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct kfd_queues *q;
	uint64_t hash = 1;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	q = queues_of(k, pid);
	q->seen = true;
	for (struct dirent *e; entries < QUEUES_MAX && (e = readdir(dir)); entries++)
		if (e->d_name[0] != '.')
			hash = hash_entry(hash, e);
	if (hash != q->list)
		count_queues(k, q, dir);
	q->list = hash;
	closedir(dir);
	return q;
}

/* --- processes --- */

/* Pids of KFD are those of the initial namespace: in a container another process of ours may bear that number. */
static bool names_are_ours(const struct kfd_processes *k)
{
	char path[PATH_MAX], target[64];
	ssize_t n;

	if (strcmp(k->root, "/sys") != 0)
		return true;
	snprintf(path, sizeof path, "%s/self/ns/pid", k->proc_root);
	n = readlink(path, target, sizeof target);
	return n < 0 || span_is(span_make(target, (size_t)n), INITIAL_PID_NAMESPACE);
}

static void read_name(const struct kfd_processes *k, struct gpu_process_reading *p)
{
	char path[PATH_MAX], block[sizeof p->name - 1];
	struct span name;

	snprintf(path, sizeof path, "%s/%lld/comm", k->proc_root, (long long)p->pid);
	name = span_trim(read_at(AT_FDCWD, path, block, sizeof block));
	memcpy(p->name, name.at, name.len);
	p->name[name.len] = 0;
}

static void read_on_gpu(struct kfd_processes *k, int folder, int64_t pid, size_t gpu, const struct kfd_queues *q, bool names)
{
	struct gpu_process_reading *p;
	char name[64];
	int64_t vram;

	snprintf(name, sizeof name, "vram_%s", k->gpu_id[gpu]);
	vram = number_at(folder, name);
	if (vram <= 0 && !(q && q->count[gpu] > 0))
		return;
	p = gpu_list_process(&k->list);
	if (!p)
		return;
	p->pid = pid;
	p->gpu = (int)gpu;
	p->vram = vram;
	p->queues = q ? q->count[gpu] : -1;
	snprintf(name, sizeof name, "stats_%s/evicted_ms", k->gpu_id[gpu]);
	p->evicted_ms = number_at(folder, name);
	snprintf(name, sizeof name, "stats_%s/cu_occupancy", k->gpu_id[gpu]);
	if (!k->avoid[gpu])
		p->cu_occupancy = number_at(folder, name);
	if (names)
		read_name(k, p);
}

void kfd_processes_read(struct kfd_processes *k)
{
	char path[PATH_MAX];
	bool names = names_are_ours(k);
	int pids = 0;
	DIR *dir;

	k->list.processes = 0;
	snprintf(path, sizeof path, "%s/class/kfd/kfd/proc", k->root);
	dir = opendir(path);
	for (struct dirent *e; dir && pids < PIDS_MAX && (e = readdir(dir));) {
		const struct kfd_queues *q;
		int64_t pid;
		int folder;

		if (!span_int(span_of(e->d_name), &pid) || pid <= 0 || (folder = open_folder(dirfd(dir), e->d_name)) < 0)
			continue;
		pids++;
		q = read_queues(k, folder, pid);
		for (size_t i = 0; i < k->gpus; i++)
			if (k->gpu_id[i][0])
				read_on_gpu(k, folder, pid, i, q, names);
		close(folder);
	}
	if (dir)
		closedir(dir);
	forget_gone(k);
}

/* evidence_items.c - the tables of what is read. */
#include "config.h"

#include "app/evidence_items.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/evidence_read.h"
#include "base/mem.h"
#include "base/text.h"

#define KERNEL_LOG_MAX ((size_t)4 << 20)
#define LOG_PATHS_MAX 8

/* sdma_* takes the queue lock of the GPU, cu_occupancy asks the hardware: both may wait for a GPU that hangs. */
static const char kfd_left_out[] = "sdma_* cu_occupancy caches";
/* The first ones are constants or counters of the driver, the last ones are asked of the GPU. */
static const char gpu_names[] = "uevent vendor device unique_id product_name vbios_version reset_method current_link_speed "
	"current_link_width current_compute_partition current_memory_partition mem_info_vram_total mem_info_vram_used "
	"mem_info_gtt_used mem_info_vis_vram_used gpu_busy_percent mem_busy_percent pp_dpm_sclk pp_dpm_mclk";

static const struct row {
	const char *name, *from;
	void (*read)(struct reading *r, const struct item *item);
} node_row[] = {
	{ "node/version", "version", read_plain },
	{ "node/uptime", "uptime", read_plain },
	{ "node/loadavg", "loadavg", read_plain },
	{ "node/meminfo", "meminfo", read_plain },
	{ "node/sysvipc-shm", "sysvipc/shm", read_plain },
	{ "node/ptrace-scope", "sys/kernel/yama/ptrace_scope", read_plain },
	{ "node/os-release", "/etc/os-release", read_plain },
	{ "gpu/amdgpu-version", NULL, read_plain },
	{ "gpu/rocm-version", "/opt/rocm/.info/version", read_plain },
}, process_row[] = {
	{ "stat", "stat", read_plain },
	{ "status", "status", read_plain },
	{ "wchan", "wchan", read_plain },
	{ "syscall", "syscall", read_plain },
	{ "stack", "stack", read_plain },
	{ "limits", "limits", read_plain },
	{ "exe", "exe", read_link },
	{ "fds", "fd", read_fds },
	{ "tasks", "task", read_tasks },
	/* These wait while a thread of it holds the memory map. */
	{ "cmdline", "cmdline", read_cmdline },
	{ "environ", "environ", read_environ },
	{ "maps", "maps", read_plain },
};

#define COUNT(table) ((int)(sizeof table / sizeof *table))

static struct part *new_part(const char *label, int items)
{
	struct part *p = mem_alloc(sizeof *p);

	snprintf(p->label, sizeof p->label, "%s", label);
	p->item = mem_alloc((size_t)items * sizeof *p->item);
	return p;
}

static struct item *add_item(struct part *p, const char *path, void (*read)(struct reading *r, const struct item *item), const char *from)
{
	struct item *item = &p->item[p->items++];

	snprintf(item->path, sizeof item->path, "%s", path);
	snprintf(item->from, sizeof item->from, "%s", from);
	item->read = read;
	return item;
}

static struct part *one_item(const char *path, void (*read)(struct reading *r, const struct item *item), const char *root, const char *below)
{
	struct part *p = new_part(path, 1);
	char from[PATH_MAX];

	snprintf(from, sizeof from, "%s%s", root, below);
	add_item(p, path, read, from);
	return p;
}

void part_free(struct part *p)
{
	free(p->item);
	free(p);
}

struct part *items_of_find(struct find *find)
{
	struct part *p = new_part("search for the server", 1);

	find_item(find, &p->item[p->items++]);
	return p;
}

struct part *items_of_node(const struct source_options *o)
{
	struct part *p = new_part("node", COUNT(node_row));

	for (int i = 0; i < COUNT(node_row); i++) {
		const char *from = node_row[i].from ? node_row[i].from : "/module/amdgpu/version";
		const char *root = !node_row[i].from ? o->sys_root : *from == '/' ? "" : o->proc_root;
		char path[PATH_MAX];

		snprintf(path, sizeof path, "%s%s%s", root, *from == '/' ? "" : "/", from);
		add_item(p, node_row[i].name, node_row[i].read, path);
	}
	return p;
}

struct part *items_of_shm(const struct source_options *o)
{
	(void)o;
	return one_item("node/shm.txt", read_folder, "", "/dev/shm");
}

struct part *items_of_kernel_log(const struct source_options *o)
{
	struct part *p = one_item("node/kernel.log", read_kmsg, "", o->kmsg ? o->kmsg : "/dev/kmsg");

	p->item->cap = KERNEL_LOG_MAX;
	return p;
}

struct part *items_of_kfd(const struct source_options *o, bool processes)
{
	struct part *p = processes ? one_item("gpu/kfd-processes.txt", read_tree, o->sys_root, "/class/kfd/kfd/proc") :
		one_item("gpu/kfd-topology.txt", read_tree, o->sys_root, "/class/kfd/kfd/topology");

	p->item->context = kfd_left_out;
	return p;
}

static int by_number(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

size_t items_gpus(const struct source_options *o, unsigned card[EVIDENCE_GPUS_MAX])
{
	char path[PATH_MAX];
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof path, "%s/class/drm", o->sys_root);
	dir = opendir(path);
	for (struct dirent *e; dir && n < EVIDENCE_GPUS_MAX && (e = readdir(dir));) {
		struct span name = span_of(e->d_name);
		uint64_t number;

		if (!span_skip(&name, "card") || !span_take_uint(&name, &number) || name.len || number > 100000)
			continue;
		/* Only amdgpu has this file; to ask whether it is there does not ask the driver. */
		snprintf(path, sizeof path, "%s/class/drm/card%u/device/mem_info_vram_total", o->sys_root, (unsigned)number);
		if (access(path, F_OK) == 0)
			card[n++] = (unsigned)number;
	}
	if (dir)
		closedir(dir);
	qsort(card, n, sizeof *card, by_number);
	return n;
}

struct part *items_of_gpu(const struct source_options *o, unsigned card)
{
	char path[64], below[64];
	struct part *p;

	snprintf(path, sizeof path, "gpu/card%u.txt", card);
	snprintf(below, sizeof below, "/class/drm/card%u/device", card);
	p = one_item(path, read_gpu, o->sys_root, below);
	p->item->context = gpu_names;
	return p;
}

struct part *items_of_process(const struct source_options *o, struct evidence_process *process)
{
	struct part *p;
	char path[160], folder[100];

	evidence_process_folder(process, folder, sizeof folder);
	p = new_part(folder, COUNT(process_row));
	snprintf(p->dir, sizeof p->dir, "%s/%lld", o->proc_root, (long long)process->pid);
	p->start_ticks = process->start_ticks;
	for (int i = 0; i < COUNT(process_row); i++) {
		snprintf(path, sizeof path, "%s/%s", folder, process_row[i].name);
		add_item(p, path, process_row[i].read, process_row[i].from)->context = process;
	}
	return p;
}

/* Where the log source looks: what was said, else output and error of the api process, else the profile's paths. */
struct part *items_of_log(const struct find *find, const struct secrets *secrets)
{
	const struct source_options *o = &find->options->source;
	struct part *p = new_part("log", LOG_PATHS_MAX + 3);

	if (o->log) {
		add_item(p, "log/server.log", read_log, o->log);
	} else {
		if (find->api_pid) {
			snprintf(p->dir, sizeof p->dir, "%s/%lld", o->proc_root, (long long)find->api_pid);
			p->start_ticks = find->api_start;
			add_item(p, "log/stdout.log", read_log_fd, "fd/1");
			add_item(p, "log/stderr.log", read_log_fd, "fd/2");
		}
		for (int i = 0; find->profile && i < find->profile->log_path.count && i < LOG_PATHS_MAX; i++) {
			char path[32];

			snprintf(path, sizeof path, "log/server-%d.log", i + 1);
			add_item(p, path, read_log, find->profile->log_path.item[i]);
		}
	}
	for (int i = 0; i < p->items; i++) {
		p->item[i].cap = EVIDENCE_LOG_MAX * 2; /* masking may make it longer */
		p->item[i].context = secrets;
	}
	return p;
}

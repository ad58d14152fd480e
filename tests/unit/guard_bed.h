/* guard_bed.h - a made-up node with a healthy worker, pid 4711, of uid 1000, as we are: made under a temporary folder, then edited. */
#ifndef GUARD_BED_H
#define GUARD_BED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu_tree.h"
#include "snapshot/guard.h"

#define BED_PID 4711

struct guard_bed {
	char root[64], proc[80], sys[80], debugger[80], folder[80];
	struct guard_options options;
};

/* One edit: the file is written (from NULL), a text in it replaced, or the file removed (to NULL).
 * What is written: "->TARGET" is a link, "|" a pipe that nobody writes. In an environ ; stands for NUL. */
struct bed_edit { const char *path, *from, *to; };

static inline void bed_write(const char *path, const char *text)
{
	size_t len = strlen(text);
	char *copy = strdup(text), *folders = strdup(path);
	FILE *f;

	*strrchr(folders, '/') = 0;
	if (access(folders, F_OK) != 0) {
		folders[strlen(folders)] = '/';
		tree_folders(folders);
	}
	remove(path);
	if (!strncmp(text, "->", 2)) {
		if (symlink(text + 2, path) != 0)
			abort();
	} else if (!strcmp(text, "|")) {
		if (mkfifo(path, 0600) != 0)
			abort();
	} else {
		for (char *c = copy; strstr(path, "environ") && *c; c++)
			if (*c == ';')
				*c = 0;
		f = fopen(path, "w");
		if (!f || fwrite(copy, 1, len, f) != len || fclose(f) != 0)
			abort();
	}
	free(copy);
	free(folders);
}

static inline void bed_replace(const char *path, const char *from, const char *to)
{
	char old[8192], text[8192];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(old, 1, sizeof old - 1, f) : 0;
	const char *at;

	if (f)
		fclose(f);
	old[n] = 0;
	at = strstr(old, from);
	if (!at) {
		fprintf(stderr, "%s: no \"%s\" to replace\n", path, from);
		abort();
	}
	snprintf(text, sizeof text, "%.*s%s%s", (int)(at - old), old, to, at + strlen(from));
	bed_write(path, text);
}

static inline void bed_edit(struct guard_bed *bed, const struct bed_edit *e)
{
	const char *path = tree_path(bed->root, "%s", e->path);

	if (!e->to)
		tree_free(path);
	else if (e->from)
		bed_replace(path, e->from, e->to);
	else
		bed_write(path, e->to);
}

static inline void bed_new(struct guard_bed *bed)
{
	/* The name of the process holds what a careless parser stumbles over. */
	static const struct bed_edit healthy[] = {
		{ "proc/4711/stat", NULL, "4711 (pt) S (x y)) S 4700 4700 4700 0 -1 4194304 1 0 0 0 11 22 0 0 20 0 3 0 987654 1000 42 184\n" },
		{ "proc/4711/status", NULL, "Name:\tpt) S (x y)\nState:\tS (sleeping)\nPid:\t4711\nPPid:\t4700\nTracerPid:\t0\n"
			"Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nNSpid:\t4711\nVmRSS:\t  2097152 kB\nCoreDumping:\t0\nThreads:\t3\n"
			"SigBlk:\t0000000000000000\nSigCgt:\t0000000180000002\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
			"CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\n" },
		{ "proc/4711/maps", NULL, "7f20f0000000-7f20f0100000 r-xp 00000000 08:01 1 /opt/rocm/lib/libhsa-runtime64.so.1\n" },
		{ "proc/4711/environ", NULL, "HOME=/root;RANK=3;HIP_VISIBLE_DEVICES=0,1;" },
		{ "proc/4711/task/4711/comm", NULL, "pt) S (x y)\n" },
		{ "proc/4711/task/4711/stat", NULL, "4711 (pt) S (x y)) S 4700 4700 4700 0 -1 4194304 1 0 0 0 11 22 0 0 20 0 3 0 987654 1000 42 184\n" },
		{ "proc/4711/task/4711/children", NULL, "" },
		{ "proc/4711/task/4712/comm", NULL, "python\n" },
		{ "proc/4711/task/4712/stat", NULL, "4712 (python) R 4700 4700 4700 0 -1 4194304 1 0 0 0 11 22 0 0 20 0 3 0 987660 1000 42 184\n" },
		{ "proc/4711/task/4712/wchan", NULL, "0" },
		{ "proc/4711/fd/0", NULL, "->/dev/null" },
		{ "proc/4711/fd/7", NULL, "->/dev/kfd" },
		{ "proc/4711/ns/user", NULL, "->user:[4026531837]" },
		{ "proc/4700/stat", NULL, "4700 (python) S 1 4700 4700 0 -1 4194304 1 0 0 0 11 22 0 0 20 0 3 0 987000 1000 42 184\n" },
		{ "proc/self/status", NULL, "Name:\thangtop\nPid:\t4800\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nNSpid:\t4800\n"
			"CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000\n" },
		{ "proc/self/ns/user", NULL, "->user:[4026531837]" },
		{ "proc/self/ns/pid", NULL, "->pid:[4026531836]" },
		{ "proc/sys/kernel/yama/ptrace_scope", NULL, "0\n" },
		{ "sys/module/amdgpu/parameters/cwsr_enable", NULL, "1\n" },
		{ "sys/class/kfd/kfd/proc/4711/queues/0/gpuid", NULL, "1000\n" },
		{ "sys/class/kfd/kfd/proc/4711/queues/1/gpuid", NULL, "1000\n" },
		{ "sys/class/kfd/kfd/topology/nodes/0/properties", NULL, "cpu_cores_count 96\nsimd_count 0\ncapability 0\ndebug_prop 0\n" },
		/* 0x2c078680: driver and firmware can be debugged; 0x5d6: waves always name their dispatch */
		{ "sys/class/kfd/kfd/topology/nodes/1/properties", NULL, "simd_count 1216\ngfx_target_version 90402\ncapability 738690688\ndebug_prop 1494\n" },
		{ "bin/rocgdb", NULL, "#!/bin/sh\nexit 1\n" },
	};

	memset(bed, 0, sizeof *bed);
	tree_new(bed->root);
	for (size_t i = 0; i < sizeof healthy / sizeof healthy[0]; i++)
		bed_edit(bed, &healthy[i]);
	snprintf(bed->proc, sizeof bed->proc, "%s/proc", bed->root);
	snprintf(bed->sys, sizeof bed->sys, "%s/sys", bed->root);
	snprintf(bed->debugger, sizeof bed->debugger, "%s/bin/rocgdb", bed->root);
	chmod(bed->debugger, 0700);
	snprintf(bed->folder, sizeof bed->folder, "%s/bin", bed->root);
	bed->options = (struct guard_options){ .proc_root = bed->proc, .sys_root = bed->sys, .pid = BED_PID, .start_ticks = 987654,
		.role = "worker", .engine = "atom", .debugger = bed->debugger, .folder = bed->folder, .budget_ms = 120000, .used_ms = 0 };
}

static inline void bed_free(struct guard_bed *bed)
{
	tree_free(bed->root);
}

#endif

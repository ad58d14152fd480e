/* guard_look_gpu.c - the facts of the GPU, of what holds its debug slot, and of core dumps. */
#include "config.h"

#include "snapshot/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "parse/gpu_files.h"
#include "parse/proc_files.h"
#include "snapshot/guard_private.h"

#define MAPS_MAX (64 << 20)      /* bytes; a worker has thousands of lines of 100 bytes */
#define ENVIRON_MAX (1 << 20)
#define DESCRIPTORS_MAX 65536
#define QUEUES_MAX 4096
#define NODES_MAX 256
#define TASKS_MAX 8192
#define AGENT_LIBRARY "librocm-debug-agent"
#define INITIAL_PID_NAMESPACE "pid:[4026531836]"

/* Bits of "capability" and "debug_prop" of a node's properties (linux/kfd_sysfs.h). */
#define CAP_DEBUG 0x00008000u
#define CAP_DEBUG_FIRMWARE 0x20000000u
#define PROP_DISPATCH_INFO 0x00000400u

/* --- the debug agent --- */

/* Does the file contain the text? -1: not found in what could be read. */
static int file_contains(int fd, const char *text, int64_t max)
{
	char block[65536];
	size_t keep = strlen(text) - 1, kept = 0;
	int64_t total = 0;
	ssize_t n = -1;

	while (total < max && (n = read(fd, block + kept, sizeof block - kept)) > 0) {
		size_t len = kept + (size_t)n;

		if (span_contains(span_make(block, len), text))
			return 1;
		kept = len < keep ? len : keep; /* the text may lie across two blocks */
		memmove(block, block + len - kept, kept);
		total += n;
	}
	return n == 0 && total > 0 ? 0 : -1;
}

static void look_maps(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE];
	int fd = guard_open(guard_path(path, o->proc_root, "%lld/maps", (long long)o->pid));

	if (fd < 0) {
		if (errno == EACCES || errno == EPERM)
			f->maps_denied = 1;
		return;
	}
	f->maps_denied = 0;
	f->agent_mapped = file_contains(fd, AGENT_LIBRARY, MAPS_MAX);
	close(fd);
}

/* After setproctitle it is all NULs: then nothing is known. */
static void look_environ(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE];
	struct buf text;
	struct span value;

	buf_init(&text, ENVIRON_MAX);
	if (guard_read(guard_path(path, o->proc_root, "%lld/environ", (long long)o->pid), &text, ENVIRON_MAX) &&
		span_contains(buf_as_span(&text), "=")) {
		if (proc_environ_get(buf_as_span(&text), "HSA_TOOLS_LIB", &value))
			guard_text(f->tools_lib, sizeof f->tools_lib, value);
		if (proc_environ_get(buf_as_span(&text), "HSA_ENABLE_DEBUG", &value))
			f->enable_debug = span_is(value, "1");
		else if (!text.cut)
			f->enable_debug = 0;
	}
	buf_release(&text);
}

/* --- core dumps --- */

static void found_core(struct guard_facts *f, const char *how, struct span what)
{
	char name[48];

	guard_text(name, sizeof name, what);
	f->core_handler = 1;
	snprintf(f->core_what, sizeof f->core_what, "%s %s", how, name);
}

/* ROCr writes gpucore.PID, gpucore.PID.gpu or, by a pattern, NAME.gpu. */
static bool is_gpu_core(struct span name)
{
	span_skip(&name, "/");
	return span_starts(name, "gpucore.") || span_ends(name, ".gpu");
}

/* Links only: opening what a descriptor names could reach the driver. */
static void look_descriptors(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE], block[GUARD_PATH_SIZE];
	DIR *dir = opendir(guard_path(path, o->proc_root, "%lld/fd", (long long)o->pid));
	int n = 0;

	if (!dir)
		return;
	for (struct dirent *e; n < DESCRIPTORS_MAX && (e = readdir(dir)); n++) {
		ssize_t len = readlinkat(dirfd(dir), e->d_name, block, sizeof block);
		struct span link = span_make(block, len > 0 ? (size_t)len : 0);
		long slash = span_find_last(link, '/');

		if (span_is(link, "/dev/kfd"))
			f->kfd_open = 1;
		else if (slash >= 0 && is_gpu_core(span_sub(link, (size_t)slash, link.len)))
			found_core(f, "open:", span_sub(link, (size_t)slash + 1, link.len));
	}
	if (n < DESCRIPTORS_MAX) {
		f->kfd_open = f->kfd_open == 1;
		f->core_handler = f->core_handler == 1;
	}
	closedir(dir);
}

/* A handler that ROCr feeds through a pipe ("|/usr/lib/systemd/systemd-coredump ...") is a child of the worker. */
static void look_child(const struct guard_options *o, int64_t child, struct guard_facts *f)
{
	static const char *const handler[] = { "systemd-coredum", "apport", "abrt-hook-ccpp" };
	char path[GUARD_PATH_SIZE];
	struct buf text;

	buf_init(&text, 64);
	if (guard_read(guard_path(path, o->proc_root, "%lld/comm", (long long)child), &text, 64))
		for (size_t i = 0; i < sizeof handler / sizeof handler[0]; i++)
			if (span_is(span_trim(buf_as_span(&text)), handler[i]))
				found_core(f, "its child is", span_of(handler[i]));
	buf_release(&text);
}

static void look_children(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE];
	DIR *dir = opendir(guard_path(path, o->proc_root, "%lld/task", (long long)o->pid));
	struct buf text;

	if (!dir)
		return;
	buf_init(&text, 4096);
	for (int n = 0; n < TASKS_MAX; n++) {
		struct dirent *e = readdir(dir);
		struct span rest, word;
		int64_t child;

		if (!e)
			break;
		if (e->d_name[0] == '.' || !guard_read(guard_path(path, o->proc_root, "%lld/task/%s/children", (long long)o->pid, e->d_name),
			&text, 4096))
			continue;
		rest = buf_as_span(&text);
		while (span_word(&rest, &word) && span_int(word, &child))
			look_child(o, child, f);
	}
	buf_release(&text);
	closedir(dir);
}

/* --- KFD --- */

/* KFD names processes by the pids of the initial namespace: in a container another one may bear that number. */
static bool kfd_pids_are_ours(const struct guard_options *o)
{
	char path[GUARD_PATH_SIZE], block[64];
	struct span link = guard_link(guard_path(path, o->proc_root, "self/ns/pid"), block, sizeof block);

	return !link.len || span_is(link, INITIAL_PID_NAMESPACE);
}

static void look_queues(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE];
	DIR *dir;
	int n = 0;

	if (!kfd_pids_are_ours(o) || access(guard_path(path, o->sys_root, "class/kfd/kfd/proc"), F_OK) != 0)
		return;
	if (access(guard_path(path, o->sys_root, "class/kfd/kfd/proc/%lld", (long long)o->pid), F_OK) != 0) {
		f->gpu_queues = 0;
		return;
	}
	dir = opendir(guard_path(path, o->sys_root, "class/kfd/kfd/proc/%lld/queues", (long long)o->pid));
	if (!dir)
		return;
	for (struct dirent *e; n < QUEUES_MAX && (e = readdir(dir));)
		n += e->d_name[0] != '.';
	f->gpu_queues = n;
	closedir(dir);
}

static void look_properties(struct span content, struct guard_facts *f)
{
	struct span line, key;
	uint64_t value;

	while (span_line(&content, &line)) {
		if (!span_word(&line, &key) || !span_uint(line, &value))
			continue;
		if (span_is(key, "capability")) {
			f->debug_supported = (value & CAP_DEBUG) != 0;
			f->debug_firmware = (value & CAP_DEBUG_FIRMWARE) != 0;
		} else if (span_is(key, "debug_prop")) {
			f->dispatch_info = (value & PROP_DISPATCH_INFO) != 0;
		}
	}
}

/* The first node that is a GPU. */
static void look_topology(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE];
	struct kfd_properties p;
	struct buf text;

	buf_init(&text, 16384);
	for (int node = 0; node < NODES_MAX; node++) {
		if (access(guard_path(path, o->sys_root, "class/kfd/kfd/topology/nodes/%d/properties", node), F_OK) != 0)
			break;
		if (!guard_read(path, &text, 16384)) /* of a GPU that this container may not use */
			continue;
		gpu_file_properties(buf_as_span(&text), &p);
		if (!p.simd_count)
			continue;
		kfd_gfx_name(p.gfx_target_version, f->gfx, sizeof f->gfx);
		look_properties(buf_as_span(&text), f);
		break;
	}
	buf_release(&text);
}

static void look_cwsr(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE];
	struct span value;
	struct buf text;

	buf_init(&text, 64);
	if (guard_read(guard_path(path, o->sys_root, "module/amdgpu/parameters/cwsr_enable"), &text, 64)) {
		value = span_trim(buf_as_span(&text));
		if (span_is(value, "0") || span_is(value, "N"))
			f->cwsr_enabled = 0;
		else if (value.len)
			f->cwsr_enabled = 1;
	}
	buf_release(&text);
}

void guard_look_gpu(const struct guard_options *options, struct guard_facts *f)
{
	look_cwsr(options, f);
	look_topology(options, f);
	look_queues(options, f);
	look_maps(options, f);
	look_environ(options, f);
	look_descriptors(options, f);
	look_children(options, f);
}

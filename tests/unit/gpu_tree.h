/* gpu_tree.h - a /sys with GPUs, made under a temporary folder, and scripts that play tools. */
#ifndef GPU_TREE_H
#define GPU_TREE_H

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline const char *tree_path(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void tree_put(const char *root, const char *content, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static inline void tree_new(char root[64])
{
	strcpy(root, "/tmp/hangtop-gpu-XXXXXX");
	if (!mkdtemp(root))
		abort();
}

static inline int tree_remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void tree_free(const char *root)
{
	nftw(root, tree_remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

/* One of four static buffers. */
static inline const char *tree_path(const char *root, const char *format, ...)
{
	static char path[4][PATH_MAX];
	static int at;
	char *out = path[at++ % 4];
	int n = snprintf(out, PATH_MAX, "%s/", root);
	va_list args;

	va_start(args, format);
	vsnprintf(out + n, (size_t)(PATH_MAX - n), format, args);
	va_end(args);
	return out;
}

static inline void tree_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
}

/* Make or overwrite a file, folders included. */
static inline void tree_put(const char *root, const char *content, const char *format, ...)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/", root);
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(path + n, sizeof path - (size_t)n, format, args);
	va_end(args);
	tree_folders(path);
	f = fopen(path, "w");
	if (!f)
		abort();
	fputs(content, f);
	fclose(f);
}

static inline void tree_tool(const char *folder, const char *name, const char *script)
{
	char text[4 * PATH_MAX];

	snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
	tree_put(folder, text, "%s", name);
	chmod(tree_path(folder, "%s", name), 0700);
}

static inline const char *tree_number(long long value)
{
	static char text[4][32];
	static int at;
	char *out = text[at++ % 4];

	snprintf(out, 32, "%lld\n", value);
	return out;
}

/* The files of card `card`, which is GPU `gpu`. */
static inline void tree_card(const char *root, int card, int gpu, int bus)
{
	char text[200];

#define PUT(content, name) tree_put(root, content, "class/drm/card%d/device/%s", card, name)
	PUT("0x1002\n", "vendor");
	snprintf(text, sizeof text, "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:%02x:00.0\n", bus);
	PUT(text, "uevent");
	PUT(tree_number(100 - gpu), "gpu_busy_percent");
	PUT(tree_number(gpu), "mem_busy_percent");
	PUT(tree_number(188978561024LL + gpu), "mem_info_vram_used");
	PUT("206141652992\n", "mem_info_vram_total");
	PUT("SPX\n", "current_compute_partition");
	PUT("NPS1\n", "current_memory_partition");
	PUT("0: 500Mhz\n1: 1999Mhz *\n", "pp_dpm_sclk");
	PUT(tree_number(241000000LL + gpu * 1000000), "hwmon/hwmon7/power1_input");
	PUT("750000000\n", "hwmon/hwmon7/power1_cap");
	PUT("junction\n", "hwmon/hwmon7/temp2_label");
	PUT(tree_number(51000 + gpu * 500), "hwmon/hwmon7/temp2_input");
	PUT("mem\n", "hwmon/hwmon7/temp3_label");
	PUT("40000\n", "hwmon/hwmon7/temp3_input");
	PUT("sclk\n", "hwmon/hwmon7/freq1_label");
	PUT("2100000000\n", "hwmon/hwmon7/freq1_input");
	PUT("mclk\n", "hwmon/hwmon7/freq2_label");
	PUT("1300000000\n", "hwmon/hwmon7/freq2_input");
#undef PUT
}

static inline void tree_node(const char *root, int node, int gpu_id, long long location, int minor)
{
	char text[300];

	tree_put(root, tree_number(gpu_id), "class/kfd/kfd/topology/nodes/%d/gpu_id", node);
	snprintf(text, sizeof text, "cpu_cores_count %d\nsimd_count %d\nlocation_id %lld\ndomain 0\ndrm_render_minor %d\n"
		"gfx_target_version %d\n", gpu_id ? 0 : 96, gpu_id ? 1216 : 0, location, minor, gpu_id ? 90402 : 0);
	tree_put(root, text, "class/kfd/kfd/topology/nodes/%d/properties", node);
}

/* Eight MI300X: nodes 0 and 1 are CPUs, GPU i is node i+2; card0 is the BMC's and the cards count backwards. */
static inline void tree_mi300x(const char *root)
{
	tree_put(root, "0x1a03\n", "class/drm/card0/device/vendor");
	for (int node = 0; node < 2; node++)
		tree_node(root, node, 0, 0, 0);
	for (int i = 0; i < 8; i++) {
		tree_node(root, i + 2, 1000 + i, (0x10 + i) << 8, 128 + i);
		tree_card(root, 8 - i, i, 0x10 + i);
		if (i % 2) /* some are found by their render node, some by their PCI address */
			tree_put(root, "", "class/drm/card%d/device/drm/renderD%d/dev", 8 - i, 128 + i);
	}
}

#endif

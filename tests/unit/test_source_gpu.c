/* test_source_gpu.c - the gpu source against trees of files and scripts that play tools. */
#include "config.h"

#include "source/gpu.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/map.h"
#include "transport/child.h"
#include "tests/unit/gpu_tree.h"

#define PATIENCE_MS 30000

extern const struct source_class source_gpu;
struct child *__real_child_run(uv_loop_t *loop, const struct child_options *options);
struct child *__wrap_child_run(uv_loop_t *loop, const struct child_options *options);

struct bed {
	char root[64], bin[80];
	uv_loop_t loop;
	struct source_options options;
	struct source_env env;
	struct source *source;
	struct map last;               /* observation_key -> record */
	int seen[8];                   /* gpu observations, by index */
	char state[8], detail[400], remedy[300]; /* last health */
	char late[400];                /* a late health seen since cleared */
	bool closed;
};

static struct bed *bed_now;

/* --- what the source says --- */

static void emit(void *context, const struct observation *o)
{
	struct bed *b = context;
	struct buf key;
	int64_t gpu;

	buf_init(&key, 0);
	observation_key(o, &key);
	map_set(&b->last, buf_string(&key), record_new(o));
	buf_release(&key);
	if (o->kind == KIND_gpu && observation_get_int(o, GPU_gpu, &gpu) && gpu < 8)
		b->seen[gpu]++;
}

/* Caught here instead of source/table.c's. */
void source_health(struct source_env *env, const char *source, const char *state, const char *detail, const char *remedy,
	double latency_ms)
{
	(void)env;
	(void)latency_ms;
	assert_string_equal(source, "gpu");
	snprintf(bed_now->state, sizeof bed_now->state, "%s", state);
	snprintf(bed_now->detail, sizeof bed_now->detail, "%s", detail);
	snprintf(bed_now->remedy, sizeof bed_now->remedy, "%s", remedy ? remedy : "");
	if (strcmp(state, "late") == 0)
		snprintf(bed_now->late, sizeof bed_now->late, "%s", detail);
}

/* Deadlines of a test are short; a call can be made one that cannot be killed. */
static int run_calls, run_stuck_pid;

static void free_timer(uv_handle_t *timer)
{
	free(timer);
}

static void say_stuck(uv_timer_t *timer)
{
	const struct child_options *o = timer->data;
	struct child_result r = { .stuck = true, .timed_out = true, .pid = run_stuck_pid, .exit = -1000, .started = clock_wall_ms() };

	o->done(o->context, &r);
	free((void *)o);
	uv_close((uv_handle_t *)timer, free_timer);
}

struct child *__wrap_child_run(uv_loop_t *loop, const struct child_options *options)
{
	struct child_options *o = malloc(sizeof *o);
	struct child *child;

	run_calls++;
	*o = *options;
	if (run_stuck_pid) {
		uv_timer_t *timer = malloc(sizeof *timer);

		uv_timer_init(loop, timer);
		timer->data = o;
		uv_timer_start(timer, say_stuck, 1, 0);
		return (struct child *)timer;
	}
	assert_true(o->deadline_ms > 0 && o->deadline_ms <= 8000);
	o->deadline_ms = 1000;
	child = __real_child_run(loop, o);
	free(o);
	return child;
}

/* --- the bed --- */

static void on_closed(void *context)
{
	((struct bed *)context)->closed = true;
}

static void bed_init(struct bed *b)
{
	memset(b, 0, sizeof *b);
	bed_now = b;
	run_calls = run_stuck_pid = 0;
	tree_new(b->root);
	snprintf(b->bin, sizeof b->bin, "%s/bin", b->root);
	mkdir(b->bin, 0700);
	setenv("PATH", b->bin, 1);
	unsetenv("ROCM_PATH");
	uv_loop_init(&b->loop);
	map_init(&b->last, record_free);
	b->options.sys_root = b->root;
	b->options.proc_root = strdup(tree_path(b->root, "proc"));
	b->options.gpu = "auto";
	b->options.interval_ms = 20;
	b->env.loop = &b->loop;
	b->env.options = &b->options;
	b->env.node = "n1";
	b->env.emit = emit;
	b->env.context = b;
}

static void bed_start(struct bed *b)
{
	b->source = source_gpu.start(&b->env);
}

static void bed_end(struct bed *b)
{
	source_gpu.stop(b->source, on_closed, b);
	uv_run(&b->loop, UV_RUN_DEFAULT);
	assert_true(b->closed);
	assert_int_equal(uv_loop_close(&b->loop), 0);
	map_release(&b->last);
	free((void *)b->options.proc_root);
	tree_free(b->root);
}

static struct observation *last(struct bed *b, const char *key)
{
	struct record *r = map_get(&b->last, key);

	return r ? &r->o : NULL;
}

static void on_tick(uv_timer_t *timer)
{
	(void)timer;
}

/* Turn the loop until the condition holds. */
#define WAIT(b, condition) \
	do { \
		int64_t until = clock_mono_ms() + PATIENCE_MS; \
		uv_timer_t tick; \
		uv_timer_init(&(b)->loop, &tick); \
		uv_timer_start(&tick, on_tick, 10, 10); \
		while (!(condition)) { \
			if (clock_mono_ms() > until) \
				fail_msg("waited in vain for %s; gpu is %s: %s", #condition, (b)->state, (b)->detail); \
			uv_run(&(b)->loop, UV_RUN_ONCE); \
		} \
		uv_close((uv_handle_t *)&tick, NULL); \
		uv_run(&(b)->loop, UV_RUN_NOWAIT); \
	} while (0)

static bool all_seen(const struct bed *b, int gpus)
{
	for (int i = 0; i < gpus; i++)
		if (!b->seen[i])
			return false;
	return true;
}

static void forget(struct bed *b)
{
	map_clear(&b->last);
	memset(b->seen, 0, sizeof b->seen);
}

static void has_real(const struct observation *o, int field, double want)
{
	double is = NAN;

	assert_non_null(o);
	observation_get_real(o, field, &is);
	if (isnan(is) != isnan(want) || (!isnan(want) && fabs(is - want) > 1e-6 * fmax(1, fabs(want))))
		fail_msg("%s is %f and should be %f", kind_table[o->kind].field[field].name, is, want);
}

static void has_text(const struct observation *o, int field, const char *want)
{
	struct span is;

	assert_non_null(o);
	if (!observation_get_text(o, field, &is)) {
		if (want)
			fail_msg("%s is null and should be %s", kind_table[o->kind].field[field].name, want);
	} else if (!want || !span_is(is, want)) {
		fail_msg("%s is %.*s and should be %s", kind_table[o->kind].field[field].name, (int)is.len, is.at,
			want ? want : "null");
	}
}

static void says(const struct bed *b, const char *state, const char *words)
{
	if (strcmp(b->state, state) != 0 || !strstr(b->detail, words))
		fail_msg("gpu is %s: %s; it should be %s: %s", b->state, b->detail, state, words);
}

/* --- files --- */

static void eight_gpus_in_rocm_order(void **state)
{
	struct bed b;
	char key[32], bdf[32];

	(void)state;
	bed_init(&b);
	tree_mi300x(b.root);
	bed_start(&b);
	WAIT(&b, all_seen(&b, 8) && b.seen[0] > 2);
	for (int i = 0; i < 8; i++) {
		struct observation *o;

		snprintf(key, sizeof key, "n1/gpu/%d", i);
		snprintf(bdf, sizeof bdf, "0000:%02x:00.0", 0x10 + i);
		o = last(&b, key);
		has_real(o, GPU_busy_pct, 100 - i);
		has_real(o, GPU_mem_activity_pct, i);
		has_real(o, GPU_vram_used, 188978561024.0 + i);
		has_real(o, GPU_vram_total, 206141652992.0);
		has_real(o, GPU_power_w, 241 + i);
		has_real(o, GPU_power_cap_w, 750);
		has_real(o, GPU_temp_c, 51 + i * 0.5);
		has_real(o, GPU_temp_edge_c, NAN);
		has_real(o, GPU_temp_mem_c, 40);
		has_real(o, GPU_sclk_mhz, 2100);
		has_real(o, GPU_mclk_mhz, 1300);
		has_real(o, GPU_kfd_node, i + 2);
		has_text(o, GPU_bdf, bdf);
		has_text(o, GPU_name, "gfx942");
		has_text(o, GPU_partition, "SPX/NPS1");
		has_text(o, GPU_via, "sysfs");
	}
	says(&b, "ok", "8 GPUs");
	assert_int_equal(run_calls, 0);
	bed_end(&b);
}

static void unreadable_is_null_and_new_files_are_found(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	tree_mi300x(b.root);
	tree_put(b.root, "", "class/drm/card8/device/mem_busy_percent"); /* as EBUSY leaves it: nothing read */
	tree_put(b.root, "AMD Instinct MI300X OAM\n", "class/drm/card8/device/product_name");
	bed_start(&b);
	WAIT(&b, last(&b, "n1/gpu/0"));
	has_real(last(&b, "n1/gpu/0"), GPU_mem_activity_pct, NAN);
	has_text(last(&b, "n1/gpu/0"), GPU_name, "AMD Instinct MI300X OAM");
	unlink(tree_path(b.root, "class/drm/card8/device/gpu_busy_percent"));
	WAIT(&b, observation_is_null(last(&b, "n1/gpu/0"), GPU_busy_pct));
	has_real(last(&b, "n1/gpu/0"), GPU_power_w, 241); /* the rest goes on */
	tree_put(b.root, "42\n", "class/drm/card8/device/new");
	rename(tree_path(b.root, "class/drm/card8/device/new"), tree_path(b.root, "class/drm/card8/device/gpu_busy_percent"));
	WAIT(&b, !observation_is_null(last(&b, "n1/gpu/0"), GPU_busy_pct));
	has_real(last(&b, "n1/gpu/0"), GPU_busy_pct, 42);
	tree_put(b.root, "43\n", "class/drm/card8/device/new");
	rename(tree_path(b.root, "class/drm/card8/device/new"), tree_path(b.root, "class/drm/card8/device/gpu_busy_percent"));
	forget(&b);
	WAIT(&b, b.seen[0] > 1);
	has_real(last(&b, "n1/gpu/0"), GPU_busy_pct, 43);
	bed_end(&b);
}

static void a_gpu_that_says_nothing_is_not_ok(void **state)
{
	static const char *const files[] = { "gpu_busy_percent", "mem_info_vram_used", "hwmon/hwmon7/power1_input",
		"hwmon/hwmon7/temp2_input" };
	struct bed b;

	(void)state;
	bed_init(&b);
	tree_mi300x(b.root);
	bed_start(&b);
	WAIT(&b, strcmp(b.state, "ok") == 0 && b.seen[0]);
	for (size_t i = 0; i < 4; i++)
		tree_put(b.root, "", "class/drm/card8/device/%s", files[i]);
	WAIT(&b, strcmp(b.state, "late") == 0);
	says(&b, "late", "1 of 8 GPUs: none of the driver's files can be read");
	has_real(last(&b, "n1/gpu/0"), GPU_power_w, NAN);
	has_real(last(&b, "n1/gpu/0"), GPU_busy_pct, NAN);
	bed_end(&b);
}

static void metrics_fill_what_files_lack(void **state)
{
	unsigned char table[288];
	struct bed b;
	FILE *f;

	(void)state;
	bed_init(&b);
	tree_mi300x(b.root);
	unlink(tree_path(b.root, "class/drm/card8/device/gpu_busy_percent"));
	unlink(tree_path(b.root, "class/drm/card8/device/hwmon/hwmon7/power1_input"));
	unlink(tree_path(b.root, "class/drm/card8/device/hwmon/hwmon7/freq1_input"));
	memset(table, 0xff, sizeof table);
	memcpy(table, "\x20\x01\x01\x04", 4);
	table[10] = 199;
	table[12] = 77;
	table[11] = table[13] = 0;
	f = fopen(tree_path(b.root, "class/drm/card8/device/gpu_metrics"), "wb");
	fwrite(table, 1, sizeof table, f);
	fclose(f);
	bed_start(&b);
	WAIT(&b, last(&b, "n1/gpu/0"));
	has_real(last(&b, "n1/gpu/0"), GPU_busy_pct, 77);
	has_real(last(&b, "n1/gpu/0"), GPU_power_w, 199);
	has_real(last(&b, "n1/gpu/0"), GPU_mem_activity_pct, 0); /* the file's, not the table's */
	has_real(last(&b, "n1/gpu/0"), GPU_sclk_mhz, 1999);      /* pp_dpm_sclk before the table */
	bed_end(&b);
}

static void a_stuck_gpu_is_silent_and_said_to_be_stuck(void **state)
{
	const char *const file = "class/drm/card5/device/gpu_busy_percent"; /* of GPU 3 */
	struct bed b;
	int writer;

	(void)state;
	bed_init(&b);
	tree_mi300x(b.root);
	unlink(tree_path(b.root, "%s", file));
	mkfifo(tree_path(b.root, "%s", file), 0600); /* opening it blocks until somebody writes */
	bed_start(&b);
	WAIT(&b, strcmp(b.state, "late") == 0);
	says(&b, "late", "GPU 3: reading sysfs is stuck for ");
	assert_non_null(strstr(b.detail, "the GPU may be resetting"));
	assert_null(strstr(b.detail, "; GPU ")); /* no other one */
	assert_true(*b.remedy);
	assert_null(last(&b, "n1/gpu/3"));
	forget(&b);
	WAIT(&b, b.seen[2] > 5 && b.seen[4] > 5);
	assert_null(last(&b, "n1/gpu/3"));
	writer = open(tree_path(b.root, "%s", file), O_WRONLY);
	assert_true(writer >= 0);
	tree_put(b.root, "7\n", "class/drm/card5/device/new");
	rename(tree_path(b.root, "class/drm/card5/device/new"), tree_path(b.root, "%s", file));
	WAIT(&b, last(&b, "n1/gpu/3") && !observation_is_null(last(&b, "n1/gpu/3"), GPU_busy_pct));
	has_real(last(&b, "n1/gpu/3"), GPU_busy_pct, 7);
	WAIT(&b, strcmp(b.state, "ok") == 0);
	close(writer);
	bed_end(&b);
}

static void partitions(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	tree_node(b.root, 0, 0, 0, 0);
	for (int i = 0; i < 64; i++) {
		int socket = i / 8;

		tree_node(b.root, i + 1, 1000 + i, ((long long)(i % 8) << 28) | (0x10 + socket) << 8, 128 + i);
		tree_put(b.root, "heap_type 1\nsize_in_bytes 25769803776\n", "class/kfd/kfd/topology/nodes/%d/mem_banks/0/properties",
			i + 1);
		if (i % 8 == 0) {
			tree_card(b.root, socket, socket, 0x10 + socket);
			tree_put(b.root, "CPX\n", "class/drm/card%d/device/current_compute_partition", socket);
			tree_put(b.root, "", "class/drm/card%d/device/drm/renderD%d/dev", socket, 128 + i);
		}
	}
	bed_start(&b);
	WAIT(&b, last(&b, "n1/gpu/63") && last(&b, "n1/gpu/56") && all_seen(&b, 8));
	says(&b, "ok", "64 GPUs");
	has_real(last(&b, "n1/gpu/0"), GPU_power_w, 241);
	has_text(last(&b, "n1/gpu/0"), GPU_partition, "CPX/NPS1");
	has_real(last(&b, "n1/gpu/56"), GPU_power_w, 248);
	for (int i = 1; i < 8; i++) {
		char key[32];

		snprintf(key, sizeof key, "n1/gpu/%d", i);
		has_real(last(&b, key), GPU_power_w, NAN);
		has_real(last(&b, key), GPU_busy_pct, NAN);
		has_real(last(&b, key), GPU_vram_used, NAN);
		has_real(last(&b, key), GPU_vram_total, 25769803776.0);
		has_real(last(&b, key), GPU_kfd_node, i + 1);
		has_text(last(&b, key), GPU_bdf, "0000:10:00.0");
	}
	bed_end(&b);
}

static void cards_without_kfd(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	tree_card(b.root, 1, 0, 0x20);
	tree_card(b.root, 10, 1, 0x21);
	tree_card(b.root, 2, 2, 0x22);
	unlink(tree_path(b.root, "class/drm/card2/device/gpu_busy_percent")); /* no GPU to watch */
	bed_start(&b);
	WAIT(&b, all_seen(&b, 2));
	says(&b, "ok", "2 GPUs");
	has_text(last(&b, "n1/gpu/0"), GPU_bdf, "0000:20:00.0");
	has_text(last(&b, "n1/gpu/1"), GPU_bdf, "0000:21:00.0");
	has_real(last(&b, "n1/gpu/1"), GPU_kfd_node, NAN);
	bed_end(&b);
}

static void queue(struct bed *b, int pid, int id, int gpu_id, int type)
{
	char text[16];

	snprintf(text, sizeof text, "%d", gpu_id); /* no final newline */
	tree_put(b->root, text, "class/kfd/kfd/proc/%d/queues/%d/gpuid", pid, id);
	snprintf(text, sizeof text, "%d", type);
	tree_put(b->root, text, "class/kfd/kfd/proc/%d/queues/%d/type", pid, id);
}

static void processes_of_kfd(void **state)
{
	struct bed b;
	struct observation *o;
	int64_t queues;

	(void)state;
	bed_init(&b);
	tree_mi300x(b.root);
	for (int i = 0; i < 8; i++) {
		tree_put(b.root, i == 3 ? "188743680000\n" : "0\n", "class/kfd/kfd/proc/4243/vram_%d", 1000 + i);
		/* reading this would block for ever */
		mkfifo(tree_path(b.root, "class/kfd/kfd/proc/4243/sdma_%d", 1000 + i), 0600);
	}
	tree_put(b.root, "ATOM::TP3\n", "proc/4243/comm");
	tree_put(b.root, "12\n", "class/kfd/kfd/proc/4243/stats_1003/evicted_ms");
	tree_put(b.root, "304\n", "class/kfd/kfd/proc/4243/stats_1003/cu_occupancy");
	queue(&b, 4243, 1, 1003, 0);
	queue(&b, 4243, 2, 1003, 1);
	queue(&b, 4243, 3, 1003, 0);
	queue(&b, 4243, 4, 1005, 0);
	tree_put(b.root, "0\n", "class/kfd/kfd/proc/4300/vram_1000"); /* merely opened /dev/kfd */
	tree_put(b.root, "4096\n", "class/kfd/kfd/proc/4400/vram_1000"); /* its process is gone */
	bed_start(&b);
	WAIT(&b, last(&b, "n1/gpu_process/4243/3") && last(&b, "n1/gpu_process/4243/5") && last(&b, "n1/gpu_process/4400/0"));
	o = last(&b, "n1/gpu_process/4243/3");
	has_real(o, GPU_PROCESS_vram, 188743680000.0);
	has_real(o, GPU_PROCESS_queues, 2);
	has_real(o, GPU_PROCESS_evicted_ms, 12);
	has_real(o, GPU_PROCESS_cu_occupancy, 304);
	has_text(o, GPU_PROCESS_name, "ATOM::TP3");
	has_real(last(&b, "n1/gpu_process/4243/5"), GPU_PROCESS_queues, 1); /* no memory, but a queue */
	has_real(last(&b, "n1/gpu_process/4243/5"), GPU_PROCESS_cu_occupancy, NAN);
	has_text(last(&b, "n1/gpu_process/4400/0"), GPU_PROCESS_name, NULL);
	has_real(last(&b, "n1/gpu_process/4400/0"), GPU_PROCESS_queues, NAN);
	assert_null(last(&b, "n1/gpu_process/4243/0"));
	assert_null(last(&b, "n1/gpu_process/4300/0"));
	queue(&b, 4243, 9, 1003, 0); /* counts are kept, but not for longer than they hold */
	WAIT(&b, observation_get_int(last(&b, "n1/gpu_process/4243/3"), GPU_PROCESS_queues, &queues) && queues == 3);
	bed_end(&b);
}

/* --- tools --- */

static const char *golden_path(const char *name)
{
	const char *srcdir = getenv("srcdir");
	char *full = realpath(srcdir ? srcdir : ".", NULL);
	static char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/tests/golden/gpu/%s", full, name);
	free(full);
	return path;
}

static void tool_prints(struct bed *b, const char *tool, const char *usage, const char *processes, int exit_code)
{
	char script[3 * PATH_MAX], first[PATH_MAX];

	snprintf(first, sizeof first, "%s", golden_path(usage));
	snprintf(script, sizeof script, "case \"$*\" in *--showpids*|process*|*compute-apps*) /bin/cat '%s';; *) /bin/cat '%s';; esac\nexit %d",
		golden_path(processes), first, exit_code);
	tree_tool(b->bin, tool, script);
}

static void rocm_smi_is_judged_by_content(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	tool_prints(&b, "rocm-smi", "mi300x-8-hung.rocm-smi-6.2.json", "mi300x-8-hung.rocm-smi-6.2.json", 2);
	bed_start(&b);
	WAIT(&b, last(&b, "n1/gpu/7") && last(&b, "n1/gpu_process/41217/-1"));
	says(&b, "ok", "8 GPUs by ");
	has_real(last(&b, "n1/gpu/7"), GPU_power_w, 248);
	has_text(last(&b, "n1/gpu/7"), GPU_via, "rocm-smi");
	has_text(last(&b, "n1/gpu_process/41217/-1"), GPU_PROCESS_name, "atom::tp7");
	assert_null(last(&b, "n1/gpu_process/41100/-1")); /* 0 GPUs, 0 bytes */
	assert_int_equal(run_calls, 2); /* one of each: every 10 and 30 s */
	bed_end(&b);
}

static void no_driver_is_said_with_the_tool_s_words(void **state)
{
	struct bed b;
	char script[PATH_MAX + 64];

	(void)state;
	bed_init(&b);
	snprintf(script, sizeof script, "/bin/cat '%s' >&2", golden_path("no-driver.rocm-smi-5.2.3.err"));
	tree_tool(b.bin, "rocm-smi", script);
	bed_start(&b);
	WAIT(&b, *b.state);
	says(&b, "failed", "rocm-smi: ERROR:root:Driver not initialized (amdgpu not found in modules)");
	says(&b, "failed", "amd-smi: not installed; nvidia-smi: not installed");
	says(&b, "failed", "looked for class/kfd and class/drm in ");
	assert_non_null(strstr(b.remedy, "modprobe amdgpu"));
	assert_non_null(strstr(b.remedy, "--gpu=off"));
	bed_end(&b);
}

static void the_next_tool_is_asked(void **state)
{
	struct bed b;
	char script[2 * PATH_MAX];

	(void)state;
	bed_init(&b);
	tree_tool(b.bin, "rocm-smi", "echo 'Traceback (most recent call last):' >&2; echo 'ImportError: no x' >&2; exit 1");
	snprintf(script, sizeof script, "case $1 in monitor) echo 'unknown command' >&2; exit 2;; *) /bin/cat '%s';; esac",
		golden_path("mi300x-metric.amd-smi-7.0.json"));
	tree_tool(b.bin, "amd-smi", script);
	bed_start(&b);
	WAIT(&b, last(&b, "n1/gpu/0"));
	has_text(last(&b, "n1/gpu/0"), GPU_via, "amd-smi");
	has_real(last(&b, "n1/gpu/0"), GPU_power_w, 243);
	assert_int_equal(run_calls, 3);
	bed_end(&b);
}

static void nvidia_with_processes(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	tool_prints(&b, "nvidia-smi", "h200-a100.nvidia-smi.csv", "compute-apps.nvidia-smi.csv", 0);
	b.options.gpu = "nvidia-smi";
	bed_start(&b);
	WAIT(&b, last(&b, "n1/gpu/2") && last(&b, "n1/gpu_process/4242/0"));
	has_text(last(&b, "n1/gpu/2"), GPU_via, "nvidia-smi");
	bed_end(&b);
}

static void hanging_and_flooding_tools_are_ended(void **state)
{
	static const char *const scripts[] = { "/bin/sleep 1000", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bed b;

		bed_init(&b);
		tree_tool(b.bin, "rocm-smi", scripts[i]);
		bed_start(&b);
		WAIT(&b, strcmp(b.state, "late") == 0);
		says(&b, "late", "rocm-smi did not answer within 8 s and was ended");
		assert_int_equal(run_calls, 1);
		bed_end(&b);
	}
}

static void a_call_that_cannot_be_killed_is_not_repeated(void **state)
{
	struct bed b;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	bed_init(&b);
	tool_prints(&b, "rocm-smi", "noise-before.rocm-smi-5.7.json", "noise-before.rocm-smi-5.7.json", 0);
	b.options.gpu = "rocm-smi";
	run_stuck_pid = pid;
	bed_start(&b);
	WAIT(&b, *b.state);
	says(&b, "failed", "stuck in the driver");
	says(&b, "failed", "not asked again until it ends");
	assert_int_equal(run_calls, 1);
	bed_end(&b);
	kill(pid, SIGKILL);
}

static void nothing_there(void **state)
{
	static const struct {
		const char *mode, *state, *words;
	} rows[] = {
		{ "auto", "failed", "no GPU found: looked for class/kfd and class/drm in " },
		{ "sysfs", "failed", "no GPU found" },
		{ "rocm-smi", "failed", "no GPU found; rocm-smi: not installed" },
		{ "amd-smi", "failed", "amd-smi: not installed" },
		{ "off", "off", "--gpu=off" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct bed b;

		bed_init(&b);
		b.options.gpu = rows[i].mode;
		bed_start(&b);
		WAIT(&b, *b.state);
		says(&b, rows[i].state, rows[i].words);
		assert_true(strcmp(rows[i].state, "off") == 0 || *b.remedy);
		assert_int_equal(run_calls, 0);
		assert_int_equal(b.last.count, 0);
		bed_end(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eight_gpus_in_rocm_order),
		cmocka_unit_test(unreadable_is_null_and_new_files_are_found),
		cmocka_unit_test(a_gpu_that_says_nothing_is_not_ok),
		cmocka_unit_test(metrics_fill_what_files_lack),
		cmocka_unit_test(a_stuck_gpu_is_silent_and_said_to_be_stuck),
		cmocka_unit_test(partitions),
		cmocka_unit_test(cards_without_kfd),
		cmocka_unit_test(processes_of_kfd),
		cmocka_unit_test(rocm_smi_is_judged_by_content),
		cmocka_unit_test(no_driver_is_said_with_the_tool_s_words),
		cmocka_unit_test(the_next_tool_is_asked),
		cmocka_unit_test(nvidia_with_processes),
		cmocka_unit_test(hanging_and_flooding_tools_are_ended),
		cmocka_unit_test(a_call_that_cannot_be_killed_is_not_repeated),
		cmocka_unit_test(nothing_there),
	};

	setenv("UV_THREADPOOL_SIZE", "40", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

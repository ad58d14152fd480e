/* gpu.c - the GPUs of this node: by the driver's files where there are any, else by a tool.
 *
 * Files of a driver may block: they are read in the thread pool, one job a GPU, never a second one before the first has
 * come back. A GPU whose job is out for long is silent, and the health of the source says so; the others go on.
 */
#include "config.h"

#include "source/gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define STUCK_MS 3000          /* a job out for longer is late */
#define JOBS_MAX 32            /* in the pool at once */
#define RESCAN_MS 60000        /* new GPUs, another partitioning */
#define RESCAN_NONE_MS 10000   /* the same, as long as there is no GPU */
#define HEALTH_MS 10000        /* say it again at least so often */
#define HEALTH_LATE_MS 2000    /* while the words of a trouble change: the seconds of what is stuck grow */
#define SHARE 2000             /* the process list takes at most one in so many ms of a core ... */
#define LIST_MS 10000          /* ... but is never older than this */

struct gpu_source;

struct job {
	uv_work_t work;
	struct gpu_source *s;
	bool out;
	bool dumb;                     /* the last round read nothing at all */
	int64_t since;                 /* monotonic ms */
	double took_ms, shown_ms;      /* the worker's, and the copy the loop may look at */
	struct gpu_device *device;     /* of a reading job */
};

struct gpu_source {
	struct source_env *env;
	const char *mode;
	bool files, tools;             /* may be used */
	uv_timer_t timer;
	struct gpu_devices devices, found; /* in use; of the scan that is out */
	struct job *job;               /* one a device */
	struct job scan, list;
	struct kfd_processes processes;
	bool scanned;                  /* at least once */
	int64_t scan_due, list_due;
	size_t first;                  /* fair start when the pool is full */
	int out;                       /* reading jobs */
	int64_t read_t;                /* last round */
	struct gpu_tool *tool;
	bool tool_closing;
	struct gpu_health said;
	int64_t said_at;
	bool stopping, timer_closed;
	void (*closed)(void *);
	void *context;
};

/* --- health --- */

static bool is_late(const struct job *job, int64_t now)
{
	return job->out && now - job->since > STUCK_MS;
}

/* What the driver does not let go of; false when there is nothing. */
static bool words_of_stuck(struct gpu_source *s, struct gpu_health *h, int64_t now)
{
	size_t n = 0;

	for (size_t i = 0; i < s->devices.count && n < sizeof h->detail; i++)
		if (is_late(&s->job[i], now))
			n += (size_t)snprintf(h->detail + n, sizeof h->detail - n,
				n ? "; GPU %d: stuck for %lld s" :
				    "GPU %d: reading sysfs is stuck for %lld s (driver wait; the GPU may be resetting)",
				s->devices.at[i].fixed.gpu, (long long)(now - s->job[i].since) / 1000);
	if (!n && is_late(&s->scan, now))
		n = (size_t)snprintf(h->detail, sizeof h->detail, "looking for GPUs in %s is stuck for %lld s (driver wait)",
			s->env->options->sys_root, (long long)(now - s->scan.since) / 1000);
	if (!n && is_late(&s->list, now))
		n = (size_t)snprintf(h->detail, sizeof h->detail,
			"reading the processes of KFD is stuck for %lld s (driver wait)", (long long)(now - s->list.since) / 1000);
	if (n) {
		snprintf(h->state, sizeof h->state, "late");
		snprintf(h->remedy, sizeof h->remedy, "look at the kernel log (dmesg) for amdgpu: a reset that does not end");
	}
	return n > 0;
}

static void words_of_files(struct gpu_source *s, struct gpu_health *h)
{
	size_t count = s->devices.count, dumb = 0;

	for (size_t i = 0; i < count; i++) {
		h->latency_ms = fmax(h->latency_ms, s->job[i].shown_ms);
		dumb += s->job[i].dumb;
	}
	if (dumb) {
		snprintf(h->state, sizeof h->state, "late");
		snprintf(h->detail, sizeof h->detail, "%zu of %zu GPUs: none of the driver's files can be read", dumb, count);
		snprintf(h->remedy, sizeof h->remedy, "a reset may be under way (see dmesg); else run as a user who may read them");
	} else {
		snprintf(h->state, sizeof h->state, "ok");
		snprintf(h->detail, sizeof h->detail, "%zu GPU%s by the files of the driver in %s (%s)", count,
			count == 1 ? "" : "s", s->env->options->sys_root, s->devices.kfd ? "KFD and drm" : "drm");
	}
}

static void no_files(struct gpu_source *s, struct gpu_health *h)
{
	snprintf(h->state, sizeof h->state, "failed");
	snprintf(h->detail, sizeof h->detail, "no GPU found: looked for class/kfd and class/drm in %s", s->env->options->sys_root);
	snprintf(h->remedy, sizeof h->remedy,
		"load the driver (modprobe amdgpu), run on the node that has the GPUs, or leave it out: --gpu=off");
}

static void say_health(struct gpu_source *s)
{
	struct gpu_health h = { .latency_ms = -1 };
	int64_t now = clock_mono_ms();
	int64_t pause = HEALTH_MS;

	if (strcmp(s->mode, "off") == 0) {
		snprintf(h.state, sizeof h.state, "off");
		snprintf(h.detail, sizeof h.detail, "switched off by --gpu=off");
	} else if (words_of_stuck(s, &h, now)) {
		;
	} else if (s->devices.count > 0) {
		words_of_files(s, &h);
	} else if (s->tool) {
		h = *gpu_tool_health(s->tool);
	} else if (s->scanned && !s->tools) {
		no_files(s, &h);
	}
	if (!*h.state)
		return;
	if (strcmp(h.state, s->said.state) != 0)
		pause = 0;
	else if (strcmp(h.detail, s->said.detail) != 0)
		pause = strcmp(h.state, "ok") == 0 ? 0 : HEALTH_LATE_MS; /* only its seconds, perhaps */
	if (s->said_at && now - s->said_at < pause)
		return;
	s->said = h;
	s->said_at = now;
	source_health(s->env, "gpu", h.state, h.detail, *h.remedy ? h.remedy : NULL, h.latency_ms);
}

/* --- jobs --- */

static void maybe_closed(struct gpu_source *s);

static void queue(struct job *job, uv_work_cb work, uv_after_work_cb after)
{
	job->out = true;
	job->since = clock_mono_ms();
	job->work.data = job;
	uv_queue_work(job->s->env->loop, &job->work, work, after);
}

static void read_work(uv_work_t *work)
{
	struct job *job = work->data;
	uint64_t start = uv_hrtime();

	gpu_device_read(job->device);
	job->took_ms = (double)(uv_hrtime() - start) / 1e6;
}

static void read_after(uv_work_t *work, int status)
{
	struct job *job = work->data;
	struct gpu_source *s = job->s;
	const struct gpu_reading *r = &job->device->reading;

	job->out = false;
	s->out--;
	job->shown_ms = job->took_ms;
	job->dumb = isnan(r->busy_pct) && isnan(r->vram_used) && isnan(r->power_w) && isnan(gpu_reading_temp(r));
	if (status == 0 && !s->stopping)
		gpu_emit(s->env, r, "sysfs");
	maybe_closed(s);
}

static void read_devices(struct gpu_source *s)
{
	size_t n = s->devices.count;

	for (size_t i = 0; i < n; i++) {
		struct job *job = &s->job[(s->first + i) % n];

		if (job->out || s->out >= JOBS_MAX)
			continue;
		if (gpu_device_has_files(job->device)) {
			s->out++;
			queue(job, read_work, read_after);
		} else {
			gpu_emit(s->env, &job->device->fixed, "sysfs");
		}
	}
	s->first = n ? (s->first + 1) % n : 0;
}

static void list_work(uv_work_t *work)
{
	struct job *job = work->data;
	uint64_t start = uv_hrtime();

	kfd_processes_read(&job->s->processes);
	job->took_ms = (double)(uv_hrtime() - start) / 1e6;
}

static void list_after(uv_work_t *work, int status)
{
	struct job *job = work->data;
	struct gpu_source *s = job->s;
	double pause = 2.0 * s->env->options->interval_ms, most = fmax(pause, LIST_MS);

	job->out = false;
	pause = fmin(fmax(pause, job->took_ms * SHARE), most);
	s->list_due = job->since + (int64_t)pause - 50; /* ticks are not exact */
	for (size_t i = 0; i < s->processes.list.processes && status == 0 && !s->stopping; i++)
		gpu_emit_process(s->env, &s->processes.list.process[i]);
	maybe_closed(s);
}

static void read_list(struct gpu_source *s, int64_t now)
{
	if (!s->devices.kfd || s->list.out || now < s->list_due)
		return;
	for (size_t i = 0; i < s->devices.count; i++)
		s->processes.avoid[i] = is_late(&s->job[i], now);
	queue(&s->list, list_work, list_after);
}

/* --- finding GPUs --- */

static void tool_closed(void *context)
{
	struct gpu_source *s = context;

	s->tool = NULL;
	s->tool_closing = false;
	maybe_closed(s);
}

static void take_devices(struct gpu_source *s)
{
	gpu_devices_release(&s->devices);
	s->devices = s->found;
	memset(&s->found, 0, sizeof s->found);
	free(s->job);
	s->job = mem_alloc(s->devices.count * sizeof *s->job);
	kfd_processes_release(&s->processes);
	kfd_processes_init(&s->processes, s->env->options->sys_root, s->env->options->proc_root);
	s->processes.gpus = s->devices.count;
	for (size_t i = 0; i < s->devices.count; i++) {
		s->job[i].s = s;
		s->job[i].device = &s->devices.at[i];
		snprintf(s->processes.gpu_id[i], sizeof s->processes.gpu_id[i], "%s", s->devices.at[i].gpu_id);
	}
}

static void scan_work(uv_work_t *work)
{
	struct gpu_source *s = ((struct job *)work->data)->s;

	gpu_devices_scan(s->env->options->sys_root, &s->found);
}

static void scan_after(uv_work_t *work, int status)
{
	struct job *job = work->data;
	struct gpu_source *s = job->s;

	job->out = false;
	s->scanned = true;
	if (status == 0 && !s->stopping && !gpu_devices_same(&s->found, &s->devices))
		take_devices(s);
	gpu_devices_release(&s->found);
	s->scan_due = job->since + (s->devices.count ? RESCAN_MS : RESCAN_NONE_MS);
	if (!s->stopping) {
		if (s->devices.count > 0 && s->tool && !s->tool_closing) {
			s->tool_closing = true;
			gpu_tool_stop(s->tool, tool_closed, s);
		} else if (s->devices.count == 0 && s->tools && !s->tool) {
			char words[200];

			snprintf(words, sizeof words, "class/kfd and class/drm in %s", s->env->options->sys_root);
			s->tool = gpu_tool_start(s->env, s->mode, words);
		}
		read_devices(s);
		say_health(s);
	}
	maybe_closed(s);
}

/* Nothing may be in use while the devices are exchanged: a scan is alone in the pool. */
static void look(struct gpu_source *s, int64_t now)
{
	if (now >= s->scan_due && !s->out && !s->list.out)
		queue(&s->scan, scan_work, scan_after);
}

static void on_timer(uv_timer_t *timer)
{
	struct gpu_source *s = timer->data;
	int64_t now = clock_mono_ms();

	if (s->files && !s->scan.out) {
		look(s, now);
		if (!s->scan.out) {
			read_devices(s);
			read_list(s, now);
		}
	}
	say_health(s);
}

/* --- start and stop --- */

static struct source *gpu_start(struct source_env *env)
{
	struct gpu_source *s = mem_alloc(sizeof *s);
	const char *mode = env->options->gpu ? env->options->gpu : "auto";
	uint64_t interval = env->options->interval_ms > 0 ? (uint64_t)env->options->interval_ms : 1000;

	s->env = env;
	s->mode = mode;
	s->files = strcmp(mode, "auto") == 0 || strcmp(mode, "sysfs") == 0;
	s->tools = strcmp(mode, "sysfs") != 0 && strcmp(mode, "off") != 0;
	s->scan.s = s->list.s = s;
	kfd_processes_init(&s->processes, env->options->sys_root, env->options->proc_root);
	uv_timer_init(env->loop, &s->timer);
	s->timer.data = s;
	uv_timer_start(&s->timer, on_timer, 0, interval);
	if (!s->files && s->tools)
		s->tool = gpu_tool_start(env, mode, "");
	return (struct source *)s;
}

static void maybe_closed(struct gpu_source *s)
{
	if (!s->stopping || !s->timer_closed || s->tool || s->out || s->scan.out || s->list.out)
		return;
	gpu_devices_release(&s->devices);
	gpu_devices_release(&s->found);
	kfd_processes_release(&s->processes);
	free(s->job);
	if (s->closed)
		s->closed(s->context);
	free(s);
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct gpu_source *s = handle->data;

	s->timer_closed = true;
	maybe_closed(s);
}

/* A read that the driver does not let go of keeps its job: `closed` is called when it comes back. */
static void gpu_stop(struct source *source, void (*closed)(void *), void *context)
{
	struct gpu_source *s = (struct gpu_source *)source;

	s->stopping = true;
	s->closed = closed;
	s->context = context;
	for (size_t i = 0; i < s->devices.count; i++)
		if (s->job[i].out)
			uv_cancel((uv_req_t *)&s->job[i].work);
	if (s->tool && !s->tool_closing) {
		s->tool_closing = true;
		gpu_tool_stop(s->tool, tool_closed, s);
	}
	uv_close((uv_handle_t *)&s->timer, on_timer_closed);
}

extern const struct source_class source_gpu;
const struct source_class source_gpu = { "gpu", "device", gpu_start, NULL, gpu_stop };

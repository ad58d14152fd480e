/* cmd_evidence.c - `hangtop evidence`: what is known of a server that hangs, into one folder or tar, within 20 s, touching nothing.
 *
 * First the search for the server, the node, the GPUs and the kernel log, all at once; then each process, worker first, and
 * the log. Time: at T - 6.5 s tools get INT, then TERM, then KILL; at T - 2 s the bundle is closed with what is there.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/agent.h"
#include "app/commands.h"
#include "app/evidence_items.h"
#include "app/evidence_summary.h"
#include "app/profiles.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "parse/proc_files.h"

#define TIMEOUT_MS 20000
#define TIMEOUT_MIN_MS 8000
#define TOOLS_END_MS 6500       /* before the end */
#define CLOSE_MS 2000
#define STOP_MS 4500             /* after ^C: INT, TERM and KILL to the tools */
#define PART_MS 5000
#define FIND_MS 4000
#define LOG_WAIT_MS 6000        /* for the environments, whose secrets are masked in the log */
#define PARTS_AT_ONCE 16
#define PARTS_MAX (EVIDENCE_PROCESSES_MAX + EVIDENCE_GPUS_MAX + 16)

struct evidence {
	uv_loop_t loop;
	const struct app_options *options;
	struct profile_set profiles;
	struct find find;
	struct bundle bundle;
	struct tools tools;
	struct evidence_summary summary;
	struct secrets secrets;
	struct part *log;
	char *node;
	int64_t mono;
	struct part *part[PARTS_MAX]; /* by what matters most, of those that wait */
	int parts, running, open_parts;
	enum { PART_WAITS, PART_RUNS, PART_OVER } state[PARTS_MAX];
	uv_timer_t tools_end, close;
	uv_signal_t term, intr;
	bool searched, closing, interrupted, log_told;
};

static void go_on(struct evidence *e);

/* --- what comes back --- */

static struct span first_line(struct span text)
{
	struct span line;

	return span_line(&text, &line) ? span_trim(line) : span_of("");
}

static void keep_line(char *out, size_t size, struct span text)
{
	struct buf clean;

	buf_init(&clean, size - 1);
	text_scrub(&clean, first_line(text));
	snprintf(out, size, "%s", buf_string(&clean));
	buf_release(&clean);
}

/* What the summary tells of a piece. */
static void note(struct evidence *e, const struct item *item)
{
	const char *name = strrchr(item->path, '/') + 1;
	struct span text = buf_as_span(&item->text);
	struct evidence_process *p;
	struct proc_stat stat;

	if (strcmp(item->path, "gpu/rocm-version") == 0)
		keep_line(e->summary.rocm, sizeof e->summary.rocm, text);
	else if (strcmp(item->path, "gpu/amdgpu-version") == 0)
		keep_line(e->summary.amdgpu, sizeof e->summary.amdgpu, text);
	else if (strncmp(item->path, "gpu/card", 8) == 0)
		summary_gpu(&e->summary, item->path, text);
	if (strncmp(item->path, "log/", 4) == 0 && item->state != EVIDENCE_NONE)
		e->log_told = true;
	if (strncmp(item->path, "process/", 8) != 0 || strcmp(name, "list.txt") == 0)
		return;
	p = (struct evidence_process *)item->context;
	if (strcmp(name, "stat") == 0 && proc_stat_parse(text, &stat))
		p->state = stat.state;
	else if (strcmp(name, "wchan") == 0 && !span_is(first_line(text), "0"))
		keep_line(p->wchan, sizeof p->wchan, text);
	else if (strcmp(name, "exe") == 0 && p->pid == e->find.api_pid)
		keep_line(e->summary.exe, sizeof e->summary.exe, text);
}

static void on_item(struct part *part, struct item *item)
{
	struct evidence *e = part->context;
	struct evidence_piece piece = { .path = item->path, .from = item->from, .at = item->at, .state = item->state, .why = item->why,
		.lost = item->lost, .text = buf_as_span(&item->text) };
	char from[PATH_MAX * 2];

	if (*part->dir && item->from[0] != '/' && item->read) {
		snprintf(from, sizeof from, "%s/%s", part->dir, item->from);
		piece.from = from;
	}
	note(e, item);
	bundle_add(&e->bundle, &piece);
}

static void on_closed(struct part *part)
{
	struct evidence *e = part->context;

	e->open_parts--;
	part_free(part);
}

static void on_done(struct part *part)
{
	struct evidence *e = part->context;

	for (int i = 0; i < e->parts; i++)
		if (e->part[i] == part)
			e->state[i] = PART_OVER;
	e->running--;
	if (!e->closing)
		go_on(e);
}

/* --- parts --- */

static struct part *add_part(struct evidence *e, struct part *part)
{
	if (e->parts == PARTS_MAX) {
		part_free(part);
		return NULL;
	}
	part->context = e;
	part->item_done = on_item;
	part->done = on_done;
	part->closed = on_closed;
	part->deadline_ms = PART_MS;
	e->state[e->parts] = PART_WAITS;
	e->part[e->parts++] = part;
	return part;
}

static void on_secret(struct part *part, struct span value)
{
	struct evidence *e = part->context;

	secrets_add(&e->secrets, value);
}

static void on_log_done(struct part *part)
{
	struct evidence *e = part->context;
	struct evidence_piece piece = { .path = "log", .from = "", .at = clock_wall_ms(), .state = EVIDENCE_MISSING, .lost = true,
		.why = "no log file was found; name it with --log" };

	if (!e->log_told)
		bundle_add(&e->bundle, &piece);
	on_done(part);
}

static void add_server(struct evidence *e)
{
	if (e->find.count || e->options->source.log)
		e->log = add_part(e, items_of_log(&e->find, &e->secrets));
	if (e->log)
		e->log->done = on_log_done;
	for (int i = 0; i < e->find.count; i++) {
		struct part *part = add_part(e, items_of_process(&e->options->source, &e->find.process[i]));

		if (part)
			part->secret = on_secret;
	}
	tools_dump(&e->tools, e->find.process, e->find.count);
}

/* The search has ended, or hangs at a process: that one and its family then. */
static void on_found(struct part *part, struct item *item)
{
	struct evidence *e = part->context;

	if (item->state == EVIDENCE_MISSING || item->state == EVIDENCE_CUT) {
		find_family(&e->find);
		e->summary.trouble = e->find.count ? "the search hung at one of these; they are a family by /proc/PID/stat, without roles and ranks" :
			"the search for the server hung; name it with --pid";
	} else {
		find_take(&e->find, buf_as_span(&item->text));
	}
	on_item(part, item);
	e->searched = true;
	if (!e->closing && !e->interrupted)
		add_server(e);
}

static void add_node(struct evidence *e)
{
	const struct source_options *o = &e->options->source;
	struct part *find = add_part(e, items_of_find(&e->find));
	unsigned card[EVIDENCE_GPUS_MAX];
	size_t cards;

	find->item_done = on_found;
	find->deadline_ms = FIND_MS;
	add_part(e, items_of_node(o));
	add_part(e, items_of_shm(o));
	add_part(e, items_of_kernel_log(o));
	if (strcmp(o->gpu, "off") == 0)
		return;
	add_part(e, items_of_kfd(o, false));
	add_part(e, items_of_kfd(o, true));
	cards = items_gpus(o, card);
	for (size_t i = 0; i < cards; i++)
		add_part(e, items_of_gpu(o, card[i]));
}

/* --- the loop --- */

static void close_handles(struct evidence *e)
{
	uv_close((uv_handle_t *)&e->tools_end, NULL);
	uv_close((uv_handle_t *)&e->close, NULL);
	uv_close((uv_handle_t *)&e->term, NULL);
	uv_close((uv_handle_t *)&e->intr, NULL);
}

/* All is there, or time is up. */
static void close_bundle(struct evidence *e)
{
	static const char why[] = "not asked: no time was left";

	if (e->closing)
		return;
	e->closing = true;
	for (int i = 0; i < e->parts; i++) {
		struct part *p = e->part[i];

		if (e->state[i] == PART_RUNS) {
			part_stop(p, "reading it did not end in time");
		} else if (e->state[i] == PART_WAITS) {
			for (int k = 0; k < p->items; k++) {
				struct item *item = &p->item[k];

				item->at = clock_wall_ms();
				item->state = EVIDENCE_MISSING;
				item->lost = true;
				snprintf(item->why, sizeof item->why, "%s", why);
				p->item_done(p, item);
			}
			part_free(p);
		}
	}
	tools_abandon(&e->tools);
	close_handles(e);
	uv_stop(&e->loop);
}

static bool may_start(const struct evidence *e, int which)
{
	if (e->state[which] != PART_WAITS || e->interrupted)
		return false;
	if (e->part[which] != e->log || clock_mono_ms() - e->mono > LOG_WAIT_MS)
		return true;
	for (int i = 0; i < e->parts; i++)
		if (e->state[i] != PART_OVER && e->part[i]->secret)
			return false;
	return true;
}

static void go_on(struct evidence *e)
{
	bool waits = false;

	for (int i = 0; i < e->parts && e->running < PARTS_AT_ONCE; i++)
		if (may_start(e, i)) {
			e->state[i] = PART_RUNS;
			e->running++;
			e->open_parts++;
			part_start(e->part[i], &e->loop);
		}
	for (int i = 0; i < e->parts; i++)
		waits = waits || (e->state[i] == PART_WAITS && !e->interrupted) || e->state[i] == PART_RUNS;
	if (!waits && (e->searched || e->interrupted) && tools_over(&e->tools))
		close_bundle(e);
}

static void on_tools(void *context)
{
	struct evidence *e = context;

	if (!e->closing)
		go_on(e);
}

static void on_tools_end(uv_timer_t *timer)
{
	struct evidence *e = timer->data;

	tools_end(&e->tools);
	go_on(e);
}

static void on_close(uv_timer_t *timer)
{
	close_bundle(timer->data);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct evidence *e = handle->data;

	(void)number;
	if (e->interrupted) {
		close_bundle(e);
		return;
	}
	e->interrupted = true;
	uv_timer_start(&e->close, on_close, STOP_MS, 0);
	tools_end(&e->tools);
	for (int i = 0; i < e->parts; i++)
		if (e->state[i] == PART_RUNS)
			part_stop(e->part[i], "interrupted");
	go_on(e);
}

static void start_handles(struct evidence *e)
{
	int64_t whole = e->options->timeout_s > 0 ? (int64_t)(e->options->timeout_s * 1000) : TIMEOUT_MS;

	if (whole < TIMEOUT_MIN_MS)
		whole = TIMEOUT_MIN_MS;
	uv_timer_init(&e->loop, &e->tools_end);
	uv_timer_init(&e->loop, &e->close);
	uv_signal_init(&e->loop, &e->term);
	uv_signal_init(&e->loop, &e->intr);
	e->tools_end.data = e->close.data = e->term.data = e->intr.data = e;
	uv_timer_start(&e->tools_end, on_tools_end, (uint64_t)(whole - TOOLS_END_MS), 0);
	uv_timer_start(&e->close, on_close, (uint64_t)(whole - CLOSE_MS), 0);
	uv_signal_start(&e->term, on_signal, SIGTERM);
	uv_signal_start(&e->intr, on_signal, SIGINT);
}

/* --- the end --- */

static int finish(struct evidence *e, struct error *error)
{
	struct evidence_piece piece = { .path = "SUMMARY.txt", .from = "hangtop", .at = clock_wall_ms(), .why = "" };
	struct buf out;
	int status;

	e->summary.took_ms = clock_mono_ms() - e->mono;
	buf_init(&out, 0);
	summary_print(&e->summary, &out);
	bundle_pieces_end(&e->bundle);
	piece.text = buf_as_span(&out);
	bundle_add(&e->bundle, &piece);
	status = bundle_close(&e->bundle, error);
	buf_release(&out);
	return status;
}

static int exit_code(const struct evidence *e)
{
	if (e->interrupted)
		return EXIT_INTERRUPTED;
	if (e->bundle.write_errno)
		return EXIT_CANNOT_WRITE;
	if (!e->find.count)
		return EXIT_UNKNOWN;
	return e->bundle.lost ? EXIT_PARTIAL : EXIT_HEALTHY;
}

static int tell(struct evidence *e)
{
	struct error error;
	int code;

	if (finish(e, &error) < 0)
		return complain(&error, EXIT_CANNOT_WRITE);
	code = exit_code(e);
	printf("%s\n", e->bundle.path);
	if (!e->find.count)
		fprintf(stderr, "hangtop: no model server was found; the bundle has the node only. Name the server with --pid\n");
	if (e->bundle.write_errno)
		fprintf(stderr, "hangtop: not all could be written: %s\n", strerror(e->bundle.write_errno));
	if (e->bundle.lost)
		fprintf(stderr, "hangtop: %zu of %zu pieces are missing or not whole; SUMMARY.txt says which and why\n", e->bundle.lost, e->bundle.rows);
	return fflush(stdout) == 0 ? code : EXIT_CANNOT_WRITE;
}

static void release(struct evidence *e)
{
	bundle_release(&e->bundle);
	find_release(&e->find);
	profile_set_release(&e->profiles);
	secrets_release(&e->secrets);
	buf_release(&e->summary.gpus);
	free(e->node);
	tools_release(&e->tools);
	free(e);
}

int cmd_evidence(const struct app_options *options)
{
	static struct evidence *e; /* static: what a child that cannot be killed still points to is no leak */
	struct buf trouble;
	struct error error;
	int code;

	e = mem_alloc(sizeof *e);
	e->options = options;
	e->mono = clock_mono_ms();
	e->node = node_name(options);
	if (bundle_open(&e->bundle, options->out, e->node, clock_wall_ms(), &error) < 0) {
		release(e);
		return complain(&error, EXIT_CANNOT_WRITE);
	}
	buf_init(&trouble, 65536);
	profiles_load(&e->profiles, options->source.profile_dir, &trouble);
	buf_release(&trouble);
	uv_loop_init(&e->loop);
	find_init(&e->find, options, &e->profiles);
	e->tools = (struct tools){ .loop = &e->loop, .options = options, .bundle = &e->bundle, .changed = on_tools, .context = e };
	e->summary = (struct evidence_summary){ .node = e->node, .started = clock_wall_ms(), .find = &e->find, .tools = &e->tools, .bundle = &e->bundle };
	buf_init(&e->summary.gpus, 65536);
	signal(SIGHUP, SIG_IGN); /* the line to the node breaks when it is needed most, and we end by ourselves */
	start_handles(e);
	add_node(e);
	tools_start(&e->tools);
	go_on(e);
	uv_run(&e->loop, UV_RUN_DEFAULT);
	code = tell(e);
	/* Closed callbacks run now; a child that does not end keeps its handles, and all that they point to. */
	for (int i = 0; i < 3; i++)
		uv_run(&e->loop, UV_RUN_NOWAIT);
	if (uv_loop_close(&e->loop) == 0)
		release(e);
	return code;
}

/* live.c - agents in, core, store out. */
#include "config.h"

#include "app/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/agent.h"
#include "app/paths.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/text.h"
#include "transport/link.h"

#define SILENT_MS 6500          /* an agent that says nothing for so long is late */
#define ARGS_MAX 64
#define CLOCK_AHEAD_MS 2000

struct agent_link {
	struct live *live;
	const char *name, *sources;
	struct link *link;
	int64_t next_word;             /* mono: when its silence is mentioned again */
	bool closed;
};

struct live {
	uv_loop_t *loop;
	int64_t wall, mono;            /* both clocks at the start */
	struct app_options options;
	struct core core;
	struct writer *writer;
	char *node, *db;
	FILE *jsonl;
	struct buf line;
	struct agent_link agent[2];
	uv_timer_t step;
	uv_async_t store_word;
	int64_t stacks_asked;          /* wall, last request because of SUSPECT */
	struct error lost;             /* why nothing can be recorded; empty text: nothing is lost */
	bool stopping, stepping_closed, store_closed;
	void (*moved)(void *);
	void *context;
	void (*closed)(void *);
	void *closed_context;
};

struct core *live_core(struct live *live)
{
	return &live->core;
}

const char *live_db(const struct live *live)
{
	return live->writer ? live->db : NULL;
}

bool live_recording(const struct live *live)
{
	struct writer_status status;

	if (!live->writer)
		return false;
	writer_status(live->writer, &status);
	return status.ok;
}

bool live_lost(const struct live *live, struct error *why)
{
	struct writer_status status;

	*why = live->lost;
	if (live->lost.text[0] || !live->writer)
		return live->lost.text[0] != 0;
	writer_status(live->writer, &status);
	if (status.ok)
		return false;
	error_set(why, "%s", status.detail);
	error_fix(why, "%s", status.remedy);
	return true;
}

void live_flush(struct live *live)
{
	if (live->writer)
		writer_flush(live->writer);
}

/* --- what the front itself observes --- */

/* A step comes when something waits to be applied, and each second. */
static void on_step(uv_timer_t *timer);

/* The time of the session: the wall clock's at the start, and never set back with it. A clock that is set forward is followed. */
int64_t live_now(const struct live *live)
{
	int64_t mine = live->wall + clock_mono_ms() - live->mono, wall = clock_wall_ms();

	return wall > mine + CLOCK_AHEAD_MS ? wall : mine;
}

/* From `now` to just behind the next multiple of the period: a timer of the loop may be a millisecond early, and would come twice. */
static void step_after(struct live *live, int64_t now, int64_t period)
{
	uv_update_time(live->loop);
	uv_timer_start(&live->step, on_step, (uint64_t)(period - now % period) + 1, 0);
}

static void step_within(struct live *live, int64_t period)
{
	int64_t now = live_now(live);

	if (!live->stopping && uv_timer_get_due_in(&live->step) > (uint64_t)(period - now % period) + 1)
		step_after(live, now, period);
}

static void observe(struct live *live, const struct observation *o, int64_t now)
{
	core_observe(&live->core, o, now);
	step_within(live, CORE_STEP_MS);
}

static void front_health(struct live *live, const char *source, const char *state, const char *detail, const char *remedy)
{
	struct observation o;
	int64_t now = live_now(live);

	observation_init(&o, KIND_source, live->node, now);
	observation_text(&o, SOURCE_source, source);
	observation_text(&o, SOURCE_state, state);
	observation_text(&o, SOURCE_detail, detail);
	observation_text(&o, SOURCE_remedy, remedy && *remedy ? remedy : NULL);
	observe(live, &o, now);
}

void live_note(struct live *live, enum kind kind, const char *text, int64_t at)
{
	struct observation o;
	int64_t now = live_now(live);

	observation_init(&o, kind, live->node, now);
	if (kind == KIND_mark) {
		observation_text(&o, MARK_name, text);
		observation_int(&o, MARK_at, at);
	} else {
		observation_text(&o, NOTE_text, text);
	}
	observe(live, &o, now);
}

/* --- recording --- */

static void lose_jsonl(struct live *live)
{
	if (!live->lost.text[0])
		error_set_errno(&live->lost, errno, "cannot write the JSON lines to %s", live->options.jsonl);
	clearerr(live->jsonl);
}

static void on_record(void *context, const struct observation *o)
{
	struct live *live = context;

	if (live->writer)
		writer_add(live->writer, o);
	if (live->jsonl) {
		buf_clear(&live->line);
		observation_encode(o, &live->line);
		buf_char(&live->line, '\n');
		if (fwrite(live->line.at, 1, live->line.len, live->jsonl) != live->line.len)
			lose_jsonl(live);
	}
}

static void on_store_word(uv_async_t *async)
{
	struct live *live = async->data;
	struct writer_status status;

	if (!live->writer || live->stopping)
		return;
	writer_status(live->writer, &status);
	front_health(live, "store", status.ok ? "ok" : "failed", status.detail, status.remedy);
}

static void notice(void *context)
{
	struct live *live = context;

	uv_async_send(&live->store_word);
}

static void open_store(struct live *live)
{
	struct writer_options options = { 0 };
	struct error error;
	char number[32];

	if (live->options.no_db) {
		front_health(live, "store", "off", "--no-db: nothing is recorded", NULL);
		return;
	}
	live->db = live->options.db ? mem_text(live->options.db) : path_new_session(live_now(live));
	options.path = live->db;
	options.size_cap = live->options.session_mb << 20;
	options.notice = notice;
	options.context = live;
	if (writer_open(&live->writer, &options, &error) < 0) {
		front_health(live, "store", "failed", error.text, error.fix);
		live->lost = error;
		return;
	}
	snprintf(number, sizeof number, "%lld", (long long)live->core.triage.stall_ms);
	writer_meta(live->writer, "stall_ms", number);
	snprintf(number, sizeof number, "%d", live->options.source.interval_ms);
	writer_meta(live->writer, "interval_ms", number);
	writer_meta(live->writer, "node", live->node);
	snprintf(number, sizeof number, "%lld", (long long)live_now(live));
	writer_meta(live->writer, "created", number);
	writer_meta(live->writer, "hangtop", PACKAGE_VERSION);
	front_health(live, "store", "ok", live->db, NULL);
}

static int open_jsonl(struct live *live, struct error *error)
{
	const char *path = live->options.jsonl;
	int fd;

	if (!path)
		return 0;
	if (strcmp(path, "-") == 0) {
		live->jsonl = stdout;
		return 0;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		error_set_errno(error, errno, "cannot write %s", path);
		return error_fix(error, "choose another file with --jsonl");
	}
	live->jsonl = fdopen(fd, "w");
	return 0;
}

/* --- agents --- */

static void on_observe(void *context, const struct observation *o)
{
	struct agent_link *a = context;

	observe(a->live, o, live_now(a->live));
}

static void on_health(void *context, const char *name, const char *state, const char *detail, const char *remedy)
{
	struct agent_link *a = context;

	if (!a->live->stopping)
		front_health(a->live, name, state, detail, remedy);
}

/* An agent that is started again reads the log on from the last line that was recorded. */
static void carry_on(void *context, const char *add[2])
{
	static char number[32];
	struct agent_link *a = context;
	const struct observation *last = model_event(&a->live->core.model, KIND_log, 0);
	int64_t offset;

	if (!last || !observation_get_int(last, LOG_offset, &offset))
		return;
	snprintf(number, sizeof number, "%lld", (long long)offset);
	add[0] = "--log-offset";
	add[1] = number;
}

static void start_agent(struct live *live, struct agent_link *a, const char *name, const char *sources)
{
	const char *argv[ARGS_MAX + 8];
	struct link_options options = { 0 };
	char *self = path_self();
	int n = 0;

	a->live = live;
	a->name = name;
	a->sources = sources;
	argv[n++] = self;
	argv[n++] = "agent";
	argv[n++] = "--sources";
	argv[n++] = sources;
	argv[n++] = "--node";
	argv[n++] = live->node;
	n += options_agent_args(&live->options, argv + n, ARGS_MAX);
	argv[n] = NULL;
	options.name = name;
	options.argv = argv;
	options.observe = on_observe;
	options.health = on_health;
	options.again = a == &live->agent[1] ? carry_on : NULL;
	options.context = a;
	a->link = link_start(live->loop, &options);
	free(self);
}

/* Why is it silent? Its state in /proc tells without touching any driver. */
static char process_state(int pid)
{
	char path[64], text[512], *end;
	FILE *file;
	size_t n;

	if (pid <= 0)
		return 0;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[n] = 0;
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

static void watch_silence(struct live *live, struct agent_link *a, int64_t mono)
{
	int64_t silence = link_silence(a->link, mono);
	int pid = link_pid(a->link);
	char detail[200], remedy[100] = "", age[24], state;

	if (silence < SILENT_MS || !pid) {
		a->next_word = 0;
		return;
	}
	if (mono < a->next_word)
		return;
	a->next_word = mono + 5000;
	state = process_state(pid);
	text_duration(age, sizeof age, silence);
	if (state == 'T') {
		snprintf(detail, sizeof detail, "silent for %s: pid %d is stopped", age, pid);
		snprintf(remedy, sizeof remedy, "kill -CONT %d", pid);
	} else if (state == 'D') {
		snprintf(detail, sizeof detail, "silent for %s: pid %d sleeps in the kernel (state D): a driver does not answer", age, pid);
		snprintf(remedy, sizeof remedy, "none but time: look at /proc/%d/stack and the kernel log", pid);
	} else {
		snprintf(detail, sizeof detail, "silent for %s (pid %d, state %c)", age, pid, state ? state : '?');
	}
	front_health(live, a->name, "late", detail, remedy);
}

static void on_step(uv_timer_t *timer)
{
	struct live *live = timer->data;
	int64_t now = live_now(live), mono = clock_mono_ms();
	bool moved;

	for (int i = 0; i < 2; i++)
		watch_silence(live, &live->agent[i], mono);
	moved = core_advance(&live->core, now);
	if (triage_wants_stacks(&live->core.verdict, live->core.ranks, now) && now - live->stacks_asked > 6500) {
		live->stacks_asked = now;
		live_stacks(live, "suspect");
	}
	if (live->jsonl && fflush(live->jsonl) != 0)
		lose_jsonl(live);
	if (moved && live->moved)
		live->moved(live->context);
	step_after(live, now, live->core.queued ? CORE_STEP_MS : 1000);
}

void live_stacks(struct live *live, const char *why)
{
	struct json_write w;
	struct buf line;

	buf_init(&line, 1024);
	jw_start(&w, &line);
	jw_object(&w, NULL);
	jw_string(&w, "do", "stacks");
	jw_string(&w, "why", why);
	jw_end_object(&w);
	link_send(live->agent[1].link, buf_string(&line));
	buf_release(&line);
}

void live_snapshot(struct live *live, const struct rank *rank, bool take, const char *ask_agent)
{
	struct span role = { "", 0 };
	struct json_write w;
	struct buf line;
	int64_t pid = 0, start = 0;

	observation_get_int(rank->process, PROCESS_pid, &pid);
	observation_get_int(rank->process, PROCESS_start, &start);
	observation_get_text(rank->process, PROCESS_role, &role);
	buf_init(&line, 1024);
	jw_start(&w, &line);
	jw_object(&w, NULL);
	jw_string(&w, "do", "snapshot");
	jw_int(&w, "take", take);
	jw_int(&w, "pid", pid);
	jw_int(&w, "start", start);
	jw_string(&w, "rank", rank->name);
	jw_text(&w, "role", role);
	if (ask_agent)
		jw_string(&w, "ask_agent", ask_agent);
	jw_string(&w, "why", "key");
	jw_end_object(&w);
	link_send(live->agent[1].link, buf_string(&line));
	buf_release(&line);
}

void live_acknowledge(struct live *live, const char *id)
{
	struct observation o;
	int64_t now = live_now(live);
	char argv[100];

	snprintf(argv, sizeof argv, "[\"%s\"]", id);
	observation_init(&o, KIND_action, live->node, now);
	observation_text(&o, ACTION_what, "acknowledge");
	observation_text(&o, ACTION_who, "key");
	observation_text(&o, ACTION_argv, argv);
	observation_int(&o, ACTION_started, now);
	observe(live, &o, now);
}

void live_pid(struct live *live, int64_t pid)
{
	char line[80];

	snprintf(line, sizeof line, "{\"do\":\"watch\",\"pid\":%lld}", (long long)pid);
	link_send(live->agent[1].link, line);
}

struct live *live_start(uv_loop_t *loop, const struct app_options *options, void (*moved)(void *), void *context,
	struct error *error)
{
	struct live *live = mem_alloc(sizeof *live);

	live->loop = loop;
	live->wall = clock_wall_ms();
	live->mono = clock_mono_ms();
	live->options = *options;
	live->moved = moved;
	live->context = context;
	buf_init(&live->line, OBSERVATION_LINE_MAX);
	if (open_jsonl(live, error) < 0) {
		buf_release(&live->line);
		free(live);
		return NULL;
	}
	live->node = node_name(options);
	core_init(&live->core, live->node, (int64_t)(options->stall_s * 1000));
	live->core.record = on_record;
	live->core.context = live;
	uv_async_init(loop, &live->store_word, on_store_word);
	live->store_word.data = live;
	uv_timer_init(loop, &live->step);
	live->step.data = live;
	uv_timer_start(&live->step, on_step, CORE_STEP_MS, 0);
	open_store(live); /* before the first verdict, which belongs to the session too */
	core_advance(&live->core, live_now(live));
	start_agent(live, &live->agent[0], "agent-device", "gpu");
	start_agent(live, &live->agent[1], "agent-host", "proc,server,stack,log,kmsg");
	return live;
}

/* --- the end --- */

static int write_dump(struct live *live)
{
	FILE *file = fopen(live->options.dump, "we");
	struct buf text;

	if (!file)
		return -1;
	buf_init(&text, 0);
	core_dump(&live->core, &text);
	fwrite(buf_string(&text), 1, text.len, file);
	buf_release(&text);
	return fclose(file);
}

static void maybe_closed(struct live *live)
{
	if (!live->agent[0].closed || !live->agent[1].closed || !live->stepping_closed || !live->store_closed)
		return;
	if (live->jsonl && live->jsonl != stdout)
		fclose(live->jsonl);
	core_release(&live->core);
	buf_release(&live->line);
	free(live->node);
	free(live->db);
	if (live->closed)
		live->closed(live->closed_context);
	free(live);
}

static void on_link_closed(void *context)
{
	struct agent_link *a = context;

	a->closed = true;
	maybe_closed(a->live);
}

static void on_step_closed(uv_handle_t *handle)
{
	struct live *live = handle->data;

	live->stepping_closed = true;
	maybe_closed(live);
}

static void on_store_closed(uv_handle_t *handle)
{
	struct live *live = handle->data;

	live->store_closed = true;
	maybe_closed(live);
}

void live_stop(struct live *live, void (*closed)(void *), void *context)
{
	live->stopping = true;
	live->closed = closed;
	live->closed_context = context;
	core_advance(&live->core, live_now(live));
	if (live->options.dump && write_dump(live) < 0)
		fprintf(stderr, "hangtop: cannot write %s: %s\n", live->options.dump, strerror(errno));
	if (live->writer) {
		char end[32];

		snprintf(end, sizeof end, "%lld", (long long)live->core.grid);
		writer_meta(live->writer, "end", end);
		writer_close(live->writer);
	}
	live->writer = NULL;
	uv_close((uv_handle_t *)&live->step, on_step_closed);
	uv_close((uv_handle_t *)&live->store_word, on_store_closed);
	link_stop(live->agent[0].link, on_link_closed, &live->agent[0]);
	link_stop(live->agent[1].link, on_link_closed, &live->agent[1]);
}

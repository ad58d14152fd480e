/* explain_report.c - the object of `explain --json`. The text for people is in explain_text.c. */
#include "config.h"

#include "app/explain_report.h"

#include <jansson.h>
#include <string.h>

#include "base/json_write.h"

enum how { AUTO, BOOL, RANK, LIST };

struct member {
	int field;
	const char *name;
	enum how how;
};

#define END { -1, NULL, AUTO }

static const struct member wave_members[] = { { WAVE_wave, "id", AUTO }, { WAVE_thread, "thread", AUTO }, { WAVE_target, "target", AUTO },
	{ WAVE_state, "state", AUTO }, { WAVE_reasons, "reasons", LIST }, { WAVE_pc, "pc", AUTO }, { WAVE_kernel, "kernel", AUTO },
	{ WAVE_func, "function", AUTO }, { WAVE_kernel_code_entry, "kernel_code_entry", AUTO }, { WAVE_complete, "complete", BOOL },
	{ WAVE_count, "count", AUTO }, { WAVE_code_object, "code_object", AUTO }, { WAVE_arrow, "arrow", AUTO }, { WAVE_rank, "rank", RANK },
	{ WAVE_via, "via", AUTO }, { WAVE_file, "file", AUTO }, { WAVE_offset, "offset", AUTO }, END };
static const struct member orphan_members[] = { { DISASSEMBLY_kernel, "kernel", AUTO }, { DISASSEMBLY_code_object, "code_object", AUTO },
	{ DISASSEMBLY_arrow, "arrow", AUTO }, { DISASSEMBLY_offset, "offset", AUTO }, END };
static const struct member fault_members[] = { { FAULT_kfd_node, "node", AUTO }, { FAULT_agent, "agent", AUTO }, { FAULT_address, "address", AUTO },
	{ FAULT_reason, "reason", AUTO }, { FAULT_rank, "rank", RANK }, { FAULT_offset, "offset", AUTO }, END };
static const struct member exception_members[] = { { HW_EXCEPTION_kfd_node, "node", AUTO }, { HW_EXCEPTION_reason, "reason", AUTO },
	{ HW_EXCEPTION_rank, "rank", RANK }, END };
static const struct member queue_error_members[] = { { QUEUE_ERROR_status, "status", AUTO }, { QUEUE_ERROR_code, "code", AUTO },
	{ QUEUE_ERROR_queue, "queue", AUTO }, { QUEUE_ERROR_rank, "rank", RANK }, END };
static const struct member packet_members[] = { { PACKET_kernel, "kernel", AUTO }, { PACKET_grid, "grid", AUTO }, { PACKET_workgroup, "workgroup", AUTO },
	{ PACKET_rptr, "rptr", AUTO }, { PACKET_wptr, "wptr", AUTO }, { PACKET_pending, "pending", AUTO }, END };
static const struct member agent_members[] = { { GDB_AGENT_number, "id", AUTO }, { GDB_AGENT_state, "state", AUTO }, { GDB_AGENT_gpuid, "gpuid", AUTO },
	{ GDB_AGENT_arch, "arch", AUTO }, { GDB_AGENT_device, "device", AUTO }, { GDB_AGENT_cores, "cores", AUTO }, { GDB_AGENT_threads, "threads", AUTO },
	{ GDB_AGENT_location, "location", AUTO }, { GDB_AGENT_current, "current", BOOL }, END };
static const struct member queue_members[] = { { GDB_QUEUE_number, "id", AUTO }, { GDB_QUEUE_target, "target", AUTO }, { GDB_QUEUE_qid, "qid", AUTO },
	{ GDB_QUEUE_type, "type", AUTO }, { GDB_QUEUE_read, "read", AUTO }, { GDB_QUEUE_write, "write", AUTO }, { GDB_QUEUE_pending, "pending", AUTO },
	{ GDB_QUEUE_size, "size", AUTO }, { GDB_QUEUE_address, "address", AUTO }, { GDB_QUEUE_current, "current", BOOL }, END };
static const struct member dispatch_members[] = { { GDB_DISPATCH_number, "id", AUTO }, { GDB_DISPATCH_target, "target", AUTO },
	{ GDB_DISPATCH_pkid, "pkid", AUTO }, { GDB_DISPATCH_grid, "grid", AUTO }, { GDB_DISPATCH_workgroup, "workgroup", AUTO },
	{ GDB_DISPATCH_fence, "fence", AUTO }, { GDB_DISPATCH_kernel, "kernel", AUTO }, { GDB_DISPATCH_current, "current", BOOL }, END };
static const struct member gpu_members[] = { { GPU_gpu, "gpu", AUTO }, { GPU_busy_pct, "use_pct", AUTO }, { GPU_vram_pct, "vram_pct", AUTO },
	{ GPU_power_w, "power_w", AUTO }, { GPU_temp_c, "temp_c", AUTO }, { GPU_kfd_node, "node", AUTO }, { GPU_mem_activity_pct, "mem_activity_pct", AUTO }, END };
static const struct member kfd_members[] = { { GPU_PROCESS_pid, "pid", AUTO }, { GPU_PROCESS_name, "name", AUTO }, { GPU_PROCESS_gpus, "gpus", AUTO },
	{ GPU_PROCESS_vram, "vram", AUTO }, { GPU_PROCESS_sdma_us, "sdma", AUTO }, { GPU_PROCESS_cu_occupancy, "cu", AUTO }, END };
static const struct member timeout_members[] = { { COLLECTIVE_rank, "rank", RANK }, { COLLECTIVE_seq, "seq", AUTO }, { COLLECTIVE_op, "op", AUTO },
	{ COLLECTIVE_ran_ms, "ran_ms", AUTO }, END };
static const struct member watchdog_members[] = { { WATCHDOG_rank, "rank", RANK }, { WATCHDOG_timeout_s, "timeout_s", AUTO }, END };
static const struct member death_members[] = { { WORKER_DEATH_rank, "rank", RANK }, { WORKER_DEATH_exitcode, "exitcode", AUTO }, END };
static const struct member response_members[] = { { SERVER_http, "http", AUTO }, { SERVER_class, "class", AUTO }, { SERVER_error, "error", AUTO }, END };
static const struct member page_members[] = { { PAGE_FAULT_pci, "pci", AUTO }, { PAGE_FAULT_pid, "pid", AUTO }, { PAGE_FAULT_process, "process", AUTO },
	{ PAGE_FAULT_address, "address", AUTO }, { PAGE_FAULT_vmid, "vmid", AUTO }, END };
static const struct member driver_members[] = { { DRIVER_EVENT_pci, "pci", AUTO }, { DRIVER_EVENT_what, "what", AUTO }, { DRIVER_EVENT_text, "text", AUTO }, END };
static const struct member server_members[] = { { SERVER_LOG_framework, "framework", AUTO }, { SERVER_LOG_ready, "ready", BOOL },
	{ SERVER_LOG_running, "running", AUTO }, { SERVER_LOG_waiting, "waiting", AUTO }, { SERVER_LOG_stalled_since, "stalled_since", AUTO },
	{ SERVER_LOG_models_ok, "models_ok", BOOL }, { SERVER_LOG_requests_arrived, "requests_arrived", AUTO },
	{ SERVER_LOG_requests_finished, "requests_finished", AUTO }, { SERVER_LOG_prefill_batches, "prefill_batches", AUTO },
	{ SERVER_LOG_load_percent, "load_percent", AUTO }, { SERVER_LOG_last_work, "last_work", AUTO }, END };
static const struct member debugger_members[] = { { DEBUGGER_attach, "attach", AUTO }, { DEBUGGER_detached, "detached", BOOL },
	{ DEBUGGER_complete, "complete", BOOL }, { DEBUGGER_why, "why", AUTO }, { DEBUGGER_signal, "signal", AUTO }, END };

static void put_rank(struct json_write *w, const char *name, struct span rank)
{
	uint64_t n;

	if (span_uint(rank, &n) && n < 10000000)
		jw_int(w, name, (int64_t)n);
	else
		jw_text(w, name, rank);
}

static void put_member(struct json_write *w, const struct observation *o, const struct member *m)
{
	const struct value *v = &o->value[m->field];

	switch (v->type) {
	case VALUE_NULL:
		if (m->how == LIST)
			jw_raw(w, m->name, span_of("[]"));
		else
			jw_null(w, m->name);
		break;
	case VALUE_INT:
		if (m->how == BOOL)
			jw_bool(w, m->name, v->number != 0);
		else
			jw_int(w, m->name, v->number);
		break;
	case VALUE_REAL:
		jw_real(w, m->name, v->real);
		break;
	case VALUE_TEXT:
		if (m->how == RANK)
			put_rank(w, m->name, v->text);
		else if (kind_table[o->kind].field[m->field].type == FIELD_JSON)
			jw_raw(w, m->name, v->text);
		else
			jw_text(w, m->name, v->text);
		break;
	}
}

static void put_entry(struct json_write *w, const char *key, const struct observation *o, const struct member *m)
{
	jw_object(w, key);
	for (; m->name; m++)
		put_member(w, o, m);
	jw_end_object(w);
}

static bool is_timeout(const struct observation *o)
{
	return observation_text_is(o, COLLECTIVE_what, "timeout");
}

/* An answer or an error of curl; a body alone is none. */
static bool is_response(const struct observation *o)
{
	return !observation_is_null(o, SERVER_class);
}

static const struct section {
	const char *name;
	enum kind kind;
	const struct member *members;
	bool (*wanted)(const struct observation *);
} sections[] = {
	{ "waves", KIND_wave, wave_members, NULL },
	{ "orphan_disassembly", KIND_disassembly, orphan_members, NULL },
	{ "faults", KIND_fault, fault_members, NULL },
	{ "hw_exceptions", KIND_hw_exception, exception_members, NULL },
	{ "queue_errors", KIND_queue_error, queue_error_members, NULL },
	{ "packets", KIND_packet, packet_members, NULL },
	{ "agents", KIND_gdb_agent, agent_members, NULL },
	{ "queues", KIND_gdb_queue, queue_members, NULL },
	{ "dispatches", KIND_gdb_dispatch, dispatch_members, NULL },
	{ "gpus", KIND_gpu, gpu_members, NULL },
	{ "kfd_processes", KIND_gpu_process, kfd_members, NULL },
	{ "timeouts", KIND_collective, timeout_members, is_timeout },
	{ "watchdog", KIND_watchdog, watchdog_members, NULL },
	{ "dead_workers", KIND_worker_death, death_members, NULL },
	{ "responses", KIND_server, response_members, is_response },
	{ "page_faults", KIND_page_fault, page_members, NULL },
	{ "driver_events", KIND_driver_event, driver_members, NULL },
};

static void put_section(struct json_write *w, const struct explained *e, const struct section *s)
{
	jw_array(w, s->name);
	for (size_t i = 0; i < e->n; i++)
		if (e->list[i]->kind == s->kind && (!s->wanted || s->wanted(e->list[i])))
			put_entry(w, NULL, e->list[i], s->members);
	jw_end_array(w);
}

static const struct observation *last(const struct explained *e, enum kind kind)
{
	for (size_t i = e->n; i-- > 0;)
		if (e->list[i]->kind == kind)
			return e->list[i];
	return NULL;
}

static void put_thread(struct json_write *w, const json_t *t)
{
	const json_t *tid = json_object_get(t, "tid"), *frames = json_object_get(t, "frames");

	jw_object(w, NULL);
	if (json_is_integer(tid))
		jw_int(w, "tid", json_integer_value(tid));
	else
		jw_string(w, "tid", json_string_value(tid));
	jw_string(w, "state", json_string_value(json_object_get(t, "state")));
	jw_string(w, "name", json_string_value(json_object_get(t, "name")));
	jw_int(w, "frames", (int64_t)json_array_size(frames));
	jw_string(w, "top", json_string_value(json_array_get(frames, 0)));
	jw_end_object(w);
}

static void put_process(struct json_write *w, const struct observation *o)
{
	static const struct member pid = { STACK_pid, "pid", AUTO }, rank = { STACK_rank, "rank", RANK };
	struct span threads = { "", 0 };
	json_t *root;

	observation_get_text(o, STACK_threads, &threads);
	root = json_loadb(threads.at, threads.len, JSON_ALLOW_NUL, NULL);
	jw_object(w, NULL);
	put_member(w, o, &pid);
	put_member(w, o, &rank);
	jw_array(w, "threads");
	for (size_t i = 0; i < json_array_size(root); i++)
		put_thread(w, json_array_get(root, i));
	jw_end_array(w);
	jw_end_object(w);
	json_decref(root);
}

static void put_processes(struct json_write *w, const struct explained *e)
{
	jw_array(w, "processes");
	for (size_t i = 0; i < e->n; i++)
		if (e->list[i]->kind == KIND_stack && !observation_text_is(e->list[i], STACK_how, "gdb"))
			put_process(w, e->list[i]);
	jw_end_array(w);
}

static bool named_before(const struct explain *a, int rank)
{
	for (int i = 0; i < rank; i++)
		if (a->rank[i].group == a->rank[rank].group && strcmp(a->rank[i].name, a->rank[rank].name) == 0)
			return true;
	return false;
}

static void put_groups(struct json_write *w, const struct explain *a)
{
	jw_array(w, "stack_groups");
	for (int g = 0; g < a->groups; g++) {
		jw_object(w, NULL);
		jw_array(w, "ranks");
		for (int i = 0; i < a->ranks; i++)
			if (a->rank[i].group == g && !named_before(a, i))
				put_rank(w, NULL, span_of(a->rank[i].name));
		jw_end_array(w);
		jw_string(w, "top", a->group[g].top);
		jw_string(w, "class", wait_kind_word(a->group[g].wait));
		jw_bool(w, "odd", a->group[g].odd);
		jw_end_object(w);
	}
	jw_end_array(w);
	jw_array(w, "outliers");
	for (int i = 0; i < a->outliers; i++)
		put_rank(w, NULL, span_of(a->outlier[i]));
	jw_end_array(w);
}

static void put_models(struct json_write *w, const struct explained *e)
{
	jw_array(w, "models");
	for (size_t i = 0; i < e->n; i++) {
		struct span ids = { "", 0 };
		json_t *root;

		if (e->list[i]->kind != KIND_server || !observation_get_text(e->list[i], SERVER_models, &ids))
			continue;
		root = json_loadb(ids.at, ids.len, 0, NULL);
		for (size_t k = 0; k < json_array_size(root); k++) {
			jw_object(w, NULL);
			jw_string(w, "id", json_string_value(json_array_get(root, k)));
			jw_end_object(w);
		}
		json_decref(root);
	}
	jw_end_array(w);
}

static void put_suspects(struct json_write *w, const struct explained *e)
{
	const struct explain *a = e->answer;
	const struct kernel_row *row = a->suspects && e->kernels ? kernels_words(e->kernels, a->suspect[0]) : NULL;
	struct buf words;

	if (a->suspects)
		jw_text(w, "suspect_kernel", a->suspect[0]);
	else
		jw_null(w, "suspect_kernel");
	jw_array(w, "suspect_kernels");
	for (int i = 0; i < a->suspects; i++)
		jw_text(w, NULL, a->suspect[i]);
	jw_end_array(w);
	jw_string(w, "suspect_from", a->suspect_from);
	buf_init(&words, 4096);
	if (row)
		kernel_say(row, a->suspect[0], &words);
	if (row)
		jw_text(w, "suspect_words", buf_as_span(&words));
	else
		jw_null(w, "suspect_words");
	buf_release(&words);
}

static void put_hits(struct json_write *w, const struct explained *e)
{
	jw_array(w, "signatures");
	for (int i = 0; i < e->hits; i++) {
		const struct signature *s = e->hit[i].signature;

		jw_object(w, NULL);
		jw_string(w, "id", s->id);
		jw_string(w, "title", s->title);
		jw_string(w, "grade", s->grade);
		jw_int(w, "evidence", (int64_t)e->hit[i].held);
		jw_array(w, "advice");
		for (int k = 0; k < s->advice.count; k++)
			jw_string(w, NULL, s->advice.item[k]);
		jw_end_array(w);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static void put_counts(struct json_write *w, const struct explained *e)
{
	jw_object(w, "counts");
	jw_int(w, "bytes", (int64_t)e->count.bytes);
	jw_int(w, "lines", (int64_t)e->count.lines);
	jw_int(w, "rows", (int64_t)e->count.rows);
	jw_int(w, "ordinary", (int64_t)e->count.ordinary);
	jw_int(w, "waves", (int64_t)e->count.waves);
	jw_int(w, "faults", (int64_t)e->count.faults);
	jw_int(w, "left_out", (int64_t)e->left_out);
	jw_end_object(w);
}

void explain_json(const struct explained *e, struct buf *out)
{
	const struct observation *server = last(e, KIND_server_log), *debugger = last(e, KIND_debugger);
	struct json_write w;

	jw_start(&w, out);
	jw_object(&w, NULL);
	jw_string(&w, "verdict", e->answer->word);
	jw_string(&w, "rule", e->answer->rule);
	jw_string(&w, "reason", e->answer->reason);
	jw_string(&w, "next", e->answer->next);
	put_suspects(&w, e);
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		put_section(&w, e, &sections[i]);
	put_processes(&w, e);
	put_groups(&w, e->answer);
	put_models(&w, e);
	if (server)
		put_entry(&w, "server", server, server_members);
	if (debugger)
		put_entry(&w, "rocgdb", debugger, debugger_members);
	put_hits(&w, e);
	put_counts(&w, e);
	if (e->disassembled.len)
		jw_text(&w, "disassembled", e->disassembled);
	jw_end_object(&w);
	buf_char(out, '\n');
}

/* store_load.h - a server with eight ranks as observations, for tests and benches of src/store. Deterministic. */
#ifndef HANGTOP_TESTS_STORE_LOAD_H
#define HANGTOP_TESTS_STORE_LOAD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "model/observation.h"

#define LOAD_T0 INT64_C(1764573600000)
#define LOAD_RANKS 8
#define LOAD_THREADS 12

typedef void (*load_each)(void *context, const struct observation *o);

struct load {
	load_each each;
	void *context;
	uint64_t seed;
	uint64_t values, rows; /* handed out; values are non-null fields */
	bool hung; /* nothing changes but the clock */
};

static inline uint64_t load_random(struct load *l, uint64_t below)
{
	l->seed = l->seed * 6364136223846793005u + 1442695040888963407u;
	return (l->seed >> 33) % below;
}

static inline void load_put(struct load *l, const struct observation *o)
{
	for (int i = 0; i < kind_table[o->kind].fields; i++)
		l->values += !observation_is_null(o, i);
	l->rows++;
	l->each(l->context, o);
}

static inline void load_gpu(struct load *l, int64_t t, int gpu)
{
	struct observation o;
	char bdf[24];

	observation_init(&o, KIND_gpu, "gpu-node-17", t);
	o.lag = 20 + gpu;
	observation_int(&o, GPU_gpu, gpu);
	observation_real(&o, GPU_busy_pct, l->hung ? 100 : (double)load_random(l, 101));
	observation_real(&o, GPU_mem_activity_pct, l->hung ? 0 : (double)load_random(l, 60));
	observation_int(&o, GPU_vram_used, INT64_C(180000000000) + (int64_t)load_random(l, 4096) * 4096);
	observation_int(&o, GPU_vram_total, INT64_C(206141652992));
	observation_real(&o, GPU_power_w, 300 + (double)load_random(l, 4000) / 10);
	observation_real(&o, GPU_temp_c, 50 + (double)load_random(l, 30));
	observation_real(&o, GPU_temp_edge_c, 45 + (double)load_random(l, 30));
	observation_real(&o, GPU_temp_mem_c, 48 + (double)load_random(l, 20));
	observation_real(&o, GPU_sclk_mhz, 1200 + (double)load_random(l, 900));
	observation_real(&o, GPU_mclk_mhz, 1300);
	observation_int(&o, GPU_kfd_node, gpu + 2);
	snprintf(bdf, sizeof bdf, "0000:%02x:00.0", 5 + gpu * 16);
	observation_text(&o, GPU_bdf, bdf);
	observation_text(&o, GPU_name, "AMD Instinct MI300X OAM");
	observation_text(&o, GPU_partition, "SPX/NPS1");
	observation_text(&o, GPU_via, "sysfs");
	observation_real(&o, GPU_power_cap_w, 750);
	load_put(l, &o);
}

static inline void load_gpu_process(struct load *l, int64_t t, int rank)
{
	struct observation o;

	observation_init(&o, KIND_gpu_process, "gpu-node-17", t);
	observation_int(&o, GPU_PROCESS_pid, 41200 + rank);
	observation_int(&o, GPU_PROCESS_gpu, rank);
	observation_int(&o, GPU_PROCESS_vram, INT64_C(179000000000) + (int64_t)load_random(l, 1000) * 4096);
	observation_int(&o, GPU_PROCESS_queues, 4);
	observation_int(&o, GPU_PROCESS_evicted_ms, 0);
	observation_int(&o, GPU_PROCESS_cu_occupancy, (int64_t)load_random(l, 304));
	observation_text(&o, GPU_PROCESS_name, "VLLM::Worker_TP");
	load_put(l, &o);
}

static inline void load_process_sample(struct load *l, int64_t t, int n)
{
	struct observation o;

	observation_init(&o, KIND_process_sample, "gpu-node-17", t);
	o.lag = 12;
	observation_int(&o, PROCESS_SAMPLE_pid, 41200 + n);
	observation_text(&o, PROCESS_SAMPLE_state, n % 3 ? "S" : "R");
	observation_real(&o, PROCESS_SAMPLE_cpu_pct, (double)load_random(l, 10000) / 100);
	observation_text(&o, PROCESS_SAMPLE_wchan, "futex_wait_queue");
	observation_int(&o, PROCESS_SAMPLE_threads, 180 + n);
	observation_int(&o, PROCESS_SAMPLE_rss, INT64_C(9000000000) + (int64_t)load_random(l, 4096) * 4096);
	observation_int(&o, PROCESS_SAMPLE_vol_switches, (t - LOAD_T0) / 10 + n);
	observation_int(&o, PROCESS_SAMPLE_invol_switches, (t - LOAD_T0) / 100 + n);
	if (n < 5)
		observation_int(&o, PROCESS_SAMPLE_tracer, 99);
	observation_int(&o, PROCESS_SAMPLE_state_since, LOAD_T0 + n);
	load_put(l, &o);
}

static inline void load_server(struct load *l, int64_t t)
{
	struct observation o;

	observation_init(&o, KIND_server, "gpu-node-17", t);
	observation_text(&o, SERVER_url, "http://127.0.0.1:8000/v1/models");
	observation_int(&o, SERVER_http, 200);
	observation_text(&o, SERVER_class, "ok");
	observation_real(&o, SERVER_connect_ms, (double)load_random(l, 1000) / 1000);
	observation_real(&o, SERVER_first_byte_ms, (double)load_random(l, 9000) / 1000);
	observation_real(&o, SERVER_total_ms, (double)load_random(l, 9999) / 1000);
	observation_int(&o, SERVER_bytes, 512);
	observation_text(&o, SERVER_models, "[\"deepseek-ai/DeepSeek-R1\"]");
	observation_text(&o, SERVER_owned_by, "vllm");
	observation_text(&o, SERVER_engine, "vllm");
	load_put(l, &o);
}

static inline void load_requests(struct load *l, int64_t t)
{
	struct observation o;

	observation_init(&o, KIND_requests, "gpu-node-17", t);
	observation_text(&o, REQUESTS_via, "metrics");
	observation_int(&o, REQUESTS_running, 3);
	observation_int(&o, REQUESTS_waiting, 0);
	observation_int(&o, REQUESTS_open, 3);
	observation_int(&o, REQUESTS_open_since, LOAD_T0);
	load_put(l, &o);
}

static inline void load_progress(struct load *l, int64_t t)
{
	struct observation o;

	observation_init(&o, KIND_progress, "gpu-node-17", t);
	observation_text(&o, PROGRESS_counter, "metrics:vllm:generation_tokens_total");
	observation_real(&o, PROGRESS_value, (double)(t - LOAD_T0) / 7);
	observation_real(&o, PROGRESS_delta, 143);
	load_put(l, &o);
}

/* 325 values: 8 GPUs, 8 processes on them, 13 processes, one request; each sixth tick progress and requests besides. */
static inline void load_tick(struct load *l, int64_t t)
{
	for (int i = 0; i < LOAD_RANKS; i++)
		load_gpu(l, t, i);
	for (int i = 0; i < LOAD_RANKS; i++)
		load_gpu_process(l, t, i);
	for (int i = 0; i < 13; i++)
		load_process_sample(l, t, i);
	load_server(l, t);
	if (!l->hung && t / 1000 % 6 == 0) {
		load_progress(l, t);
		load_requests(l, t);
	}
}

static inline void load_frames(struct load *l, struct json_write *w, int thread)
{
	bool moves = !l->hung && load_random(l, 100) < 12;
	int depth = thread == 0 ? 34 : 8 + thread;
	char frame[160];

	jw_array(w, "frames");
	for (int i = 0; i < depth; i++) {
		snprintf(frame, sizeof frame,
			"step_%d_of_module_%d (/opt/venv/lib/python3.12/site-packages/vllm/worker/part_%d.py:%d)", i,
			thread, i % 9, moves && i == 0 ? (int)load_random(l, 40) : 100 + i);
		jw_string(w, NULL, frame);
	}
	jw_end_array(w);
}

/* About 17 KB of text. */
static inline void load_stack(struct load *l, int64_t t, int rank, int64_t same_since, int64_t same_count)
{
	struct observation o;
	struct json_write w;
	struct buf text;
	char name[24];

	buf_init(&text, 0);
	jw_start(&w, &text);
	jw_array(&w, NULL);
	for (int i = 0; i < LOAD_THREADS; i++) {
		jw_object(&w, NULL);
		jw_int(&w, "tid", 41200 + rank + i * 100);
		if (i)
			snprintf(name, sizeof name, "Thread-%d", i);
		jw_string(&w, "name", i ? name : "MainThread");
		jw_string(&w, "state", i ? "idle" : "active");
		jw_bool(&w, "gil", i == 0);
		load_frames(l, &w, i);
		jw_end_object(&w);
	}
	jw_end_array(&w);
	observation_init(&o, KIND_stack, "gpu-node-17", t);
	o.lag = 300;
	observation_int(&o, STACK_pid, 41200 + rank);
	observation_int(&o, STACK_start, LOAD_T0 - 60000);
	snprintf(name, sizeof name, "TP%d", rank);
	observation_text(&o, STACK_rank, name);
	observation_text(&o, STACK_how, "py-spy");
	observation_real(&o, STACK_took_ms, 210.5);
	observation_span(&o, STACK_threads, buf_as_span(&text));
	observation_text(&o, STACK_why, "background");
	observation_int(&o, STACK_round, t / 10000);
	observation_int(&o, STACK_same_since, same_since);
	observation_int(&o, STACK_same_count, same_count);
	load_put(l, &o);
	buf_release(&text);
}

#endif

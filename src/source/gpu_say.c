/* gpu_say.c - readings become observations. */
#include "config.h"

#include "source/gpu.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"

static void whole(struct observation *o, int field, double value)
{
	if (!isnan(value))
		observation_int(o, field, (int64_t)value);
}

static void known(struct observation *o, int field, int64_t value)
{
	if (value >= 0)
		observation_int(o, field, value);
}

static void text(struct observation *o, int field, const char *value)
{
	observation_text(o, field, *value ? value : NULL);
}

void gpu_emit(struct source_env *env, const struct gpu_reading *r, const char *via)
{
	struct observation o;
	char partition[40];

	observation_init(&o, KIND_gpu, env->node, clock_wall_ms());
	observation_int(&o, GPU_gpu, r->gpu);
	observation_real(&o, GPU_busy_pct, r->busy_pct);
	observation_real(&o, GPU_mem_activity_pct, r->mem_activity_pct);
	whole(&o, GPU_vram_used, r->vram_used);
	whole(&o, GPU_vram_total, r->vram_total);
	observation_real(&o, GPU_power_w, r->power_w);
	observation_real(&o, GPU_power_cap_w, r->power_cap_w);
	observation_real(&o, GPU_temp_c, gpu_reading_temp(r));
	observation_real(&o, GPU_temp_edge_c, r->temp_edge_c);
	observation_real(&o, GPU_temp_mem_c, r->temp_mem_c);
	observation_real(&o, GPU_sclk_mhz, r->sclk_mhz);
	observation_real(&o, GPU_mclk_mhz, r->mclk_mhz);
	known(&o, GPU_kfd_node, r->kfd_node);
	text(&o, GPU_bdf, r->bdf);
	text(&o, GPU_name, r->name);
	snprintf(partition, sizeof partition, "%s%s%s", r->compute_partition, *r->memory_partition ? "/" : "",
		r->memory_partition);
	text(&o, GPU_partition, partition);
	observation_text(&o, GPU_via, via);
	env->emit(env->context, &o);
}

void gpu_emit_process(struct source_env *env, const struct gpu_process_reading *p)
{
	struct observation o;

	observation_init(&o, KIND_gpu_process, env->node, clock_wall_ms());
	observation_int(&o, GPU_PROCESS_pid, p->pid);
	observation_int(&o, GPU_PROCESS_gpu, p->gpu);
	known(&o, GPU_PROCESS_vram, p->vram);
	known(&o, GPU_PROCESS_queues, p->queues);
	known(&o, GPU_PROCESS_evicted_ms, p->evicted_ms);
	known(&o, GPU_PROCESS_cu_occupancy, p->cu_occupancy);
	text(&o, GPU_PROCESS_name, p->name);
	env->emit(env->context, &o);
}

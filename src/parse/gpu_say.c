/* gpu_say.c - one reading a GPU, one a process. */
#include "config.h"

#include "parse/gpu_say.h"

#include <math.h>

static void whole(struct reading *r, const char *name, int64_t value)
{
	if (value >= 0)
		reading_int(r, name, value);
}

static void bytes(struct reading *r, const char *name, double value)
{
	if (!isnan(value) && value >= 0 && value < 9e18)
		reading_int(r, name, (int64_t)value);
}

static void say_gpu(const struct gpu_reading *g, uint64_t offset, const char *via, const struct reading_sink *sink)
{
	double pct = !isnan(g->vram_pct)		     ? g->vram_pct
		     : g->vram_total > 0 && g->vram_used >= 0 ? 100 * g->vram_used / g->vram_total
							      : NAN;
	struct reading r;

	reading_start(&r, "gpu", offset);
	reading_int(&r, "gpu", g->gpu);
	reading_real(&r, "busy_pct", g->busy_pct);
	reading_real(&r, "mem_activity_pct", g->mem_activity_pct);
	bytes(&r, "vram_used", g->vram_used);
	bytes(&r, "vram_total", g->vram_total);
	reading_real(&r, "vram_pct", pct);
	reading_real(&r, "power_w", g->power_w);
	reading_real(&r, "power_cap_w", g->power_cap_w);
	reading_real(&r, "temp_c", gpu_reading_temp(g));
	reading_real(&r, "temp_mem_c", g->temp_mem_c);
	whole(&r, "kfd_node", g->kfd_node);
	reading_word(&r, "via", via);
	reading_emit(&r, sink);
}

static void say_process(const struct gpu_process_reading *p, uint64_t offset, const struct reading_sink *sink)
{
	struct reading r;

	reading_start(&r, "gpu_process", offset);
	reading_int(&r, "pid", p->pid);
	reading_int(&r, "gpu", p->gpu);
	whole(&r, "gpus", p->gpus);
	whole(&r, "vram", p->vram);
	whole(&r, "sdma_us", p->sdma_us);
	whole(&r, "cu_occupancy", p->cu_occupancy);
	reading_word(&r, "name", p->name);
	reading_emit(&r, sink);
}

void gpu_list_say(const struct gpu_list *list, uint64_t offset, const char *via, const struct reading_sink *sink)
{
	for (size_t i = 0; i < list->gpus; i++)
		say_gpu(&list->gpu[i], offset, via, sink);
	for (size_t i = 0; i < list->processes; i++)
		say_process(&list->process[i], offset, sink);
}

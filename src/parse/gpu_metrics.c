/* gpu_metrics.c - offsets of the formats, in one table. */
#include "config.h"

#include "parse/gpu_metrics.h"

#include <math.h>
#include <stddef.h>

/* Byte offsets of u16 fields; 0: the format does not have it. Structures of the kernel's kgd_pp_interface.h. */
static const struct layout {
	unsigned char content;
	unsigned short size;           /* at least */
	unsigned short edge, hotspot, mem, power, busy, activity, gfxclk, uclk;
	unsigned char gfxclks;         /* one an XCC: the fastest counts */
} layouts[] = {
	{ 0, 76, 16, 18, 20, 34, 28, 30, 54, 58, 1 },
	{ 1, 96, 4, 6, 8, 22, 16, 18, 54, 58, 1 },
	{ 2, 104, 4, 6, 8, 22, 16, 18, 54, 58, 1 },
	{ 3, 120, 4, 6, 8, 22, 16, 18, 54, 58, 1 },
	{ 4, 284, 0, 4, 6, 10, 12, 14, 240, 280, 8 },
	{ 5, 356, 0, 4, 6, 10, 12, 14, 312, 352, 8 },
	{ 6, 308, 0, 4, 6, 10, 12, 14, 264, 304, 8 },
	{ 7, 340, 0, 4, 6, 10, 12, 14, 296, 336, 8 },
	{ 8, 340, 0, 4, 6, 10, 12, 14, 296, 336, 8 },
};

static double u16_at(struct span s, size_t at)
{
	unsigned value;

	if (!at || at + 2 > s.len)
		return NAN;
	value = (unsigned char)s.at[at] | (unsigned)(unsigned char)s.at[at + 1] << 8;
	return value == 0xffff ? NAN : value;
}

static void fill(double *field, double value)
{
	if (isnan(*field))
		*field = value;
}

static double fastest(struct span s, const struct layout *l)
{
	double most = NAN;

	for (int i = 0; i < l->gfxclks; i++) {
		double mhz = u16_at(s, l->gfxclk + 2u * (unsigned)i);

		if (!isnan(mhz) && !(mhz <= most))
			most = mhz;
	}
	return most;
}

int gpu_metrics_fill(struct span s, struct gpu_reading *r, struct error *error)
{
	const struct layout *l = NULL;
	unsigned format, content;
	size_t size;

	if (s.len < 4)
		return error_set(error, "gpu_metrics: %zu bytes, too few for its header", s.len);
	size = (unsigned char)s.at[0] | (size_t)(unsigned char)s.at[1] << 8;
	format = (unsigned char)s.at[2];
	content = (unsigned char)s.at[3];
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (format == 1 && layouts[i].content == content)
			l = &layouts[i];
	if (!l)
		return error_set(error, "gpu_metrics: format %u.%u is not known (1.0 to 1.8 are)%s", format, content,
			format == 2 || format == 3 ? "; it is that of an APU" : "");
	if (size < l->size || s.len < size)
		return error_set(error, "gpu_metrics: %zu bytes in a format %u.%u that says %zu and needs %u", s.len, format,
			content, size, (unsigned)l->size);
	fill(&r->temp_edge_c, u16_at(s, l->edge));
	fill(&r->temp_junction_c, u16_at(s, l->hotspot));
	fill(&r->temp_mem_c, u16_at(s, l->mem));
	fill(&r->power_w, u16_at(s, l->power));
	fill(&r->busy_pct, gpu_percent(u16_at(s, l->busy)));
	fill(&r->mem_activity_pct, gpu_percent(u16_at(s, l->activity)));
	fill(&r->sclk_mhz, fastest(s, l));
	fill(&r->mclk_mhz, u16_at(s, l->uclk));
	return 0;
}

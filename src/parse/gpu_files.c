/* gpu_files.c - contents of sysfs files of GPUs. */
#include "config.h"

#include "parse/gpu_files.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

double gpu_file_number(struct span content)
{
	int64_t value;

	return span_int(content, &value) ? (double)value : NAN;
}

double gpu_file_dpm_mhz(struct span content)
{
	struct span line;

	while (span_line(&content, &line)) {
		long colon = span_find_char(line, ':');

		if (colon < 0 || !span_ends(span_trim(line), "*"))
			continue;
		line = span_trim(span_sub(line, (size_t)colon + 1, line.len));
		return gpu_number(span_sub(line, 0, line.len - 1), NULL);
	}
	return NAN;
}

bool gpu_file_partition(struct span content, char *out, size_t size)
{
	content = span_trim(content);
	if (!content.len || content.len >= size || span_is(content, "UNKNOWN"))
		return false;
	for (size_t i = 0; i < content.len; i++)
		if (!isalnum((unsigned char)content.at[i]))
			return false;
	memcpy(out, content.at, content.len);
	out[content.len] = 0;
	return true;
}

void gpu_file_properties(struct span content, struct kfd_properties *out)
{
	struct span line, key;
	uint64_t value;

	memset(out, 0, sizeof *out);
	out->render_minor = -1;
	while (span_line(&content, &line)) {
		if (!span_word(&line, &key) || !span_uint(line, &value))
			continue;
		if (span_is(key, "simd_count"))
			out->simd_count = value;
		else if (span_is(key, "location_id"))
			out->location_id = value;
		else if (span_is(key, "domain"))
			out->domain = value;
		else if (span_is(key, "drm_render_minor"))
			out->render_minor = value > 0 && value < 1 << 20 ? (int64_t)value : -1; /* 0 on CPUs */
		else if (span_is(key, "gfx_target_version"))
			out->gfx_target_version = value;
		else if (span_is(key, "unique_id"))
			out->unique_id = value;
	}
}

void kfd_bdf(const struct kfd_properties *p, char *out, size_t size)
{
	unsigned id = (unsigned)(p->location_id & 0xffff);

	snprintf(out, size, "%04x:%02x:%02x.%x", (unsigned)(p->domain & 0xffffffff), id >> 8, id >> 3 & 0x1f, id & 7);
}

unsigned kfd_partition_id(const struct kfd_properties *p)
{
	return (unsigned)(p->location_id >> 28 & 0xf);
}

void kfd_gfx_name(uint64_t version, char *out, size_t size)
{
	*out = 0;
	if (version && version < 1000000)
		snprintf(out, size, "gfx%u%x%x", (unsigned)(version / 10000), (unsigned)(version / 100 % 100),
			(unsigned)(version % 100));
}

bool gpu_file_slot_name(struct span uevent, char *out, size_t size)
{
	struct span line;

	while (span_line(&uevent, &line))
		if (span_skip(&line, "PCI_SLOT_NAME=") && line.len && line.len < size) {
			memcpy(out, line.at, line.len);
			out[line.len] = 0;
			return true;
		}
	return false;
}

/* evidence_summary.c - the lines of SUMMARY.txt. */
#include "config.h"

#include "app/evidence_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "app/evidence_items.h"
#include "base/mem.h"
#include "base/text.h"

#define SHOWN_MAX 64            /* processes */

/* First line of a section; empty when it is not there. */
static struct span section(struct span text, const char *name)
{
	char head[80];
	struct span rest, line;

	snprintf(head, sizeof head, "== %s\n", name);
	rest = span_after(text, head);
	return span_line(&rest, &line) && !span_starts(line, "==") && !span_starts(line, "(") ? span_trim(line) : span_of("");
}

static void put_bytes(struct buf *out, const char *label, struct span number)
{
	uint64_t bytes;
	char text[16];

	if (span_uint(number, &bytes))
		buf_printf(out, "%s%s", label, text_bytes(text, sizeof text, (double)bytes));
}

void summary_gpu(struct evidence_summary *s, const char *path, struct span text)
{
	struct span busy = section(text, "gpu_busy_percent"), memory = section(text, "mem_busy_percent");
	struct span slot = span_after(text, "PCI_SLOT_NAME=");
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	buf_printf(&s->gpus, "  %-10.*s", (int)strcspn(name, "."), name);
	if (slot.len)
		buf_printf(&s->gpus, " %.*s", (int)strcspn(slot.at, "\n"), slot.at);
	buf_printf(&s->gpus, "  busy %.*s %%", busy.len ? (int)busy.len : 1, busy.len ? busy.at : "?");
	buf_printf(&s->gpus, "  memory busy %.*s %%", memory.len ? (int)memory.len : 1, memory.len ? memory.at : "?");
	put_bytes(&s->gpus, "  VRAM ", section(text, "mem_info_vram_used"));
	put_bytes(&s->gpus, " of ", section(text, "mem_info_vram_total"));
	buf_char(&s->gpus, '\n');
}

static int by_line(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their numbers: they were read at the same time. */
static void print_gpus(const struct evidence_summary *s, struct buf *out)
{
	struct span rest = buf_as_span(&s->gpus), line;
	char *text[EVIDENCE_GPUS_MAX];
	int n = 0;

	while (n < EVIDENCE_GPUS_MAX && span_line(&rest, &line))
		text[n++] = mem_text_n(line.at, line.len);
	qsort(text, (size_t)n, sizeof *text, by_line);
	buf_printf(out, "\nGPUs\n%s", n ? "" : "  no files of amdgpu on this node\n");
	for (int i = 0; i < n; i++) {
		buf_printf(out, "%s\n", text[i]);
		free(text[i]);
	}
}

static void print_versions(const struct evidence_summary *s, struct buf *out)
{
	struct utsname u;

	buf_printf(out, "versions   hangtop %s", PACKAGE_VERSION);
	if (uname(&u) == 0)
		buf_printf(out, ", %s %s %s", u.sysname, u.release, u.machine);
	buf_printf(out, "\n           python %s, py-spy %s, ROCm %s, amdgpu %s\n",
		*s->tools->python_version ? s->tools->python_version : *s->exe ? s->exe : "unknown",
		*s->tools->py_spy_version ? s->tools->py_spy_version : s->tools->py_spy ? "of unknown version" : "not found",
		*s->rocm ? s->rocm : "unknown", *s->amdgpu ? s->amdgpu : "of the kernel or none");
}

static void print_processes(const struct evidence_summary *s, struct buf *out)
{
	const struct find *f = s->find;

	if (s->trouble)
		buf_printf(out, "\nprocesses: %s\n", s->trouble);
	if (!f->count) {
		if (!s->trouble)
			buf_text(out, "\nprocesses: no model server was found on this node; name it with --pid\n");
		return;
	}
	buf_printf(out, "\nprocesses  %d%s%s\n  %-8s %-7s %-8s %c %-24s %s\n", f->count, f->profile ? " of " : "", f->profile ? f->profile->name : "", "PID",
		"ROLE", "RANK", 'S', "WAITS IN", "COMMAND");
	for (int i = 0; i < f->count && i < SHOWN_MAX; i++) {
		const struct evidence_process *p = &f->process[i];

		buf_printf(out, "  %-8lld %-7s %-8s %c %-24.24s %.70s\n", (long long)p->pid, *p->role ? p->role : "-", *p->rank ? p->rank : "-", p->state,
			*p->wchan ? p->wchan : "-", p->command);
	}
	if (f->count > SHOWN_MAX)
		buf_printf(out, "  and %d more in process/\n", f->count - SHOWN_MAX);
}

void summary_print(const struct evidence_summary *s, struct buf *out)
{
	char stamp[32], size[16];

	buf_printf(out, "hangtop evidence of node %s, %s, in %.1f s; passive: nothing was stopped, traced or written to\n\n", s->node,
		evidence_stamp(stamp, sizeof stamp, s->started), (double)s->took_ms / 1000);
	print_versions(s, out);
	print_processes(s, out);
	print_gpus(s, out);
	buf_printf(out, "\nbundle     %zu pieces, %s; MANIFEST.txt has hashes, origins and times; secrets are masked as ***\n", s->bundle->rows,
		text_bytes(size, sizeof size, (double)s->bundle->bytes));
	if (s->bundle->lost) {
		buf_printf(out, "\nmissing    %zu pieces\n", s->bundle->lost);
		bundle_lost(s->bundle, out);
	} else {
		buf_text(out, "missing    nothing that this node has\n");
	}
}

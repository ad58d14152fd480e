/* kernel_log.c - the driver's lines. */
#include "config.h"

#include "parse/kernel_log.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define CUT_LINES 4             /* a line of the kernel fills no more of a terminal */

void kernel_log_init(struct kernel_log *k, const struct reading_sink *sink)
{
	memset(k, 0, sizeof *k);
	k->sink = sink;
	wrapped_init(&k->cut);
}

void kernel_log_release(struct kernel_log *k)
{
	wrapped_release(&k->cut);
}

static void emit_fault(struct kernel_log *k, const struct kernel_fault *f)
{
	struct reading r;

	reading_start(&r, "page_fault", f->offset);
	reading_word(&r, "pci", f->pci);
	if (f->pid > 0)
		reading_int(&r, "pid", f->pid);
	reading_word(&r, "process", f->process);
	reading_word(&r, "address", f->address);
	if (f->vmid >= 0)
		reading_int(&r, "vmid", f->vmid);
	reading_emit(&r, k->sink);
}

static bool domain_digit(char c)
{
	return isxdigit((unsigned char)c) || c == 'x' || c == 'X';
}

/* "0000:0b:00.0" anywhere, masked digits too; a domain can have more than four digits. */
static bool pci_of(struct span s, char out[24])
{
	for (size_t i = 0; i + 12 <= s.len; i++) {
		size_t n = i, first = i;

		if (s.at[i + 4] != ':' || s.at[i + 7] != ':' || s.at[i + 10] != '.')
			continue;
		for (; n < i + 12; n++)
			if (!domain_digit(s.at[n]) && s.at[n] != ':' && s.at[n] != '.')
				break;
		if (n < i + 12)
			continue;
		while (first && i - first < 4 && domain_digit(s.at[first - 1]))
			first--;
		memcpy(out, s.at + first, i + 12 - first);
		out[i + 12 - first] = 0;
		return true;
	}
	return false;
}

static struct kernel_fault *fault_of(struct kernel_log *k, const char *pci)
{
	for (int i = k->faults - 1; i >= 0; i--)
		if (strcmp(k->fault[i].pci, pci) == 0)
			return &k->fault[i];
	return NULL;
}

/* "NAME pid N": the name may be empty or hold blanks. */
static void take_process(struct kernel_fault *f, struct span s)
{
	long at = span_find(s, " pid ");
	struct span rest, name;
	uint64_t pid;

	if (at < 0)
		at = span_starts(s, "pid ") ? -1 : -2;
	if (at == -2)
		return;
	name = at < 0 ? span_make("", 0) : span_trim(span_sub(s, 0, (size_t)at));
	rest = span_sub(s, at < 0 ? 4 : (size_t)at + 5, s.len);
	if (!span_take_uint(&rest, &pid))
		return;
	if (pid)
		f->pid = (int64_t)pid;
	if (name.len && name.len < sizeof f->process && !*f->process) {
		memcpy(f->process, name.at, name.len);
		f->process[name.len] = 0;
	}
}

static void take_address(struct kernel_fault *f, struct span s)
{
	size_t n = 2;

	s = span_trim(s);
	if (*f->address || !span_starts(s, "0x"))
		return;
	while (n < s.len && n < 22 && isxdigit((unsigned char)s.at[n]))
		n++;
	snprintf(f->address, sizeof f->address, "%.*s", (int)n, s.at);
}

static void new_fault(struct kernel_log *k, const struct line *l, const char *pci, struct span s)
{
	struct kernel_fault *f;
	struct span rest;
	uint64_t n;

	if (k->faults == KERNEL_FAULTS_MAX) {
		emit_fault(k, &k->fault[0]);
		memmove(&k->fault[0], &k->fault[1], (KERNEL_FAULTS_MAX - 1) * sizeof k->fault[0]);
		k->faults--;
	}
	f = &k->fault[k->faults++];
	memset(f, 0, sizeof *f);
	f->pid = f->vmid = -1;
	f->offset = l->offset;
	snprintf(f->pci, sizeof f->pci, "%s", pci);
	if ((rest = span_after(s, "vmid:")).len && span_take_uint(&rest, &n))
		f->vmid = (int64_t)n;
	if ((rest = span_after(s, "for process ")).len)
		take_process(f, rest);
	if (strcmp(k->ahead.pci, pci) == 0 && *k->ahead.address) {
		memcpy(f->address, k->ahead.address, sizeof f->address);
		if (!*f->process)
			memcpy(f->process, k->ahead.process, sizeof f->process);
		if (f->pid < 0)
			f->pid = k->ahead.pid;
	}
	*k->ahead.address = 0;
}

/* gfx8 and older keep the number of the page, of 4 KiB, in a register. */
static void take_page(struct kernel_fault *f, struct span s)
{
	uint64_t page;

	s = span_trim(s);
	if (!*f->address && span_take_hex(&s, &page) && page <= UINT64_MAX >> 12)
		snprintf(f->address, sizeof f->address, "0x%llx", (unsigned long long)page << 12);
}

/* Whose address or process it is: mostly the last fault's of this GPU; of one that is told below when that has its own. */
static struct kernel_fault *owner(struct kernel_log *k, const char *pci, bool address)
{
	struct kernel_fault *f = fault_of(k, pci);

	if (f && !(address ? *f->address : *f->process || f->pid >= 0 || f->closed))
		return f;
	if (address || strcmp(k->ahead.pci, pci) != 0) {
		memset(&k->ahead, 0, sizeof k->ahead);
		k->ahead.pid = -1;
		snprintf(k->ahead.pci, sizeof k->ahead.pci, "%s", pci);
	}
	return &k->ahead;
}

static bool more_of_fault(struct kernel_log *k, const char *pci, struct span s)
{
	struct kernel_fault *f = fault_of(k, pci);
	struct span rest;
	uint64_t n;

	if (!f && !span_contains(s, " page") && !span_contains(s, "rocess "))
		return false;
	if (f && (rest = span_after(s, "_PROTECTION_FAULT_ADDR ")).len) {
		take_page(f, rest);
		return true;
	}
	if (f && (rest = span_after(s, "VM fault (")).len) {
		rest = span_after(rest, "vmid ");
		if (span_take_uint(&rest, &n))
			f->vmid = (int64_t)n;
		return true;
	}
	if ((rest = span_after(s, "in page starting at address")).len || (rest = span_after(s, " at address ")).len || (rest = span_after(s, "at page ")).len) {
		take_address(owner(k, pci, true), rest);
		return f != NULL;
	}
	if (!span_contains(s, "Process information") && ((rest = span_after(s, "Process ")).len || (rest = span_after(s, "for process ")).len || (rest = span_after(s, "in process ")).len)) {
		take_process(owner(k, pci, false), rest);
		return f != NULL;
	}
	*k->ahead.address = 0;
	return f && (span_contains(s, "PROTECTION_FAULT_STATUS") || span_contains(s, "Faulty UTCL2 client") || span_contains(s, "MORE_FAULTS:") ||
	       span_contains(s, "WALKER_ERROR:") || span_contains(s, "PERMISSION_FAULTS:") || span_contains(s, "MAPPING_ERROR:"));
}

static const struct {
	const char *part, *also, *what;
} events[] = {
	{ "GPU reset begin", NULL, "reset" },
	{ "GPU reset(", NULL, "reset" },
	{ "GPU reset succeeded", NULL, "reset" },
	{ "GPU reset failed", NULL, "reset" },
	{ "MODE1 reset", NULL, "reset" },
	{ "MODE2 reset", NULL, "reset" },
	{ "device wedged", NULL, "reset" },
	{ "ring reset", NULL, "reset" },
	{ "BACO reset", NULL, "reset" },
	{ "VRAM is lost", NULL, "reset" },
	{ "device lost from bus", NULL, "reset" },
	{ "MES failed to respon", NULL, "mes" },
	{ "failed to suspend", "gangs", "mes" },
	{ "MES might be in", NULL, "mes" },
	{ "KIQ", "timeout", "mes" },
	{ "timeout waiting for kiq", NULL, "mes" },
	{ "kiq", "failed", "mes" },
	{ "Failed to evict", "queue", "evict" },
	{ "Failed to restore", "queue", "evict" },
	{ "Failed to quiesce KFD", NULL, "evict" },
	{ "qcm fence wait loop timeout", NULL, "evict" },
	{ "The cp might be in an unrecoverable state", NULL, "evict" },
	{ "failed to unmap", "queue", "evict" },
	{ "failed to remove", "queue", "evict" },
	{ "Failed to remove", "queue", "evict" },
	{ "destroy queue", "failed", "evict" },
	{ "queue preemption time out", NULL, "evict" },
	{ "cp queue preemption", NULL, "evict" },
	{ "HIQ MQD's queue_doorbell_id0 is not 0", NULL, "evict" },
	{ "ring ", " timeout, signaled seq=", "ring-timeout" },
	{ "ring ", " timeout, but soft recovered", "ring-timeout" },
	{ "ncorrectable", "error", "ras" },
	{ "RAS poison", NULL, "ras" },
	{ "poison is consumed", NULL, "ras" },
	{ "ERREVENT_ATHUB_INTERRUPT", NULL, "ras" },
	{ "sq_intr: error", NULL, "hw" },
	{ "HW exception", NULL, "hw" },
	{ "Illegal opcode in command stream", NULL, "hw" },
	{ "Illegal register access in command stream", NULL, "hw" },
	{ "Fatal error during GPU init", NULL, "hw" },
	{ "NVRM: Xid", NULL, "xid" },
};

/* "aca entry[00].STATUS=0x..": bit 61 is set when the error could not be corrected. The rows of its other registers tell nothing alone. */
static bool uncorrected(struct span s)
{
	struct span status = span_after(s, "].STATUS=");
	uint64_t bits;

	return span_take_hex(&status, &bits) && bits >> 61 & 1;
}

static bool event(struct kernel_log *k, const struct line *l, const char *pci, struct span s)
{
	const char *what = uncorrected(s) ? "ras" : NULL;
	struct reading r;

	for (size_t i = 0; i < sizeof events / sizeof *events && !what; i++)
		if (span_contains(s, events[i].part) && (!events[i].also || span_contains(s, events[i].also)))
			what = events[i].what;
	if (!what || span_contains(s, " 0 uncorrectable ") || span_contains(s, " 0 new uncorrectable "))
		return false;
	if (strcmp(what, "ring-timeout") == 0 && fault_of(k, pci))
		fault_of(k, pci)->closed = true;
	reading_start(&r, "driver_event", l->offset);
	reading_word(&r, "pci", pci);
	reading_word(&r, "what", what);
	reading_text(&r, "text", span_sub(span_trim(s), 0, 500));
	reading_emit(&r, k->sink);
	return true;
}

static bool kernel_text(struct kernel_log *k, const struct line *l, struct span s)
{
	bool fault = span_contains(s, "page fault (src_id:") || span_contains(s, "GPU fault detected: ");
	char pci[24] = "";

	if (!fault && !span_contains(s, "amdgpu") && !span_contains(s, "NVRM") && !span_contains(s, "kfd") && !fault_of(k, ""))
		return false;
	pci_of(s, pci);
	if (fault) {
		new_fault(k, l, pci, s);
		return true;
	}
	return more_of_fault(k, pci, s) || event(k, l, pci, s);
}

/* A line of a fault whose end is missing, as far as it tells. */
static bool is_cut(const struct kernel_log *k, struct span s)
{
	const struct kernel_fault *f;
	struct span rest;
	char pci[24] = "";

	if ((!k->faults && !span_contains(s, "hub")) || !span_contains(s, "amdgpu") || !pci_of(s, pci))
		return false;
	if (span_contains(s, "hub"))
		return span_find_char(s, ')') < 0;
	f = fault_of((struct kernel_log *)k, pci);
	if (!f || (*f->address && (*f->process || f->pid >= 0)) || span_contains(s, "_STATUS") || span_contains(s, " ID: ") || span_contains(s, ": 0x"))
		return false;
	if ((rest = span_after(s, "in page starting at address ")).len)
		return !span_contains(rest, " from ");
	if ((rest = span_after(s, "rocess ")).len)
		return !(rest = span_after(span_after(rest, " pid "), " pid ")).len;
	return s.len < 120;
}

static void finish_cut(struct kernel_log *k)
{
	struct line whole = { .offset = k->cut.offset };

	k->cut.open = false;
	whole.text = wrapped_text(&k->cut);
	kernel_text(k, &whole, whole.text);
}

/* A line with nothing that the kernel's own begin with. */
static bool goes_on(const struct line *l)
{
	struct span s = span_trim(l->text);

	return s.len && !l->time[0] && *s.at != '[' && !span_contains(s, "amdgpu") && !span_contains(s, "kernel:") && !span_contains(s, "kfd") &&
	       !span_contains(s, "NVRM") && !span_contains(s, "drm");
}

void kernel_log_flush(struct kernel_log *k)
{
	if (k->cut.open)
		finish_cut(k);
	for (int i = 0; i < k->faults; i++)
		emit_fault(k, &k->fault[i]);
	k->faults = 0;
}

bool kernel_log_line(struct kernel_log *k, const struct line *l)
{
	if (k->cut.open) {
		bool more = goes_on(l) && wrapped_add(&k->cut, l, l->text);

		if (more && is_cut(k, wrapped_text(&k->cut)) && k->cut.pieces < CUT_LINES)
			return true;
		finish_cut(k);
		if (more)
			return true;
	}
	if (is_cut(k, l->text)) {
		wrapped_start(&k->cut, l, l->text);
		return true;
	}
	return kernel_text(k, l, l->text);
}

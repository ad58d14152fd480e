#include "config.h"

#include "ui/fault_row.h"

#include "base/text.h"
#include "ui/waves_fold.h"

static const struct {
	enum kind kind;
	const char *word;
	enum style style;
} kinds[] = {
	{ KIND_fault, "fault", STYLE_BAD },
	{ KIND_hw_exception, "fault", STYLE_BAD },
	{ KIND_queue_error, "fault", STYLE_BAD },
	{ KIND_packet, "packet", STYLE_WARN },
	{ KIND_page_fault, "fault", STYLE_BAD },
	{ KIND_driver_event, "driver", STYLE_WARN },
	{ KIND_worker_death, "death", STYLE_BAD },
	{ KIND_collective, "watchdog", STYLE_BAD },
	{ KIND_watchdog, "watchdog", STYLE_BAD },
};

static int row_of(enum kind kind)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].kind == kind)
			return (int)i;
	return -1;
}

bool fault_is(enum kind kind)
{
	return row_of(kind) >= 0;
}

const char *fault_word(const struct observation *o, enum style *style)
{
	int i = row_of(o->kind);

	*style = i < 0 ? STYLE_NORMAL : kinds[i].style;
	return i < 0 ? "" : kinds[i].word;
}

/* --- pieces --- */

static void piece(struct build *b, enum style style, const struct observation *o, int field)
{
	struct span text = panel_field(o, field);

	if (!text.len)
		return;
	rows_text(b->rows, STYLE_NORMAL, " ");
	rows_span(b->rows, style, text);
}

static void rank(struct build *b, const struct observation *o, int field)
{
	if (!panel_field(o, field).len)
		return;
	rows_text(b->rows, STYLE_DIM, "  rank");
	piece(b, STYLE_BOLD, o, field);
}

/* The GPU of a node, by KFD node or by PCI address; -1 unknown. */
static int64_t gpu_with(const struct build *b, const struct observation *o, int64_t kfd_node, struct span pci)
{
	const struct observation *gpu;
	int64_t mine, index;
	size_t at = 0;

	while ((gpu = model_next(b->view->model, KIND_gpu, &at)))
		if (span_same(span_of(gpu->node), span_of(o->node)) && observation_get_int(gpu, GPU_gpu, &index) &&
			(pci.len ? span_same(panel_field(gpu, GPU_bdf), pci)
				 : observation_get_int(gpu, GPU_kfd_node, &mine) && mine == kfd_node))
			return index;
	return -1;
}

static void gpu(struct build *b, int64_t index)
{
	if (index >= 0)
		rows_print(b->rows, STYLE_BOLD, " = GPU %lld", (long long)index);
}

static void kfd_node(struct build *b, const struct observation *o, int field)
{
	int64_t node;

	if (!observation_get_int(o, field, &node))
		return;
	rows_print(b->rows, STYLE_NORMAL, " KFD node %lld", (long long)node);
	gpu(b, gpu_with(b, o, node, span_of("")));
}

static void pci(struct build *b, const struct observation *o, int field)
{
	piece(b, STYLE_NORMAL, o, field);
	if (panel_field(o, field).len)
		gpu(b, gpu_with(b, o, -1, panel_field(o, field)));
}

static void packet(struct build *b, const struct observation *o)
{
	struct span name = panel_field(o, PACKET_kernel);
	struct buf kernel;
	int64_t pending;

	buf_init(&kernel, 0);
	if (name.len)
		waves_kernel(&kernel, name, b->w > 80 ? b->w - 50 : 40, b->ascii ? "~" : "…");
	rows_text(b->rows, STYLE_NORMAL, name.len ? " of kernel " : " without a kernel");
	rows_span(b->rows, STYLE_BOLD, buf_as_span(&kernel));
	buf_release(&kernel);
	if (observation_get_int(o, PACKET_pending, &pending))
		rows_print(b->rows, STYLE_NORMAL, "  %lld pending", (long long)pending);
	if (panel_field(o, PACKET_grid).len)
		rows_text(b->rows, STYLE_DIM, "  grid");
	piece(b, STYLE_DIM, o, PACKET_grid);
}

static void collective(struct build *b, const struct observation *o)
{
	bool timeout = observation_text_is(o, COLLECTIVE_what, "timeout");
	char text[32];
	int64_t n;

	piece(b, STYLE_BOLD, o, COLLECTIVE_op);
	if (observation_get_int(o, COLLECTIVE_seq, &n))
		rows_print(b->rows, STYLE_NORMAL, " number %lld", (long long)n);
	rows_text(b->rows, STYLE_NORMAL, timeout ? " timed out" : " stands here");
	if (observation_get_int(o, COLLECTIVE_ran_ms, &n))
		rows_print(b->rows, STYLE_NORMAL, " after %s", text_duration(text, sizeof text, n));
	rank(b, o, COLLECTIVE_rank);
}

static void death(struct build *b, const struct observation *o)
{
	int64_t code;

	rows_text(b->rows, STYLE_NORMAL, " died");
	if (observation_get_int(o, WORKER_DEATH_exitcode, &code)) {
		if (code < 0 && code > -128)
			rows_print(b->rows, STYLE_BOLD, " of signal %lld", (long long)-code);
		else
			rows_print(b->rows, STYLE_BOLD, " with exit code %lld", (long long)code);
	}
	rank(b, o, WORKER_DEATH_rank);
}

static void watchdog(struct build *b, const struct observation *o)
{
	double seconds;

	rows_text(b->rows, STYLE_NORMAL, " waited in vain");
	if (observation_get_real(o, WATCHDOG_timeout_s, &seconds))
		rows_print(b->rows, STYLE_NORMAL, " for %g s", seconds);
	rank(b, o, WATCHDOG_rank);
}

void fault_words(struct build *b, const struct observation *o)
{
	switch (o->kind) {
	case KIND_fault:
		rows_text(b->rows, STYLE_BAD, "memory fault");
		kfd_node(b, o, FAULT_kfd_node);
		piece(b, STYLE_BOLD, o, FAULT_address);
		piece(b, STYLE_NORMAL, o, FAULT_reason);
		rank(b, o, FAULT_rank);
		break;
	case KIND_hw_exception:
		rows_text(b->rows, STYLE_BAD, "HW exception");
		kfd_node(b, o, HW_EXCEPTION_kfd_node);
		piece(b, STYLE_NORMAL, o, HW_EXCEPTION_reason);
		rank(b, o, HW_EXCEPTION_rank);
		break;
	case KIND_queue_error:
		rows_text(b->rows, STYLE_BAD, "queue error");
		piece(b, STYLE_BOLD, o, QUEUE_ERROR_status);
		piece(b, STYLE_NORMAL, o, QUEUE_ERROR_code);
		piece(b, STYLE_DIM, o, QUEUE_ERROR_queue);
		rank(b, o, QUEUE_ERROR_rank);
		break;
	case KIND_packet:
		rows_text(b->rows, STYLE_WARN, "AQL packet");
		packet(b, o);
		break;
	case KIND_page_fault:
		rows_text(b->rows, STYLE_BAD, "page fault");
		pci(b, o, PAGE_FAULT_pci);
		piece(b, STYLE_BOLD, o, PAGE_FAULT_address);
		piece(b, STYLE_NORMAL, o, PAGE_FAULT_process);
		break;
	case KIND_driver_event:
		rows_span(b->rows, STYLE_WARN, panel_field(o, DRIVER_EVENT_what));
		pci(b, o, DRIVER_EVENT_pci);
		piece(b, STYLE_NORMAL, o, DRIVER_EVENT_text);
		break;
	case KIND_worker_death:
		rows_text(b->rows, STYLE_BAD, "worker");
		death(b, o);
		break;
	case KIND_collective:
		rows_text(b->rows, STYLE_BAD, "collective");
		collective(b, o);
		break;
	case KIND_watchdog:
		rows_text(b->rows, STYLE_BAD, "engine");
		watchdog(b, o);
		break;
	default:
		break;
	}
}

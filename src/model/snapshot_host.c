/* snapshot_host.c - host frames: which call waits for the GPU, and for whom. */
#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "model/snapshots.h"

#define FRAMES_LOOKED_AT 64

/* Calls that wait, by the beginning of their name; the outermost one found is named. */
static const char *const calls[] = { "hipMemcpy", "hipStreamSynchronize", "hipEventSynchronize", "hipDeviceSynchronize", "hipStreamWaitEvent",
	"hipFree", "hipHostFree", "hipModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipLaunchKernel", "hipGraphLaunch", "hipMalloc",
	"ncclGroupEnd", "ncclAllReduce", "ncclCommInitRank", "ncclCommAbort", "ncclCommDestroy", "hsa_signal_wait", "hsa_amd_signal_wait" };

/* What stands between a call and whoever has a name worth saying. */
static const char *const machinery[] = { "at::_ops::", "c10::impl::", "c10::Dispatcher", "at::(anonymous namespace)::", "torch::autograd::",
	"void c10::", "at::redispatch", "c10::hip::", "c10::cuda::memcpy_and_sync", "at::cuda::memcpy_and_sync", "at::native::copy_device_to_device" };

/* call and caller by fragments; NULL: any. The first row that fits wins. */
static const struct { const char *call, *caller, *words; } meaning[] = {
	{ NULL, "_local_scalar_dense", ".item() waits for the GPU" },
	{ NULL, "nonzero", "nonzero() waits for its size from the GPU" },
	{ NULL, "copy_kernel_cuda", "a copy between host and GPU waits" },
	{ NULL, "ProcessGroupNCCL", "torch.distributed waits for a collective" },
	{ "hipMemcpy", NULL, "a copy waits for the GPU" },
	{ "hipStreamSynchronize", NULL, "waits until all of a stream is done" },
	{ "hipEventSynchronize", NULL, "waits for an event of a stream" },
	{ "hipDeviceSynchronize", NULL, "waits until the whole GPU is done" },
	{ "hipStreamWaitEvent", NULL, "waits for an event" },
	{ "hipMalloc", NULL, "an allocation waits for the GPU" },
	{ "Free", NULL, "freeing waits until the GPU is done" },
	{ "Launch", NULL, "a launch waits: the queue is full" },
	{ "nccl", NULL, "RCCL waits for the other ranks" },
	{ "hsa_", NULL, "waits for a signal of the GPU" },
};

/* "0x7f.. in at::native::f(at::Tensor const&) () from lib" -> "at::native::f". */
static struct span function_of(struct span frame)
{
	long in = span_find(frame, " in ");
	size_t n = 0;
	int depth = 0;

	if (span_starts(frame, "0x") && in > 0)
		frame = span_sub(frame, (size_t)in + 4, frame.len);
	while (n < frame.len) {
		char c = frame.at[n];

		if (c == '(' && depth == 0 && !span_starts(span_sub(frame, n, frame.len), "(anonymous namespace)"))
			break;
		depth += (c == '<') - (c == '>' && depth > 0);
		n++;
	}
	return span_trim(span_sub(frame, 0, n));
}

static bool starts_with_one(struct span text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (span_starts(text, list[i]))
			return true;
	return false;
}

static const char *words_for(const struct host_call *h)
{
	for (size_t i = 0; i < sizeof meaning / sizeof *meaning; i++)
		if ((!meaning[i].call || strstr(h->call, meaning[i].call)) && (!meaning[i].caller || strstr(h->caller, meaning[i].caller)))
			return meaning[i].words;
	return "waits";
}

static void keep(char *out, size_t size, struct span name)
{
	snprintf(out, size, "%.*s", (int)name.len, name.at);
}

bool snapshot_host_call(struct span text, struct host_call *out)
{
	json_t *frames = json_loadb(text.at, text.len, 0, NULL), *frame;
	size_t i, call = FRAMES_LOOKED_AT;

	memset(out, 0, sizeof *out);
	json_array_foreach(frames, i, frame) {
		struct span name = function_of(span_of(json_string_value(frame)));

		if (i >= FRAMES_LOOKED_AT)
			break;
		if (starts_with_one(name, calls, sizeof calls / sizeof *calls)) {
			keep(out->call, sizeof out->call, name);
			call = i;
		}
	}
	for (i = call + 1; *out->call && i < json_array_size(frames) && i < FRAMES_LOOKED_AT && !*out->caller; i++) {
		struct span name = function_of(span_of(json_string_value(json_array_get(frames, i))));

		if (name.len && !span_is(name, "??") && !starts_with_one(name, machinery, sizeof machinery / sizeof *machinery))
			keep(out->caller, sizeof out->caller, name);
	}
	out->words = *out->call ? words_for(out) : NULL;
	json_decref(frames);
	return *out->call;
}

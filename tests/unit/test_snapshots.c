/* What two snapshots of one process prove, and what they must never be said to prove; the blocking call of a host stack; the alarm. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "feed.h"
#include "model/snapshots.h"

#define T0 1796119000000LL

/* One snapshot, with what is odd about it. */
struct made {
	const char *id;
	int pid;
	int64_t start, began;
	const char *state;
	int read, write;        /* of the one queue; -1: no queue was seen */
	const char *kernel;     /* in flight; NULL none */
	const char *pc;         /* of its waves; NULL none */
};

#define FIRST { "1-1", 1, 500, T0, "done", 10, 11, "spin", "0x100" }

static void make(struct model *m, const struct made *x)
{
	FEED(m, "{'t':%lld,'node':'n','kind':'snapshot','snapshot':'%s','pid':%d,'start':%lld,'state':'%s','began':%lld,'verified':'ok'}",
		(long long)x->began + 900, x->id, x->pid, (long long)x->start, x->state, (long long)x->began);
	if (x->read >= 0)
		FEED(m, "{'t':%lld,'node':'n','kind':'gdb_queue','target':'1:1','qid':1,'type':'HSA','read':%d,'write':%d,'address':'0x1','snapshot':'%s'}",
			(long long)x->began + 901, x->read, x->write, x->id);
	if (x->kernel)
		FEED(m, "{'t':%lld,'node':'n','kind':'gdb_dispatch','target':'1:1:1','pkid':%d,'kernel':'%s','snapshot':'%s'}", (long long)x->began + 902,
			x->read, x->kernel, x->id);
	if (x->pc)
		FEED(m, "{'t':%lld,'node':'n','kind':'wave','via':'rocgdb','kernel':'%s','pc':'%s','count':64,'snapshot':'%s'}", (long long)x->began + 903,
			x->kernel ? x->kernel : "k", x->pc, x->id);
}

static void what_two_prove(void **state)
{
	static const struct { const char *what; struct made a, b; enum snapshot_proof proof; const char *words; } table[] = {
		{ "nothing moves", FIRST, { "1-2", 1, 500, T0 + 9000, "done", 10, 11, "spin", "0x100" }, PROOF_STUCK, "pointers unchanged, 9 s apart" },
		{ "a packet is done", FIRST, { "1-2", 1, 500, T0 + 9000, "done", 11, 12, "spin", "0x100" }, PROOF_MOVING, "read 10 -> 11" },
		{ "the host launches", FIRST, { "1-2", 1, 500, T0 + 9000, "done", 10, 12, "spin", "0x100" }, PROOF_MOVING, "write 11 -> 12" },
		{ "another kernel", FIRST, { "1-2", 1, 500, T0 + 9000, "done", 10, 11, "gemm", "0x100" }, PROOF_MOVING, "other kernels" },
		{ "another pc", FIRST, { "1-2", 1, 500, T0 + 9000, "done", 10, 11, "spin", "0x104" }, PROOF_MOVING, "elsewhere: 2 of 2" },
		{ "too close", FIRST, { "1-2", 1, 500, T0 + 1999, "done", 10, 11, "spin", "0x100" }, PROOF_NOTHING, "2.0 s apart" },
		{ "another process", FIRST, { "1-2", 1, 501, T0 + 9000, "done", 10, 11, "spin", "0x100" }, PROOF_NOTHING, "another process" },
		{ "not finished", FIRST, { "1-2", 1, 500, T0 + 9000, "failed", 10, 11, "spin", "0x100" }, PROOF_NOTHING, "end" },
		{ "no GPU side", FIRST, { "1-2", 1, 500, T0 + 9000, "done", -1, 0, NULL, NULL }, PROOF_NOTHING, "GPU side" },
		{ "no waves", FIRST, { "1-2", 1, 500, T0 + 9000, "done", 10, 11, "spin", NULL }, PROOF_NOTHING, "waves" },
		{ "pending, nothing seen", { "1-1", 1, 500, T0, "done", 10, 11, NULL, NULL }, { "1-2", 1, 500, T0 + 9000, "done", 10, 11, NULL, NULL },
			PROOF_NOTHING, "waves" },
		{ "idle", { "1-1", 1, 500, T0, "done", 10, 10, NULL, NULL }, { "1-2", 1, 500, T0 + 9000, "done", 10, 10, NULL, NULL }, PROOF_IDLE, "idle in both" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct model m;
		struct snapshots *all = mem_alloc(sizeof *all);
		char words[240];
		enum snapshot_proof proof;

		model_init(&m);
		make(&m, &table[i].a);
		make(&m, &table[i].b);
		snapshots_gather(all, &m);
		assert_int_equal(all->count, 2);
		assert_ptr_equal(snapshot_before(all, &all->seen[0]), &all->seen[1]);
		proof = snapshot_compare(&all->seen[1], &all->seen[0], words, sizeof words);
		if (proof != table[i].proof || !strstr(words, table[i].words))
			fail_msg("%s: %d, %s", table[i].what, proof, words);
		model_release(&m);
		free(all);
	}
}

static void others_are_not_the_one_before(void **state)
{
	struct made a = FIRST, b = { "2-1", 2, 600, T0 + 5000, "done", 1, 1, NULL, NULL }, c = { "1-3", 1, 500, T0 + 9000, "done", 10, 11, "spin", "0x100" };
	struct made p = { "1-2", 1, 500, T0 + 7000, "preview", -1, 0, NULL, NULL };
	struct snapshots *all = mem_alloc(sizeof *all);
	struct model m;

	(void)state;
	model_init(&m);
	make(&m, &a);
	make(&m, &b);
	make(&m, &p);
	make(&m, &c);
	snapshots_gather(all, &m);
	assert_int_equal(all->count, 4);
	assert_true(span_is(all->seen[0].id, "1-3"));
	assert_true(span_is(snapshot_before(all, &all->seen[0])->id, "1-1"));
	assert_null(snapshot_before(all, &all->seen[2]));
	model_release(&m);
	free(all);
}

static void the_alarm_lasts_until_it_is_seen(void **state)
{
	struct snapshots *all = mem_alloc(sizeof *all);
	struct model m;

	(void)state;
	model_init(&m);
	FEED(&m, "{'t':%lld,'node':'n','kind':'snapshot','snapshot':'1-1','pid':1,'state':'failed','verified':'stopped'}", T0);
	FEED(&m, "{'t':%lld,'node':'n','kind':'snapshot','snapshot':'1-2','pid':1,'state':'done','verified':'repaired'}", T0 + 1);
	snapshots_gather(all, &m);
	assert_true(span_is(snapshots_alarm(all, &m)->id, "1-1"));
	FEED(&m, "{'t':%lld,'node':'n','kind':'action','what':'acknowledge','argv':['1-2']}", T0 + 2);
	snapshots_gather(all, &m);
	assert_non_null(snapshots_alarm(all, &m));
	FEED(&m, "{'t':%lld,'node':'n','kind':'action','what':'acknowledge','argv':['1-1']}", T0 + 3);
	snapshots_gather(all, &m);
	assert_null(snapshots_alarm(all, &m));
	model_release(&m);
	free(all);
}

static void the_blocking_call(void **state)
{
	static const struct { const char *frames, *call, *caller, *words; } table[] = {
		{ "[\"0x7f in rocr::core::InterruptSignal::WaitRelaxed () from libhsa\",\"0x7f in hipMemcpyWithStream () from libamdhip64.so\","
		  "\"0x7f in at::native::_local_scalar_dense_cuda(at::Tensor const&) () from libtorch_hip.so\"]",
			"hipMemcpyWithStream", "at::native::_local_scalar_dense_cuda", ".item()" },
		{ "[\"hsa_signal_wait_scacquire (s=1)\",\"hipStreamSynchronize (stream=0x0) at hip.cpp:1\",\"?? ()\",\"c10::hip::HIPStream::synchronize() const ()\","
		  "\"THCPStream_synchronize(_object*, _object*) ()\"]", "hipStreamSynchronize", "THCPStream_synchronize", "all of a stream" },
		{ "[\"0x1 in ncclGroupEnd () from librccl.so\",\"0x2 in c10d::ProcessGroupNCCL::collective<x>(int) ()\"]", "ncclGroupEnd",
			"c10d::ProcessGroupNCCL::collective<x>", "collective" },
		{ "[\"0x1 in hsa_signal_wait_relaxed ()\"]", "hsa_signal_wait_relaxed", "", "signal of the GPU" },
		{ "[\"hipModuleLaunchKernel (f=0x1)\",\"main ()\"]", "hipModuleLaunchKernel", "main", "queue is full" },
		{ "[\"poll ()\",\"main ()\"]", "", "", NULL },
		{ "[]", "", "", NULL },
		{ "nonsense", "", "", NULL },
		{ "[1,null,\"(((\"]", "", "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct host_call call;

		assert_int_equal(snapshot_host_call(span_of(table[i].frames), &call), *table[i].call != 0);
		assert_string_equal(call.call, table[i].call);
		assert_string_equal(call.caller, table[i].caller);
		if (table[i].words)
			assert_non_null(strstr(call.words, table[i].words));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_two_prove), cmocka_unit_test(others_are_not_the_one_before), cmocka_unit_test(the_alarm_lasts_until_it_is_seen),
		cmocka_unit_test(the_blocking_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

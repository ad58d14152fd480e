# What evidence means: names of kernels, and signatures of faults and hangs.
dist_pkgdata_DATA = data/kernels.tsv
signaturesdir = $(pkgdatadir)/signatures
dist_signatures_DATA = \
	data/signatures/all-ranks-wait-for-gpu.conf \
	data/signatures/already-traced.conf \
	data/signatures/attach-refused.conf \
	data/signatures/collective-desync.conf \
	data/signatures/collective-in-flight.conf \
	data/signatures/collective-spin.conf \
	data/signatures/collective-timeout.conf \
	data/signatures/compile-failure.conf \
	data/signatures/debug-agent-not-loaded.conf \
	data/signatures/debug-slot-taken.conf \
	data/signatures/device-assert.conf \
	data/signatures/disk-full.conf \
	data/signatures/ecc-error.conf \
	data/signatures/engine-and-workers-wait.conf \
	data/signatures/engine-watchdog.conf \
	data/signatures/execute-fault.conf \
	data/signatures/fault-without-kernel.conf \
	data/signatures/fingerprint-mismatch.conf \
	data/signatures/gpu-core-dump.conf \
	data/signatures/gpu-debug-refused.conf \
	data/signatures/gpu-hang-declared.conf \
	data/signatures/gpu-out-of-memory.conf \
	data/signatures/gpu-page-fault-kernel-log.conf \
	data/signatures/gpu-pinned-idle.conf \
	data/signatures/gpu-reset.conf \
	data/signatures/graph-capture.conf \
	data/signatures/illegal-instruction.conf \
	data/signatures/item-blocked.conf \
	data/signatures/memory-violation.conf \
	data/signatures/null-page.conf \
	data/signatures/plain-gdb.conf \
	data/signatures/port-in-use.conf \
	data/signatures/py-spy-collision.conf \
	data/signatures/py-spy-refused.conf \
	data/signatures/queue-behind-barrier.conf \
	data/signatures/queue-exception.conf \
	data/signatures/ras-uncorrectable.conf \
	data/signatures/rccl-error.conf \
	data/signatures/read-only-page.conf \
	data/signatures/ring-timeout.conf \
	data/signatures/rpc-timeout.conf \
	data/signatures/scheduler-firmware.conf \
	data/signatures/segfault.conf \
	data/signatures/shared-workspace.conf \
	data/signatures/stale-vram.conf \
	data/signatures/stream-lock.conf \
	data/signatures/tokens-stalled.conf \
	data/signatures/triton-pc.conf \
	data/signatures/worker-dead-api-answers.conf \
	data/signatures/worker-killed.conf \
	data/signatures/wrong-gpu-code.conf \
	data/signatures/wrong-process.conf

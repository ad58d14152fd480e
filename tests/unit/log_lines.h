/* log_lines.h - lines as servers write them, and what they mean. Numbers left out are: n 1 for classes that count, the others -1. */
#ifndef HANGTOP_TESTS_LOG_LINES_H
#define HANGTOP_TESTS_LOG_LINES_H

#include "parse/log_class.h"

struct log_line {
	const char *profile, *line;
	enum log_class class;
	const char *rank;
	int n, done, pending, running, waiting, engine;
};

#define WORK(count, ended) .n = count, .done = ended, .pending = -1, .running = -1, .waiting = -1
#define PENDING(open) .n = 1, .pending = open, .running = -1, .waiting = -1
#define STATS(run, wait) .n = 1, .pending = -1, .running = run, .waiting = wait
#define PLAIN WORK(1, 0)

static const struct log_line log_lines[] = {
	/* ATOM: the start */
	{ "atom", " ATOM Server Launcher", LOG_START, "", PLAIN },
	{ "atom", "[atom 15:31:09] Raised RLIMIT_NOFILE soft limit 1024 -> 65535 (hard=1048576)", LOG_START, "", PLAIN },
	{ "atom", "[atom 15:31:09] Initializing engine with model /data/M...", LOG_LOADING, "", PLAIN },
	{ "atom", "[atom 15:31:09] Creating EngineCore process: DP rank 0, will use GPUs 0 to 7", LOG_LOADING, "", PLAIN },
	{ "atom", "[atom 23:59:14] ModelRunner rank=2, dp_rank_local=0, pp_rank=0, local_device_rank=2, device=cuda:2", LOG_LOADING, "2",
		PLAIN },
	{ "atom", "Loading safetensors shards[X]:  12%|\xe2\x96\x88\xe2\x96\x8f        | 20/163 [00:15<01:49,  1.30it/s]", LOG_LOADING,
		"", PLAIN },
	{ "atom", "[atom 00:04:02] [rank_3] Model load done: /data/M (weights loaded in 63.21s)", LOG_LOADING, "3", PLAIN },
	{ "atom", "[atom 00:04:02] [dp1_tp0] Model load done: /data/M (weights loaded in 63.21s)", LOG_LOADING, "DP1_TP0", PLAIN },
	{ "atom", "[atom 00:04:31] Model Runner5/8: warmup_model 24.87 seconds with 4 reqs 16384 tokens", LOG_LOADING, "5", PLAIN },
	{ "atom", "[atom 00:05:21] Engine Core: cudagraph capture[1, 2, 4] cost: 41.20 seconds, pool: 1.23GB", LOG_LOADING, "", PLAIN },
	{ "atom", "[atom 00:04:33] Memory budget: total_gpu=191.98GB, free=101.22GB, utilization=0.9", LOG_NONE, "", PLAIN },
	{ "atom", "[atom 00:05:22] Starting server on 0.0.0.0:8000 (loop=uvloop)...", LOG_NONE, "", PLAIN },
	{ "atom", "INFO:     Started server process [40990]", LOG_NONE, "", PLAIN },
	{ "atom", "[atom 00:05:22] Server started successfully and ready to accept requests", LOG_READY, "", PLAIN },
	{ "atom", "INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)", LOG_READY, "", PLAIN },
	{ "atom", "[atom 00:05:21] Engine Core: load model runner failed", LOG_FATAL, "", PLAIN },
	/* ATOM: work */
	{ "atom", "[atom 09:12:22] Request 6 arrived, input tokens: 1, pending requests: 4", LOG_REQUEST, "", PENDING(4) },
	{ "atom", "Request 17 arrived, input tokens: 1024, pending requests: 3", LOG_REQUEST, "", PENDING(3) },
	{ "atom", "[atom 09:12:22] Request ID fanned out into 4 siblings (10..13), input tokens: 9, pending requests: 4", LOG_REQUEST, "",
		PENDING(4) },
	{ "atom", "[atom 09:12:30] Engine Core: output send 12 reqs", LOG_PROGRESS, "", WORK(12, 12) },
	{ "atom", "[atom 09:12:06] Scheduled prefill batch: 5 reqs, 5015 new tokens (cached: [0], new: [1]), req_ids: (1, 2)", LOG_PROGRESS,
		"", WORK(5, 0) },
	{ "atom", "[atom 09:12:06] Scheduled prefill batch: 19 reqs, 9573 token_nums: [1, 2], req_ids: (6,)", LOG_PROGRESS, "", WORK(19, 0) },
	{ "atom", "[atom 09:12:21] [MTP Stats Interval] Average toks/fwd: 2.31, Accepted/Total Draft tokens: 655/1000", LOG_PROGRESS, "",
		PLAIN },
	{ "atom", "[atom 09:12:21] [MTP Stats         ] Average toks/fwd: 2.31", LOG_NONE, "", PLAIN },
	{ "atom", "Engine Core: abort_request req_id=17 found=True", LOG_FINISH, "", WORK(1, 1) },
	{ "atom", "Engine Core: abort_request req_id=17 found=False", LOG_NONE, "", PLAIN },
	{ "atom", "[atom 09:12:30] Request 8 will never be scheduled: too long", LOG_WARNING, "", PLAIN },
	{ "atom", "Engine Core Mgr: add rank0: 1 req / 1024 tok | in-flight reqs=[1, 0] prefill_tokens=[1024, 0]", LOG_NONE, "", PLAIN },
	{ "atom", "[aiter] No available shared memory broadcast block found in 60.0 seconds. This typically happens", LOG_IGNORE, "", PLAIN },
	{ "atom", "INFO:     127.0.0.1:52614 - \"GET /v1/models HTTP/1.1\" 200 OK", LOG_IGNORE, "", PLAIN },
	{ "atom", "INFO:     127.0.0.1:52614 - \"GET /health HTTP/1.1\" 200 OK", LOG_IGNORE, "", PLAIN },
	{ "atom", "INFO:     127.0.0.1:52614 - \"GET /metrics HTTP/1.1\" 200 OK", LOG_IGNORE, "", PLAIN },
	{ "atom", "INFO:     127.0.0.1:52614 - \"HEAD /metrics HTTP/1.1\" 200 OK", LOG_IGNORE, "", PLAIN },
	{ "atom", "INFO:     127.0.0.1:52614 - \"POST /v1/completions HTTP/1.1\" 200 OK", LOG_NONE, "", PLAIN },
	/* ATOM: the end */
	{ "atom", "[atom 11:30:04] AsyncIOProcManager(ModelRunner): [ModelRunner3/8] proc died unexpectedly (exitcode=-6), shutting down.",
		LOG_FATAL, "3", PLAIN },
	{ "atom", "run_engine: exception: boom", LOG_FATAL, "", PLAIN },
	{ "atom", "Engine Core Mgr: Failed to initialize all EngineCores, cleaning up: Received unexpected SHUTDOWN signal", LOG_FATAL, "",
		PLAIN },
	{ "atom", "Engine Core: received signal 15 (SIGTERM), exiting...", LOG_WARNING, "", PLAIN },
	/* faults of the runtime, whatever the engine; two lines may share one */
	{ "atom", "Memory access fault by GPU node-5 (Agent handle: 0x5581c0de0010) on address 0x7f21c8a00000. Reason: Unknown.", LOG_FAULT,
		"", PLAIN },
	{ "vllm", "42%|####      Memory access fault by GPU node-5 on address (nil)", LOG_FAULT, "", PLAIN },
	{ "sglang", "OFFLOAD ERROR: memory access fault by GPU 4 (agent 0x5)", LOG_FAULT, "", PLAIN },
	{ "torchrun", "[rank3]: RuntimeError: HIP error: an illegal memory access was encountered", LOG_FAULT, "3", PLAIN },
	{ "vllm", "HW Exception by GPU node-5 (Agent handle: 0x1) reason :GPU Hang", LOG_FAULT, "", PLAIN },
	{ "vllm", ":0:rocdevice.cpp :3020: 5875275709338d us: Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_EXCEPTION", LOG_FAULT,
		"", PLAIN },
	{ "sglang", "Device::callbackQueue aborting with status: 0x100f", LOG_FAULT, "", PLAIN },
	{ "vllm", "\x1b[0;36m(Worker_TP1 pid=402)\x1b[0;0m wave_12: pc=0x7e (kernel_code_entry=0x7e <k>) (stopped, reason: MEMORY_VIOLATION)",
		LOG_FAULT, "TP1", PLAIN },
	{ "vllm", "GPU core dump failed", LOG_FAULT, "", PLAIN },
	{ "vllm", "(EngineCore_DP0 pid=7) ERROR RuntimeError: Worker failed with error 'HIP error: out of memory'", LOG_FATAL, "", PLAIN },
	{ "torchrun", "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB", LOG_FATAL, "", PLAIN },
	{ "torchrun", "[rank0]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: "
		"WorkNCCL(SeqNum=1580, OpType=ALLREDUCE)", LOG_FATAL, "0", PLAIN },
	{ "torchrun", "[E ProcessGroupNCCL.cpp:821] [Rank 11] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=49)", LOG_FATAL,
		"11", PLAIN },
	{ "sglang", "Fatal Python error: Segmentation fault", LOG_FATAL, "", PLAIN },
	{ "atom", "a prompt about memory faults and GPU hangs", LOG_NONE, "", PLAIN },
	{ "atom", "", LOG_NONE, "", PLAIN },
	/* vLLM */
	{ "vllm", "(APIServer pid=1) INFO 05-13 22:00:00 [api_server.py:1] vLLM API server version 0.11.0", LOG_START, "", PLAIN },
	{ "vllm", "(APIServer pid=51700) INFO 06-11 11:40:02 [api_server.py:1971] Starting vLLM server on http://0.0.0.0:8000", LOG_READY, "",
		PLAIN },
	{ "vllm", "INFO 06-11 11:40:02 [api_server.py:1971] Starting vLLM API server 0 on http://0.0.0.0:8000", LOG_READY, "", PLAIN },
	{ "vllm", "(APIServer pid=51700) INFO:     Application startup complete.", LOG_READY, "", PLAIN },
	{ "vllm", "Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:05<00:05,  2.53s/it]", LOG_LOADING, "", PLAIN },
	{ "vllm", "(EngineCore_DP0 pid=7) INFO [core.py:214] init engine (profile, create kv cache, warmup model) took 31.3 seconds",
		LOG_LOADING, "", PLAIN },
	{ "vllm", "(APIServer pid=1) INFO 05-13 22:00:10 [loggers.py:259] Engine 000: Avg prompt throughput: 2514.0 tokens/s, Avg generation "
		"throughput: 36.0 tokens/s, Running: 2 reqs, Waiting: 1 reqs, GPU KV cache usage: 10.6%", LOG_PROGRESS, "", STATS(2, 1) },
	{ "vllm", "INFO [loggers.py:259] Engine 003: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 7.5 tokens/s, Running: 2 "
		"reqs, Waiting: 1 reqs, GPU KV cache usage: 10.6%", LOG_PROGRESS, "", STATS(2, 1), .engine = 3 },
	{ "vllm", "INFO [loggers.py:259] Engine 000: Avg prompt throughput: 0.1 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 "
		"reqs, Waiting: 0 reqs", LOG_PROGRESS, "", STATS(0, 0) },
	{ "vllm", "INFO [loggers.py:259] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 2 "
		"reqs, Waiting: 1 reqs, GPU KV cache usage: 10.6%", LOG_STATS, "", STATS(2, 1) },
	{ "vllm", "INFO 08-01 [llm_engine.py:624] Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 2 reqs, "
		"Swapped: 0 reqs, Pending: 20 reqs, GPU KV cache usage: 1%", LOG_STATS, "", STATS(2, 20) },
	{ "vllm", "INFO 08-01 [logger.py:42] Received request chatcmpl-1: prompt: 'x', params: y", LOG_REQUEST, "", PLAIN },
	{ "vllm", "\x1b[0;36m(Worker_TP3 pid=51714)\x1b[0;0m INFO [shm_broadcast.py:501] No available shared memory broadcast block found in 60 "
		"seconds.", LOG_WARNING, "TP3", PLAIN },
	{ "vllm", "(VllmWorker rank=2 pid=9) DEBUG 07-04 [shm_broadcast.py:456] No available block found in 60 second.", LOG_WARNING, "2", PLAIN },
	{ "vllm", "(VllmWorker TP0 pid=9) DEBUG 07-04 No available block found in 60 second.", LOG_WARNING, "TP0", PLAIN },
	{ "vllm", "(Worker_DP1_TP3 pid=9) INFO No available shared memory broadcast block found in 60 seconds", LOG_WARNING, "DP1_TP3", PLAIN },
	{ "vllm", "ERROR 07-04 17:35:16 [multiproc_executor.py:140] Worker proc VllmWorker-1 died unexpectedly, shutting down executor.",
		LOG_FATAL, "1", PLAIN },
	{ "vllm", "(EngineCore_DP0 pid=1553) ERROR 11-20 06:17:57 [core.py:710] EngineCore encountered a fatal error.", LOG_FATAL, "", PLAIN },
	{ "vllm", "(EngineCore_DP0 pid=1553) ERROR [core.py:710] TimeoutError: RPC call to execute_model timed out.", LOG_FATAL, "", PLAIN },
	{ "vllm", "(APIServer pid=51700) ERROR 06-11 11:51:37 [async_llm.py:480] AsyncLLM output_handler failed.", LOG_FATAL, "", PLAIN },
	{ "vllm", "Process EngineCore_DP0:", LOG_FATAL, "", PLAIN },
	{ "vllm", "(EngineCore_DP0 pid=7) Process EngineCore_DP0:", LOG_FATAL, "", PLAIN },
	{ "vllm", "To kill it: Process EngineCore", LOG_NONE, "", PLAIN },
	{ "vllm", "(EngineCore_DP0 pid=1553) ERROR [core.py:710] Traceback (most recent call last):", LOG_NONE, "", PLAIN },
	/* SGLang */
	{ "sglang", "[2025-03-04 00:23:45] server_args=ServerArgs(model_path='x')", LOG_START, "", PLAIN },
	{ "sglang", "[2025-03-04 00:23:46 TP1] Init torch distributed begin.", LOG_LOADING, "TP1", PLAIN },
	{ "sglang", "[2025-03-04 00:23:48 DP1 TP0] Load weight begin. avail mem=77.18 GB", LOG_LOADING, "DP1_TP0", PLAIN },
	{ "sglang", "[2025-03-04 00:24:48] The server is fired up and ready to roll!", LOG_READY, "", PLAIN },
	{ "sglang", "[2026-08-27 02:13:40 TP0] Prefill batch. #new-seq: 1, #new-token: 16384, #cached-token: 0, token usage: 0.31, "
		"#running-req: 31, #queue-req: 16, ", LOG_PROGRESS, "TP0", STATS(32, 16) },
	{ "sglang", "[2026-08-27 02:13:44 TP0] Decode batch. #running-req: 32, #token: 2101248, token usage: 0.33, cuda graph: True, gen "
		"throughput (token/s): 913.22, #queue-req: 15, ", LOG_PROGRESS, "TP0", STATS(32, 15) },
	{ "sglang", "[2026-08-27 02:13:44 DP2 TP4] Decode batch, #running-req: 1, #swa token: 4, #queue-req: 0, ", LOG_PROGRESS, "DP2_TP4",
		STATS(1, 0), .engine = 2 },
	{ "sglang", "[2025-08-08 03:34:50] INFO:     127.0.0.1:1 - \"GET /health HTTP/1.1\" 200 OK", LOG_IGNORE, "", PLAIN },
	{ "sglang", "[2025-08-08 03:34:50] INFO:     127.0.0.1:1 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK", LOG_FINISH, "", WORK(1, 1) },
	{ "sglang", "[2025-03-09 00:57:15 TP4] Watchdog timeout (self.watchdog_timeout=300)", LOG_WARNING, "TP4", PLAIN },
	{ "sglang", "[2025-03-09 00:57:15 TP4] Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)", LOG_WARNING, "TP4", PLAIN },
	{ "sglang", "[2025-03-09 00:57:15 TP4] Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=True)", LOG_WARNING, "TP4",
		PLAIN },
	{ "sglang", "[2025-03-09 00:57:20] Received sigquit from a child proces. It usually means the child failed.", LOG_FATAL, "", PLAIN },
	{ "sglang", "[2025-03-09 00:57:20 TP0] Scheduler hit an exception: Traceback (most recent call last):", LOG_FATAL, "TP0", PLAIN },
	{ "sglang", "[2025-03-09 00:57:20] Health check failed. Server couldn't get a response from detokenizer for last 20 seconds.", LOG_FATAL,
		"", PLAIN },
	{ "sglang", "[2025-03-09 00:57:20 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 1", LOG_WARNING, "TP0", PLAIN },
	{ "sglang", "[2025-03-04 00:23:48 TP0] The following error message 'operation scheduled before its operands' can be ignored.", LOG_NONE,
		"TP0", PLAIN },
	/* torchrun */
	{ "torchrun", "I0818 12:00:00.1 7 torch/distributed/launcher/api.py:195] Starting elastic_operator with launch configs:", LOG_START, "",
		PLAIN },
	{ "torchrun", "[default3]:step 1200/5000, loss 2.31", LOG_PROGRESS, "3", PLAIN },
	{ "torchrun", " 12%|#   | 1200/10000 [10:00<1:00:00,  2.41it/s]", LOG_PROGRESS, "", PLAIN },
	{ "torchrun", "epoch done, no numbers", LOG_NONE, "", PLAIN },
	{ "torchrun", "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", LOG_FATAL, "", PLAIN },
	{ "torchrun", "Root Cause (first observed failure):", LOG_FATAL, "", PLAIN },
};
#define LOG_LINES (sizeof log_lines / sizeof log_lines[0])

#endif

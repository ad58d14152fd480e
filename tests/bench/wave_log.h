/* wave_log.h - what the log that wave_log.c writes is made of: lines of servers, kernels, and the places where waves stand. */
#ifndef HANGTOP_TESTS_BENCH_WAVE_LOG_H
#define HANGTOP_TESTS_BENCH_WAVE_LOG_H

#include <stdint.h>

/* ~ is a digit, ^ the number of a rank, @ the time of day. */
static const char *const ordinary_line[] = {
	"[atom @] Request ~~~~ arrived, input tokens: ~~~~, pending requests: ~~",
	"[atom @] Scheduled prefill batch: 3 reqs, ~~~~ new tokens (cached: [0, 0, 0], new: [1024, 1024, 1024]), req_ids: (~~, ~~, ~~)",
	"[atom @] Engine Core: output send ~ reqs",
	"[atom @] Request ~~~~ finished with reason max_tokens. Input tokens: ~~~~, output tokens: ~~~, latency: ~.~~s, TTFT: 0.~~~s",
	"[atom @] Engine Core Mgr: add rank^: 1 req / ~~~~ tok | in-flight reqs=[~, ~] prefill_tokens=[~~~~, 0]",
	"[atom @] [MTP Stats Interval] Average toks/fwd: 2.~~, Accepted/Total Draft tokens: ~~~/1000, Acceptance rate: ~~.~~%",
	"INFO:     127.0.0.1:5~~~~ - \"POST /v1/chat/completions HTTP/1.1\" 200 OK",
	"INFO:     127.0.0.1:5~~~~ - \"GET /v1/models HTTP/1.1\" 200 OK",
	"INFO:     192.0.2.~~:4~~~~ - \"GET /metrics HTTP/1.1\" 200 OK",
	"INFO:     127.0.0.1:5~~~~ - \"GET /health HTTP/1.1\" 200 OK",
	"[atom @] Engine Core: output send ~~ reqs",
	"[atom @] Request ~~~~~ arrived, input tokens: ~~~~~, pending requests: ~~",
	"(APIServer pid=~~~~) INFO:     192.0.2.~~:5~~~~ - \"POST /v1/chat/completions HTTP/1.1\" 200 OK",
	"(APIServer pid=~~~) INFO:     127.0.0.1:4~~~~ - \"POST /v1/completions HTTP/1.1\" 200 OK",
	"(APIServer pid=~~~) INFO 05-13 @ [loggers.py:259] Engine 000: Avg prompt throughput: ~~~~.~ tokens/s, Avg generation throughput: "
		"~~~.~ tokens/s, Running: ~~ reqs, Waiting: ~ reqs, GPU KV cache usage: ~~.~%, Prefix cache hit rate: ~~.~%",
	"(EngineCore_DP^ pid=~~~~) INFO 05-13 @ [kv_cache_utils.py:849] GPU KV cache size: ~~~,~~~ tokens",
	"(Worker_TP^ pid=~~~~) INFO 05-13 @ [gpu_model_runner.py:2602] Model loading took ~~.~~~~ GiB and ~~.~~~~~~ seconds",
	"(APIServer pid=~~~) INFO 05-13 @ [logger.py:40] Received request cmpl-~~~~~~~~: prompt: None, params: SamplingParams(n=1, "
		"temperature=0.~, max_tokens=~~~)",
	"[2026-08-27 @ TP^] Prefill batch. #new-seq: 1, #new-token: ~~~~, #cached-token: ~~~, token usage: 0.~~, #running-req: ~~, #queue-req: ~~, ",
	"[2026-08-27 @ TP^] Decode batch. #running-req: ~~, #token: ~~~~~~~, token usage: 0.~~, cuda graph: True, "
		"gen throughput (token/s): ~~~.~~, #queue-req: ~~, ",
	"[2026-08-27 @] INFO:     127.0.0.1:5~~~~ - \"POST /generate HTTP/1.1\" 200 OK",
	"[aiter] [fused_moe] using 2stage default for (~~~, 7168, 256, 256, 8)",
	"[aiter] import [module_moe_asm] under /opt/aiter/jit/module_moe_asm.so",
	"[2026-08-27 @ TP^] [aiter] shape is M:~~, N:7168, K:2048 dtype='torch.bfloat16', not found tuned config in "
		"/tmp/aiter_configs/bf16_tuned_gemm.csv, will use default config!",
	"   AITER_LOG_LEVEL=INFO",
};

static const char *const fault_line[] = {
	"Memory access fault by GPU node-~ (Agent handle: 0x5581c0de~~~~) on address 0x7f21c8a~~000. Reason: Page not present or supervisor privilege.",
	"Memory access fault by GPU node-~ (Agent handle: 0x2c17f~~) on address 0x7e29~~ffc000. Reason: Unknown.",
	("(Worker_TP^ pid=~~~~) Memory access fault by GPU node-~ (Agent handle: 0x5581c0de~~~~) on address 0x7f21c8a~~000. "
		"Reason: Write access to a read-only page."),
	"Memory access fault by GPU node-~ (Agent handle: 0x2c17f~~) on address (nil). Reason: Unknown.",
};

#define INDEX_COPY "at::native::index_copy_kernel_impl<at::native::OpaqueType<4> >(at::TensorIterator&, long, long, long)"
#define GPU_INDEX "at::native::gpu_index_kernel<" INDEX_COPY "::{lambda(char*, char const*, long)#1}>(at::TensorIteratorBase&, " \
	"c10::ArrayRef<long>, c10::ArrayRef<long>, " INDEX_COPY "::{lambda(char*, char const*, long)#1} const&, bool)::{lambda(int)#1}"
#define GELU "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() " \
	"const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}"
#define COMPOSED "at::native::Composed<" GPU_INDEX ", " GELU ", at::native::BinaryFunctor<float, float, float, " GELU "> >"

static const char *const kernel_name[] = {
	"void at::native::index_elementwise_kernel<128, 4, " GPU_INDEX ">(long, " GPU_INDEX ")",
	"void at::native::vectorized_elementwise_kernel<4, " COMPOSED ", std::array<char*, 2ul> >(int, " COMPOSED ", std::array<char*, 2ul>)",
	"_swa_write_kernel",
	("void (anonymous namespace)::paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16, unsigned char, (vllm::Fp8KVCacheDataType)1, "
		"__hip_bfloat16, 16, 128, 256, false, 8>(__hip_bfloat16 const*, unsigned char const*, unsigned char const*, int, float)"),
	"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
	"_ZN5aiter47fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_32x256E",
	"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_EPS0_FDSI0",
	"std::enable_if<(__gnu_cxx::operator<(int, int))>, void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<(stopped, 1)> >(ck_tile::Kargs)",
	"vector_add_assert_trap(int*, int*, int*)",
	"bit_extract_kernel(unsigned int*, unsigned int const*, unsigned long)",
};

static const struct code_object {
	const char *uri;
	uint64_t from, to;
} code_object[] = {
	{ "memory://1188702#offset=0x546c3060&size=4026672", 0x7e20f5e00000, 0x7e20f615ff09 },
	{ "memory://1188702#offset=0x6ff736b8c040&size=17250800", 0x7e20f8000000, 0x7e20f9b0a4e8 },
	{ "file:////opt/rocm/lib/librccl.so.1.0#offset=1495040&size=38120448", 0x7e2100000000, 0x7e2102468ace },
	{ "file:///opt/aiter/hsa/gfx942/fmoe%2b2stages/fmoe_fp8.co#offset=0&size=65536", 0x7e20e4c0c000, 0x7e20e4c1e070 },
};

/* OLD up to ROCm 6.3: no kernel in the header. ENTRY 6.4 and 7: with the kernel. ARGUMENTS 2026: kernel arguments as well. */
enum generation { OLD, ENTRY, ARGUMENTS };

static const struct wave_site {
	const char *why;                /* NULL: running */
	enum generation generation;
	int kernel;                     /* in kernel_name; -1: the header says "not available" */
	int object;                     /* in code_object */
	unsigned entry, pc;             /* from the start of the code object, from the entry */
	int often;                      /* of 100 */
} wave_site[] = {
	{ "MEMORY_VIOLATION", ARGUMENTS, 0, 0, 0x52900, 3012, 26 },
	{ "MEMORY_VIOLATION|ADDRESS_ERROR", ARGUMENTS, 0, 0, 0x52900, 3012, 4 },
	{ "MEMORY_VIOLATION", ARGUMENTS, 0, 0, 0x52900, 2980, 4 },
	{ NULL, ARGUMENTS, 4, 2, 0x1a00, 1792, 16 },
	{ "MEMORY_VIOLATION", ENTRY, 1, 0, 0x71000, 0x5c, 8 },
	{ "ASSERT_TRAP", ARGUMENTS, 2, 1, 0x2900, 564, 6 },
	{ "MEMORY_VIOLATION|ASSERT_TRAP", ENTRY, 2, 1, 0x2900, 620, 4 },
	{ "ADDRESS_ERROR", ARGUMENTS, 3, 1, 0x14400, 7484, 6 },
	{ "ILLEGAL_INSTRUCTION", ENTRY, 5, 3, 0x1f00, 0, 4 },
	{ "FP_DIVIDE_BY_0|FP_INEXACT|FP_INVALID_OPERATION", ARGUMENTS, 6, 1, 0x88000, 10240, 4 },
	{ "MEMORY_VIOLATION", ENTRY, 7, 1, 0xc0000, 5120, 4 },
	{ NULL, ENTRY, -1, 0, 0x0, 0x3000, 6 },
	{ "ASSERT_TRAP", OLD, 8, 3, 0x1000, 232, 4 },
	{ "APERTURE_VIOLATION", OLD, 9, 3, 0x1200, 180, 3 },
	{ NULL, OLD, 9, 3, 0x1200, 188, 1 },
};

static const char *const instruction[] = {
	"v_cndmask_b32_e32 v0, s0, v0, vcc", "s_and_saveexec_b64 s[6:7], vcc", "global_load_dword v3, v[0:1], off", "s_waitcnt vmcnt(0) lgkmcnt(0)",
	"v_mfma_f32_16x16x16_bf16 a[0:3], v[4:5], v[8:9], a[0:3]", "v_add3_u32 v2, v2, v4, v3", "ds_read_b128 v[16:19], v12 offset:1024",
	"s_barrier", "buffer_load_dwordx4 v[20:23], v7, s[8:11], 0 offen", "v_mul_f64 v[12:13], v[52:53], v[16:17]", "s_sleep 1",
};

#endif

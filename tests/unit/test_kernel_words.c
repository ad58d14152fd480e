/* test_kernel_words.c - the table of kernel names: shipped rows on real names, order, and errors of rows. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "data_file.h"
#include "model/kernel_words.h"

static struct kernel_set shipped;

static int load_shipped(void **state)
{
	char path[4096];
	struct error error;
	struct span text = data_read(data_path(path, sizeof path, "data/kernels.tsv"));

	(void)state;
	if (!text.at || kernels_load(&shipped, text, path, &error) < 0) {
		print_message("# %s: %s\n", path, text.at ? error.text : "cannot be read");
		return -1;
	}
	free((char *)text.at);
	return 0;
}

static int release_shipped(void **state)
{
	(void)state;
	kernels_release(&shipped);
	return 0;
}

/* Names as tools print them; what must be in the words. */
static const struct { const char *kernel, *class, *words; } names[] = {
	{ "void at::native::index_elementwise_kernel<128, 4, at::native::index_copy_kernel_impl<at::native::OpaqueType<4> >"
	  "(at::TensorIterator&, long, long, long)::{lambda(int)#1}>(long)", "index", "Tensor.index_copy_(dim, idx, src), 4-byte dtype (int32, float32)" },
	{ "_ZN2at6native24index_elementwise_kernelILi128ELi4EZNS0_22index_copy_kernel_implINS0_10OpaqueTypeILi8EEEEEvRNS_14TensorIteratorElllEUliE_EEvlT1_",
	  "index", "Tensor.index_copy_(dim, idx, src), 8-byte dtype (int64, float64, complex64)" },
	{ "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::index_kernel_impl<at::native::OpaqueType<2> >"
	  "(at::TensorIteratorBase&)>(long)", "index", "advanced indexing read, tensor[idx], 2-byte" },
	{ "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::index_put_kernel_impl<at::native::OpaqueType<2> > > >(long)",
	  "index", "advanced indexing write" },
	{ "void at::native::_scatter_gather_elementwise_kernel<128, 8, at::native::_cuda_scatter_gather_internal_kernel<false, at::native::OpaqueType<4> >"
	  "::operator()<at::native::TensorAssign>(at::TensorIterator&)>(int)", "index", "torch.gather" },
	{ "void at::native::_scatter_gather_elementwise_kernel<128, 8, at::native::_cuda_scatter_gather_internal_kernel<true, at::native::OpaqueType<4> > >(int)",
	  "index", "Tensor.scatter_(" },
	{ "void at::native::_scatter_gather_elementwise_kernel<128, 8, at::native::_cuda_scatter_gather_internal_kernel<true, float>"
	  "::operator()<at::native::ReduceAdd>(at::TensorIterator&)>(int)", "index", "Tensor.scatter_add_" },
	{ "void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<at::native::OpaqueType<2u>, unsigned int, 2, 128, 1>(...)", "copy", "torch.cat" },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int)", "elementwise", "fill_" },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)", "elementwise", "an elementwise" },
	{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >()",
	  "reduce", "mean" },
	{ "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, float>(float*, float const*, int)", "softmax", "torch.softmax" },
	{ "void rocprim::detail::single_scan_kernel<true, rocprim::detail::default_scan_config<0u, int> >(int)", "scan", "rocPRIM" },
	{ "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_SK0", "gemm", "Tensile" },
	{ "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_SK3", "splitk", "stream-K" },
	{ "Cijk_SB_BiasSB_HAS_SAV_ScaleAlphaVec_PostGSU8_VW4", "splitk", "split-K" },
	{ "bf16gemm_fp32bf16_tn_64x64_splitk_clean", "splitk", "shared workspace" },
	{ "bf16gemm_fp32bf16_tn_96x64_bshuffle", "gemm", "AITER" },
	{ "_ZN5aiter43fmoe_bf16_blockscaleFp8_g1u1_vs_silu_32x384E", "moe", "AITER fused mixture of experts" },
	{ "_ZN5aiter36mla_a16w16_qh16_m16x4_n16x1_coex0_mask1E", "attention", "latent attention" },
	{ "void aiter::allgather_vec<__hip_bfloat16, 8>(aiter::RankData*, aiter::RankSignals, aiter::Signal*, __hip_bfloat16*, int, int)", "collective", "all-gather" },
	{ "void vllm::cross_device_reduce_2stage<__hip_bfloat16, 8>(vllm::RankData*)", "collective", "all-reduce" },
	{ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "collective", "all-reduce" },
	{ "ncclDevKernel_Generic_2(ncclDevKernelArgsStorage<4096ul>)", "collective", "generic" },
	{ "mscclKernel_Sum_half_Simple_true(ncclDevComm*, mscclAlgo*, mscclWork*)", "collective", "MSCCL" },
	{ "_swa_write_kernel", "kv-cache", "sliding-window" },
	{ "_update_compressor_states_kernel", "kv-cache", "compressor" },
	{ "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, unsigned char>(__hip_bfloat16 const*)", "kv-cache", "paged cache" },
	{ "void vllm::moe::moe_align_block_size_kernel<int>(int const*, int*)", "moe", "sorting of tokens" },
	{ "paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16>", "attention", "ROCm" },
	{ "void mul_mat_q<(ggml_type)12, 128, false>(char const*)", "gemm", "llama.cpp" },
	{ "void mul_mat_vec_q<(ggml_type)12, 1, false>(void const*)", "gemm", "matrix times vector" },
	{ "__amd_rocclr_copyBuffer", "copy", "hipMemcpy" },
	{ "__amd_rocclr_initHeap", "copy", "helper" },
	{ "triton_red_fused_add_mean_mul_pow_rsqrt_0", "triton", "reduction" },
	{ "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<int> >(int)", "gemm", "CK GEMM" },
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct span kernel = data_exact(span_of(names[i].kernel));
		const struct kernel_row *row = kernels_words(&shipped, kernel);
		struct buf said;

		buf_init(&said, 0);
		if (row)
			kernel_say(row, kernel, &said);
		if (!row || strcmp(row->class, names[i].class) != 0 || !strstr(buf_string(&said), names[i].words))
			fail_msg("%s: class %s, words '%s'", names[i].kernel, row ? row->class : "none", buf_string(&said));
		buf_release(&said);
		free((char *)kernel.at);
	}
}

static void test_unknown(void **state)
{
	static const char *const unknown[] = { "", "hip_copy_kernel(float*)", "_Z11crux_kernelv", "0x00007d3aa1c0bb3c" };

	(void)state;
	for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
		assert_null(kernels_words(&shipped, span_of(unknown[i])));
	assert_null(kernels_words(NULL, span_of("Cijk_")));
}

/* Every shipped row can be reached: no row above it takes all its names. */
static void test_no_row_is_hidden(void **state)
{
	(void)state;
	assert_true(shipped.count >= 60);
	for (size_t i = 0; i < shipped.count; i++) {
		const struct kernel_row *row = kernels_words(&shipped, span_of(shipped.row[i].fragment));

		if (row != &shipped.row[i])
			fail_msg("row '%s' is hidden by '%s'", shipped.row[i].fragment, row ? row->fragment : "nothing");
	}
}

static void test_element_bytes(void **state)
{
	static const struct { const char *kernel; int bytes; } cases[] = {
		{ "x<OpaqueType<4> >", 4 }, { "NS0_10OpaqueTypeILi16EEE", 16 }, { "OpaqueType<2u>", 2 },
		{ "OpaqueType<", 0 }, { "OpaqueType<N>", 0 }, { "OpaqueType<99999999999999999999>", 0 }, { "OpaqueTypeILi", 0 }, { "float", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct span kernel = data_exact(span_of(cases[i].kernel));

		assert_int_equal(kernel_element_bytes(kernel), cases[i].bytes);
		free((char *)kernel.at);
	}
}

static void test_later_file_wins(void **state)
{
	struct kernel_set set = { NULL, 0 };
	struct error error;

	(void)state;
	assert_int_equal(kernels_load(&set, span_of("# words\nb*d\tone\tshipped\nabcd\tone\thidden\n"), "a", &error), 0);
	assert_string_equal(kernels_words(&set, span_of("abcd"))->words, "shipped");
	assert_int_equal(kernels_load(&set, span_of("\xef\xbb\xbf" "bc\ttwo\tmine\tnote\r\n\n"), "b", &error), 0);
	assert_string_equal(kernels_words(&set, span_of("abcd"))->words, "mine");
	assert_string_equal(kernels_words(&set, span_of("abcd"))->note, "note");
	assert_string_equal(kernels_words(&set, span_of("bxd"))->words, "shipped");
	assert_null(kernels_words(&set, span_of("db")));
	/* a wrong file leaves the set as it was */
	assert_int_equal(kernels_load(&set, span_of("x\ty\tz\nbad\n"), "c", &error), -1);
	assert_int_equal(set.count, 3);
	assert_null(kernels_words(&set, span_of("x")));
	kernels_release(&set);
}

static void test_errors(void **state)
{
	static const struct { const char *text, *error; } cases[] = {
		{ "a\tb\n", "k.tsv:1: no words" }, { "\n# x\nabc\n", "k.tsv:3: no class" }, { "\ta\tb\n", "k.tsv:1: no fragment" },
		{ "a\tb\tc\td\te\n", "k.tsv:1: more than 4 columns" }, { "**\tb\tc\n", "k.tsv:1: a fragment of stars" },
		{ "a\tb c\td\n", "k.tsv:1: the class is one word, not 'b c'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct kernel_set set = { NULL, 0 };
		struct span text = data_exact(span_of(cases[i].text));
		struct error error;

		assert_int_equal(kernels_load(&set, text, "k.tsv", &error), -1);
		if (strncmp(error.text, cases[i].error, strlen(cases[i].error)) != 0)
			fail_msg("'%s' instead of '%s'", error.text, cases[i].error);
		assert_int_equal(set.count, 0);
		free((char *)text.at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_unknown), cmocka_unit_test(test_no_row_is_hidden),
		cmocka_unit_test(test_element_bytes), cmocka_unit_test(test_later_file_wins), cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests_name("kernel_words", tests, load_shipped, release_shipped);
}

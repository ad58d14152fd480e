# Three kernels of MI200: one waits for a flag, one checks an index and traps, one stores. Assembled by tests/unit/test_disassemble.c.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
	.text
	.globl _Z9wait_flagPi
	.p2align 8
	.type _Z9wait_flagPi,@function
_Z9wait_flagPi:
	s_load_dwordx2 s[0:1], s[4:5], 0x0
	v_mov_b32_e32 v0, 0
	s_waitcnt lgkmcnt(0)
.Lagain:
	global_load_dword v1, v0, s[0:1] glc
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e32 vcc, 0, v1
	s_sleep 1
	s_cbranch_vccnz .Lagain
	s_endpgm
.Lwait_end:
	.size _Z9wait_flagPi, .Lwait_end-_Z9wait_flagPi

	.globl check
	.p2align 8
	.type check,@function
check:
	s_cmp_lt_i32 s0, s1
	s_cbranch_scc1 .Lok
	s_trap 2
	s_endpgm
.Lok:
	v_mov_b32_e32 v2, 7
	global_store_dword v[0:1], v2, off
	s_waitcnt vmcnt(0)
	s_endpgm
.Lcheck_end:
	.size check, .Lcheck_end-check

	.globl sum
	.p2align 8
	.type sum,@function
sum:
	s_mov_b32 s2, 0
# A label that stays in the symbol table, as in hand-written kernels.
sum_next:
	global_load_dword v4, v[2:3], off
	s_waitcnt vmcnt(0)
	global_store_dword v[0:1], v4, off
	s_add_i32 s2, s2, 1
	s_cmp_lt_i32 s2, s3
	s_cbranch_scc1 sum_next
	s_barrier
	s_endpgm
.Lsum_end:
	.size sum, .Lsum_end-sum

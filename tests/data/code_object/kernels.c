/* The same by the compiler: a flag that is waited for, an index that is checked. */
typedef __attribute__((address_space(1))) int global_int;

void wait_acquire(global_int *flag, global_int *out)
{
	while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0)
		;
	*out = 1;
}

void take_lock(global_int *lock)
{
	int expected;

	do
		expected = 0;
	while (!__atomic_compare_exchange_n(lock, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
}

void guard(global_int *p, int i, int n)
{
	if (i >= n)
		__builtin_trap();
	p[i] = 7;
}

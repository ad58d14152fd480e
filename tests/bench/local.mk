# make bench: figures against their bars; not part of make check. BENCH_FLAGS: --quick, --only=idle,...
EXTRA_PROGRAMS =
include $(srcdir)/tests/bench/store.mk
include $(srcdir)/tests/bench/log.mk
include $(srcdir)/tests/bench/wave.mk
EXTRA_DIST += tests/bench/run.py tests/bench/terminal.py
CLEANFILES += $(EXTRA_PROGRAMS)

.PHONY: bench
bench: hangtop $(EXTRA_PROGRAMS)
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) $(srcdir)/tests/bench/run.py --hangtop ./hangtop --data $(srcdir)/data --srcdir $(srcdir) \
		$(BENCH_FLAGS) $(EXTRA_PROGRAMS)

# A thousand snapshots with a fault in each; the last line says how many targets were hurt. SNAPSHOTS: how many.
SNAPSHOTS = 1000
.PHONY: bench-snapshot
bench-snapshot: hangtop
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) $(srcdir)/tests/e2e/snapshot_faults.py --hangtop ./hangtop --count $(SNAPSHOTS)

# make bench: figures, one a line; not part of make check
EXTRA_PROGRAMS =
include $(srcdir)/tests/bench/store.mk

.PHONY: bench
bench: $(EXTRA_PROGRAMS)
	@for bench in $(EXTRA_PROGRAMS); do echo "== $$bench"; ./$$bench || exit 1; done

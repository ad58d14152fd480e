# Unit tests speak TAP through cmocka; shell and Python tests speak TAP themselves. One fragment an area.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
PY_LOG_DRIVER = $(LOG_DRIVER)
PY_LOG_COMPILER = $(PYTHON)
TEST_EXTENSIONS = .sh .py
AM_TESTS_ENVIRONMENT = CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	srcdir='$(srcdir)'; export srcdir; builddir='$(abs_builddir)'; export builddir; \
	HANGTOP_DATA='$(abs_top_srcdir)/data'; export HANGTOP_DATA; \
	PYTHON='$(PYTHON)'; export PYTHON; PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	TZ=UTC; export TZ;
TEST_LIBS = $(CMOCKA_LIBS)

include $(srcdir)/tests/unit/base.mk
include $(srcdir)/tests/unit/parse_log.mk
include $(srcdir)/tests/unit/parse_gpu.mk
include $(srcdir)/tests/unit/parse_proc.mk
include $(srcdir)/tests/unit/scan.mk
include $(srcdir)/tests/unit/code_object.mk
include $(srcdir)/tests/unit/model.mk
include $(srcdir)/tests/unit/signatures.mk
include $(srcdir)/tests/unit/store.mk
include $(srcdir)/tests/unit/transport.mk
include $(srcdir)/tests/unit/ui.mk
include $(srcdir)/tests/unit/snapshot.mk
include $(srcdir)/tests/unit/app.mk
include $(srcdir)/tests/unit/doctor.mk
include $(srcdir)/tests/unit/evidence.mk
include $(srcdir)/tests/unit/guard.mk
include $(srcdir)/tests/e2e/local.mk
include $(srcdir)/tests/bench/local.mk
include $(srcdir)/tests/fuzz/local.mk

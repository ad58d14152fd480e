# tests of ui
UI_TESTS = tests/unit/test_canvas tests/unit/test_human_time tests/unit/test_ui_keys tests/unit/test_ui_panels tests/unit/test_ui_waves
check_PROGRAMS += $(UI_TESTS)
TESTS += $(UI_TESTS)
tests_unit_test_canvas_SOURCES = tests/unit/test_canvas.c
tests_unit_test_canvas_LDADD = $(LIB_UI) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_human_time_SOURCES = tests/unit/test_human_time.c
tests_unit_test_human_time_LDADD = $(LIB_UI) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_ui_keys_SOURCES = tests/unit/test_ui_keys.c tests/unit/ui_scene.h tests/unit/feed.h
tests_unit_test_ui_keys_LDADD = $(LIB_UI) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_ui_panels_SOURCES = tests/unit/test_ui_panels.c tests/unit/ui_scene.h tests/unit/feed.h
tests_unit_test_ui_panels_LDADD = $(LIB_UI) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_ui_waves_SOURCES = tests/unit/test_ui_waves.c tests/unit/ui_scene.h tests/unit/feed.h
tests_unit_test_ui_waves_LDADD = $(LIB_UI) $(TEST_LIBS) $(ALL_LIBS)
# Written anew with UPDATE=1 tests/unit/test_ui_panels (srcdir and TZ=UTC set); read the difference before you commit it.
EXTRA_DIST += \
	tests/golden/ui/alarm-overview-ascii.txt \
	tests/golden/ui/alarm-snapshot.txt \
	tests/golden/ui/empty-events.txt \
	tests/golden/ui/empty-gpus.txt \
	tests/golden/ui/empty-log.txt \
	tests/golden/ui/empty-overview.txt \
	tests/golden/ui/empty-ranks.txt \
	tests/golden/ui/empty-server.txt \
	tests/golden/ui/empty-sources.txt \
	tests/golden/ui/empty-stacks.txt \
	tests/golden/ui/empty-waves.txt \
	tests/golden/ui/fault-events.txt \
	tests/golden/ui/fault-waves-ascii.txt \
	tests/golden/ui/fault-waves.txt \
	tests/golden/ui/first-snapshot.txt \
	tests/golden/ui/foreign-events.txt \
	tests/golden/ui/foreign-log-ascii.txt \
	tests/golden/ui/foreign-log.txt \
	tests/golden/ui/foreign-overview.txt \
	tests/golden/ui/foreign-sources.txt \
	tests/golden/ui/foreign-waves.txt \
	tests/golden/ui/healthy-overview.txt \
	tests/golden/ui/healthy-stacks.txt \
	tests/golden/ui/hung-events-ascii.txt \
	tests/golden/ui/hung-events.txt \
	tests/golden/ui/hung-gpus-ascii.txt \
	tests/golden/ui/hung-gpus.txt \
	tests/golden/ui/hung-help-ascii.txt \
	tests/golden/ui/hung-help.txt \
	tests/golden/ui/hung-log-ascii.txt \
	tests/golden/ui/hung-log.txt \
	tests/golden/ui/hung-overview-ascii.txt \
	tests/golden/ui/hung-overview.txt \
	tests/golden/ui/hung-ranks-ascii.txt \
	tests/golden/ui/hung-ranks.txt \
	tests/golden/ui/hung-server-ascii.txt \
	tests/golden/ui/hung-server.txt \
	tests/golden/ui/hung-snapshot-ascii.txt \
	tests/golden/ui/hung-snapshot.txt \
	tests/golden/ui/hung-sources-ascii.txt \
	tests/golden/ui/hung-sources.txt \
	tests/golden/ui/hung-stacks-ascii.txt \
	tests/golden/ui/hung-stacks.txt \
	tests/golden/ui/hung-waves-ascii.txt \
	tests/golden/ui/hung-waves.txt \
	tests/golden/ui/many-gpus.txt \
	tests/golden/ui/many-overview.txt \
	tests/golden/ui/many-ranks.txt \
	tests/golden/ui/many-stacks.txt \
	tests/golden/ui/moving-snapshot.txt \
	tests/golden/ui/preview-ry-snapshot-ascii.txt \
	tests/golden/ui/preview-snapshot.txt \
	tests/golden/ui/read-only-help.txt \
	tests/golden/ui/refused-snapshot.txt \
	tests/golden/ui/replay-gpus.txt \
	tests/golden/ui/replay-overview.txt \
	tests/golden/ui/replay-ranks-ascii.txt \
	tests/golden/ui/running-snapshot.txt \
	tests/golden/ui/seen-overview.txt \
	tests/golden/ui/stuck-snapshot-ascii.txt \
	tests/golden/ui/stuck-snapshot.txt

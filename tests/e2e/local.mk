# End to end: real processes, real py-spy, real terminals.
TESTS += tests/e2e/test_demo.py tests/e2e/test_screen.py tests/e2e/test_explain.py tests/e2e/test_snapshot.py tests/e2e/test_snapshot_screen.py
EXTRA_DIST += tests/e2e/test_demo.py tests/e2e/test_screen.py tests/e2e/test_explain.py tests/e2e/test_snapshot.py tests/e2e/test_snapshot_screen.py tests/e2e/snapshot_faults.py tests/data/explain
TESTS += tests/e2e/test_gpu_tables.py
EXTRA_DIST += tests/e2e/test_gpu_tables.py

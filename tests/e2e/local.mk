# End to end: real processes, real py-spy, real terminals.
TESTS += tests/e2e/test_demo.py tests/e2e/test_screen.py
EXTRA_DIST += tests/e2e/test_demo.py tests/e2e/test_screen.py

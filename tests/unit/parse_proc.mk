# tests of parse_proc

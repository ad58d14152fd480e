# tests of parse_log

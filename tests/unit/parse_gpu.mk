# tests of parse_gpu

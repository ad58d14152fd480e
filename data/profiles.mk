# Engine profiles: what servers print, run and answer.
profilesdir = $(pkgdatadir)/profiles
dist_profiles_DATA = data/profiles/atom.conf data/profiles/vllm.conf data/profiles/sglang.conf data/profiles/torchrun.conf data/profiles/ollama.conf data/profiles/llama.cpp.conf

noinst_LIBRARIES += libparse.a
libparse_a_SOURCES = \
	src/parse/profile.c src/parse/profile.h src/parse/literals.c src/parse/literals.h src/parse/log_class.c src/parse/log_class.h \
	src/parse/gpu_reading.c src/parse/gpu_reading.h src/parse/models.c src/parse/models.h src/parse/metrics.c src/parse/metrics.h src/parse/gpu_files.c \
	src/parse/gpu_files.h src/parse/gpu_metrics.c src/parse/gpu_metrics.h src/parse/rocm_smi.c \
	src/parse/rocm_smi.h src/parse/amd_smi.c src/parse/amd_smi.h src/parse/nvidia_smi.c src/parse/nvidia_smi.h \
	src/parse/pattern.c src/parse/pattern.h src/parse/proc_files.c src/parse/proc_files.h src/parse/pyspy.c src/parse/pyspy.h

noinst_LIBRARIES += libparse.a
libparse_a_SOURCES = \
	src/parse/profile.c src/parse/profile.h src/parse/literals.c src/parse/literals.h src/parse/log_class.c src/parse/log_class.h \
	src/parse/gpu_reading.c src/parse/gpu_reading.h src/parse/models.c src/parse/models.h src/parse/metrics.c src/parse/metrics.h src/parse/gpu_files.c \
	src/parse/gpu_files.h src/parse/gpu_metrics.c src/parse/gpu_metrics.h src/parse/rocm_smi.c \
	src/parse/rocm_smi.h src/parse/amd_smi.c src/parse/amd_smi.h src/parse/nvidia_smi.c src/parse/nvidia_smi.h \
	src/parse/pattern.c src/parse/pattern.h src/parse/proc_files.c src/parse/proc_files.h src/parse/pyspy.c src/parse/pyspy.h \
	src/parse/reading.c src/parse/reading.h \
	src/parse/line.c src/parse/line.h src/parse/line_private.h src/parse/line_rank.c \
	src/parse/wave.c src/parse/wave.h src/parse/wave_private.h src/parse/wave_header.c src/parse/wave_code.c src/parse/wave_emit.c \
	src/parse/wrapped.c src/parse/wrapped.h \
	src/parse/fault.c src/parse/fault.h src/parse/fault_told.c src/parse/fault_queue.c src/parse/fault_packet.c src/parse/fault_private.h \
	src/parse/kernel_log.c src/parse/kernel_log.h \
	src/parse/watchdog.c src/parse/watchdog.h src/parse/wave_groups.c src/parse/wave_groups.h \
	src/parse/stack_text.c src/parse/stack_text.h src/parse/stack_text_private.h src/parse/stack_text_build.c src/parse/stack_json.c \
	src/parse/json_doc.c src/parse/json_doc.h \
	src/parse/gpu_say.c src/parse/gpu_say.h \
	src/parse/rocgdb.c src/parse/rocgdb.h src/parse/rocgdb_private.h src/parse/rocgdb_rows.c src/parse/rocgdb_wrap.c \
	src/parse/gdb_mi.c src/parse/gdb_mi.h \
	src/parse/smi_text.c src/parse/smi_text.h src/parse/smi_private.h src/parse/smi_rocm.c src/parse/smi_amd.c \
	src/parse/smi_box.c src/parse/smi_csv.c \
	src/parse/http_text.c src/parse/http_text.h \
	src/parse/engine_log.c src/parse/engine_log.h \
	src/parse/code_object.c src/parse/code_object.h src/parse/code_elf.c src/parse/code_elf.h \
	src/parse/disassembly_text.c src/parse/disassembly_text.h \
	src/parse/scan.c src/parse/scan.h

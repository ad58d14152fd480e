noinst_LIBRARIES += libsource.a
libsource_a_SOURCES = \
	src/source/source.h src/source/reading_say.c src/source/reading_say.h src/source/table.c src/source/health.c src/source/target.c src/source/target.h src/source/server.c src/source/server_http.c src/source/server_http.h \
	src/source/gpu.c src/source/gpu.h src/source/gpu_sysfs.c src/source/gpu_read.c src/source/gpu_kfd.c src/source/gpu_tool.c src/source/gpu_say.c src/source/proc.c src/source/proc.h src/source/proc_say.c src/source/proc_tree.c src/source/proc_roles.c src/source/proc_tree.h src/source/stack.c src/source/stack.h src/source/stack_job.c src/source/stack_kernel.c src/source/follow.c src/source/follow.h src/source/log_rows.c src/source/log_rows.h src/source/log.c src/source/kmsg.c

noinst_LIBRARIES += libsource.a
libsource_a_SOURCES = \
	src/source/source.h src/source/table.c src/source/target.c src/source/target.h src/source/server.c \
	src/source/gpu.c src/source/proc.c src/source/stack.c src/source/log.c

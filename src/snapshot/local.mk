noinst_LIBRARIES += libsnapshot.a
libsnapshot_a_SOURCES = \
	src/snapshot/guard.c \
	src/snapshot/guard.h \
	src/snapshot/guard_look.c \
	src/snapshot/guard_look_gpu.c \
	src/snapshot/guard_permission.c \
	src/snapshot/guard_private.h \
	src/snapshot/verify.c src/snapshot/verify.h \
	src/snapshot/debugger.c src/snapshot/debugger.h \
	src/snapshot/side_file.c src/snapshot/side_file.h \
	src/snapshot/snapshot.c src/snapshot/snapshot.h src/snapshot/snapshot_private.h \
	src/snapshot/snapshot_import.c

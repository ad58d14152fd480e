noinst_LIBRARIES += libsnapshot.a
libsnapshot_a_SOURCES = src/snapshot/guard.c src/snapshot/guard.h src/snapshot/guard_look.c

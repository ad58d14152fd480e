noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	src/base/error.c src/base/error.h src/base/mem.c src/base/mem.h src/base/span.c src/base/span.h \
	src/base/buf.c src/base/buf.h src/base/map.c src/base/map.h src/base/text.c src/base/text.h src/base/clock.c \
	src/base/clock.h src/base/debug.c src/base/debug.h src/base/json_write.c src/base/json_write.h src/base/line_cut.h

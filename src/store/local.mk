noinst_LIBRARIES += libstore.a
libstore_a_SOURCES = \
	src/store/schema.c src/store/schema.h src/store/intern.c src/store/intern.h src/store/rollup.c src/store/rollup.h src/store/evict.c src/store/evict.h src/store/writer.c src/store/writer.h src/store/reader.c \
	src/store/reader.h

noinst_LIBRARIES += libstore.a
libstore_a_SOURCES = \
	src/store/schema.c src/store/schema.h src/store/writer.c src/store/writer.h src/store/reader.c \
	src/store/reader.h

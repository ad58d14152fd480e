noinst_LIBRARIES += libstore.a
libstore_a_SOURCES = \
	src/store/schema.c src/store/schema.h src/store/subject.c src/store/subject.h src/store/intern.c src/store/intern.h \
	src/store/rollup.c src/store/rollup.h src/store/evict.c src/store/evict.h src/store/queue.c src/store/queue.h \
	src/store/place.c src/store/place.h src/store/session_write.c src/store/session_write.h src/store/writer.c \
	src/store/writer.h src/store/reader.c src/store/reader.h src/store/state.c src/store/reader_private.h

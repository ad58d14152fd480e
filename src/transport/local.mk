noinst_LIBRARIES += libtransport.a
libtransport_a_SOURCES = \
	src/transport/child.c src/transport/child.h src/transport/link.c src/transport/link.h \
	src/transport/frame.c src/transport/frame.h

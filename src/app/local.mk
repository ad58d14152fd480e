noinst_LIBRARIES += libapp.a
libapp_a_SOURCES = \
	src/app/core.c src/app/core.h

hangtop_SOURCES = src/app/main.c
hangtop_LDADD = $(LIB_APP) $(ALL_LIBS)

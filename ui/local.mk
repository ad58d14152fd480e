noinst_LIBRARIES += libui.a
libui_a_SOURCES = \
	ui/canvas.c ui/canvas.h

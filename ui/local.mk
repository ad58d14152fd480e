noinst_LIBRARIES += libui.a
libui_a_SOURCES = \
	ui/canvas.c ui/canvas.h \
	ui/command.c ui/command.h \
	ui/event_list.c ui/event_list.h \
	ui/fault_row.c ui/fault_row.h \
	ui/frame.c ui/frame.h \
	ui/gpu_fold.c ui/gpu_fold.h \
	ui/human_time.c ui/human_time.h \
	ui/keys.c ui/keys.h \
	ui/list.c ui/list.h \
	ui/overview.h \
	ui/overview_gpus.c \
	ui/overview_log.c \
	ui/overview_ranks.c \
	ui/panel.c ui/panel.h \
	ui/panel_events.c \
	ui/panel_gpus.c \
	ui/panel_help.c \
	ui/panel_log.c \
	ui/panel_overview.c \
	ui/panel_ranks.c \
	ui/panel_server.c \
	ui/panel_snapshot.c \
	ui/panel_sources.c \
	ui/panel_stacks.c \
	ui/panel_waves.c \
	ui/prompt.c ui/prompt.h \
	ui/rows.c ui/rows.h \
	ui/spark.c ui/spark.h \
	ui/term.c ui/term.h \
	ui/term_palette.c ui/term_palette.h \
	ui/ui.c ui/ui.h \
	ui/view.h \
	ui/waves_fold.c ui/waves_fold.h

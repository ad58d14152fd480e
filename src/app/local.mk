noinst_LIBRARIES += libapp.a
libapp_a_SOURCES = \
	src/app/core.c src/app/core.h src/app/replay.c src/app/replay.h src/app/live.c src/app/live.h \
	src/app/options.c src/app/options.h src/app/settings.c src/app/settings.h src/app/paths.c src/app/paths.h src/app/profiles.c src/app/profiles.h \
	src/app/agent.c src/app/agent.h src/app/agent_snapshot.c src/app/agent_snapshot.h src/app/screen.c src/app/screen.h src/app/report.c src/app/report.h \
	src/app/doctor.c src/app/doctor.h src/app/doctor_look.c src/app/doctor_look.h \
	src/app/session.c src/app/cmd_run.c src/app/cmd_demo.c src/app/cmd_replay.c src/app/cmd_explain.c src/app/explain_report.c src/app/explain_text.c src/app/explain_report.h \
	src/app/disassemble.c src/app/disassemble.h src/app/disassemble_words.c src/app/disassemble_words.h src/app/code_file.c src/app/code_file.h src/app/file_blocks.c src/app/file_blocks.h \
	src/app/cmd_stacks.c src/app/cmd_snapshot.c src/app/snapshot_output.c src/app/snapshot_output.h src/app/snapshot_text.c src/app/snapshot_text.h \
	src/app/explain_code.c src/app/explain_code.h src/app/explain_data.c src/app/explain_data.h src/app/commands.h \
	src/app/cmd_evidence.c src/app/evidence_bundle.c src/app/evidence_bundle.h src/app/evidence_find.c src/app/evidence_find.h \
	src/app/evidence_hash.c src/app/evidence_hash.h src/app/evidence_items.c src/app/evidence_items.h src/app/evidence_mask.c src/app/evidence_mask.h \
	src/app/evidence_part.c src/app/evidence_part.h src/app/evidence_read.c src/app/evidence_read_more.c src/app/evidence_read.h \
	src/app/evidence_summary.c src/app/evidence_summary.h src/app/evidence_tools.c src/app/evidence_tools.h

hangtop_SOURCES = src/app/main.c
hangtop_LDADD = $(LIB_APP) $(ALL_LIBS)

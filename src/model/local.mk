noinst_LIBRARIES += libmodel.a
libmodel_a_SOURCES = \
	src/model/kinds.def src/model/kinds.c src/model/observation.c src/model/observation.h \
	src/model/model.c src/model/model.h src/model/history.c src/model/history.h src/model/ranks.c src/model/ranks.h src/model/stacks.c src/model/stacks.h \
	src/model/facts.c src/model/facts.h src/model/triage.c src/model/triage.h src/model/explain.c src/model/explain.h \
	src/model/kernel_words.c src/model/kernel_words.h src/model/signature.c src/model/signature_match.c src/model/signature.h src/model/signature_private.h \
	src/model/snapshots.c src/model/snapshots.h src/model/snapshot_compare.c src/model/snapshot_host.c \
	src/model/stop_reason.c src/model/stop_reason.h

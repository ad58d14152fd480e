include $(srcdir)/data/profiles.mk
include $(srcdir)/data/demo.mk
include $(srcdir)/data/completions.mk
include $(srcdir)/data/signatures.mk

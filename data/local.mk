include $(srcdir)/data/profiles.mk
include $(srcdir)/data/demo.mk

# The demo server, installed under $(pkgdatadir)/demo as it stands here.
demodir = $(pkgdatadir)/demo
nobase_demo_files = demo.py gpu_state.py gpu_tables.py README.md atom/__init__.py atom/entrypoints/__init__.py atom/entrypoints/openai_server.py \
	atom/entrypoints/http_api.py atom/model_engine/__init__.py atom/model_engine/state.py atom/model_engine/model_runner.py \
	atom/model_engine/async_proc.py atom/model_engine/engine_core.py aiter/__init__.py aiter/dist/__init__.py \
	aiter/dist/shm_broadcast.py torch/__init__.py torch/cuda/__init__.py torch/distributed/__init__.py \
	torch/distributed/distributed_c10d.py
EXTRA_DIST += data/demo
install-data-local:
	for f in $(nobase_demo_files); do \
		$(MKDIR_P) "$(DESTDIR)$(demodir)/`dirname $$f`" && \
		$(INSTALL_DATA) "$(srcdir)/data/demo/$$f" "$(DESTDIR)$(demodir)/$$f" || exit 1; \
	done
	$(INSTALL_SCRIPT) "$(srcdir)/data/demo/rocgdb" "$(DESTDIR)$(demodir)/rocgdb"
uninstall-local:
	rm -rf "$(DESTDIR)$(demodir)"

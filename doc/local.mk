# documentation that is installed
dist_man_MANS += doc/hangtop.1
dist_doc_DATA = README.md NEWS.md doc/architecture.md doc/session-file.md doc/explain.md doc/style.md

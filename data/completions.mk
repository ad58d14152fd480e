# Completion of the command line: each shell loads it from its usual folder.
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/site-functions
fishcompdir = $(datadir)/fish/vendor_completions.d
dist_bashcomp_DATA = data/completions/hangtop.bash
dist_zshcomp_DATA = data/completions/_hangtop
dist_fishcomp_DATA = data/completions/hangtop.fish

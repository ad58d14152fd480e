#!/bin/sh
# run.sh - each target of targets.c for FUZZ_SECONDS under libFuzzer. Started by `make fuzz`; FUZZ_TARGETS names some of them only.
#
# What a target learns stays in tests/fuzz/learned/TARGET of the build folder, so that the next run goes on from there. An input that
# breaks something is put into broken/ beside it: mend the defect, then keep it in tests/fuzz/found/ of the sources under a name
# that says what it was; make check runs it from then on.
set -u
fuzz=$1
srcdir=${srcdir:-.}
HANGTOP_DATA=$srcdir/data
XDG_CONFIG_HOME=$(dirname "$fuzz")/no-config
ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}
export srcdir HANGTOP_DATA XDG_CONFIG_HOME ASAN_OPTIONS
folder=$(dirname "$fuzz")
log=$folder/fuzz.log
mkdir -p "$folder/broken"
failed=0
targets=${FUZZ_TARGETS:-$("$fuzz")}
[ -n "$targets" ] || exit 1
for target in $targets; do
	learned=$folder/learned/$target
	mkdir -p "$learned"
	seeds="$srcdir/tests/data/explain $srcdir/tests/fuzz/corpus"
	case $target in
	rocm_smi | amd_smi | nvidia_smi) seeds="$seeds $srcdir/tests/golden/gpu" ;;
	code_elf | code_object | disassembly) seeds="$seeds $srcdir/tests/data/code_object" ;;
	profile) seeds=$srcdir/data/profiles ;;
	signature) seeds=$srcdir/data/signatures ;;
	esac
	# shellcheck disable=SC2086
	if FUZZ_TARGET=$target "$fuzz" -max_total_time="${FUZZ_SECONDS:-10}" -max_len="${FUZZ_LENGTH:-8192}" -timeout=10 -rss_limit_mb=1500 \
		-print_final_stats=1 -verbosity=1 -dict="$srcdir/tests/fuzz/words.dict" -artifact_prefix="$folder/broken/$target-" "$learned" \
		$seeds >"$log" 2>&1 </dev/null; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
		echo "ok - $target: $runs runs"
	else
		echo "not ok - $target"
		grep -aE 'does not hold|ERROR: |runtime error|SUMMARY: |Test unit written' "$log" | sed 's/^/# /' | head -n 12
		cp "$log" "$folder/broken/$target.log"
		failed=1
	fi
done
exit $failed

#!/bin/bash
# Checks the proof in proof/ with Dafny, which it installs from the distribution's packages if it may:
#
#   - every lemma is verified, and those that proof/checks.txt names are there;
#   - nothing is assumed: no axiom, no assume, no lemma without a proof;
#   - each control of proof/checks.txt, the specification without one assumption, fails to verify.
#
# bash scripts/proof.sh [FILE.dfy|PREDICATE...] checks only these files and controls. Exit status: 0 all proved, 1 not,
# 2 without Dafny.
set -uo pipefail
cd "$(dirname "$0")/../proof" || exit

install='apt-get install -y --no-install-recommends dafny'
if ! command -v dafny >/dev/null; then
	as=
	[ "$(id -u)" = 0 ] || as='sudo -n'
	if command -v apt-get >/dev/null && { [ -z "$as" ] || $as true 2>/dev/null; }; then
		echo "installing dafny"
		export DEBIAN_FRONTEND=noninteractive
		{ $as apt-get update -qq && $as $install; } >/dev/null 2>&1
	fi
	if ! command -v dafny >/dev/null; then
		echo "proof.sh: Dafny is missing, nothing was checked: run 'sudo $install' (Debian), then this again" >&2
		exit 2
	fi
fi

work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# z3 4.8.12 does not know an option that Debian's Dafny 2.3.0 sets for every lemma. It says so, lists the options that
# it knows, and goes on: the controls fail, so it checks. Nothing else is filtered.
cat >"$work/noise" <<'END'
Legal parameters are:
  auto_config (bool) (default: true)
  debug_ref_count (bool) (default: false)
  dot_proof_file (string) (default: proof.dot)
  dump_models (bool) (default: false)
  memory_high_watermark (unsigned int) (default: 0)
  memory_max_alloc_count (unsigned int) (default: 0)
  memory_max_size (unsigned int) (default: 0)
  model (bool) (default: true)
  model_validate (bool) (default: false)
  proof (bool) (default: false)
  rlimit (unsigned int) (default: 0)
  smtlib2_compliant (bool) (default: false)
  stats (bool) (default: false)
  timeout (unsigned int) (default: 4294967295)
  trace (bool) (default: false)
  trace_file_name (string) (default: z3.log)
  type_check (bool) (default: true)
  unicode (bool)
  unsat_core (bool) (default: false)
  verbose (unsigned int) (default: 0)
  warning (bool) (default: true)
  well_sorted_check (bool) (default: false)
END
quiet() {
	grep -vxF -f "$work/noise" | grep -vxE "Prover error: line [0-9]+ column [0-9]+: unknown parameter 'model_compress'" |
		grep -vE '^(Dafny [0-9.]+|)$'
}

# verify OUT FILE [OPTION...]: runs Dafny; leaves its words in OUT.txt and the outcomes of lemmas in OUT.xml.
verify() {
	local out=$1
	shift
	{
		timeout 600 dafny /compile:0 /timeLimit:120 "/xml:$out.xml" "$@" 2>&1 </dev/null
		[ $? != 124 ] || echo "ended after 600 s"
	} | quiet >"$out.txt"
}

# outcome OUT LEMMA: prints what became of a lemma: correct, errors, or nothing if it was not checked.
outcome() {
	awk -v lemma="name=\"Impl\$\$_module.__default.$2\"" 'index($0, lemma) { on = 1 }
		on && match($0, /outcome="[^"]*"/) { print substr($0, RSTART + 9, RLENGTH - 10); exit }' "$1.xml" 2>/dev/null
}

# A file is right if Dafny says nothing but that all is verified, and has verified each of its lemmas.
check_file() {
	local file=$1 out=$work/${1%.dfy} bad= start=$SECONDS
	verify "$out" "$file"
	for lemma in $(sed -n 's/^lemma \([A-Za-z0-9]*\).*/\1/p' "$file"); do
		[ "$(outcome "$out" "$lemma")" = correct ] || bad="$bad $lemma"
	done
	if [ -z "$bad" ] && grep -qxE 'Dafny program verifier finished with [0-9]+ verified, 0 errors' "$out.txt" && [ "$(wc -l <"$out.txt")" = 1 ]; then
		echo "ok      $file, $((SECONDS - start)) s"
	else
		echo "FAILED  $file:${bad:- Dafny reports:}"
		sed 's/^/        /' "$out.txt"
	fi
}

# A control is right if the lemma has errors without the assumption: a timeout or a mistake of syntax is not enough.
check_control() {
	local predicate=$1 file=$2 lemma=$3 dir=$work/without-$1 start=$SECONDS
	mkdir "$dir" && cp ./*.dfy "$dir"
	sed -i "s/^\(predicate $predicate(.*)\) {.*}\$/\1 { true }/" "$dir"/*.dfy
	if cmp -s <(cat ./*.dfy) <(cat "$dir"/*.dfy); then
		echo "FAILED  control $predicate: no predicate of that name in one line"
		return
	fi
	(cd "$dir" && verify "$dir/out" "$file" "/proc:Impl\$\$_module.__default.$lemma")
	if [ "$(outcome "$dir/out" "$lemma")" = errors ]; then
		echo "ok      without $predicate $lemma fails, $((SECONDS - start)) s"
	else
		echo "FAILED  control $predicate: without it $lemma does not fail"
		sed 's/^/        /' "$dir/out.txt"
	fi
}

# What is asked for. Large files take longest, so they come first.
files=$(ls -S ./*.dfy | sed 's|^\./||')
controls=$(sed -n 's/^control //p' checks.txt)
if [ $# -gt 0 ]; then
	asked=$(printf '%s\n' "$@")
	files=$(grep -xF "$asked" <<<"$files")
	controls=$(awk -v asked=" $* " 'index(asked, " " $1 " ")' <<<"$controls")
fi

{
	# Nothing is assumed. proof/ has no exception; one would need a line here, with its reason.
	grep -nE '\{:(axiom|verify|extern|opaque)|\bassume\b|\bexpect\b|\bextern\b' ./*.dfy | sed 's/^/FAILED  assumed: /'
	grep -nE '^(function|predicate)[^{]*\bensures\b' ./*.dfy | sed 's/^/FAILED  a function with a postcondition: /'
	while read -r file lemma; do
		grep -qE "^lemma $lemma\(" "$file" || echo "FAILED  missing: lemma $lemma in $file"
	done < <(sed -n 's/^theorem //p' checks.txt)
	for predicate in $(sed -n 's/^predicate \([AF][0-9][A-Za-z]*\)(.*/\1/p' ./*.dfy); do
		grep -q "^control $predicate " checks.txt || echo "FAILED  $predicate is an assumption without a control in checks.txt"
	done

	# As many at a time as there are cores.
	for file in $files; do
		while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; do wait -n; done
		check_file "$file" &
	done
	while read -r predicate file lemma; do
		[ -n "$predicate" ] || continue
		while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; do wait -n; done
		check_control "$predicate" "$file" "$lemma" &
	done <<<"$controls"
	wait
} | tee "$work/report"

right=$(grep -c '^ok ' "$work/report")
wrong=$(grep -c '^FAILED ' "$work/report")
echo "$right checked, $wrong failed"
[ "$wrong" = 0 ] && [ "$right" -gt 0 ]

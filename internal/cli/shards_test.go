package cli

import (
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/shard"
)

// wantSameTree wants two directories to have the same files, but for records.
func wantSameTree(t *testing.T, a, b string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "diff", "-r", "-x", "shard-*", a, b).CombinedOutput(); err != nil {
		t.Errorf("%s and %s differ:\n%s", a, b, out)
	}
}

// Law: what is made in shards and joined is printed and stored as by one process, to the byte.
func TestShards(t *testing.T) {
	withSweep(t)
	defer func(before int) { huntUnit = before }(huntUnit)
	huntUnit = 10
	for name, words := range map[string][]string{
		"sweep":   {"sweep", "small", "--runs", "6"},
		"explore": {"explore", forgetful, "--bounds", "tick=5ms"},
		"hunt":    {"hunt", "--assume", "promised", "--runs", "35"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			shards, one, joined := filepath.Join(dir, "shards"), filepath.Join(dir, "one"), filepath.Join(dir, "joined")
			code, whole, _ := command(t, append(words, "--out", one)...)
			whole = strings.ReplaceAll(whole, one, joined)
			merge := append(words, "--merge", shards)
			if words[0] != "explore" {
				merge = append(merge, "--out", joined)
			}
			for i := range 3 {
				t.Setenv("JOB_COMPLETION_INDEX", strconv.Itoa(i))
				made, out, problems := command(t, append(words, "--shard", "auto/3", "--out", shards)...)
				want(t, "exit code of a shard", made, exitAsExpected)
				want(t, "problems", problems, "")
				wantIn(t, out, "made, in "+shards+"/shard-"+strconv.Itoa(i+1)+"-of-3.jsonl. Join all shards with --merge.\n")
			}
			merged, out, problems := command(t, merge...)
			want(t, "exit code", merged, code)
			want(t, "what is printed", out, whole)
			want(t, "problems", problems, "")
			if name == "sweep" {
				wantSameTree(t, one, joined)
			}
			merged, _, problems = command(t, append(words, "--merge", shards+"/shard-1-of-3.jsonl")...)
			want(t, "exit code without two shards", merged, exitBadInput)
			wantIn(t, problems, "--merge: no file has shards 2/3, 3/3\n")
		})
	}
}

// Law: joined shards of a hunt have the counts and the first runs of the whole, whether it goes to its last run
// or ends with a find in the middle of a unit.
func TestJoinedHunt(t *testing.T) {
	defer func(before int) { huntUnit = before }(huntUnit)
	huntUnit = 10
	for properties, runs := range map[string]int{"V1,L1": 45, "V1,V3": 34, "C": 60} {
		o := huntOptions{properties: strings.Split(properties, ","), faults: "all", most: usualMost, runs: 60, seed: 1}
		if properties == "V1,L1" { // the latter never
			o.runs = runs
		}
		q, err := o.search([]string{"calm"})
		if err != nil {
			t.Fatal(err)
		}
		whole, err := q.watched(t.Context(), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		dir, work := t.TempDir(), shard.Work{Kind: "hunt"}
		for i := range 3 {
			log, err := shard.Open(dir, work, shard.Shard{I: i + 1, N: 3})
			if err == nil {
				err = errors.Join(q.shard(t.Context(), log, io.Discard), log.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		log, err := shard.Join([]string{dir}, work)
		if err != nil {
			t.Fatal(err)
		}
		joined, err := q.joined(t.Context(), log)
		if err != nil {
			t.Fatal(err)
		}
		want(t, properties+": runs", joined.Runs, runs)
		if !same(joined.Counts, whole.Counts) || len(joined.First) != len(whole.First) {
			t.Errorf("%s: %+v, and not %+v", properties, joined.Counts, whole.Counts)
		}
		for p, run := range whole.First {
			if again := joined.First[p]; again.Number != run.Number || again.Result.TraceHash != run.Result.TraceHash {
				t.Errorf("%s: %s in run %d, and not %d", properties, p, again.Number, run.Number)
			}
		}
	}
}

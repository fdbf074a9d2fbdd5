package cli

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
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
	for name, words := range map[string][]string{
		"sweep":   {"sweep", "small", "--runs", "6"},
		"explore": {"explore", worldFile(t, forgetful), "--tick", "5ms"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			shards, one, joined := filepath.Join(dir, "shards"), filepath.Join(dir, "one"), filepath.Join(dir, "joined")
			code, whole, _ := command(t, append(words, "--out", one)...)
			merge := append(words, "--merge", shards)
			if name == "sweep" {
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

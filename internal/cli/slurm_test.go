//go:build linux

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// Law: what docs/slurm-array.sh makes of a sweep, while a task is killed and queued again, is what one
// process makes. scripts/slurm.sh starts Slurm for this test.
func TestSlurm(t *testing.T) {
	if os.Getenv("LOCKSTORM_TEST_SLURM") == "" {
		t.Skip("scripts/slurm.sh starts Slurm")
	}
	dir := t.TempDir()
	script, err := filepath.Abs("../../docs/slurm-array.sh")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "lockstorm")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH")) // Slurm gives jobs the environment of sbatch
	t.Setenv(asCommand, "1")
	run := func(words ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", words, err, out)
		}
		return strings.TrimSpace(string(out))
	}

	work := []string{"sweep", "restart-delay", "--runs", "12000", "--points", "1,2,3,4,5,6"}
	said := run(append([]string{"sh", script, "3", "results"}, work...)...)
	array := strings.Fields(said)[1]
	shard := filepath.Join(dir, "results", "shards", "shard-2-of-3.jsonl")
	lines := func() int {
		text, _ := os.ReadFile(shard)
		return bytes.Count(text, []byte("\n"))
	}
	soon(t, "the second task has made something", func() bool { return lines() > 2 })
	run("scontrol", "requeue", array+"_2") // which kills it
	before := lines()
	if text, _ := os.ReadFile(shard); bytes.Contains(text, []byte(`{"end":`)) {
		t.Fatal("the task had come to its end before it was killed")
	}
	for end := time.Now().Add(15 * time.Minute); run("squeue", "--noheader") != ""; time.Sleep(time.Second) { // Slurm waits for two minutes
		if time.Now().After(end) {
			t.Fatalf("still queued:\n%s", run("squeue"))
		}
	}
	t.Logf("the task had %d of %d lines when it was killed", before, lines())

	alone := filepath.Join(dir, "alone")
	_, whole, _ := command(t, append(work, "--out", alone)...)
	merged := testkit.Read(t, filepath.Join(dir, "results", "merge.log"))
	want(t, "what is printed", merged, whole)
	wantSameTree(t, alone, filepath.Join(dir, "results", "merged"))
}

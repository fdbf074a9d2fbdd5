//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// These tests give what campaign manifest writes to Slurm, which scripts/slurm.sh starts for them.

// slurmSweep is the sweep of these tests.
var slurmSweep = []string{"sweep", "restart-delay", "--runs", "100", "--points", "1,2,3,4,5,6,7,8,9,10"}

// slurmCluster is a directory from which jobs are submitted.
type slurmCluster struct {
	t   *testing.T
	dir string
}

// newSlurmCluster skips the test where there is no Slurm.
func newSlurmCluster(t *testing.T) slurmCluster {
	t.Helper()
	if os.Getenv("LOCKSTORM_TEST_SLURM") == "" {
		t.Skip("make test-slurm starts Slurm")
	}
	asWorker(t) // Slurm gives jobs the environment of sbatch
	return slurmCluster{t, t.TempDir()}
}

// script writes the script for sbatch, and returns its name.
func (c slurmCluster) script(args ...string) string {
	c.t.Helper()
	args = append([]string{"campaign", "manifest", "--slurm", "--binary", os.Args[0], "--memory", "500", "--time", "10m"}, args...)
	code, text, problems := command(c.t, args...)
	if code != exitAsExpected {
		c.t.Fatal(problems)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "job.sbatch"), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
	return "job.sbatch"
}

// run runs a command of Slurm, and returns what it printed.
func (c slurmCluster) run(words ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), words[0], words[1:]...)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v: %s\n%s", words, err, out, c.logs())
	}
	return strings.TrimSpace(string(out))
}

// logs returns what all jobs have printed.
func (c slurmCluster) logs() string {
	var all strings.Builder
	names, _ := filepath.Glob(filepath.Join(c.dir, "*.log"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		fmt.Fprintf(&all, "%s:\n%s\n", filepath.Base(name), text)
	}
	return all.String()
}

// alone makes the results of one process.
func (c slurmCluster) alone() (code int, dir string) {
	dir = filepath.Join(c.dir, "alone")
	code, _, _ = command(c.t, append([]string{slurmSweep[0], "--out", dir}, slurmSweep[1:]...)...)
	return code, dir
}

// Law: workers that Slurm starts make the bytes of one process.
func TestSlurmWorkers(t *testing.T) {
	c, url := newSlurmCluster(t), startNATS(t)
	code, alone := c.alone()
	command(t, append([]string{"campaign", "start", "--nats", url, "--name", "delay", "--detach", "--shard-runs", "20"}, slurmSweep...)...)
	c.run("sbatch", "--wait", c.script("--machines", "4", "--nats", url, "--campaign", "delay"))
	if n := strings.Count(c.logs(), " made; nothing is queued"); n != 4 {
		t.Errorf("%d of 4 workers have come to the end:\n%s", n, c.logs())
	}
	merged, _, problems := command(t, "campaign", "merge", "--nats", url, "delay", "--out", c.dir+"/merged")
	want(t, "exit code of merge", merged, code)
	want(t, "problems", problems, "")
	wantSameTree(t, alone, c.dir+"/merged")
}

// A worker that Slurm stops drains. Its shards are left to the next job.
func TestSlurmWorkerIsStopped(t *testing.T) {
	c, url := newSlurmCluster(t), startNATS(t)
	_, alone := c.alone()
	command(t, append([]string{"campaign", "start", "--nats", url, "--name", "delay", "--detach", "--shard-runs", "20"}, slurmSweep...)...)
	script := c.script("--machines", "2", "--nats", url, "--campaign", "delay")
	job := c.run("sbatch", "--parsable", script)
	soon(t, "a shard is made", func() bool {
		_, out, _ := command(t, "campaign", "status", "--nats", url, "--json")
		return !strings.Contains(out, `"done": 0,`)
	})
	c.run("scancel", job)
	soon(t, "the job is gone", func() bool { return c.run("squeue", "--noheader") == "" })
	_, out, _ := command(t, "campaign", "status", "--nats", url, "--json")
	wantIn(t, out, `"failures": 0`)
	c.run("sbatch", "--wait", script)
	_, _, problems := command(t, "campaign", "merge", "--nats", url, "delay", "--out", c.dir+"/merged")
	want(t, "problems", problems, "")
	wantSameTree(t, alone, c.dir+"/merged")
}

// Law: without servers an array makes the parts, whatever its range is, and a job that depends on it puts
// them together.
func TestSlurmParts(t *testing.T) {
	c := newSlurmCluster(t)
	_, alone := c.alone()
	script := c.script(append([]string{"--machines", "3", "--out", "shared dir"}, slurmSweep...)...)
	job := c.run("sbatch", "--parsable", script)
	c.run("sbatch", "--wait", "--mem=500M", "--dependency=afterok:"+job, "--wrap", "sh "+script+"; test $? -ne 2")
	wantSameTree(t, alone, c.dir+"/shared dir/merged")

	c.script(append([]string{"--machines", "3", "--out", "again"}, slurmSweep...)...)
	c.run("sbatch", "--wait", "--array=10-30:10", script)
	var parts []string
	for i := 10; i <= 30; i += 10 {
		parts = append(parts, c.dir+"/again/part-"+strconv.Itoa(i))
	}
	command(t, append([]string{"merge", "--out", c.dir + "/again/merged"}, parts...)...)
	wantSameTree(t, alone, c.dir+"/again/merged")
}

// A part that is repeated by an array of its own is refused: it would be another part.
func TestSlurmPartAlone(t *testing.T) {
	c := newSlurmCluster(t)
	script := c.script(append([]string{"--machines", "3", "--out", "parts"}, slurmSweep...)...)
	cmd := exec.CommandContext(t.Context(), "sbatch", "--wait", "--array=2", script)
	cmd.Dir = c.dir
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("it succeeded: %s", out)
	}
	wantIn(t, c.logs(), "want an array of 3 tasks; to repeat one part name it, such as --shard 3/3")
}

// An exploration is divided likewise.
func TestSlurmExploration(t *testing.T) {
	c := newSlurmCluster(t)
	words := []string{"explore", "crash-restart", "--deviations", "1"}
	var states []string
	for i := range 3 {
		states = append(states, fmt.Sprintf("%s/%d.json", c.dir, i))
		command(t, append(words, "--shard", fmt.Sprintf("%d/3", i+1), "--state", states[i])...)
	}
	code, here, _ := command(t, append(words, "--merge", strings.Join(states, ","))...)
	script := c.script(append([]string{"--machines", "3", "--out", "parts"}, words...)...)
	c.run("sbatch", "--wait", script)
	cmd := exec.CommandContext(t.Context(), "sh", script)
	cmd.Dir = c.dir
	out, _ := cmd.Output()
	want(t, "exit code", cmd.ProcessState.ExitCode(), code)
	want(t, "printed", string(out), here)
}

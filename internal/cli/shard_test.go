package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestScheduledShard(t *testing.T) {
	slurm := func(task, first, last, step, count string) map[string]string {
		return map[string]string{slurmTask: task, slurmFirst: first, "SLURM_ARRAY_TASK_MAX": last, slurmStep: step, slurmTasks: count}
	}
	kubernetes := func(index string) map[string]string { return map[string]string{kubernetesIndex: index} }
	for name, c := range map[string]struct {
		n    string
		env  map[string]string
		want string // the shard, or the error
	}{
		"1-8, task 1":       {"8", slurm("1", "1", "8", "1", "8"), "1/8"},
		"1-8, task 8":       {"8", slurm("8", "1", "8", "1", "8"), "8/8"},
		"0-7, task 0":       {"8", slurm("0", "0", "7", "1", "8"), "1/8"},
		"100-107, task 103": {"8", slurm("103", "100", "107", "1", "8"), "4/8"},
		"10-80:10, task 30": {"8", slurm("30", "10", "80", "10", "8"), "3/8"},
		"only the task":     {"8", map[string]string{slurmTask: "3"}, "3/8"},
		"index 0":           {"3", kubernetes("0"), "1/3"},
		"index 2":           {"3", kubernetes("2"), "3/3"},

		"index 3 of 3":       {"3", kubernetes("3"), "this is part 4 of the array: want 1 to 3"},
		"index below 0":      {"3", kubernetes("-1"), "this is part 0 of the array: want 1 to 3"},
		"neither":            {"3", nil, "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set"},
		"both":               {"3", map[string]string{slurmTask: "1", kubernetesIndex: "0"}, "both SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX are set"},
		"no number":          {"3", kubernetes("one"), `JOB_COMPLETION_INDEX="one": want a number`},
		"no number of Slurm": {"3", slurm("1", "x", "3", "1", "3"), `SLURM_ARRAY_TASK_MIN="x": want a number`},
		"too large":          {"3", kubernetes("99999999999999999999"), "want a number"},
		"repeated alone":     {"8", slurm("3", "3", "3", "1", "1"), "SLURM_ARRAY_TASK_COUNT is 1: want an array of 8 tasks; to repeat one part name it, such as --shard 3/8"},
		"a list with a gap":  {"3", slurm("9", "1", "9", "1", "3"), "this is part 9 of the array: want 1 to 3"},
		"between two steps":  {"2", slurm("3", "1", "5", "4", "2"), "SLURM_ARRAY_TASK_ID=3: it is no multiple of SLURM_ARRAY_TASK_STEP=4 behind SLURM_ARRAY_TASK_MIN=1"},
		"no parts":           {"0", kubernetes("0"), `the shard "auto/0": want auto/n, with n from 1`},
		"no number of parts": {"", kubernetes("0"), `the shard "auto/": want auto/n, with n from 1`},
	} {
		t.Run(name, func(t *testing.T) {
			shard, err := scheduledShard(c.n, func(name string) string { return c.env[name] })
			got := shard.String()
			if err != nil {
				got = err.Error()
			}
			if got != c.want && (err == nil || !strings.Contains(got, c.want) || strings.Contains(got, "\n")) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Law: parts that a scheduler chose are those that --shard i/n names, and a part that is made succeeds.
func TestShardsOfAScheduler(t *testing.T) {
	dir := t.TempDir()
	sweep := []string{"sweep", "restart-delay", "--runs", "20", "--points", "1,2,3"}
	code, _, _ := command(t, append(sweep, "--out", dir+"/whole")...)
	var parts []string
	for i := range 2 {
		t.Setenv(kubernetesIndex, fmt.Sprint(i))
		part := filepath.Join(dir, fmt.Sprint(i))
		made, _, problems := command(t, append(sweep, "--shard", "auto/2", "--out", part)...)
		want(t, "exit code of a part", made, exitAsExpected)
		want(t, "problems", problems, "")
		parts = append(parts, part)
	}
	merged, _, _ := command(t, append([]string{"merge", "--out", dir + "/merged"}, parts...)...)
	want(t, "exit code of merge", merged, code)
	wantSameTree(t, dir+"/whole", dir+"/merged")

	file := worldFile(t, tinyWorld)
	var states []string
	for i := range 2 {
		t.Setenv(kubernetesIndex, fmt.Sprint(i))
		state := filepath.Join(dir, fmt.Sprintf("%d.json", i))
		made, out, _ := command(t, "explore", file, "--shard", "auto/2", "--state", state)
		want(t, "exit code of a part", made, exitAsExpected)
		wantIn(t, out, fmt.Sprintf("shard %d/2 was made", i+1))
		states = append(states, state)
	}
	code, out, _ := command(t, "explore", file, "--merge", strings.Join(states, ","))
	want(t, "exit code of --merge", code, exitAsExpected)
	wantIn(t, out, "holds in all runs (")
	code, _, _ = command(t, "explore", file, "--shard", "auto/2", "--state", filepath.Join(dir, "short.json"), "--runs", "1")
	want(t, "exit code of a part that is not complete", code, exitUndecided)
}

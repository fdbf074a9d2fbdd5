package shard_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/shard"
)

func TestParse(t *testing.T) {
	slurm := func(task, first, step, count string) map[string]string {
		return map[string]string{"SLURM_ARRAY_TASK_ID": task, "SLURM_ARRAY_TASK_MIN": first, "SLURM_ARRAY_TASK_STEP": step, "SLURM_ARRAY_TASK_COUNT": count}
	}
	pod := func(index string) map[string]string { return map[string]string{"JOB_COMPLETION_INDEX": index} }
	for name, c := range map[string]struct {
		text string
		env  map[string]string
		want string // the shard, or the error
	}{
		"named":             {"2/3", nil, "2/3"},
		"all":               {"1/1", nil, "1/1"},
		"1-8, task 8":       {"auto", slurm("8", "1", "1", "8"), "8/8"},
		"0-7, task 0":       {"auto", slurm("0", "0", "1", "8"), "1/8"},
		"100-107, task 103": {"auto/8", slurm("103", "100", "1", "8"), "4/8"},
		"10-80:10, task 30": {"auto", slurm("30", "10", "10", "8"), "3/8"},
		"only the task":     {"auto/8", map[string]string{"SLURM_ARRAY_TASK_ID": "3"}, "3/8"},
		"pod 0":             {"auto/3", pod("0"), "1/3"},
		"pod 2":             {"auto/3", pod("2"), "3/3"},

		"too large":            {"3/2", nil, `the shard "3/2": want i/n with i from 1 to n, or auto`},
		"nothing":              {"", nil, "want i/n"},
		"no count of tasks":    {"auto", map[string]string{"SLURM_ARRAY_TASK_ID": "3"}, "SLURM_ARRAY_TASK_COUNT is not set: name the number of shards, as in auto/8"},
		"no count of pods":     {"auto", pod("0"), "auto: an Indexed Job does not say how many pods it has: name the number of shards, as in auto/8"},
		"pod 3 of 3":           {"auto/3", pod("3"), "auto/3: this is task 4 of the array: want 1 to 3"},
		"a pod below 0":        {"auto/3", pod("-1"), "this is task 0 of the array"},
		"no scheduler":         {"auto/3", nil, "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set"},
		"two schedulers":       {"auto/3", map[string]string{"SLURM_ARRAY_TASK_ID": "1", "JOB_COMPLETION_INDEX": "0"}, "both SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX are set"},
		"no index":             {"auto/3", pod("one"), `JOB_COMPLETION_INDEX="one": want a number`},
		"no number of Slurm":   {"auto/3", slurm("1", "x", "1", "3"), `SLURM_ARRAY_TASK_MIN="x": want a number`},
		"repeated alone":       {"auto/8", slurm("3", "3", "1", "1"), "SLURM_ARRAY_TASK_COUNT is 1: want an array of 8 tasks; to repeat one shard name it, such as --shard 3/8"},
		"a list with a gap":    {"auto/3", slurm("9", "1", "1", "3"), "this is task 9 of the array: want 1 to 3"},
		"between two steps":    {"auto/2", slurm("3", "1", "4", "2"), "SLURM_ARRAY_TASK_ID=3 is no multiple of SLURM_ARRAY_TASK_STEP=4 after SLURM_ARRAY_TASK_MIN=1"},
		"no shards":            {"auto/0", pod("0"), `the shard "auto/0": want auto/n with n from 1`},
		"more than a number":   {"1/2/3", nil, "want i/n"},
		"a negative shard":     {"-1/2", nil, "want i/n"},
		"a shard of a billion": {"1/99999999999999999999", nil, "want i/n"},
	} {
		s, err := shard.Parse(c.text, func(name string) string { return c.env[name] })
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want) || strings.Contains(got, "\n")) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

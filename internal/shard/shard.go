package shard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Shard is part I of N of some work, from 1 to N: the units of which the number, modulo N, is I-1.
type Shard struct{ I, N int }

// Whole is all of the work.
var Whole = Shard{1, 1}

// Has reports whether a unit, numbered from 0, is in the shard.
func (s Shard) Has(unit int) bool { return unit%s.N == s.I-1 }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

// MarshalText implements [encoding.TextMarshaler].
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Shard) UnmarshalText(text []byte) error {
	i, n, _ := strings.Cut(string(text), "/")
	var err, wrong error
	s.I, err = strconv.Atoi(i)
	s.N, wrong = strconv.Atoi(n)
	if err != nil || wrong != nil || s.I < 1 || s.I > s.N {
		return fmt.Errorf("the shard %q: want i/n with i from 1 to n, or auto", text)
	}
	return nil
}

// Parse reads "i/n"; "auto", the task of a Slurm array or the pod of an Indexed Job of Kubernetes that
// this process is; or "auto/n", where the scheduler does not say how many there are.
func Parse(text string, env func(string) string) (s Shard, err error) {
	if text != "auto" && !strings.HasPrefix(text, "auto/") {
		return s, s.UnmarshalText([]byte(text))
	}
	n := 0
	if of, given := strings.CutPrefix(text, "auto/"); given {
		if n, err = strconv.Atoi(of); err != nil || n < 1 {
			return s, fmt.Errorf("the shard %q: want auto/n with n from 1", text)
		}
	}
	slurm, kubernetes := env(slurmTask) != "", env(podIndex) != ""
	switch {
	case slurm && kubernetes:
		err = fmt.Errorf("both %s and %s are set", slurmTask, podIndex)
	case slurm:
		s, err = slurmShard(n, env)
	case kubernetes && n == 0:
		err = errors.New("an Indexed Job does not say how many pods it has: name the number of shards, as in auto/8")
	case kubernetes:
		s.N = n
		s.I, err = number(podIndex, env)
		s.I++
	default:
		err = fmt.Errorf("neither %s nor %s is set", slurmTask, podIndex)
	}
	if err == nil && (s.I < 1 || s.I > s.N) {
		err = fmt.Errorf("this is task %d of the array: want 1 to %d", s.I, s.N)
	}
	if err != nil {
		return Shard{}, fmt.Errorf("%s: %w", text, err)
	}
	return s, nil
}

// The variables by which schedulers number their tasks: "OUTPUT ENVIRONMENT VARIABLES" of sbatch(1), and
// Kubernetes' documentation of Indexed Jobs.
const (
	slurmTask  = "SLURM_ARRAY_TASK_ID"
	slurmFirst = "SLURM_ARRAY_TASK_MIN"
	slurmStep  = "SLURM_ARRAY_TASK_STEP"
	slurmCount = "SLURM_ARRAY_TASK_COUNT"
	podIndex   = "JOB_COMPLETION_INDEX" // from 0
)

// slurmShard returns the shard of a task in an array such as 1-8, 0-7 or 10-80:10. It returns an error if
// the array has not n tasks: of one that repeats some of them, such as 3,5, nobody can say which they are.
func slurmShard(n int, env func(string) string) (Shard, error) {
	var wrong error
	read := func(name string, missing int) int {
		if env(name) == "" {
			return missing
		}
		v, err := number(name, env)
		wrong = errors.Join(wrong, err)
		return v
	}
	task, first, step, count := read(slurmTask, 0), read(slurmFirst, 1), read(slurmStep, 1), read(slurmCount, n)
	switch {
	case wrong != nil:
		return Shard{}, wrong
	case count == 0:
		return Shard{}, fmt.Errorf("%s is not set: name the number of shards, as in auto/8", slurmCount)
	case n > 0 && count != n:
		return Shard{}, fmt.Errorf("%s is %d: want an array of %d tasks; to repeat one shard name it, such as --shard 3/%d", slurmCount, count, n, n)
	case step < 1 || (task-first)%step != 0:
		return Shard{}, fmt.Errorf("%s=%d is no multiple of %s=%d after %s=%d", slurmTask, task, slurmStep, step, slurmFirst, first)
	}
	return Shard{(task-first)/step + 1, count}, nil
}

// number returns a variable that is a number.
func number(name string, env func(string) string) (int, error) {
	v, err := strconv.Atoi(env(name))
	if err != nil {
		return 0, fmt.Errorf("%s=%q: want a number", name, env(name))
	}
	return v, nil
}

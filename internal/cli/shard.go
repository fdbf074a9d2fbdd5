package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/sweep"
)

// shardFlag is the flag --shard: "i/n", or "auto/n" for the part that a scheduler gives to this process.
type shardFlag struct {
	sweep.Shard

	// auto: a scheduler chose the part. A scheduler repeats what fails, so a part that was made must
	// not fail, whatever it has shown: the verdict is that of all parts together.
	auto bool
}

// Set implements pflag.Value.
func (s *shardFlag) Set(text string) (err error) {
	of, auto := strings.CutPrefix(text, "auto/")
	if auto {
		s.Shard, err = scheduledShard(of, os.Getenv)
	} else {
		s.Shard, err = sweep.ParseShard(text)
	}
	s.auto = auto
	return err
}

// Type implements pflag.Value.
func (*shardFlag) Type() string { return "string" }

// made replaces the verdict of a part that a scheduler chose, and that is complete, by success.
func (s *shardFlag) made(complete bool, err error) error {
	if s.auto && complete && isVerdict(err) {
		return nil
	}
	return err
}

// scheduledShard returns the shard of n that a scheduler gives to this process by its environment.
func scheduledShard(n string, env func(string) string) (sweep.Shard, error) {
	of, err := strconv.Atoi(n)
	if err != nil || of < 1 {
		return sweep.Shard{}, fmt.Errorf("the shard %q: want auto/n, with n from 1", "auto/"+n)
	}
	array, job := env(slurmTask) != "", env(kubernetesIndex) != ""
	var index int
	switch {
	case array && job:
		return sweep.Shard{}, fmt.Errorf("both %s and %s are set", slurmTask, kubernetesIndex)
	case array:
		index, err = slurmIndex(of, env)
	case job:
		index, err = number(kubernetesIndex, env)
	default:
		err = fmt.Errorf("neither %s nor %s is set", slurmTask, kubernetesIndex)
	}
	if err == nil && (index < 0 || index >= of) {
		err = fmt.Errorf("this is part %d of the array: want 1 to %d", index+1, of)
	}
	if err != nil {
		return sweep.Shard{}, err
	}
	return sweep.Shard{I: index + 1, Of: of}, nil
}

// The variables by which schedulers number the tasks of an array: sbatch(1), "OUTPUT ENVIRONMENT
// VARIABLES", and the documentation of Kubernetes on Indexed Jobs.
const (
	slurmTask       = "SLURM_ARRAY_TASK_ID"
	slurmFirst      = "SLURM_ARRAY_TASK_MIN"
	slurmStep       = "SLURM_ARRAY_TASK_STEP"
	slurmTasks      = "SLURM_ARRAY_TASK_COUNT"
	kubernetesIndex = "JOB_COMPLETION_INDEX" // from 0
)

// slurmIndex returns the index, from 0, of a task in an array such as 1-8, 0-7 or 10-80:10. It returns
// an error if the array has not n tasks: of an array with fewer, such as --array=3 to repeat one task,
// nobody can say which parts its tasks are.
func slurmIndex(n int, env func(string) string) (int, error) {
	var wrong error
	of := func(name string, missing int) int {
		if env(name) == "" {
			return missing
		}
		v, err := number(name, env)
		wrong = errors.Join(wrong, err)
		return v
	}
	task, first, step, tasks := of(slurmTask, 0), of(slurmFirst, 1), of(slurmStep, 1), of(slurmTasks, n)
	switch {
	case wrong != nil:
		return 0, wrong
	case tasks != n:
		return 0, fmt.Errorf("%s is %d: want an array of %d tasks; to repeat one part name it, such as --shard 3/%d", slurmTasks, tasks, n, n)
	case step < 1 || (task-first)%step != 0:
		return 0, fmt.Errorf("%s=%d: it is no multiple of %s=%d behind %s=%d", slurmTask, task, slurmStep, step, slurmFirst, first)
	}
	return (task - first) / step, nil
}

// number returns a variable that is a number.
func number(name string, env func(string) string) (int, error) {
	v, err := strconv.Atoi(env(name))
	if err != nil {
		return 0, fmt.Errorf("%s=%q: want a number", name, env(name))
	}
	return v, nil
}

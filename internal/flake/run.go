//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// job is a binary that is to run under a stress.
type job struct {
	tested
	stress
	binary string
	hash   string
	run    string        // which of its tests; "": all
	skip   string        // which not; "": none
	begun  int           // runs that are kept or under way
	takes  time.Duration // as long as it took last; 0: not known
}

// stressor runs jobs.
type stressor struct {
	tool   string        // test2json
	output string        // the folder for the output of what failed
	limit  time.Duration // a run may last so long
	grace  time.Duration // and so much longer to say where it stands
}

// words are the command of a job, but for what makes it stressed.
func (r *stressor) words(j job, seed int64) []string {
	words := []string{j.binary, "-test.v=test2json", fmt.Sprintf("-test.shuffle=%d", seed), fmt.Sprintf("-test.timeout=%s", r.limit)}
	if j.run != "" {
		words = append(words, "-test.run="+j.run)
	}
	if j.skip != "" {
		words = append(words, "-test.skip="+j.skip)
	}
	return words
}

// do runs a job on a slot, of which each has one run at a time, and returns its result. The
// error is that of ctx, or says that the run could not be made. No process is left.
func (r *stressor) do(ctx context.Context, j job, slot int, seed int64) (result, error) {
	if j.busy {
		stop, err := keepBusy()
		if err != nil {
			return result{}, err
		}
		defer stop()
	}
	file := filepath.Join(r.output, fmt.Sprintf("%s.%s.%d.txt", strings.ReplaceAll(j.tested.name, "/", "_"), j.stress.name, seed))
	output, err := os.Create(file)
	if err != nil {
		return result{}, err
	}
	defer func() { _ = output.Close() }()

	began := time.Now()
	ended, p, err := r.start(ctx, j, slot, seed, output)
	if err != nil {
		return result{}, err
	}
	res := result{
		Package: j.tested.name, Stress: j.stress.name, Hash: j.hash, Seed: seed, Began: began.UTC().Truncate(time.Second),
		Seconds: time.Since(began).Seconds(), Passed: p.count("pass"), Skipped: p.count("skip"),
	}
	if ended == nil {
		return res, os.Remove(file)
	}
	res.Ended, res.Failed, res.Output = ended.Error(), p.failed(), file
	return res, nil
}

// start runs the binary to its end and follows its events. ended is how it ended, nil if
// it passed; err is that it could not be run to its end.
func (r *stressor) start(ctx context.Context, j job, slot int, seed int64, output io.Writer) (ended error, p progress, err error) {
	words := j.stress.command(slot%runtime.NumCPU(), r.words(j, seed)...)
	cmd := command(ctx, j.dir, words[0], words[1:]...)
	marked := fmt.Sprintf("%s=%d-%d", mark, os.Getpid(), slot)
	cmd.Env = append(append(environ(), j.stress.environment()...), marked)
	read, write, err := os.Pipe()
	if err != nil {
		return nil, p, err
	}
	defer func() { _ = read.Close() }()
	cmd.Stdout, cmd.Stderr = write, write
	tool := command(context.Background(), "", r.tool, "-t")
	tool.Stdin = read
	events, err := tool.StdoutPipe()
	if err == nil {
		err = tool.Start()
	}
	if err != nil {
		_ = write.Close()
		return nil, p, err
	}
	err = cmd.Start()
	_ = write.Close()
	if err == nil {
		waited := make(chan struct{})
		go func() {
			defer close(waited)
			ended = r.wait(cmd)
			sweep(marked) // who holds the pipe would keep us from its end
		}()
		p, err = follow(events, output)
		_, _ = io.Copy(io.Discard, events)
		<-waited
	}
	if e := tool.Wait(); err == nil {
		err = e
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return ended, p, err
}

// wait waits for a binary. One that does not end by itself when its time is over is asked for
// its stacks, and is then killed.
func (r *stressor) wait(cmd *exec.Cmd) error {
	ask := time.AfterFunc(r.limit+r.grace, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	defer ask.Stop()
	kill := time.AfterFunc(r.limit+2*r.grace, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer kill.Stop()
	return cmd.Wait()
}

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/internal/files"
)

// workspace is the directory with binaries and results, and what uses it.
type workspace struct {
	held     *os.File
	kept     *store
	binaries string
	stressor stressor
}

// openWorkspace opens and locks a directory, creates it if necessary, and builds the tool that
// reads the output of tests.
func openWorkspace(ctx context.Context, dir string) (*workspace, error) {
	d := &workspace{binaries: filepath.Join(dir, "bin"), stressor: stressor{
		tool: filepath.Join(dir, "bin", "test2json"), output: filepath.Join(dir, "failed"), grace: 30 * time.Second,
	}}
	for _, folder := range []string{d.binaries, d.stressor.output} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
	}
	var err error
	if d.held, err = files.Hold(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if out, err := command(ctx, dir, "go", "build", "-o", d.stressor.tool, "cmd/test2json").CombinedOutput(); err != nil {
		d.close()
		return nil, fmt.Errorf("build test2json: %w\n%s", err, out)
	}
	if d.kept, err = openStore(filepath.Join(dir, "results.jsonl")); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *workspace) close() {
	if d.kept != nil {
		_ = d.kept.file.Close()
	}
	_ = d.held.Close()
}

// work makes the remaining runs until the budget is used up, ctx ends, or a run cannot be
// made.
func (d *workspace) work(ctx context.Context, jobs []*job, o options, progress io.Writer) error {
	d.stressor.limit = o.limit
	p := resume(jobs, d.kept, o.runs)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began, all, done := time.Now(), p.left(), 0
	var mu sync.Mutex // guards p, d.kept, done
	take := func() *job {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil || o.budget > 0 && time.Since(began) > o.budget {
			return nil
		}
		return p.next()
	}
	keep := func(r result) error {
		mu.Lock()
		defer mu.Unlock()
		done++
		_, _ = fmt.Fprintf(progress, "%d/%d %s\n", done, all, r)
		return d.kept.add(r)
	}
	var slots sync.WaitGroup
	for slot := range o.abreast {
		slots.Go(func() {
			runtime.LockOSThread() // see command; the thread ends with us
			for j := take(); j != nil; j = take() {
				r, err := d.stressor.runJob(ctx, *j, slot, rand.Int64())
				if err == nil {
					err = keep(r)
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	slots.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// String describes a run in a line; for a failed run, with how to read more and repeat it.
func (r result) String() string {
	text := fmt.Sprintf("%s %s: ", r.Package, r.Stress)
	took := time.Duration(r.Seconds * float64(time.Second)).Round(100 * time.Millisecond)
	if r.Ended == "" {
		return text + fmt.Sprintf("%d passed, %d skipped, %v", r.Passed, r.Skipped, took)
	}
	return text + fmt.Sprintf("FAILED after %v (%s): %s; -test.shuffle=%d, output in %s", took, r.Ended, strings.Join(r.Failed, ", "), r.Seed, r.Output)
}

// job is a binary to run under a stress.
type job struct {
	testPackage
	stress
	binary string
	hash   string
	run    string        // which of its tests; empty: all
	skip   string        // which not; empty: none
	begun  int           // runs that are stored or in progress
	takes  time.Duration // last duration; 0: unknown
}

// stressor runs jobs.
type stressor struct {
	tool   string        // test2json
	output string        // the directory for the output of failed runs
	limit  time.Duration // duration of a run
	grace  time.Duration // additional time to print stacks
}

// commandLine returns the command line of a job, without its stress.
func (r *stressor) commandLine(j job, seed int64) []string {
	words := []string{j.binary, "-test.v=test2json", fmt.Sprintf("-test.shuffle=%d", seed), fmt.Sprintf("-test.timeout=%s", r.limit)}
	if j.run != "" {
		words = append(words, "-test.run="+j.run)
	}
	if j.skip != "" {
		words = append(words, "-test.skip="+j.skip)
	}
	return words
}

// runJob runs a job on a slot, which has one run at a time. The error is that of ctx, or says
// that the run could not be made. No process is left behind.
func (r *stressor) runJob(ctx context.Context, j job, slot int, seed int64) (result, error) {
	if j.busy {
		stop, err := keepBusy()
		if err != nil {
			return result{}, err
		}
		defer stop()
	}
	file := filepath.Join(r.output, fmt.Sprintf("%s.%s.%d.txt", strings.ReplaceAll(j.testPackage.name, "/", "_"), j.stress.name, seed))
	output, err := os.Create(file)
	if err != nil {
		return result{}, err
	}
	defer func() { _ = output.Close() }()

	began := time.Now()
	ended, p, err := r.runBinary(ctx, j, slot, seed, output)
	if err != nil {
		return result{}, err
	}
	res := result{
		Package: j.testPackage.name, Stress: j.stress.name, Hash: j.hash, Seed: seed, Began: began.UTC().Truncate(time.Second),
		Seconds: time.Since(began).Seconds(), Passed: p.count("pass"), Skipped: p.count("skip"),
	}
	if ended == nil {
		return res, os.Remove(file)
	}
	res.Ended, res.Failed, res.Output = ended.Error(), p.failed(), file
	return res, nil
}

// runBinary runs the binary to its end and reads its events. ended says how it failed, nil if
// it passed. err says that it could not be run to its end.
func (r *stressor) runBinary(ctx context.Context, j job, slot int, seed int64, output io.Writer) (ended error, p progress, err error) {
	words := j.stress.command(slot%runtime.NumCPU(), r.commandLine(j, seed)...)
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
			killMarked(marked) // otherwise they keep the pipe open
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

// wait waits for a binary. After its time limit it is asked for its stacks, and then killed.
func (r *stressor) wait(cmd *exec.Cmd) error {
	ask := time.AfterFunc(r.limit+r.grace, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	defer ask.Stop()
	kill := time.AfterFunc(r.limit+2*r.grace, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer kill.Stop()
	return cmd.Wait()
}

// schedule chooses the next job, breadth first, so that even an early stop leaves results for
// everything.
type schedule struct {
	jobs   []*job
	target int // runs of each job
}

// resume returns a schedule that takes stored results into account.
func resume(jobs []*job, kept *store, target int) *schedule {
	for _, j := range jobs {
		j.begun, j.takes = len(kept.of(*j)), kept.lastDuration(*j)
	}
	return &schedule{jobs, target}
}

// next returns a job with the fewest runs, and among these the shortest, and counts a run of
// it. It returns nil if all have enough.
func (p *schedule) next() (least *job) {
	for _, j := range p.jobs {
		if j.begun < p.target && (least == nil || j.begun < least.begun || j.begun == least.begun && j.takes < least.takes) {
			least = j
		}
	}
	if least != nil {
		least.begun++
	}
	return least
}

// left returns how many runs have not begun.
func (p *schedule) left() (n int) {
	for _, j := range p.jobs {
		n += max(0, p.target-j.begun)
	}
	return n
}

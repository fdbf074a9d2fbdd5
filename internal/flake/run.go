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

// desk is the folder in which everything is kept, and what works there.
type desk struct {
	held     *os.File
	kept     *store
	binaries string
	stressor stressor
}

// open opens a folder that nobody else works in, makes it if need be, and builds the tool
// that reads the output of tests.
func open(ctx context.Context, dir string) (*desk, error) {
	d := &desk{binaries: filepath.Join(dir, "bin"), stressor: stressor{
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

func (d *desk) close() {
	if d.kept != nil {
		_ = d.kept.file.Close()
	}
	_ = d.held.Close()
}

// work makes the runs that are left, until the budget is used up, ctx ends, or one cannot
// be made.
func (d *desk) work(ctx context.Context, jobs []*job, o options, progress io.Writer) error {
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
				r, err := d.stressor.do(ctx, *j, slot, rand.Int64())
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

// String tells a run in a line; of one that failed, how to read more and run it again.
func (r result) String() string {
	text := fmt.Sprintf("%s %s: ", r.Package, r.Stress)
	took := time.Duration(r.Seconds * float64(time.Second)).Round(100 * time.Millisecond)
	if r.Ended == "" {
		return text + fmt.Sprintf("%d passed, %d skipped, %v", r.Passed, r.Skipped, took)
	}
	return text + fmt.Sprintf("FAILED after %v (%s): %s; -test.shuffle=%d, output in %s", took, r.Ended, strings.Join(r.Failed, ", "), r.Seed, r.Output)
}

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

// plan says which job is next: breadth first, so that what there was time for is a table of
// everything.
type plan struct {
	jobs   []*job
	target int // runs of each
}

// resume begins a plan with the results that are kept.
func resume(jobs []*job, kept *store, target int) *plan {
	for _, j := range jobs {
		j.begun, j.takes = len(kept.of(*j)), kept.lasted(*j)
	}
	return &plan{jobs, target}
}

// next returns a job that has begun the fewest times, of those the one that took least, and
// counts it as begun; nil: all have begun often enough.
func (p *plan) next() (least *job) {
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
func (p *plan) left() (n int) {
	for _, j := range p.jobs {
		n += max(0, p.target-j.begun)
	}
	return n
}

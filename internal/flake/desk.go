//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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

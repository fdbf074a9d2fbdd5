package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Runner makes shards of a campaign, one at a time.
type Runner interface {
	// Run makes a shard that may draw from others. It has the same result wherever and whenever it is
	// made. After an error the runner is closed. If ctx ends it returns its error soon.
	Run(ctx context.Context, shard int, others []Other) (Result, error)
	Close() error
}

// Result is the result of a shard.
type Result struct {
	Data []byte // up to MaxResult
	Find string // what was found, in one line; empty: nothing worth a line
}

// LoggedError is an error of a runner with the end of what it printed.
type LoggedError struct {
	Err error
	Log string
}

func (e *LoggedError) Error() string { return e.Err.Error() }
func (e *LoggedError) Unwrap() error { return e.Err }

// logOf returns the log of an error, if it has one.
func logOf(err error) string {
	var logged *LoggedError
	if errors.As(err, &logged) {
		return logged.Log
	}
	return ""
}

// Worker makes shards.
type Worker struct {
	Name  string // of its machine and process
	Build Build
	Slots int // shards at a time, at least 1

	// Start starts a runner of a campaign. Each slot has one of its own.
	Start func(ctx context.Context, s Spec) (Runner, error)

	// Grace is how long shards may take to their end when the worker should end. Those that take
	// longer are given back.
	Grace time.Duration

	Took func(Record) // is called by several goroutines with each result that was stored; nil: nobody is
	Warn func(string) // is told of what went wrong, and is tried again; nil: nobody is
}

func (w Worker) warn(format string, args ...any) {
	if w.Warn != nil {
		w.Warn(fmt.Sprintf(format, args...))
	}
}

// patience is how long a worker waits for a shard until it takes the queue as empty.
const patience = time.Second

// ErrComplete is the cause with which a context ends whose worker need not wait for shards any more.
var ErrComplete = errors.New("the campaign is complete")

// Work makes shards until there are none left in the queue, ctx ends, or the campaign is stopped or
// removed. None of these is an error. Shards that are not made by then are given back. If ctx ends with the
// cause [ErrComplete] it does so at once.
func (c *Campaign) Work(ctx context.Context, w Worker) error {
	ctx, done := undated(ctx)
	defer done()
	if !c.Spec.Has(w.Build) {
		builds, err := c.engine.join(ctx, c.Spec.Name, w.Build)
		if err != nil {
			return c.ended(ctx, err)
		}
		if !slices.Contains(builds, w.Build) {
			return fmt.Errorf("campaign %s: this is build %s, and it asks for %s", c.Spec.Name, w.Build, buildNames(builds))
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	queue, err := c.consumer(ctx, w.Build)
	if err != nil {
		return c.ended(ctx, err)
	}
	list, err := c.engine.list(ctx)
	if err != nil {
		return c.ended(ctx, err)
	}
	watch, err := list.Watch(ctx, c.Spec.Name)
	if err != nil {
		return c.ended(ctx, err)
	}
	defer func() { _ = watch.Stop() }() // nobody listens any more
	running, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	go c.supervise(ctx, watch.Updates(), stop, func() { time.AfterFunc(w.Grace, abandon) })

	var made atomic.Int64
	took := w.Took
	w.Took = func(r Record) {
		made.Add(1)
		if took != nil {
			took(r)
		}
	}
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		c.engine.beat(ctx, func() Presence { return Presence{w.Name, w.Build.ID(), c.Spec.Name, w.Slots, int(made.Load())} })
	}()
	defer func() { stop(); <-beating }()

	var group sync.WaitGroup
	errs := make([]error, w.Slots)
	for i := range errs {
		group.Go(func() {
			s := slot{campaign: c, worker: w, queue: queue, abandoned: running}
			errs[i] = errors.Join(s.work(ctx), s.close())
			if errs[i] != nil {
				stop()
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// supervise stops the work when the campaign is stopped or removed, and calls drain when the work is to
// end.
func (c *Campaign) supervise(ctx context.Context, updates <-chan jetstream.KeyValueEntry, stop, drain func()) {
	defer drain()
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-updates:
			if !open {
				return
			}
			if e == nil { // all that was stored before has come
				continue
			}
			en, err := decodeEntry(c.Spec.Name, e.Value())
			if e.Operation() != jetstream.KeyValuePut || err == nil && en.Stopped {
				stop()
				return
			}
		}
	}
}

// ended returns nil if an error means that ctx has ended, or that the campaign is gone.
func (c *Campaign) ended(ctx context.Context, err error) error {
	if gone(err) {
		return nil
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

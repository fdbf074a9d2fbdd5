package locktest

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Config configures how a lock is tested. The zero value is useful: every field has a
// default.
type Config struct {
	// Name is the lock's name in reports and stored runs. Default: the name of the test.
	Name string

	// Backend is where nodes run: [Memory], the default, or [Process].
	Backend Backend

	// Store is the replicated store that keeps the lock, such as etcdtest.Store. Its servers run
	// on [Process]. Default: the nodes are independent Redis servers.
	Store Store

	// Nodes is the number of nodes, 1 to 64. Default 5; in a store 3. Use 1 for a lock on one
	// server: with more, faults would hit nodes that it does not use.
	Nodes int

	// Capacity is the number of permits of each resource, 1 to 1000000: what holds take together never
	// exceeds it. Each [Hold] says its Weight. Default 1: holds are exclusive. For a read-write lock it is
	// more than the holds that share it at once, such as 1000: a shared hold takes one permit, an
	// exclusive one takes all. For a semaphore it is the number of its permits. [Weight] says what a call of
	// Lock asks for.
	//
	// Who holds the lock with others only reads the guarded resource, so V3 is judged of exclusive holds, as
	// V4 is. B is judged of the holds whose keys are recorded, one or more for each: those that holds
	// share, such as counters, tell nothing about one of them.
	Capacity int

	// Clients is the number of clients, each with its own Locker: 1 to 1000. Default 3; with a Capacity two
	// more than that, at most 6.
	Clients int

	// Callers is how many callers share the Locker of each client in the storms that try that: they
	// call it at the same time, from goroutines of their own. 1 to 100; 1: the lock is for one
	// caller at a time. Default 3.
	Callers int

	// TTL is the TTL that the lock uses, from 10 ms to 1000 h (the maximum for all times
	// here), in whole milliseconds. Default 2.5 s; in a store 2 s. All times of the storms are multiples of
	// it, so a shorter TTL makes them shorter on [Process].
	TTL time.Duration

	// Rounds is how often each client locks, works and releases, 1 to 100000. Default 40. A
	// call of Lock that fails is a round, too. A lock that gives up at once needs more
	// rounds, or it has used them all before the storm is over.
	Rounds int

	// Work is how long a client works under the lock at most. Each time is drawn between
	// half of it and all of it. Default TTL/10.
	Work time.Duration

	// Think is how long a client waits between rounds, drawn in the same way. Default
	// TTL/5.
	Think time.Duration

	// Extend is the time between extensions while a client works. Every Hold needs an
	// Extend then. 0: never.
	Extend time.Duration

	// Workload is what clients do under the lock. "section" reads the guarded resource,
	// works, and writes the value plus one. "checked" also checks just before the write
	// whether Until has come or the loss was reported. "posted" does not wait for the
	// write. "hold" does not use the resource. Default "section".
	Workload string

	// Guard is what the guarded resource checks. Default: nothing. [guard.Fenced] makes it
	// reject old fences.
	Guard guard.Mode

	// Persistence is what a node keeps over a restart. Default: nothing. The servers of a store
	// keep everything, and nothing else can be set.
	Persistence nemesis.Persistence

	// Patience is the time after which the context of a call is cancelled. Default 5 TTL.
	Patience time.Duration

	// Bounds are the limits of liveness and contract. Fields that are 0 have defaults:
	//
	//   - Acquire, Extend, Release: how long a call may take. Patience and 30 s.
	//   - Cancel: how long one may go on after its context has ended, without another fault. In
	//     memory TTL/5, at least 200 ms; elsewhere it is not judged.
	//   - Grant: how long after the faults somebody is granted a free lock. 10 s and 5
	//     TTL.
	//   - Tries: of so many tries one succeeds while a minority of nodes is gone. 5.
	//   - Cleanup: how long a node may keep the key of a failed try or a released hold.
	//     TTL/4.
	//   - Loss: how long a holder without an end may work on once its keys have been gone for a TTL. In
	//     memory as Cancel.
	//   - Notice: how long after the end of validity a running holder is told. No
	//     default; set it for a lock that closes Lost at the end of validity, and does not renew.
	Bounds history.Bounds

	// Storms are the plans of faults, at least one. Default (nil): [Storms] of this
	// configuration.
	Storms []Storm

	// Drawn is the number of generated plans, in the storm drawn. Default 5; negative: none. If
	// Storms are set, they are run as well only if Drawn is set.
	Drawn int

	// Accept are known weaknesses of the lock. They do not fail the test as long as they occur.
	Accept []Accepted

	// Promises are the properties whose violation fails the test. Default (nil): V1, L1 and
	// C; also V2 if the lock reports losses, V4 if its grants have fences, and on [Memory] B, and L3
	// under plans that lose no message, cancel no call and kill nobody. With an
	// empty list nothing fails, but see [Survey]. A promise covers the following plans; a
	// violation under other plans is a limit:
	//
	//   - B, V1: a node that comes back without its keys was away for a TTL, nodes evict no
	//     keys, and no clock is wrong. If grants have no Until, also: no client is paused.
	//   - V2, V3: the same, and no client is paused.
	//   - V4: the same as V1, and nodes lose nothing.
	//   - L1: no fault slows clients or nodes down for ever, or cuts some of them off
	//     from some others for ever.
	//   - L2, L3, C: any plan. L3 can be promised on [Memory] only.
	//
	// In a store, no node comes back without its keys: a member that was killed, stopped or cut
	// off has what a majority has acknowledged when it serves again. So V1, V2 and V4 are
	// promised whatever happens to members and for however short a time, and only clocks and
	// pauses excuse a violation. V1 without an Until relies on a release or the notice of a
	// loss, also when the client is cut off from the store; it ends with the death of the
	// client, which takes its session or its connection with it. If replication is
	// asynchronous, V1, V2 and V4 are not promised when a member goes down or is paused,
	// because a new leader can lack the lock.
	//
	// docs/assumptions.md defines these terms.
	Promises []checker.Property

	// Seed is the seed of the first run of each storm. The next runs use the next seeds.
	// Default 1.
	Seed uint64

	// Runs is the number of runs of each storm. Default 3; on [Process] 1.
	Runs int

	// Again is how often a failed run is run again to tell how often it fails, if Budget allows:
	// three times in any case. Default 20; on [Process] none. Negative: never. A failure that
	// looks like that of an earlier storm is not run again.
	Again int

	// Budget is how long Run may take in real time. All storms are run in any case; failures are
	// run again and shrunk in the time that the storms leave. Default 15 s; on [Process] 10 min.
	// The flag -locktest.budget replaces it.
	Budget time.Duration

	// Dir is where failed runs are stored, relative to the directory of the test. Default
	// testdata/locktest. Nothing is written unless a run fails. The flag -locktest.dir replaces it.
	Dir string
}

// Accepted is a known weakness of a lock: the violation of a property in a storm, which does not fail
// the test. If no run of the storm shows it any more, the test fails until it is taken from
// [Config.Accept].
type Accepted struct {
	Storm    string // its name
	Property checker.Property
	Reason   string // why it is accepted
}

// FieldError is the error of a field of a [Config].
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return fmt.Sprintf("locktest.Config.%s: %v", e.Field, e.Err) }
func (e *FieldError) Unwrap() error { return e.Err }

func wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Errorf(format, args...)}
}

// filled returns the configuration with its defaults. test is the name of the test.
func (c Config) filled(test string) Config {
	c.Name = cmp.Or(c.Name, test)
	c.Callers = cmp.Or(c.Callers, 3)
	w := c.what().Filled()
	c.Capacity = w.Capacity
	c.Nodes, c.Clients, c.TTL, c.Rounds, c.Work, c.Think = w.Nodes, w.Clients, w.TTL, w.Rounds, w.Work, w.Think
	c.Workload, c.Guard, c.Persistence, c.Patience, c.Bounds = w.Workload, w.Guard, w.Persistence, w.Patience, w.Bounds
	c.Drawn = cmp.Or(c.Drawn, 5)
	c.Seed = cmp.Or(c.Seed, 1)
	c.Runs = cmp.Or(c.Runs, c.world().runs)
	c.Again = cmp.Or(c.Again, c.world().again)
	c.Budget = cmp.Or(*budgetFlag, c.Budget, c.world().budget)
	c.Dir = cmp.Or(dirOfFlag(), c.Dir, "testdata/locktest")
	return c
}

var dirFlag = flag.String("locktest.dir", "", "store failed runs in this `directory`, in place of Config.Dir")

// dirOfFlag returns the directory of -locktest.dir, relative to that of the test, or "".
func dirOfFlag() string {
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(*dirFlag) {
		if rel, err := filepath.Rel(here, *dirFlag); err == nil {
			return rel
		}
	}
	return *dirFlag
}

// validate returns a [FieldError] for the first invalid field of a filled configuration.
func (c Config) validate() error {
	switch {
	case !c.Backend.known():
		return wrong("Backend", "%d: want locktest.Memory or locktest.Process", int(c.Backend))
	case c.Runs < 1:
		return wrong("Runs", "%d: want at least 1", c.Runs)
	}
	if err := inConfig(c.what().Validate()); err != nil {
		return err
	}
	if err := inConfig(external.ValidateTime("Budget", c.Budget)); err != nil {
		return err
	}
	if err := c.validateStore(); err != nil {
		return err
	}
	if err := inConfig(external.ValidatePromises(c.Promises, c.world().Keys)); err != nil {
		return err
	}
	return inConfig(external.ValidateStorms(c.Storms))
}

// validateAccept returns a [FieldError] for the first accepted weakness that cannot be. The storms are
// known.
func (c Config) validateAccept() error {
	for i, a := range c.Accept {
		field, err := fmt.Sprintf("Accept[%d]", i), external.ValidateProperty(a.Property)
		switch {
		case !slices.ContainsFunc(c.Storms, func(s Storm) bool { return s.Name == a.Storm }):
			return wrong(field, "there is no storm %q: want one of %s", a.Storm, stormNames(c.Storms))
		case err != nil:
			return wrong(field, "%w", err)
		case a.Reason == "":
			return wrong(field, "no reason why %s may be violated in %s", external.Named(a.Property), a.Storm)
		}
	}
	return nil
}

// accepted returns the weaknesses that are accepted in a storm.
func (c Config) accepted(s Storm) []Accepted {
	return slices.DeleteFunc(slices.Clone(c.Accept), func(a Accepted) bool { return a.Storm != s.Name })
}

// inConfig returns an error of a field as that of the field of the same name here.
func inConfig(err error) error {
	if f := new(nemesis.FieldError); errors.As(err, &f) {
		return &FieldError{f.Path, f.Err}
	}
	return err
}

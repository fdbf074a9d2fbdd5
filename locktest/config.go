package locktest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Config says how a lock is tried. The zero value is of use: what is not set has a default.
type Config struct {
	// Name is what stories and stored runs call the lock. Default: the name of the test.
	Name string

	// Backend is where the nodes are: [Memory], the default, or [Process].
	Backend Backend

	// Nodes is how many nodes there are, 1 to 64. Default 5. A lock on one server wants
	// 1: with more it would be tried with nodes down that it does not use.
	Nodes int

	// Clients is how many use the lock, each with a Locker of its own: 1 to 1000. Default
	// 3.
	Clients int

	// TTL is what the lock asks for, from 10 ms to 1000 h, as are all times here at most, in
	// whole milliseconds. Default 2 s. All times of the storms are made of it, so that on [Process] a shorter one makes
	// them shorter.
	TTL time.Duration

	// Rounds is how often each client locks, works and releases, 1 to 100000. Default 40.
	// A call of Lock that is refused is a round, too: a lock that gives up at once wants
	// more of them, or it has given up for the last time before the storm is over.
	Rounds int

	// Work is how long a client works under the lock, at most; each time is drawn from
	// half of it on. Default TTL/10.
	Work time.Duration

	// Think is how long it waits between two rounds, drawn likewise. Default TTL/5.
	Think time.Duration

	// Extend is how often a client extends the lock while it works; each Hold has to have an
	// Extend then. 0: never.
	Extend time.Duration

	// Workload is what it does under the lock: "section" reads the guarded resource,
	// works, and writes the value plus one; "checked" asks just before the write whether
	// Until has come or the loss was told; "posted" does not wait for the write; "hold"
	// touches nothing. Default "section".
	Workload string

	// Guard is what the guarded resource checks. Default: nothing; [guard.Fenced] makes
	// it refuse fences that are old.
	Guard guard.Mode

	// Persistence is what a node still has after a restart. Default: nothing.
	Persistence nemesis.Persistence

	// Patience is after how long the context of a call is cancelled. Default 5 TTL.
	Patience time.Duration

	// Bounds are the limits of liveness and contract. What is 0 has a default: Acquire,
	// Extend and Release, how long a call may take, Patience and 30 s; Grant, how long it
	// may take until somebody is granted the lock that is free, when faults are over, 10 s
	// and 5 TTL; Tries, of which one has to succeed while a minority of nodes is gone, 5;
	// Cleanup, how long a node may keep the key of a try that has failed, or of a hold that
	// was released, TTL/4. Notice has none: state it of a lock whose Lost is closed when the
	// end of validity comes, and a holder who runs has to be told so long after that.
	Bounds history.Bounds

	// Storms are the plans of faults, one or more. Default (nil): [Storms] of this
	// configuration, and Drawn others.
	Storms []Storm

	// Drawn is how many plans of the default are drawn from the seed. Default 5; below
	// 0: none.
	Drawn int

	// Promises are what fails the test when it is violated. Default (nil): V1, L1 and C; V2
	// of a lock that tells of a loss; V4 of one whose grants bear fences. Of an empty list
	// nothing fails; [Survey] is for that. What is promised holds under these plans, and what
	// is violated under others is a limit:
	//
	//   - V1: a node that comes back without its keys has been away for a TTL, nodes evict
	//     no keys, and no clock is wrong. If grants have no Until, no client stands still,
	//     either;
	//   - V2, V3: the same, and no client stands still;
	//   - V4: the same as V1, and nodes forget nothing;
	//   - L1: no fault lasts for ever by which clients and nodes are slowed down or cut off
	//     from each other in part;
	//   - L2, L3, C: any plan. L3 can be promised on [Memory] alone.
	//
	// docs/assumptions.md says what these words mean.
	Promises []checker.Property

	// Seed is that of the first run of each storm; the others follow. Default 1.
	Seed uint64

	// Runs is how often each storm is run. Default 3; on [Process] 1.
	Runs int

	// Again is how often a run that fails is run again, to tell how often it does, in 15 s
	// at most. Default 100; on [Process] none. Below 0: never.
	Again int

	// Dir is where runs that fail are stored, relative to the directory of the test.
	// Default testdata/locktest. Nothing is written while nothing fails.
	Dir string
}

// FieldError says which field of a configuration cannot be.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return fmt.Sprintf("locktest.Config.%s: %v", e.Field, e.Err) }
func (e *FieldError) Unwrap() error { return e.Err }

func wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Errorf(format, args...)}
}

// filled returns the configuration of a test with its defaults.
func (c Config) filled(test string) Config {
	c.Name = cmp.Or(c.Name, test)
	c.Nodes = cmp.Or(c.Nodes, 5)
	c.Clients = cmp.Or(c.Clients, 3)
	c.TTL = cmp.Or(c.TTL, 2*time.Second)
	c.Rounds = cmp.Or(c.Rounds, 40)
	c.Work = cmp.Or(c.Work, c.TTL/10)
	c.Think = cmp.Or(c.Think, c.TTL/5)
	c.Workload = cmp.Or(c.Workload, "section")
	c.Guard = cmp.Or(c.Guard, guard.Plain)
	c.Persistence = cmp.Or(c.Persistence, nemesis.Nothing)
	c.Patience = cmp.Or(c.Patience, 5*c.TTL)
	c.Bounds = c.bounds()
	c.Drawn = cmp.Or(c.Drawn, 5)
	c.Seed = cmp.Or(c.Seed, 1)
	c.Runs = cmp.Or(c.Runs, c.Backend.world().runs)
	c.Again = cmp.Or(c.Again, c.Backend.world().again)
	c.Dir = cmp.Or(c.Dir, "testdata/locktest")
	return c
}

func (c Config) bounds() history.Bounds {
	b, call := c.Bounds, c.Patience+30*time.Second
	b.Acquire, b.Extend, b.Release = cmp.Or(b.Acquire, call), cmp.Or(b.Extend, call), cmp.Or(b.Release, call)
	b.Grant = cmp.Or(b.Grant, 10*time.Second+5*c.TTL)
	if c.Nodes > 2 { // otherwise there is no minority that could be gone
		b.Tries = cmp.Or(b.Tries, 5)
	}
	b.Cleanup = cmp.Or(b.Cleanup, c.TTL/4)
	return b
}

// workloads are those that do with a lock what its users may.
var workloads = []string{"section", "checked", "posted", "hold"}

// The most that a configuration can ask for.
const (
	maxNodes   = 64
	maxClients = 1000
	maxRounds  = 100_000
	maxTime    = 1000 * time.Hour // of each time
)

// validate returns a [FieldError] for the first field of a filled configuration that cannot
// be.
func (c Config) validate() error {
	switch {
	case !c.Backend.known():
		return wrong("Backend", "%d: want locktest.Memory or locktest.Process", int(c.Backend))
	case c.Nodes < 1 || c.Nodes > maxNodes:
		return wrong("Nodes", "%d: want 1 to %d", c.Nodes, maxNodes)
	case c.Clients < 1 || c.Clients > maxClients:
		return wrong("Clients", "%d: want 1 to %d", c.Clients, maxClients)
	case c.TTL < 10*time.Millisecond || c.TTL > maxTime || c.TTL%time.Millisecond != 0:
		return wrong("TTL", "%v: want whole milliseconds, from 10ms to %s", c.TTL, textfmt.Whole(maxTime))
	case c.Rounds < 1 || c.Rounds > maxRounds:
		return wrong("Rounds", "%d: want 1 to %d", c.Rounds, maxRounds)
	case c.Runs < 1:
		return wrong("Runs", "%d: want at least 1", c.Runs)
	case !slices.Contains(workloads, c.Workload):
		return wrong("Workload", "%q: want one of %q", c.Workload, workloads)
	case c.Guard.Validate() != nil:
		return &FieldError{"Guard", c.Guard.Validate()}
	case !slices.Contains(nemesis.Persistences, c.Persistence):
		return wrong("Persistence", "%q: want one of %q", c.Persistence, nemesis.Persistences)
	case c.Bounds.Validate() != nil:
		return &FieldError{"Bounds", c.Bounds.Validate()}
	}
	if err := c.validateTimes(); err != nil {
		return err
	}
	if err := c.validatePromises(); err != nil {
		return err
	}
	return c.validateStorms()
}

func (c Config) validateTimes() error {
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"Work", c.Work}, {"Think", c.Think}, {"Extend", c.Extend}, {"Patience", c.Patience}} {
		if d.value < 0 {
			return wrong(d.field, "%v is negative", d.value)
		}
		if d.value > maxTime {
			return wrong(d.field, "%v: want at most %s", d.value, textfmt.Whole(maxTime))
		}
	}
	return nil
}

func (c Config) validatePromises() error {
	for _, p := range c.Promises {
		switch {
		case !slices.Contains(checker.Properties(), p):
			return wrong("Promises", "there is no property %q: want some of %q", p, checker.Properties())
		case p == checker.Cleanup && !c.Backend.world().Keys:
			return wrong("Promises", "%s is judged on locktest.Memory alone, where every change of a key is recorded", p)
		}
	}
	return nil
}

// namePattern is what a storm can be called: directories are called after it.
var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

func (c Config) validateStorms() error {
	if c.Storms != nil && len(c.Storms) == 0 {
		return wrong("Storms", "there are none, so that nothing would be tried; nil means those of the default")
	}
	seen := map[string]bool{}
	for i, s := range c.Storms {
		field, within := fmt.Sprintf("Storms[%d]", i), nemesis.Bounded(&s)
		switch {
		case !namePattern.MatchString(s.Name):
			return wrong(field, "name %q: want up to 64 lower-case letters, digits and hyphens", s.Name)
		case seen[s.Name]:
			return wrong(field, "another is called %q, too", s.Name)
		case within != nil:
			return wrong(field, "%s: %w", s.Name, within)
		}
		seen[s.Name] = true
	}
	return nil
}

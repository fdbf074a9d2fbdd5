package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Scenario is one experiment.
type Scenario struct {
	Name    string `yaml:"name"`
	Summary string `yaml:"summary,omitempty"`
	Claims  Claims `yaml:"claims,omitempty"`

	Lock    Lock     `yaml:"lock"`
	Clients []Client `yaml:"clients"`

	// Setting is the world and the plan. Its number of clients is the length
	// of Clients.
	nemesis.Setting `yaml:",inline"`

	// Generate draws further faults beside the plan, others for each seed. A
	// scenario that has been run has none: its plan is all that was done.
	Generate *nemesis.Generator `yaml:"generate,omitempty"`

	Bounds history.Bounds `yaml:"bounds"`

	// Expect is the verdict that each property should get. What it leaves out
	// is not expected to be anything; a violation is then a surprise.
	Expect Expectations `yaml:"expect,omitempty"`
}

// Claims are what the two sides of the 2016 debate say of a scenario; empty
// where a side says nothing.
type Claims struct {
	Kleppmann string `yaml:"kleppmann,omitempty"`
	Antirez   string `yaml:"antirez,omitempty"`
}

// Lock is a lock and its parameters, enough to build it in any process.
type Lock struct {
	Kind        string        `yaml:"kind"`
	TTL         time.Duration `yaml:"ttl"`
	DriftFactor float64       `yaml:"drift_factor"`
	Clock       string        `yaml:"clock,omitempty"` // that it reads: monotonic (or nothing), boottime or wall
	NodeTimeout time.Duration `yaml:"node_timeout"`
	Linger      time.Duration `yaml:"linger"`
	Margin      time.Duration `yaml:"margin"`
	Retry       nemesis.Range `yaml:"retry"`
	Tries       int           `yaml:"tries,omitempty"`

	Watchdog   Watchdog      `yaml:"watchdog,omitempty"`   // extends every hold in the background
	Quarantine time.Duration `yaml:"quarantine,omitempty"` // in which a node that has restarted does not vote
	Fence      string        `yaml:"fence,omitempty"`      // is drawn with every grant, from where: quorum, increment or one-node
	Sequential bool          `yaml:"sequential,omitempty"` // asks one node after another
	Tokens     string        `yaml:"tokens,omitempty"`     // how they are made: random (or nothing) or time

	Heartbeat time.Duration `yaml:"heartbeat,omitempty"`  // of a session: how often
	Grace     time.Duration `yaml:"grace,omitempty"`      // in which a session whose lease is over is still hoped for
	LockDelay time.Duration `yaml:"lock_delay,omitempty"` // for which a lock stays closed whose session was lost
	Entries   int           `yaml:"entries,omitempty"`    // how often its holder may have entered it at a time
}

// Watchdog is a lock's own extending: so long after each grant and extension, at
// most so often; 0 means never, and without a limit.
type Watchdog struct {
	Every time.Duration `yaml:"every,omitempty"`
	Limit int           `yaml:"limit,omitempty"`
}

// ReadsClock returns the clock that the lock reads.
func (l Lock) ReadsClock() env.Clock {
	clock, _ := l.clock() // the monotonic clock, if it is an error
	return clock
}

func (l Lock) clock() (env.Clock, error) {
	if l.Clock == "" {
		return env.Monotonic, nil
	}
	return env.ParseClock(l.Clock)
}

// Client is what one lock user does, enough to rebuild it in any process.
type Client struct {
	// Workload is the name of the workload.
	Workload string `yaml:"workload"`

	// Resource is what the client locks. With Resources above 1 there are so
	// many of that name (name/1, name/2, …), and each round locks one of them
	// at random.
	Resource  string `yaml:"resource"`
	Resources int    `yaml:"resources,omitempty"`

	// Start is how long the client waits before its first round, Work how
	// long it works under the lock, Think how long it waits between rounds.
	Start nemesis.Range `yaml:"start,omitempty"`
	Work  nemesis.Range `yaml:"work,omitempty"`
	Think nemesis.Range `yaml:"think,omitempty"`

	// Rounds is how often it locks, works and releases.
	Rounds int `yaml:"rounds"`

	// ExtendEvery is how often it extends the lock while it works; 0 means
	// never.
	ExtendEvery time.Duration `yaml:"extend_every,omitempty"`

	// Fence says that the client draws a fence from the guarded resource's own
	// counter after each grant, and shows it to the resource. Where the lock
	// draws one with the grant that one is shown in any case.
	Fence bool `yaml:"fence,omitempty"`
}

// Validate returns an error, a [nemesis.FieldError] where it can, that names
// the first value that cannot be. Whether the lock and the workloads exist is
// for those to say who build them.
func (s Scenario) Validate() error {
	if !plainName.MatchString(s.Name) {
		return &nemesis.FieldError{Path: "name", Err: fmt.Errorf("%q: want up to 64 lower-case letters, digits and hyphens, as the name of a directory is made of it", s.Name)}
	}
	if err := nemesis.Bounded(&s); err != nil {
		return err
	}
	if err := s.Bounds.Validate(); err != nil {
		return &nemesis.FieldError{Path: "bounds", Err: err}
	}
	if _, err := s.Lock.clock(); err != nil {
		return &nemesis.FieldError{Path: "lock.clock", Err: err}
	}
	for i, c := range s.Clients {
		if err := c.validate(); err != nil {
			err.Path = fmt.Sprintf("clients[%d].%s", i, err.Path)
			return err
		}
	}
	if s.Setting.Clients != len(s.Clients) {
		return &nemesis.FieldError{Path: "clients", Err: fmt.Errorf("%d in the list, %d in the setting", len(s.Clients), s.Setting.Clients)}
	}
	if err := s.Setting.Validate(); err != nil || s.Generate == nil {
		return err
	}
	return nemesis.InField("generate", s.Generate.Validate())
}

var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

func (c Client) validate() *nemesis.FieldError {
	wrong := func(path string, err error) *nemesis.FieldError {
		return &nemesis.FieldError{Path: path, Err: err}
	}
	switch {
	case c.Resource == "":
		return wrong("resource", errors.New("missing"))
	case c.Resources < 0:
		return wrong("resources", fmt.Errorf("%d is negative", c.Resources))
	case c.Rounds < 1:
		return wrong("rounds", fmt.Errorf("%d: want at least 1", c.Rounds))
	case c.ExtendEvery < 0:
		return wrong("extend_every", fmt.Errorf("%v is negative", c.ExtendEvery))
	}
	for _, r := range []struct {
		name string
		nemesis.Range
	}{{"start", c.Start}, {"work", c.Work}, {"think", c.Think}} {
		if err := r.Validate(); err != nil {
			return wrong(r.name, err)
		}
	}
	return nil
}

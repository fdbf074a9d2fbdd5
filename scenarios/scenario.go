package scenarios

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Scenario is one experiment: a lock, the clients that use it, the world that
// they are in, what goes wrong there, and what is expected of it.
type Scenario struct {
	// Name is the scenario's name, which is part of its runs' directories. Up to 64
	// lower-case letters, digits and hyphens.
	Name string `yaml:"name" want:"/^[a-z0-9][a-z0-9-]{0,63}$/"`

	// Summary is what happens, in a sentence.
	Summary string `yaml:"summary,omitempty"`

	Claims Claims `yaml:"claims,omitempty"`

	Lock Lock `yaml:"lock"`

	// Clients are the users of the lock. Wherever a client has a number, it is the
	// place in this list, from 1. Up to 10,000.
	Clients []Client `yaml:"clients" want:"1.. items"`

	// Setting is the world and the plan, all but the number of clients: [Scenario.World]
	// returns it whole.
	nemesis.Setting `yaml:",inline"`

	// Generate is what draws further faults beside the plan, others for each seed.
	// A scenario that has been run has none: its plan is all that was done.
	Generate *nemesis.Generator `yaml:"generate,omitempty"`

	Bounds history.Bounds `yaml:"bounds"`

	// SlipMargin is by how much a real machine may be late with what is due before a run
	// says nothing: its verdicts are then unknown, and it is run again. In virtual time
	// nothing is late. Nothing means what follows from the other times: at most a tenth of
	// the shortest TTL, a quarter of the shortest fault, and a quarter of the shortest time
	// between the end of some work, or of a fault, and that of a TTL.
	SlipMargin time.Duration `yaml:"slip_margin,omitempty" want:"0s.."`

	// Expect is the verdict that each property should get. What it leaves out
	// is not expected to be anything; a violation is then a surprise. Of what is
	// expected to be unknown none is: it may be violated or not.
	Expect Expectations `yaml:"expect,omitempty"`
}

// Claims are what the two sides of the 2016 debate say of a scenario. They are shown
// beside the verdicts and change nothing. Empty if a side said nothing.
type Claims struct {
	Kleppmann string `yaml:"kleppmann,omitempty"` // what "How to do distributed locking" says
	Antirez   string `yaml:"antirez,omitempty"`   // what "Is Redlock safe?" says
}

// Lock is a lock and its parameters, the same for all clients. A parameter that
// the lock has no use for is an error.
type Lock struct {
	// Kind is which lock it is.
	Kind string `yaml:"kind"`

	// TTL is the time to live of what the lock keeps on the nodes: its keys, its
	// row, its session. Whole milliseconds.
	TTL time.Duration `yaml:"ttl" want:"1ms.."`

	// DriftFactor is the share of the TTL that the lock sets aside for clocks that
	// run at different rates; 0.01 is 1 %. What is set aside, 2 ms more than that,
	// is no part of the validity.
	DriftFactor float64 `yaml:"drift_factor" want:"0..1"`

	// Clock is the clock of the client's machine that the lock counts its validity
	// on. monotonic stands still while the machine is suspended, boottime goes on,
	// and wall can be stepped. Nothing means monotonic.
	Clock string `yaml:"clock,omitempty" want:"monotonic|boottime|wall"`

	// NodeTimeout is how long the lock waits for the answer of a node.
	NodeTimeout time.Duration `yaml:"node_timeout" want:">0s.."`

	// Linger is how long the lock still waits for a late answer in the background, so
	// that it can delete a key that was set late. At least the node timeout applies.
	Linger time.Duration `yaml:"linger" want:"0s.."`

	// Margin is how long before the end of its validity the holder is warned. Below the
	// validity.
	Margin time.Duration `yaml:"margin" want:"0s.."`

	// Retry is the time between two tries, drawn anew each time.
	Retry nemesis.Range `yaml:"retry"`

	// Tries is after how many tries a call gives up; 0 means never.
	Tries int `yaml:"tries,omitempty" want:"0.."`

	Watchdog Watchdog `yaml:"watchdog,omitempty"`

	// Quarantine is how long a node that has restarted does not vote, in whole
	// milliseconds; it should not be below the longest TTL, and longer extensions
	// are refused. 0 means that it votes at once.
	Quarantine time.Duration `yaml:"quarantine,omitempty" want:"0s.."`

	// Fence is where the lock draws a fence from with every grant: quorum reads a
	// quorum of the nodes and raises a quorum to the largest plus one, increment
	// raises a counter on every node, one-node counts on a single node. Nothing
	// means that it draws none.
	Fence string `yaml:"fence,omitempty" want:"quorum|increment|one-node"`

	// Sequential says that the lock asks one node after another instead of all at once.
	Sequential bool `yaml:"sequential,omitempty"`

	// Tokens is how the lock makes the token of a try: random is 20 random bytes,
	// time is the time and the name of the client. Nothing means random.
	Tokens string `yaml:"tokens,omitempty" want:"random|time"`

	// Heartbeat is how often the client of a session asks to keep it.
	Heartbeat time.Duration `yaml:"heartbeat,omitempty" want:"0s.."`

	// Grace is how long a client whose session has expired waits for its recovery before
	// it reports the loss to the holder.
	Grace time.Duration `yaml:"grace,omitempty" want:"0s.."`

	// LockDelay is how long a lock stays closed whose session was lost.
	LockDelay time.Duration `yaml:"lock_delay,omitempty" want:"0s.."`

	// Entries is how many times the holder may enter the lock at a time.
	Entries int `yaml:"entries,omitempty" want:"0.."`
}

// Watchdog is automatic extension by the lock, in the background.
type Watchdog struct {
	// Every is how long after each grant, and after each extension, the hold is
	// extended; 0 means never.
	Every time.Duration `yaml:"every,omitempty" want:"0s.."`

	// Limit is how often a hold is extended at most; 0 means without a limit.
	Limit int `yaml:"limit,omitempty" want:"0.."`
}

// ReadsClock returns the clock that the lock reads.
func (l Lock) ReadsClock() env.Clock {
	clock, _ := env.ParseClock(l.Clock) // the monotonic clock, if it is none
	return clock
}

// Allowance returns what the lock sets aside of a TTL for clock error: TTL × drift factor +
// 2 ms, rounded up to whole nanoseconds. Every lock does as Redlock, whose own formula this
// is held to, since a scenario is data and knows no lock.
func (l Lock) Allowance(ttl time.Duration) time.Duration {
	return time.Duration(math.Ceil(float64(ttl)*l.DriftFactor)) + 2*ms
}

// Client is what one user of the lock does, round after round: it locks, works,
// releases and thinks.
type Client struct {
	// Workload is what the client does while it has the lock.
	Workload string `yaml:"workload"`

	// Resource is the name of what the client locks. Up to 256 bytes.
	Resource string `yaml:"resource" want:"/^.{1,256}$/"`

	// Resources is how many there are of that name (name/1, name/2, …), of which
	// each round locks one at random. 0 and 1 mean the one of just that name.
	Resources int `yaml:"resources,omitempty" want:"0..100000"`

	// Start is how long the client waits before its first round.
	Start nemesis.Range `yaml:"start,omitempty"`

	// Work is how long it works while it has the lock.
	Work nemesis.Range `yaml:"work,omitempty"`

	// Think is how long it waits between two rounds.
	Think nemesis.Range `yaml:"think,omitempty"`

	// Rounds is how often it locks, works and releases.
	Rounds int `yaml:"rounds" want:"1.."`

	// ExtendEvery is how often it extends the lock while it works; 0 means
	// never.
	ExtendEvery time.Duration `yaml:"extend_every,omitempty" want:"0s.."`

	// ExtendTTL is the time to live that an extension asks for, drawn anew each
	// time; from 1 ms on in whole milliseconds, and a lock refuses what is below.
	// After one that is longer than the lock's own the next is as much later.
	// Nothing means the lock's own.
	ExtendTTL nemesis.Range `yaml:"extend_ttl,omitempty"`

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
	if n := len(s.Clients); n > mostClients {
		return &nemesis.FieldError{Path: "clients", Err: fmt.Errorf("%d of them: want up to %d", n, mostClients)}
	}
	if err := s.Lock.Retry.Consistent(); err != nil {
		return nemesis.InField("lock.retry", err)
	}
	for i, c := range s.Clients {
		if err := c.validate(); err != nil {
			return nemesis.InField(fmt.Sprintf("clients[%d]", i), err)
		}
	}
	if err := s.countResources(); err != nil {
		return err
	}
	if err := s.World().Consistent(); err != nil || s.Generate == nil {
		return err
	}
	return nemesis.InField("generate", s.Generate.Consistent())
}

// mostResources is how many resources all clients may lock: no checker judges more.
const mostResources = 1 << 18

// countResources names the client with whose resources there are too many.
func (s Scenario) countResources() error {
	named, sum := map[string]int{}, 0
	for i, c := range s.Clients {
		if more := max(1, c.Resources) - named[c.Resource]; more > 0 {
			named[c.Resource] += more
			sum += more
		}
		if sum > mostResources {
			return &nemesis.FieldError{Path: fmt.Sprintf("clients[%d].resources", i), Err: fmt.Errorf("%d resources in all: want up to %d", sum, mostResources)}
		}
	}
	return nil
}

// LongestTTL is the longest time to live that anybody asks for: a client, for an
// extension, may ask for more than the lock's own.
func (s Scenario) LongestTTL() time.Duration {
	longest := s.Lock.TTL
	for _, c := range s.Clients {
		longest = max(longest, c.ExtendTTL.Max)
	}
	return longest
}

// World returns the setting with the number of clients.
func (s Scenario) World() nemesis.Setting {
	world := s.Setting
	world.Clients = len(s.Clients)
	return world
}

// mostClients bounds the memory that a world takes before anything happens in it.
const mostClients = 10_000

// longestName is how many bytes the name of a resource may have.
const longestName = 256

var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

func (c Client) validate() error {
	if c.Resource == "" {
		return &nemesis.FieldError{Path: "resource", Err: errors.New("missing")}
	}
	if n := len(c.Resource); n > longestName {
		return &nemesis.FieldError{Path: "resource", Err: fmt.Errorf("%d bytes: want up to %d, for it stands in every event of a history", n, longestName)}
	}
	for _, r := range []struct {
		name string
		nemesis.Range
	}{{"start", c.Start}, {"work", c.Work}, {"think", c.Think}, {"extend_ttl", c.ExtendTTL}} {
		if err := r.Consistent(); err != nil {
			return nemesis.InField(r.name, err)
		}
	}
	return nil
}

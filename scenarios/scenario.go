package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Scenario is one experiment: a lock, its clients, their world, a plan of faults, and the expected
// verdicts.
type Scenario struct {
	// Name is the scenario's name, which is part of its runs' directories. Up to 64
	// lower-case letters, digits and hyphens.
	Name string `yaml:"name" want:"/^[a-z0-9][a-z0-9-]{0,63}$/"`

	// Summary is what happens, in one sentence.
	Summary string `yaml:"summary,omitempty"`

	Lock Lock `yaml:"lock"`

	// Clients are the users of the lock. A client's number is its position in this list, from 1. Up
	// to 10,000.
	Clients []Client `yaml:"clients" want:"1.. items"`

	// Setting is the world and the plan, without the number of clients: [Scenario.World]
	// returns it complete.
	nemesis.Setting `yaml:",inline"`

	// Generate adds generated faults to the plan, different ones for each seed.
	// A stored run has none: its plan contains all faults.
	Generate *nemesis.Generator `yaml:"generate,omitempty"`

	Bounds history.Bounds `yaml:"bounds"`

	// SlipMargin is the largest delay of an event on a real machine. If it is exceeded, the
	// verdicts are unknown, and the run is repeated. In virtual time nothing is late. Nothing means
	// what follows from the other times: at most a tenth of the shortest TTL, a quarter of the
	// shortest fault, and a quarter of the shortest time between the end of some work, or of a
	// fault, and that of a TTL.
	SlipMargin time.Duration `yaml:"slip_margin,omitempty" want:"0s.."`

	// Expect is the verdict that each property should get.
	Expect Expectations `yaml:"expect,omitempty"`

	Limits Limits `yaml:"limits,omitempty"`
}

// Lock is a lock and its parameters, the same for all clients. A parameter that does not apply to
// the kind of lock is an error.
type Lock struct {
	// Kind is the kind of lock.
	Kind string `yaml:"kind"`

	// TTL is the time to live of what the lock keeps on the nodes: its keys, its
	// row, its session. For an advisory lock it is the time for which the server keeps the
	// connection of a client whose machine does not answer. Whole milliseconds.
	TTL time.Duration `yaml:"ttl" want:"1ms.."`

	// DriftFactor is the share of the TTL that the lock sets aside for clock rate errors; 0.01 is 1
	// %. The allowance is that share plus 2 ms. The validity is the TTL without it.
	DriftFactor float64 `yaml:"drift_factor" want:"0..1"`

	// Clock is the clock of the client's machine by which the lock counts its validity.
	// monotonic stops while the machine is suspended, boottime goes on,
	// and wall can be stepped. Nothing means monotonic.
	Clock string `yaml:"clock,omitempty" want:"monotonic|boottime|wall"`

	// NodeTimeout is the longest time for which the lock waits for a node's reply.
	NodeTimeout time.Duration `yaml:"node_timeout" want:">0s.."`

	// Linger is the time for which the lock waits for a late reply in the background, so
	// that it can delete a key that was set late. At least the node timeout applies.
	Linger time.Duration `yaml:"linger" want:"0s.."`

	// Margin is the time before the end of its validity at which the holder is warned. Less than
	// the validity.
	Margin time.Duration `yaml:"margin" want:"0s.."`

	// Retry is the time between two tries, drawn anew for each.
	Retry nemesis.Range `yaml:"retry"`

	// Tries is the number of tries after which a call gives up; 0 means no limit.
	Tries int `yaml:"tries,omitempty" want:"0.."`

	Watchdog Watchdog `yaml:"watchdog,omitempty"`

	// Quarantine is the time for which a restarted node does not vote, in whole
	// milliseconds. It should not be below the longest TTL; longer extensions
	// are rejected. 0 means that the node votes at once.
	Quarantine time.Duration `yaml:"quarantine,omitempty" want:"0s.."`

	// Fence is how the lock draws a fence with every grant: quorum reads a
	// quorum of the nodes and raises a quorum to the largest value plus one, increment
	// raises a counter on every node, one-node counts on a single node. Nothing
	// means that it draws none.
	Fence string `yaml:"fence,omitempty" want:"quorum|increment|one-node"`

	// Sequential makes the lock ask one node after another instead of all at once.
	Sequential bool `yaml:"sequential,omitempty"`

	// NativeCommands makes nodes delete keys by DELEX with IFEQ, and extend them by SET with IFEQ and PX,
	// in place of scripts. No extension can then be longer than the TTL. Real servers without these
	// commands get the scripts.
	NativeCommands bool `yaml:"native_commands,omitempty"`

	// Tokens is how the lock makes the token of a try: random is 20 random bytes,
	// time is the time and the name of the client. Nothing means random.
	Tokens string `yaml:"tokens,omitempty" want:"random|time"`

	// Heartbeat is the time between two requests to keep the client's session. The holder of an
	// advisory lock checks its connection so often; 0 means never. The holder of a Kubernetes lease
	// renews it so often.
	Heartbeat time.Duration `yaml:"heartbeat,omitempty" want:"0s.."`

	// Grace is the time for which a client with an expired session waits for its recovery before
	// it reports the loss to the holder.
	Grace time.Duration `yaml:"grace,omitempty" want:"0s.."`

	// LockDelay is the time for which a lock stays closed after its session was lost.
	LockDelay time.Duration `yaml:"lock_delay,omitempty" want:"0s.."`

	// Entries is the number of times that the holder may enter the lock at a time.
	Entries int `yaml:"entries,omitempty" want:"0.."`
}

// Watchdog is automatic extension by the lock, in the background.
type Watchdog struct {
	// Every is the time from each grant, and from each extension, to the next extension; 0 means
	// never.
	Every time.Duration `yaml:"every,omitempty" want:"0s.."`

	// Limit is the largest number of extensions of a hold; 0 means no limit.
	Limit int `yaml:"limit,omitempty" want:"0.."`
}

// ReadsClock returns the clock that the lock reads.
func (l Lock) ReadsClock() env.Clock {
	clock, _ := env.ParseClock(l.Clock) // the monotonic clock, if it is none
	return clock
}

// Allowance returns the part of a TTL that is set aside for clock errors: TTL × drift factor +
// 2 ms, rounded up to whole nanoseconds. All locks use Redlock's formula. A test compares it with
// Redlock's, because a scenario is data and imports no lock.
func (l Lock) Allowance(ttl time.Duration) time.Duration {
	return time.Duration(math.Ceil(float64(ttl)*l.DriftFactor)) + 2*ms
}

// Client is one user of the lock. In each round it locks, works, releases and waits.
type Client struct {
	// Workload is what the client does while it holds the lock.
	Workload string `yaml:"workload"`

	// Resource is the name of the locked resource. Up to 256 bytes.
	Resource string `yaml:"resource" want:"/^.{1,256}$/"`

	// Resources is the number of resources of that name (name/1, name/2, …). Each round locks one
	// of them at random. 0 and 1 mean one resource with exactly that name.
	Resources int `yaml:"resources,omitempty" want:"0..100000"`

	// Start is the time until the client's first round.
	Start nemesis.Range `yaml:"start,omitempty"`

	// Work is the time of the work under the lock.
	Work nemesis.Range `yaml:"work,omitempty"`

	// Think is the time between two rounds.
	Think nemesis.Range `yaml:"think,omitempty"`

	// Rounds is the number of rounds.
	Rounds int `yaml:"rounds" want:"1.."`

	// ExtendEvery is the time between extensions during the work; 0 means that the client does not
	// extend.
	ExtendEvery time.Duration `yaml:"extend_every,omitempty" want:"0s.."`

	// Claimed makes the client work no longer than the lock claims that it holds: until the notice of
	// a loss or, if the lock reports no losses, until the end of validity. If that ends the work, the
	// client writes nothing.
	Claimed bool `yaml:"claimed,omitempty"`

	// ExtendTTL is the TTL of an extension, drawn anew for each; from 1 ms on in whole
	// milliseconds, and a lock rejects less. After an extension that is longer than the lock's own
	// TTL the next one is later by the difference. Nothing means the lock's own.
	ExtendTTL nemesis.Range `yaml:"extend_ttl,omitempty"`

	// Fence makes the client draw a fence from the guarded resource's own
	// counter after each grant, and present it to the resource. A fence that the lock
	// draws with the grant is presented in any case.
	Fence bool `yaml:"fence,omitempty"`
}

// Validate returns an error, a [nemesis.FieldError] if possible, that names
// the first invalid value. Whether the lock and the workloads exist is checked by the package that
// builds them.
func (s Scenario) Validate() error {
	if !plainName.MatchString(s.Name) {
		return &nemesis.FieldError{Path: "name", Err: fmt.Errorf("%q: want up to 64 lower-case letters, digits and hyphens, as the name of a directory is made of it", textfmt.Name(s.Name))}
	}
	if err := form.Check(&s); err != nil {
		return err
	}
	if n := len(s.Clients); n > mostClients {
		return &nemesis.FieldError{Path: "clients", Err: fmt.Errorf("%d of them: want up to %d", n, mostClients)}
	}
	if err := s.countResources(); err != nil {
		return err
	}
	return s.written().ValidatePlan()
}

// mostResources is the largest number of resources of all clients together: no checker judges more.
const mostResources = 1 << 18

// countResources returns an error that names the client with which there are too many resources.
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

// LongestTTL is the longest requested time to live. An extension of a client may request more than
// the lock's own TTL.
func (s Scenario) LongestTTL() time.Duration {
	longest := s.Lock.TTL
	for _, c := range s.Clients {
		longest = max(longest, c.ExtendTTL.Max)
	}
	return longest
}

// World returns the setting as it is carried out, with the number of clients and with a fault for each node in
// place of each fault on all nodes. Histories number the faults of its plan.
func (s Scenario) World() nemesis.Setting {
	world := s.written()
	world.Plan = world.Plan.EachNode(world.Nodes)
	return world
}

// written returns the setting with the number of clients, and with the plan as it is written.
func (s Scenario) written() nemesis.Setting {
	world := s.Setting
	world.Clients = len(s.Clients)
	return world
}

// mostClients bounds the memory of a world before anything happens in it.
const mostClients = 10_000

// longestName is the largest number of bytes in the name of a resource.
const longestName = 256

var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// Consistent returns an error for a resource with too long a name.
func (c Client) Consistent() error {
	if n := len(c.Resource); n > longestName {
		return &nemesis.FieldError{Path: "resource", Err: fmt.Errorf("%d bytes: want up to %d, for it stands in every event of a history", n, longestName)}
	}
	return nil
}

package scenarios

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Contender is a lock as it is deployed. Each goes through every [Trial].
type Contender struct {
	Name    string
	Summary string
	Waits   Waiting
	Lock    Lock
	Deployment

	// Expect is what the literature says of the lock, over all trials together:
	// holds, if no run of any trial may violate the property; violated, if some
	// run has to. What it leaves out may be either.
	Expect Expectations
}

// Waiting is what a client does while somebody else holds the lock.
type Waiting string

// The ways to wait.
const (
	Spins   Waiting = "spins"   // tries again after a random delay
	Watches Waiting = "watches" // is woken when it may be its turn
)

// Deployment is what a lock is kept on, and what it guards.
type Deployment struct {
	Nodes       int
	Persistence nemesis.Persistence

	// Replication, if not nil, gives each node an asynchronous replica, which is
	// promoted whenever the node's server dies.
	Replication *nemesis.Distribution

	// Store, if not nil, is replicated by the nodes; node 1 leads first.
	Store *nemesis.Store

	// Guard is what the guarded resource checks. Fence says that clients draw a
	// fence from the resource's own counter, where the lock does not bring one.
	Guard guard.Mode
	Fence bool
}

// contenders are the locks that are compared.
var contenders = []Contender{
	{
		Name: "redlock", Summary: "Redlock on five nodes, all asked at once", Waits: Spins,
		Lock: quickLock, Deployment: independent(5),
		Expect: leased,
	},
	{
		Name: "redlock-sequential", Summary: "Redlock that asks one node after another", Waits: Spins,
		Lock: sequential(quickLock), Deployment: independent(5),
		Expect: leased,
	},
	{
		Name: "redlock-watchdog", Summary: "Redlock whose holds are extended in the background", Waits: Spins,
		Lock: watched(quickLock), Deployment: independent(5),
		Expect: leased,
	},
	{
		Name: "redlock-quarantine", Summary: "Redlock that lets no node vote which has restarted less than a TTL ago, nor one that it has not watched for so long", Waits: Spins,
		Lock: quarantined(quickLock), Deployment: independent(5),
		Expect: leased,
	},
	{
		Name: "redlock-fenced", Summary: "Redlock with fences from counters on a quorum, checked on reads and writes", Waits: Spins,
		Lock: drawing(quickLock), Deployment: checked(independent(5), guard.Fenced),
		Expect: Expectations{checker.Lease: violated, checker.Section: violated, checker.Fence: violated},
	},
	{
		Name: "redlock-time-tokens", Summary: "Redlock whose tokens are the time and the client's name", Waits: Spins,
		Lock: timed(quickLock), Deployment: independent(5),
		Expect: leased,
	},
	{
		Name: "redlock-one-node", Summary: "Redlock on a single node", Waits: Spins,
		Lock: quickLock, Deployment: independent(1),
		Expect: leased,
	},
}

// leased is what is said of a lock that is a lease on nodes which forget and whose
// clocks jump: it ends by itself, and excludes as long as none of that happens.
var leased = Expectations{
	checker.Lease: violated, checker.Section: violated, checker.Effect: violated,
	checker.DeadlockFreedom: holds, checker.Contract: holds,
}

// independent is nodes that know nothing of each other, and forget in a crash.
func independent(nodes int) Deployment {
	return Deployment{Nodes: nodes, Persistence: nemesis.Nothing, Guard: guard.Plain}
}

// checked puts a resource behind the lock that checks who comes.
func checked(d Deployment, mode guard.Mode) Deployment {
	d.Guard = mode
	return d
}

func sequential(l Lock) Lock {
	l.Sequential = true
	return l
}

func timed(l Lock) Lock {
	l.Tokens = "time"
	return l
}

// Contenders returns the locks that are compared.
func Contenders() []Contender { return contenders }

// Trial is what every contender goes through: the same clients, and the same plan
// as far as its deployment allows.
type Trial struct {
	Name    string
	Summary string

	plan     func(Deployment) nemesis.Plan
	generate *nemesis.Generator
}

// Calm is the name of the trial in which nothing goes wrong.
const Calm = "calm"

// Trials returns the trials, the calm one first.
func Trials() []Trial { return trials }

// Enter returns the scenario of a contender in the trial. Its name is
// compare-TRIAL-CONTENDER; it expects nothing, for what is said of a contender is
// said of all trials together.
func (t Trial) Enter(c Contender) Scenario {
	s := Scenario{
		Name:     ComparisonName(t.Name, c.Name),
		Summary:  fmt.Sprintf("%s; %s", c.Summary, t.Summary),
		Lock:     c.Lock,
		Clients:  append([]Client(nil), contestants...),
		Setting:  c.setting(),
		Generate: t.generate,
		Bounds:   contestBounds,
	}
	for i := range s.Clients {
		s.Clients[i].Fence = c.Fence
	}
	s.Setting.Clients = len(s.Clients)
	if t.plan != nil {
		s.Plan = t.plan(c.Deployment)
	}
	return s
}

// ComparisonName returns the name of the scenario of a contender in a trial.
func ComparisonName(trial, contender string) string {
	return fmt.Sprintf("compare-%s-%s", trial, contender)
}

// setting is the world of a deployment.
func (d Deployment) setting() nemesis.Setting {
	s := five(contestHorizon)
	s.Nodes, s.Persistence, s.Replication, s.Store, s.Guard = d.Nodes, d.Persistence, d.Replication, d.Store, d.Guard
	return s
}

// comparison returns the scenario of that name, if it is one of a contender in a
// trial.
func comparison(name string) (Scenario, bool) {
	for _, t := range trials {
		for _, c := range contenders {
			if ComparisonName(t.Name, c.Name) == name {
				return t.Enter(c), true
			}
		}
	}
	return Scenario{}, false
}

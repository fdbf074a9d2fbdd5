package scenarios

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Contender is a lock as it is deployed. Each goes through every [Trial].
type Contender struct {
	Family  Family
	Name    string
	Summary string
	Remark  string  // what a reader should know beside the verdicts
	Claims  []Claim // what others say of it
	Waits   Waiting
	Lock    Lock
	Deployment

	// Expect is what the literature says of the lock, over all trials together:
	// holds, if no run of any trial may violate the property; violated, if some
	// run must. A property that is left out may get either verdict.
	Expect Expectations
}

// Family is where a lock is kept.
type Family string

// The families.
const (
	FamilyQuorum Family = "a quorum of Redis nodes"
	FamilyOneKey Family = "one key on one Redis node"
	FamilyStored Family = "a replicated store"
)

// Waiting is what a client does while another client holds the lock.
type Waiting string

// The ways to wait.
const (
	WaitingSpins   Waiting = "spins"   // tries again after a random delay
	WaitingWatches Waiting = "watches" // is woken when it may be its turn
)

// Deployment is where a lock is kept, and what it guards.
type Deployment struct {
	Nodes       int
	Persistence nemesis.Persistence

	// Quorum says how many nodes, and which, a plan must take away to stop the
	// lock; the zero value: a majority. It is the lock's own quorum, except that
	// locks on one node go through the same plans as those on all nodes.
	Quorum env.Quorum

	// Replication, if not nil, gives each node an asynchronous replica, which is
	// promoted whenever the node's server dies.
	Replication *nemesis.Distribution

	// Store, if not nil, is replicated by the nodes; node 1 leads first.
	Store *nemesis.Store

	// Guard is what the guarded resource checks. Fence says that clients draw a
	// fence from the resource's own counter if the lock provides none.
	Guard guard.Mode
	Fence bool
}

// independent is five independent nodes without persistence.
func independent() Deployment {
	return Deployment{Nodes: 5, Persistence: nemesis.Nothing, Guard: guard.Plain}
}

// Contenders returns the compared locks, family by family.
func Contenders() []Contender {
	return slices.Concat(of(FamilyQuorum, quorums), of(FamilyOneKey, oneKeys), of(FamilyStored, stored))
}

func of(f Family, contenders []Contender) []Contender {
	all := slices.Clone(contenders)
	for i := range all {
		all[i].Family = f
	}
	return all
}

// Trial is the same for every contender: the same clients, and the same plan
// as far as its deployment allows.
type Trial struct {
	Name    string
	Summary string

	plan     func(Deployment) nemesis.Plan
	generate *nemesis.Generator
	tries    int // bound of fault tolerance; 0: the trial is not about it
}

// Calm is the name of the trial without faults.
const Calm = "calm"

// Trials returns the trials, the calm one first.
func Trials() []Trial { return trials }

// Enter returns the scenario of a contender in the trial. Its name is
// compare-TRIAL-CONTENDER. It expects nothing, because a contender's expectations
// apply to all trials together.
func (t Trial) Enter(c Contender) Scenario {
	s := Scenario{
		Name:     ComparisonName(t.Name, c.Name),
		Summary:  fmt.Sprintf("%s; %s", c.Summary, t.Summary),
		Lock:     c.Lock,
		Clients:  append([]Client(nil), contestants...),
		Setting:  c.setting(),
		Generate: t.generate,
		Bounds:   tries(contestBounds, t.tries),
	}
	for i := range s.Clients {
		s.Clients[i].Fence = c.Fence
	}
	if t.plan != nil {
		s.Plan = t.plan(c.Deployment)
	}
	return s
}

// ComparisonName returns the name of the scenario of a contender in a trial.
func ComparisonName(trial, contender string) string {
	return fmt.Sprintf("compare-%s-%s", trial, contender)
}

// setting returns the world of a deployment.
func (d Deployment) setting() nemesis.Setting {
	s := five(contestHorizon)
	s.Nodes, s.Persistence, s.Replication, s.Store, s.Guard = d.Nodes, d.Persistence, d.Replication, d.Store, d.Guard
	return s
}

// comparison returns the scenario of that name, if it names a contender in a trial.
func comparison(name string) (Scenario, bool) {
	for _, t := range trials {
		for _, c := range Contenders() {
			if ComparisonName(t.Name, c.Name) == name {
				return t.Enter(c), true
			}
		}
	}
	return Scenario{}, false
}

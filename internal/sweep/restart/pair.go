package restart

import (
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

const (
	ms = time.Millisecond
	us = time.Microsecond
)

const (
	ttl    = time.Second
	factor = 0.01

	nodeTimeout = 50 * ms

	way   = 100 * us         // one way between a client and a node
	pause = 9800 * us        // between two tries of the rival
	step  = 2*way + pause    // from one try of the rival to the next
	back  = 2*way + step/2   // ℓ, on average: the rival asks within a step of the return
	sync  = 1 * time.Second  // between two syncs of aof-everysec
	hour  = 10 * time.Second // no run takes so long
)

// crashAt is when nodes crash. The holder starts so long before as the crash is to find
// its lease old.
const crashAt = ttl

// allowance is what a lock with this drift factor sets aside of a time to live.
func allowance(ttl time.Duration, factor float64) time.Duration {
	return scenarios.Lock{DriftFactor: factor}.Allowance(ttl)
}

// life is how long a lease lives from the begin of the request for it.
var life = ttl - allowance(ttl, factor)

// pair is a holder, client 1, and a rival who wants the lock when nodes that crashed at
// crashAt are back.
type pair struct {
	age   nemesis.Range // of the holder's first request at the crash
	every time.Duration // between two extensions; 0: none
	away  time.Duration // from the crash to the return
	bare  bool          // the holder reaches nodes 1 to 3 alone
	kept  nemesis.Persistence
	lost  []nemesis.Action // what happens at the crash
}

func (p pair) scenario(name, summary string) scenarios.Scenario {
	returns := crashAt + p.away
	s := scenarios.Scenario{
		Name:    name,
		Summary: summary,
		Lock:    lock(exactly(pause)),
		Clients: []scenarios.Client{
			{Workload: "hold", Resource: "invoice-7", Start: between(crashAt-p.age.Max, crashAt-p.age.Min), Work: exactly(2 * ttl), Rounds: 1},
			{Workload: "hold", Resource: "invoice-7", Start: between(returns, returns+step-1), Work: exactly(1 * ms), Rounds: 1},
		},
		Setting: nemesis.Setting{
			Nodes: 5, Persistence: p.kept,
			Latency: nemesis.Distribution{Range: exactly(way)}, Horizon: hour,
		},
	}
	if p.every > 0 {
		s.Clients[0].ExtendEvery = p.every - 2*way // the extension itself takes a round trip
	}
	if p.bare {
		s.Plan = append(s.Plan, cutOff())
	}
	for _, a := range p.lost {
		s.Plan = append(s.Plan, nemesis.Fault{Action: a, Start: nemesis.At(crashAt), End: nemesis.After(p.away)})
	}
	return s
}

// lock is a Redlock that tells its holder at the very end of the validity, so that the
// holder holds to the end.
func lock(retry nemesis.Range) scenarios.Lock {
	return scenarios.Lock{
		Kind: "redlock", TTL: ttl, DriftFactor: factor,
		NodeTimeout: nodeTimeout, Linger: 200 * ms, Retry: retry,
	}
}

// cutOff leaves client 1 a bare quorum of five: nodes 1, 2 and 3.
func cutOff() nemesis.Fault {
	return nemesis.Fault{
		Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{4, 5}}},
		Start:  nemesis.At(0),
	}
}

func between(lo, hi time.Duration) nemesis.Range { return nemesis.Range{Min: lo, Max: hi} }

func exactly(d time.Duration) nemesis.Range { return between(d, d) }

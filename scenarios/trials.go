package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// contestants are the clients of every trial: client 1, which the faults affect when
// it holds the lock for the second time, and two competitors. They continue after
// every fault.
var contestants = []Client{
	often(5, span(150*ms, 350*ms), span(20*ms, 100*ms)),
	often(8, span(10*ms, 50*ms), span(50*ms, 300*ms)),
	often(8, span(10*ms, 50*ms), span(50*ms, 300*ms)),
}

const contestHorizon = 20 * time.Second

// contestBounds are wide enough for a lock that has to wait for an election.
var contestBounds = history.Bounds{
	Acquire: time.Second, Extend: time.Second, Release: time.Second,
	Cleanup: 300 * ms, Grant: 4 * time.Second,
}

// holding2 is the time at which client 1 holds the lock for the second time and
// begins its work.
func holding2(plus time.Duration) nemesis.Trigger { return nth(2, afterGrant(plus)) }

// reply is the k-th reply of client 1's first try, before any other client has tried.
func reply(k int) nemesis.Trigger {
	m := nemesis.When(1, env.StepReply, 0)
	m.K = k
	return m
}

// trials are the trials of the comparison.
var trials = []Trial{
	{
		Name: Calm, Summary: "nothing goes wrong",
	},
	{
		Name: "pause", Summary: "the holder stands still for two TTLs, between its read and its write",
		plan: func(Deployment) nemesis.Plan {
			return nemesis.Plan{pause(1, nth(2, hasRead), 2*time.Second)}
		},
	},
	{
		Name: "pause-waiting", Summary: "a client that waits to be woken stands still for two TTLs (who spins does not)",
		plan: func(Deployment) nemesis.Plan {
			return nemesis.Plan{pause(2, nemesis.When(2, env.StepQueued, 0), 2*time.Second)}
		},
	},
	{
		Name: "pause-halfway", Summary: "a client stands still for two TTLs at the second reply of a try, or of the hold that follows",
		plan: func(Deployment) nemesis.Plan {
			return nemesis.Plan{pause(1, reply(2), 2*time.Second)}
		},
	},
	{
		Name: "death-halfway", Summary: "a client dies at the first reply of its first try",
		plan: func(Deployment) nemesis.Plan {
			return nemesis.Plan{kill(1, reply(1))}
		},
	},
	{
		Name: "death", Summary: "the holder dies between its read and its write",
		plan: func(Deployment) nemesis.Plan {
			return nemesis.Plan{kill(1, nth(2, hasRead))}
		},
	},
	{
		Name: "crash", Summary: "a node without which the holder has no quorum, the leader if there is one, crashes and is back at once",
		plan: func(d Deployment) nemesis.Plan { return append(d.bareQuorum(), d.crash(0)) },
	},
	{
		Name: "restart", Summary: "the same node is back when the TTL has passed",
		plan: func(d Deployment) nemesis.Plan { return append(d.bareQuorum(), d.crash(1100*ms)) },
	},
	{
		Name: "one-down", Summary: "one node, the leader if there is one, is down for three TTLs",
		plan:  func(d Deployment) nemesis.Plan { return nemesis.Plan{d.crash(3 * time.Second)} },
		tries: 5,
	},
	{
		Name: "cut-off", Summary: "the holder is cut off from a quorum of the nodes for one and a half TTLs",
		plan: func(d Deployment) nemesis.Plan {
			cut := cutOff(1, d.quorum().Bare().List()...)
			cut.Start, cut.End = holding2(5*ms), nemesis.After(1500*ms)
			return nemesis.Plan{cut}
		},
	},
	{
		Name: "leader-isolated", Summary: "the leader of a store cannot reach the other nodes for three TTLs, while clients reach all; without a store no client reaches one of the nodes",
		plan: func(d Deployment) nemesis.Plan { return nemesis.Plan{d.isolated(3 * time.Second)} },
	},
	{
		Name: "lost-replies", Summary: "of the replies to one client 60 % are lost for three TTLs, and sent again",
		plan: func(Deployment) nemesis.Plan {
			loss := &nemesis.Loss{Links: nemesis.Links{Clients: []int{1}}, Way: nemesis.Replies, Percent: 60}
			return nemesis.Plan{{Action: loss, Start: nemesis.At(0), End: &nemesis.Trigger{At: 3 * time.Second}}}
		},
	},
	{
		Name: "late-requests", Summary: "requests of the holder take half a TTL to one and a half, for three TTLs",
		plan: func(Deployment) nemesis.Plan {
			late := &nemesis.Latency{
				Links: nemesis.Links{Clients: []int{1}}, Way: nemesis.Requests,
				Add: nemesis.Distribution{Range: span(500*ms, 1500*ms)},
			}
			return nemesis.Plan{{Action: late, Start: holding2(0), End: nemesis.After(3 * time.Second)}}
		},
	},
	{
		Name: "clock-jump", Summary: "the clock of a node without which the holder has no quorum, the leader's if there is one, jumps forward by two TTLs",
		plan: func(d Deployment) nemesis.Plan {
			jump := &nemesis.ClockJump{Machine: nemesis.Machine{Node: d.needed()}, By: 2 * time.Second}
			return append(d.bareQuorum(), nemesis.Fault{Action: jump, Start: holding2(5 * ms)})
		},
	},
	{
		Name: "storm", Summary: "up to four faults of any kind, drawn from the seed, but for clones, copies and defects of a store",
		// No lock promises anything if clients share their random numbers, or if
		// a request arrives twice, or if a store revokes sessions. The rows clone, duplicate-set and
		// lease-revoked show it.
		generate: &nemesis.Generator{Most: 4, Faults: nemesis.Weights{"all": 1, "clone": 0, "duplicate": 0, "lease-revoked": 0, "ttl-restart": 0}},
	},
}

// isolated cuts the needed node off while client 1 holds the lock: from the other nodes if they
// replicate a store, and from the clients if each node is independent. If the leader of a store does
// not wait for the others, it is taken down meanwhile, as a failover manager does so that there are not
// two.
func (d Deployment) isolated(length time.Duration) nemesis.Fault {
	node := d.needed()
	f := nemesis.Fault{Action: &nemesis.PeerPartition{Nodes: []int{node}}, Start: holding2(5 * ms), End: nemesis.After(length)}
	switch {
	case d.Store == nil, d.Nodes == 1:
		f.Action = &nemesis.Partition{Links: nemesis.Links{Nodes: []int{node}}}
	case d.Store.Forgets():
		f.Action = &nemesis.Crash{Node: node}
	}
	return f
}

// quorum is the nodes that the lock needs.
func (d Deployment) quorum() env.Quorum { return d.Quorum.Among(d.Nodes) }

// bareQuorum leaves client 1 only a quorum of nodes: it is cut off from the
// others.
func (d Deployment) bareQuorum() nemesis.Plan {
	others := env.AllNodes(d.Nodes) &^ d.quorum().Bare()
	if others == 0 {
		return nil
	}
	return nemesis.Plan{cutOff(1, others.List()...)}
}

// needed is a node without which a bare quorum is none: node 1, which leads a
// store, unless others have more votes.
func (d Deployment) needed() int { return d.quorum().Bare().First() }

// crash crashes the server of the needed node while client 1 holds the lock;
// if the node has a replica, it is promoted.
func (d Deployment) crash(away time.Duration) nemesis.Fault { return d.crashAt(holding2(5*ms), away) }

func (d Deployment) crashAt(start nemesis.Trigger, away time.Duration) nemesis.Fault {
	f := crash(d.needed(), start, away)
	if d.Replication != nil {
		f.Action = &nemesis.Failover{Node: d.needed()}
	}
	return f
}

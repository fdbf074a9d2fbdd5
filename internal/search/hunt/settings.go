package hunt

import (
	"time"

	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

const ms = time.Millisecond

// drawTTL draws the time scale. It is mostly short, since the cost of a run depends on the
// number of attempts per TTL.
func drawTTL(d rng, l *scenarios.Lock) {
	l.TTL = pick(d, 20*ms, 50*ms, 50*ms, 100*ms, 100*ms, 100*ms, 200*ms, 300*ms, 500*ms, time.Second, 2*time.Second)
	l.DriftFactor = pick(d, 0, 0.01, 0.01, 0.01, 0.01, 0.02, 0.05, 0.1)
	if d.chance(25) {
		l.Clock = pick(d, "boottime", "boottime", "wall")
	}
	if d.chance(50) {
		l.Margin = l.TTL / pick(d, time.Duration(10), 20, 50, 100)
	}
	if d.chance(12) {
		l.Tries = 1 + d.IntN(8)
	}
}

// drawNodeTimeout draws how long the lock waits for nodes: often just long enough, sometimes
// far too long.
func drawNodeTimeout(d rng, s *scenarios.Scenario) {
	l := &s.Lock
	shares := []time.Duration{200, 100, 100, 60, 60, 60, 30, 30, 20, 10, 5, 3, 2}
	l.NodeTimeout = max(l.TTL/pick(d, shares...), 5*promises.RoundTrip(*s)/2)
	if d.chance(6) {
		l.NodeTimeout = l.TTL * pick(d, time.Duration(1), 2, 3) * 5 / 4
	}
	if promises.StorageOf(l.Kind) == promises.OnMajority {
		l.Linger = l.NodeTimeout * pick(d, time.Duration(0), 1, 1, 2, 4)
	}
}

// drawRetry draws the time between two attempts. Short delays find small gaps between two
// holds; wide ranges avoid repeated collisions. If attempts fail without faults there are few.
func drawRetry(d rng, s *scenarios.Scenario) {
	l, allowance := &s.Lock, s.Lock.TTL-promises.Validity(s.Lock)
	room := promises.RetryRoom(*s)
	switch k := d.IntN(10); {
	case k < 2 && allowance >= l.TTL/50:
		l.Retry, l.Tries = d.within(allowance/8, allowance/2), 30+d.IntN(50)
	case k < 9 && room <= 3*l.TTL:
		l.Retry.Min = d.between(0, room/8)
		l.Retry.Max = l.Retry.Min + d.between(room, max(room, l.TTL/2))
	case k < 9:
		l.Retry = d.within(l.TTL/20, l.TTL)
	default:
		l.Retry = exactly(d.between(l.TTL/20, l.TTL/2))
	}
	l.Retry.Max = max(l.Retry.Max, time.Microsecond)
	if !promises.Feasible(*s) {
		l.Tries = 1 + d.IntN(8)
	}
}

// drawRedlock draws the settings that only Redlock has.
func drawRedlock(d rng, s *scenarios.Scenario) {
	l := &s.Lock
	if d.chance(25) {
		room := promises.Validity(*l) - l.Margin
		l.Watchdog.Every = d.between(room/6, room*2/3)
		if d.chance(30) { // late, with little validity left
			l.Watchdog.Every = d.between(room*2/3, room*19/20)
		}
		if d.chance(50) {
			l.Watchdog.Limit = 1 + d.IntN(4)
		}
	}
	if d.chance(20) {
		l.Quarantine = l.TTL * pick(d, time.Duration(1), 1, 2, 3)
	}
	if d.chance(12) {
		l.Fence = pick(d, "quorum", "quorum", "increment", "one-node")
	}
	if d.chance(8) && l.NodeTimeout <= l.TTL/10 {
		l.Sequential = true
	}
	if d.chance(10) {
		l.Tokens = "time"
	}
}

// workPastExtensions lets a holder keep working after its last extension, so that an extended
// validity runs to its end. Other clients arrive shortly before and ask often, to see a gap
// that is too small. Or the holder releases while its watchdog extends.
func workPastExtensions(d rng, s *scenarios.Scenario) {
	l, c := &s.Lock, &s.Clients[0]
	var last time.Duration // of the last extension, after the grant
	switch w := l.Watchdog; {
	case w.Limit > 0 && d.chance(70):
		last = time.Duration(w.Limit) * w.Every
	case w.Every == 0 && l.Quarantine == 0 && d.chance(15): // a quarantine takes long extensions
		c.ExtendEvery = d.between(l.TTL/3, promises.Validity(*l)*9/10)
		c.ExtendTTL = d.within(l.TTL/5, c.ExtendEvery*9/10) // ends before the next
		last = c.ExtendEvery
	case w.Every > 0 && w.Limit == 0 && d.chance(40):
		c.Work = d.within(w.Every, w.Every+promises.RoundTrip(*s))
		return
	default:
		return
	}
	c.Start, c.Work = nemesis.Range{}, exactly(last+2*l.TTL)
	for i := range s.Clients[1:] {
		s.Clients[1+i].Start = d.within(last, last+l.TTL/5)
	}
	l.Tries, l.Retry = 0, d.within(l.TTL/200, l.TTL/20)
}

// runsOut reports whether a holder keeps working after its watchdog has stopped, so that an
// extended validity runs to its end while others want the lock.
func runsOut(s scenarios.Scenario) bool {
	w := s.Lock.Watchdog
	return w.Limit > 0 && len(s.Clients) > 1 && s.Clients[0].Work.Min >= time.Duration(w.Limit)*w.Every+s.Lock.TTL
}

// extendQuarantine makes a quarantine longer than any TTL, as required. Mostly it also lets a
// client ask for more than the lock's TTL and hold it long after that, on nodes that forget.
func extendQuarantine(d rng, s *scenarios.Scenario) {
	l := &s.Lock
	if l.Quarantine == 0 {
		return
	}
	if d.chance(70) {
		c := &s.Clients[0]
		c.ExtendEvery = d.between(l.TTL/10, l.TTL*2/3)
		c.ExtendTTL = d.within(2*l.TTL, 4*l.TTL)
		c.Work = d.within(l.TTL, 4*l.TTL)
		s.Persistence = pick(d, nemesis.Nothing, nemesis.Nothing, s.Persistence)
		if d.chance(30) { // other clients ask all the time, and notice when nodes return
			c.Start = nemesis.Range{}
			l.Tries, l.Retry = 0, d.within(l.TTL/50, l.TTL/5)
		}
	}
	l.Quarantine = max(l.Quarantine, s.LongestTTL().Round(ms)+ms)
}

func drawHeartbeat(d rng, s *scenarios.Scenario) {
	room := promises.Validity(s.Lock) - s.Lock.Margin
	s.Lock.Heartbeat = d.between(room/8, room*2/3)
}

// drawRenewals draws the deadline and the period of renewals. client-go's are 2/3 and 2/15 of the TTL.
func drawRenewals(d rng, s *scenarios.Scenario) {
	s.Lock.DriftFactor = pick(d, 0.1, 0.25, 1.0/3, 1.0/3, 1.0/3, 0.5)
	room := promises.Validity(s.Lock)
	s.Lock.Heartbeat = d.between(room/10, room*2/5)
}

func drawAdvisory(d rng, s *scenarios.Scenario) {
	if d.chance(50) {
		drawHeartbeat(d, s)
	}
}

func drawChubby(d rng, s *scenarios.Scenario) {
	drawHeartbeat(d, s)
	l := &s.Lock
	if d.chance(40) {
		l.Grace = d.between(l.TTL/4, 2*l.TTL)
	}
	if d.chance(40) {
		l.LockDelay = d.between(l.TTL/10, l.TTL)
	}
}

func drawFenced(d rng, s *scenarios.Scenario) {
	drawHeartbeat(d, s)
	if d.chance(30) {
		s.Lock.Entries = 1 + d.IntN(3)
	}
}

// drawNetwork draws latencies between negligible and a part of the TTL; sometimes more, so
// that a grant should be rare.
func drawNetwork(d rng, s *scenarios.Scenario) {
	ttl := s.Lock.TTL
	longest := max(ttl/pick(d, time.Duration(1000), 1000, 1000, 500, 500, 200, 200, 100, 100, 50, 30, 20, 10, 5), 10*time.Microsecond)
	if d.chance(2) {
		longest = ttl * 5 / 4
	}
	s.Latency.Range = upTo(longest)
	switch d.IntN(4) {
	case 0:
		s.Latency.Min = longest
	case 1:
		s.Latency.Min = longest / 2
	}
	if longest <= ttl/50 { // a wait for a connection includes its replies
		switch d.IntN(8) {
		case 0:
			s.Connections.Limit = 1 + d.IntN(3)
		case 1, 2:
			s.Connections.Pipelined = true
		case 3, 4, 5:
			s.Connections.Batched = true
		}
	}
	if d.chance(12) {
		drawFarNode(d, s)
	}
	if d.chance(10) {
		s.GuardLatency = &nemesis.Distribution{Range: d.within(0, ttl/4)}
	}
}

// drawFarNode makes one node far away: a request to it can be overtaken by a later one, after
// all other nodes have replied.
func drawFarNode(d rng, s *scenarios.Scenario) {
	far := min(s.Latency.Max*pick(d, time.Duration(5), 10, 20), max(s.Lock.TTL/100, s.Latency.Max))
	links := nemesis.Links{Nodes: []int{1 + d.IntN(s.Nodes)}}
	s.Links = []nemesis.LinkLatency{{Links: links, Latency: nemesis.Distribution{Range: upTo(far)}}}
}

func drawDisks(d rng, s *scenarios.Scenario) {
	s.Persistence = pick(d, nemesis.Nothing, nemesis.Nothing, nemesis.EverySecond, nemesis.Always, nemesis.Always)
	if s.Persistence == nemesis.Always && d.chance(30) {
		s.Sync = &nemesis.Distribution{Range: upTo(s.Latency.Max / 10)}
	}
	if d.chance(10) {
		s.Replication = &nemesis.Distribution{Range: upTo(s.Lock.TTL / pick(d, time.Duration(100), 10, 2))}
	}
}

func drawStore(d rng, s *scenarios.Scenario) {
	ttl := s.Lock.TTL
	s.Store = &nemesis.Store{
		Election:     nemesis.Distribution{Range: d.within(ttl/50, ttl/2)},
		Commit:       nemesis.Distribution{Range: d.within(0, s.Latency.Max)},
		Asynchronous: s.Lock.Kind == "database-row" && d.chance(20),
	}
}

// drawNearNodes puts each client near some nodes and equally far from the others. Clients that
// begin at once then split the votes, and do so again if they wait equally long.
func drawNearNodes(d rng, s *scenarios.Scenario) {
	if len(s.Clients) < 2 || s.Nodes < 2 || len(s.Links) > 0 || !d.chance(12) {
		return
	}
	far := s.Latency.Max
	s.Latency.Range = exactly(far)
	first := d.IntN(len(s.Clients))
	for node := 1; node <= s.Nodes; node++ {
		near := nemesis.Links{Clients: []int{1 + (first+node)%len(s.Clients)}, Nodes: []int{node}}
		s.Links = append(s.Links, nemesis.LinkLatency{Links: near, Latency: nemesis.Distribution{Range: exactly(far / 4)}})
	}
	for i := range s.Clients {
		s.Clients[i].Start = nemesis.Range{}
	}
}

// allWorkloads are the workloads of clients, repeated by weight.
var allWorkloads = []string{"hold", "hold", "hold", "section", "section", "section", "section", "checked", "posted", "misuse"}

// drawClients draws the clients of a lock: all alike, or one that holds for long and others
// that want it meanwhile.
func drawClients(d rng, s scenarios.Scenario, n int, workloads []string) []scenarios.Client {
	clients := make([]scenarios.Client, n)
	likeFirst := d.chance(40)
	resources := 0
	if d.chance(6) {
		resources = 2
	}
	fences := s.Lock.Fence == "" && (s.Guard == guard.Fenced || s.Guard == guard.FencedWrites) && d.chance(70)
	for i := range clients {
		c := drawClient(d, s.Lock.TTL, pick(d, workloads...))
		if likeFirst && i > 0 {
			c = clients[0]
		}
		c.Resource, c.Resources, c.Fence = "r", resources, fences
		clients[i] = c
	}
	if !likeFirst && n > 1 {
		drawHolder(d, s.Lock.TTL, clients)
	}
	return clients
}

// drawHolder makes the first client a long holder, and lets the others arrive later.
func drawHolder(d rng, ttl time.Duration, clients []scenarios.Client) {
	clients[0].Start = nemesis.Range{}
	clients[0].Rounds = 1
	clients[0].Work = d.within(ttl/2, 2*ttl)
	for i := range clients[1:] {
		c := &clients[1+i]
		c.Start = d.within(ttl/100, ttl)
		c.Work = upTo(ttl / pick(d, time.Duration(50), 10, 3))
	}
}

func drawClient(d rng, ttl time.Duration, workload string) scenarios.Client {
	c := scenarios.Client{Workload: workload, Rounds: pick(d, 1, 1, 2, 2, 3)}
	if d.chance(60) {
		c.Start = d.within(0, ttl/pick(d, time.Duration(20), 2, 1))
	}
	switch d.IntN(6) {
	case 0: // so short that requests are under way when it is over
	case 1, 2:
		c.Work = d.within(ttl/100, ttl/5)
	case 3:
		c.Work = d.within(ttl/2, ttl)
	case 4:
		c.Work = d.within(ttl*9/10, ttl*11/10)
	default:
		c.Work = d.within(ttl, 5*ttl/2)
	}
	if d.chance(60) {
		c.Think = d.within(0, ttl/pick(d, time.Duration(50), 5, 1))
	}
	if d.chance(35) {
		drawExtensions(d, ttl, &c)
	}
	return c
}

// drawExtensions lets a client extend while it works, sometimes by more than the lock's TTL,
// by less, or by an invalid time.
func drawExtensions(d rng, ttl time.Duration, c *scenarios.Client) {
	c.ExtendEvery = d.between(ttl/10, ttl/pick(d, time.Duration(3), 2, 1))
	if d.chance(10) {
		c.ExtendEvery = d.between(ttl, ttl*3/2)
	}
	if d.chance(50) { // time for an extension
		c.Work = d.within(2*c.ExtendEvery, max(4*c.ExtendEvery, 2*ttl))
	}
	if d.chance(20) { // release while the extension is still arriving
		c.Work = d.within(c.ExtendEvery+time.Microsecond, c.ExtendEvery+ttl/100)
	}
	switch d.IntN(8) {
	case 0, 1:
		c.ExtendTTL = d.within(ttl, 4*ttl)
	case 2:
		c.ExtendTTL = d.within(ttl/5, ttl)
	case 3:
		c.ExtendTTL = nemesis.Range{Min: 1, Max: ms - 1}
	}
}

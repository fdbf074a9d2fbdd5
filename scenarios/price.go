package scenarios

import (
	"fmt"
	"math"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// PriceClients lists the numbers of clients with which the price of a lock is measured.
var PriceClients = []int{1, 8, 64}

// PriceTime is how long one measurement of a price takes.
const PriceTime = 5 * time.Second

// Price returns the scenario price-N-CONTENDER: n clients acquire and release, again and again and
// without work, each a lock of its own. Nothing goes wrong. Times are long, because a busy
// machine is no fault of the lock.
func Price(c Contender, n int) Scenario {
	s := Scenario{
		Name:    fmt.Sprintf("price-%d-%s", n, c.Name),
		Summary: fmt.Sprintf("%s; %d clients acquire and release locks of their own", c.Summary, n),
		Lock:    c.Lock,
		Setting: c.setting(),
	}
	s.Lock.NodeTimeout, s.Lock.TTL = time.Second, 20*time.Second
	if s.Lock.Heartbeat > 0 {
		s.Lock.Heartbeat = s.Lock.TTL / 4
	}
	for client := range n {
		s.Clients = append(s.Clients, Client{Workload: "hold", Resource: fmt.Sprintf("of-client-%d", client+1), Rounds: math.MaxInt32})
	}
	s.Horizon, s.SlipMargin = PriceTime, PriceTime
	return s
}

// PriceOfOutage returns the scenario price-outage-CONTENDER: one client acquires and releases,
// while node 1, which leads a store at first, is down for as long as most of the measurement.
func PriceOfOutage(c Contender) Scenario {
	s := Price(c, 1)
	s.Name = "price-outage-" + c.Name
	s.Summary = fmt.Sprintf("%s; a client acquires and releases while the first node, the leader if there is one, is down", c.Summary)
	s.Lock.NodeTimeout, s.Lock.TTL, s.Lock.Heartbeat = c.Lock.NodeTimeout, c.Lock.TTL, c.Lock.Heartbeat
	s.Plan = append(s.Plan, c.crashAt(nemesis.At(time.Second), PriceTime-2*time.Second))
	return s
}

// PriceOfSyncs returns the scenario price-syncs-CONTENDER: one client acquires and releases, and members
// of a store have disks that count, because the last of them loses power at the end.
func PriceOfSyncs(c Contender) Scenario {
	s := Price(c, 1)
	s.Name = "price-syncs-" + c.Name
	s.Summary = fmt.Sprintf("%s; a client acquires and releases while the syncs of the members' disks are counted", c.Summary)
	s.Plan = append(s.Plan, nemesis.Fault{Action: &nemesis.PowerLoss{Node: s.Nodes}, Start: nemesis.At(PriceTime - ms)})
	return s
}

// price returns the scenario of that name, if it measures the price of a contender.
func price(name string) (Scenario, bool) {
	for _, c := range Contenders() {
		for _, n := range PriceClients {
			if s := Price(c, n); s.Name == name {
				return s, true
			}
		}
		for _, s := range []Scenario{PriceOfOutage(c), PriceOfSyncs(c)} {
			if s.Name == name {
				return s, true
			}
		}
	}
	return Scenario{}, false
}

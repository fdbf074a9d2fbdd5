package speed

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/cluster/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Network is how clients reach the nodes. Where a node may be in trouble it alone lies
// behind a proxy, which costs tens of microseconds, and has one too while it is in good
// health: that is what a trouble has to be compared with.
type Network struct {
	Name    string // in benchmarks
	What    string // it is
	proxied bool
	trouble *nemesis.Rule // of the proxied node; nil: none
}

// slowness is how much longer a request to the slow node takes.
const slowness = 5 * time.Millisecond

// Networks are all in which locks are measured.
func Networks() []Network {
	silence := nemesis.Silence()
	slow := nemesis.Rule{Delay: func(nemesis.Message) time.Duration { return slowness }}
	return []Network{
		{Name: "direct", What: "Straight to the servers, over loopback."},
		{Name: "healthy", What: "The fifth node lies behind a proxy, as in what follows, and is in good health.", proxied: true},
		{Name: "black-hole", What: "The fifth node answers nobody: what is sent to it, and what it answers, is held back. The first cycle of each client, which finds out, is not counted.", proxied: true, trouble: &silence},
		{Name: "slow", What: fmt.Sprintf("Requests to the fifth node take %v longer.", slowness), proxied: true, trouble: &slow},
	}
}

// Way is a network that is there, to nodes at certain addresses.
type Way struct {
	network Network
	addrs   []string
	wire    *wire.Network // nil: without a proxy
}

// Open makes the network to the nodes, of which the last is the one that may be in
// trouble. It is in good health until [Way.Strike].
func (n Network) Open(nodes []string) (*Way, error) {
	w := &Way{network: n, addrs: nodes}
	if !n.proxied {
		return w, nil
	}
	last := len(nodes) - 1
	var err error
	if w.wire, err = wire.Open(1, nodes[last:], ""); err != nil {
		return nil, err
	}
	w.addrs = append(nodes[:last:last], w.wire.Link(1, 1).Addr())
	return w, nil
}

// Addrs are where clients find the nodes.
func (w *Way) Addrs() []string { return w.addrs }

// Strike brings the network's trouble on the last node, for good.
func (w *Way) Strike() {
	if r := w.network.trouble; r != nil {
		link := w.wire.Link(1, 1)
		link.Requests.Impose(1, *r)
		if r.Holds != nil {
			link.Replies.Impose(1, *r)
		}
	}
}

// Close ends all connections over the proxy.
func (w *Way) Close() {
	if w.wire != nil {
		w.wire.Close()
	}
}

package speed

import (
	"fmt"
	"os/exec"
	"time"

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
	silence := nemesis.HoldAll()
	slow := nemesis.Rule{Delay: func(nemesis.Message) time.Duration { return slowness }}
	return []Network{
		{Name: "direct", What: "Straight to the servers, over loopback."},
		{Name: "healthy", What: "The fifth node lies behind a proxy, a process of its own as in what follows, and is in good health.", proxied: true},
		{Name: "black-hole", What: "The fifth node answers nobody: what is sent to it, and what it answers, is held back. The first cycle of each client, which finds out, is not counted.", proxied: true, trouble: &silence},
		{Name: "slow", What: fmt.Sprintf("Requests to the fifth node take %v longer.", slowness), proxied: true, trouble: &slow},
	}
}

// Way is a network that is there, to nodes at certain addresses.
type Way struct {
	addrs []string
	proxy *proxy // nil: there is none
}

// Open makes the network to the nodes, of which the last is the one that may be in
// trouble. It is in good health until [Way.Strike]. A proxy is a process of its own, which
// start starts (as [exec.Cmd.Start] does): what it costs to hold things back is no affair of
// the lock's.
func (n Network) Open(nodes []string, start func(*exec.Cmd) error) (*Way, error) {
	w := &Way{addrs: nodes}
	if !n.proxied {
		return w, nil
	}
	last := len(nodes) - 1
	var err error
	if w.proxy, err = startProxy(n, nodes[last], start); err != nil {
		return nil, err
	}
	w.addrs = append(nodes[:last:last], w.proxy.addr)
	return w, nil
}

// Addrs are where clients find the nodes.
func (w *Way) Addrs() []string { return w.addrs }

// Strike brings the network's trouble on the last node, for good.
func (w *Way) Strike() error {
	if w.proxy == nil {
		return nil
	}
	return w.proxy.strike()
}

// Close ends all connections over the proxy.
func (w *Way) Close() error {
	if w.proxy == nil {
		return nil
	}
	return w.proxy.end()
}

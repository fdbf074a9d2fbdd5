package redisnode

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// ErrSameServer is the error of a node whose address leads to the server of another node. Two
// addresses of one server, say localhost and 127.0.0.1, would be two votes of one master.
var ErrSameServer = errors.New("two nodes are the same server")

// identities are the servers to which the nodes' addresses lead, by their run ids. A server
// draws its run id when it starts, so a node that restarts becomes another server under
// the same address, which is legitimate. A run id that another node has is not.
//
// The node that is connected later is refused, and the other one goes on: a majority of the
// nodes is then one of different servers, with one vote less to spare.
type identities struct {
	addrs []string // by node, from 0

	mu    sync.Mutex
	known []string // run ids, by node, from 0, as its latest handshake told; "": not known
}

func newIdentities(addrs []string) *identities {
	return &identities{addrs: addrs, known: make([]string, len(addrs))}
}

// meet takes note that a new connection of a node, from 1, leads to the server with a run id,
// "" if it does not tell. It returns [ErrSameServer], with both addresses, if that is the
// server of another node. The node then has no server: its address has moved, and
// what it was before may be found elsewhere now.
func (i *identities) meet(node int, run string) error {
	if run == "" {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for other, known := range i.known {
		if known == run && other != node-1 {
			i.known[node-1] = ""
			first, second := min(other, node-1), max(other, node-1)
			return fmt.Errorf("%w: nodes %d and %d, %s and %s, both have run_id %s",
				ErrSameServer, first+1, second+1, i.addrs[first], i.addrs[second], run)
		}
	}
	i.known[node-1] = run
	return nil
}

// runID finds the run id in what INFO tells.
func runID(info string) (string, error) {
	for line := range strings.Lines(info) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "run_id:"); ok && id != "" {
			return id, nil
		}
	}
	return "", errors.New("INFO has no run_id")
}

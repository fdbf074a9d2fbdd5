package redisnode

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// ErrSameServer is the error of a node whose address leads to the server of another node. Two
// addresses of one server, such as localhost and 127.0.0.1, would give one master two votes.
var ErrSameServer = errors.New("two nodes are the same server")

// identities tracks which server each node's address leads to, by run id. A server draws its run
// id when it starts, so a restart changes the run id of a node, which is allowed. Having the run
// id of another node is not.
//
// Of two such nodes the one that is connected later is refused and the other one is used. A
// majority of the nodes then still is a majority of different servers.
type identities struct {
	addrs []string // by node, from 0

	mu    sync.Mutex
	known []string // run ids by node, from 0, as of the latest handshake; "": not known
}

func newIdentities(addrs []string) *identities {
	return &identities{addrs: addrs, known: make([]string, len(addrs))}
}

// register records the run id ("": not known) of a new connection of a node, from 1. It returns
// [ErrSameServer], with both addresses, if another node has this run id. The node's own run id
// is then forgotten: its address has moved, and its former server may be at another address now.
func (i *identities) register(node int, run string) error {
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

// runID returns the run id in the output of INFO.
func runID(info string) (string, error) {
	for line := range strings.Lines(info) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "run_id:"); ok && id != "" {
			return id, nil
		}
	}
	return "", errors.New("INFO has no run_id")
}

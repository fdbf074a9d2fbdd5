package redisnode

import (
	"errors"
	"fmt"
	"sync"
)

// ErrSameServer is the error of a node whose address leads to the server of another node. Two
// addresses of one server, such as localhost and 127.0.0.1, would give one master two votes.
var ErrSameServer = errors.New("two nodes are the same server")

// servers tracks which server each node's address leads to, by run id. A server draws its run
// id when it starts, so a restart changes the run id of a node, which is allowed. Having the run
// id of another node is not.
//
// Of two such nodes the one that is connected later is refused and the other one is used. A
// majority of the nodes then still is a majority of different servers.
type servers struct {
	addrs []string // by node, from 0

	mu    sync.Mutex
	known []server // by node, from 0, as of the latest handshake
}

// server is what is known of one run of a server.
type server struct {
	run    string // its run id; "": not known
	native nativeCommands
}

func newServers(addrs []string) *servers {
	return &servers{addrs: addrs, known: make([]server, len(addrs))}
}

// register records what INFO says on a new connection of a node, from 1. It returns
// [ErrSameServer], with both addresses, if another node has this run id. The node's own server
// is then forgotten: its address has moved, and its former server may be at another address now.
// Without a run id nothing is known of the server.
func (s *servers) register(node int, info string) error {
	run, _ := runID(info)
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.known[node-1]
	if run == "" { // the server may be another one than before, and may lack its commands
		s.known[node-1].native = nativeCommands{}
		return nil
	}
	for other, known := range s.known {
		if known.run == run && other != node-1 {
			s.known[node-1] = server{}
			first, second := min(other, node-1), max(other, node-1)
			return fmt.Errorf("%w: nodes %d and %d, %s and %s, both have run_id %s",
				ErrSameServer, first+1, second+1, s.addrs[first], s.addrs[second], run)
		}
	}
	if was.run != run { // otherwise this run may have rejected what its version promises
		s.known[node-1] = server{run, nativeOf(info)}
	}
	return nil
}

// runID returns the run id in the output of INFO.
func runID(info string) (string, error) {
	if id, _ := field(info, "run_id"); id != "" {
		return id, nil
	}
	return "", errors.New("INFO has no run_id")
}

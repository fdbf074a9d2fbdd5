package redlock_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/mutextest"
)

// The lock keeps its promises on goroutines and in real time. Four nodes, of
// which three are a quorum, are as strict as any number can be.
func TestBehaviour(t *testing.T) { mutextest.Run(t, newShelves(4)) }

func (s shelves) Connect(*testing.T) env.Nodes { return s }

func (s shelves) Look(_ *testing.T, node int, key string) (string, time.Duration) {
	return s[node-1].look(key)
}

// shelves are nodes in memory, for the lock on goroutines and in real time.
type shelves []*shelf

func newShelves(nodes int) shelves {
	var s shelves
	for range nodes {
		s = append(s, &shelf{keys: map[string]entry{}})
	}
	return s
}

func (s shelves) Len() int { return len(s) }

// Send has every node answer at some time within a fifth of a millisecond, so
// that nothing is ever given up.
func (s shelves) Send(to env.NodeSet, c env.Command, _ env.Instant) env.Round {
	r := &shelfRound{replies: make(chan env.Reply, to.Len()), left: to.Len()}
	for ; to != 0; to = to.Without(to.First()) {
		go func(node int) {
			time.Sleep(rand.N(200 * time.Microsecond))
			r.replies <- env.Reply{Node: node, Answer: s[node-1].execute(c)}
		}(to.First())
	}
	return r
}

// shelf is one node.
type shelf struct {
	mu   sync.Mutex
	keys map[string]entry
}

type entry struct {
	token  string
	expiry time.Time
}

func (s *shelf) look(key string) (string, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entry(key)
	return e.token, time.Until(e.expiry)
}

// entry returns what is under the key and has not expired.
func (s *shelf) entry(key string) entry {
	if e := s.keys[key]; time.Now().Before(e.expiry) {
		return e
	}
	return entry{}
}

func (s *shelf) execute(c env.Command) env.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, expiry := s.entry(c.Key), time.Now().Add(c.TTL)
	switch {
	case c.Op == env.OpSet && e.token == "":
		s.keys[c.Key] = entry{c.Token, expiry}
	case c.Op == env.OpExtend && e.token == c.Token:
		if expiry.After(e.expiry) {
			s.keys[c.Key] = entry{c.Token, expiry}
		}
	case c.Op == env.OpDelete && e.token == c.Token, c.Op == env.OpRemove && e.token != "":
		delete(s.keys, c.Key)
	case c.Op > env.OpExtend && c.Op != env.OpRemove: // not on these shelves
		return env.Failed
	default:
		return env.No
	}
	return env.Yes
}

// shelfRound is the replies to one Send.
type shelfRound struct {
	replies chan env.Reply
	left    int
}

func (r *shelfRound) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	if r.left == 0 {
		return env.Reply{}, env.ErrRoundOver
	}
	select { // a reply that is there goes before all else
	case reply := <-r.replies:
		r.left--
		return reply, nil
	default:
	}
	timer := time.NewTimer(until.Sub(env.System().Now(env.Monotonic)))
	defer timer.Stop()
	select {
	case reply := <-r.replies:
		r.left--
		return reply, nil
	case <-timer.C:
		return env.Reply{}, env.ErrTimeout
	case <-ctx.Done():
		return env.Reply{}, ctx.Err()
	}
}

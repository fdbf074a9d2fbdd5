package mutextest

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/redlock"
)

// contest is clients, each with some users, who all want the same keys.
type contest struct {
	config                 redlock.Config // its Tries end a bout
	clients, users, rounds int            // rounds of each user
	keys                   []string       // of which none is left in the end

	// turn plays one round of a user of a client, and returns the error of the lock.
	turn func(client int, m *redlock.Mutex) error
}

// run plays all rounds. A defect can leave a key that nobody deletes, and keys live for an
// hour, so the rounds come in bouts. A bout ends as soon as one user has used its tries up.
// When nothing is under way any more, a key that is left proves the defect. If none is left,
// the machine was slow, and the next bout goes on where this one ended.
func (c contest) run(s *scene) {
	left := make([]int, c.clients*c.users)
	for i := range left {
		left[i] = c.rounds
	}
	for !c.bout(s, left) && !s.Failed() {
	}
}

// bout plays the rounds that are left, and reports whether it came to the end of them.
func (c contest) bout(s *scene, left []int) bool {
	var unlucky atomic.Bool
	var all sync.WaitGroup
	var mutexes []*redlock.Mutex
	for client := range c.clients {
		m := s.client(c.config, nil)
		mutexes = append(mutexes, m)
		for user := range c.users {
			mine := &left[client*c.users+user]
			all.Go(func() {
				for ; *mine > 0 && !unlucky.Load(); *mine-- {
					if err := c.turn(client, m); usedUp(err) {
						unlucky.Store(true)
						return
					} else if err != nil {
						s.Errorf("lock: %v", err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	for _, m := range mutexes {
		s.close(m)
	}
	for _, key := range c.keys {
		s.wantHeld(key, s.every(""))
	}
	return !unlucky.Load()
}

// usedUp reports whether a lock gave up after its last try.
func usedUp(err error) bool {
	return errors.Is(err, redlock.ErrTaken) || errors.Is(err, redlock.ErrNoQuorum) || errors.Is(err, redlock.ErrValidity)
}

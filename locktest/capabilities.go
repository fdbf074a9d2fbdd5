package locktest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// capabilities are what runs have shown about the lock. They decide what it can be asked to
// fulfil.
type capabilities struct {
	fences  bool // grants have fences
	tells   bool // it reports losses
	endless bool // some grant has no end of validity
}

// merge adds capabilities that were seen elsewhere.
func (t *capabilities) merge(more capabilities) {
	t.fences = t.fences || more.fences
	t.tells = t.tells || more.tells
	t.endless = t.endless || more.endless
}

// usage observes how the lock uses the test kit during a run. On real servers the lock's
// goroutines may outlive the run.
type usage struct {
	mu     sync.Mutex
	traits capabilities
	misuse error // the first error

	dials map[int]int // by client
	nodes map[int]bool
	locks map[int]int // calls of Lock that have returned, by client

	open map[int]string // the current call of each client
}

func newUsage() *usage {
	return &usage{dials: map[int]int{}, nodes: map[int]bool{}, locks: map[int]int{}, open: map[int]string{}}
}

// dialled records a connection of a client.
func (u *usage) dialled(client, node int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.dials[client]++
	u.nodes[node] = true
}

// answered records a call of Lock that has returned.
func (u *usage) answered(client int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.locks[client]++
}

// granted records a grant. It returns an error if the grant cannot be used.
func (u *usage) granted(client int, h Hold, extends bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.traits.merge(capabilities{fences: h.Fence != 0, tells: h.Lost != nil, endless: h.Until.IsZero()})
	if h.Release == nil {
		return u.setMisuse("client %d: Lock has returned a Hold without Release", client)
	}
	if extends && h.Extend == nil {
		return u.setMisuse("client %d: Config.Extend is set, and Lock has returned a Hold without Extend", client)
	}
	return nil
}

// extended records an extension.
func (u *usage) extended(until time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.traits.merge(capabilities{endless: until.IsZero()})
}

// calls records a call of the lock. The returned function records its end.
func (u *usage) calls(what string, client int) (over func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open[client] = what
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.open, client)
	}
}

// unreturned returns the error of a run after which calls of the lock have not returned,
// though their contexts have ended.
func (u *usage) unreturned() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	var deaf []error
	for _, client := range slices.Sorted(maps.Keys(u.open)) {
		deaf = append(deaf, fmt.Errorf("client %d: %s has not returned, though its context has ended", client, u.open[client]))
	}
	return errors.Join(deaf...)
}

// setMisuse returns an error and keeps the first one.
func (u *usage) setMisuse(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	u.misuse = cmp.Or(u.misuse, err)
	return err
}

// misuseError returns the first error of setMisuse, or nil.
func (u *usage) misuseError() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.misuse
}

// undialledError returns the error of a run in which a client called the lock and did not
// use Dial, so that faults cannot affect it. One call may have been cancelled before it
// could connect.
func (u *usage) undialledError() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, client := range slices.Sorted(maps.Keys(u.locks)) {
		if u.locks[client] > 1 && u.dials[client] == 0 {
			return fmt.Errorf("client %d has called Lock %d times without using env.Dial: each client's lock needs its own client of the servers, with env.Dial as its dialer", client, u.locks[client])
		}
	}
	return nil
}

// seen returns the lock's capabilities and the nodes that no client connected to.
func (u *usage) seen(nodes int) (t capabilities, idle []int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for n := 1; n <= nodes; n++ {
		if !u.nodes[n] {
			idle = append(idle, n)
		}
	}
	return u.traits, idle
}

// unused returns a hint about nodes that no client connected to, or "".
func unused(nodes []int) string {
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf("no client has connected to nodes %v: is Config.Nodes right? The lock is judged as one that needs a majority of the nodes", nodes)
}

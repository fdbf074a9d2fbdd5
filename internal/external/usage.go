package external

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Capabilities are what runs have shown about the lock. They decide what it can be asked to
// fulfil.
type Capabilities struct {
	Fences  bool // grants have fences
	Tells   bool // it reports losses
	Endless bool // some grant has no end of validity
}

// Merge adds capabilities that were seen elsewhere.
func (t *Capabilities) Merge(more Capabilities) {
	t.Fences = t.Fences || more.Fences
	t.Tells = t.Tells || more.Tells
	t.Endless = t.Endless || more.Endless
}

// Usage observes how the lock uses the test kit during a run. On real servers the lock's
// goroutines may outlive the run.
type Usage struct {
	mu     sync.Mutex
	traits Capabilities
	misuse error // the first error

	dials map[int]int // by client
	nodes map[int]bool
	locks map[int]int // calls of Lock that have returned, by client

	open map[int]string // the current call of each client

	clockRead  bool // some client's clock was read
	weightRead bool // the lock reads how many permits a call asks for
}

// NewUsage returns the usage of a run that has not begun.
func NewUsage() *Usage {
	return &Usage{dials: map[int]int{}, nodes: map[int]bool{}, locks: map[int]int{}, open: map[int]string{}}
}

// Dialled records a connection of a client.
func (u *Usage) Dialled(client, node int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.dials[client]++
	u.nodes[node] = true
}

// ReadClock records that the lock has read the clock of its client.
func (u *Usage) ReadClock() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clockRead = true
}

// ClockRead reports whether the lock has read the clock of its client.
func (u *Usage) ClockRead() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.clockRead
}

// showsWeightRead records that the lock has read how many permits a call asks for.
func (u *Usage) showsWeightRead() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.weightRead = true
}

func (u *Usage) readsWeight() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.weightRead
}

// answered records a call of Lock that has returned.
func (u *Usage) answered(client int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.locks[client]++
}

// shows records what a grant or an extension has shown.
func (u *Usage) shows(t Capabilities) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.traits.Merge(t)
}

// calls records a call of the lock. The returned function records its end.
func (u *Usage) calls(what string, client int) (over func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open[client] = what
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.open, client)
	}
}

// Unreturned returns the error of a run after which calls of the lock have not returned,
// though their contexts have ended.
func (u *Usage) Unreturned() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	clients := map[string][]string{}
	for _, client := range slices.Sorted(maps.Keys(u.open)) {
		clients[u.open[client]] = append(clients[u.open[client]], fmt.Sprint("client ", client))
	}
	var deaf []error
	for _, what := range slices.Sorted(maps.Keys(clients)) {
		deaf = append(deaf, fmt.Errorf("%s: %s has not returned, though its context has ended", textfmt.List(clients[what]), what))
	}
	return errors.Join(deaf...)
}

// Misused returns an error and keeps the first one.
func (u *Usage) Misused(format string, args ...any) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	err := fmt.Errorf(format, args...)
	u.misuse = cmp.Or(u.misuse, err)
	return err
}

// Misuse returns the first error of Misused, or nil.
func (u *Usage) Misuse() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.misuse
}

// Undialled returns the first client that has called the lock and did not connect to any node, so that
// faults cannot affect it, and the number of its calls. One call may have been cancelled
// before it could connect. client 0: there is none.
func (u *Usage) Undialled() (client, calls int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, client := range slices.Sorted(maps.Keys(u.locks)) {
		if u.locks[client] > 1 && u.dials[client] == 0 {
			return client, u.locks[client]
		}
	}
	return 0, 0
}

// Seen returns the lock's capabilities and the nodes that no client connected to.
func (u *Usage) Seen(nodes int) (t Capabilities, idle []int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for n := 1; n <= nodes; n++ {
		if !u.nodes[n] {
			idle = append(idle, n)
		}
	}
	return u.traits, idle
}

package history

import (
	"fmt"
	"time"
)

// Version is the version of the format that this package writes and reads.
const Version = 1

// Format names the format on the first line of a stored history.
const Format = "lockstorm-history"

// Header says what a judge must know of a run beside its events.
type Header struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Scenario string `json:"scenario,omitempty"`
	Lock     string `json:"lock,omitempty"`
	Backend  string `json:"backend,omitempty"`
	Seed     uint64 `json:"seed"`

	Nodes   int `json:"nodes"`
	Clients int `json:"clients"`

	// LongestTTL is the longest time to live that any client asks for, in
	// nanoseconds.
	LongestTTL time.Duration `json:"longest_ttl"`

	// Allowance is what the lock sets aside of LongestTTL for clock error.
	Allowance time.Duration `json:"allowance"`

	// Keys says that the history records every change of the nodes' keys.
	Keys bool `json:"keys"`

	// Keepers is how many nodes, from node 1 on, keep a key of each hold, of which
	// a majority holds it. 0: all of them; below 0: none, the lock is kept
	// elsewhere.
	Keepers int `json:"keepers,omitempty"`

	Bounds Bounds `json:"bounds"`
}

// The most nodes and clients that a history can speak of.
const (
	MaxNodes   = 64
	MaxClients = 100_000
)

func (h Header) validate() error {
	switch {
	case h.Nodes < 1 || h.Nodes > MaxNodes:
		return fmt.Errorf("%d nodes: want 1 to %d", h.Nodes, MaxNodes)
	case h.Clients < 1 || h.Clients > MaxClients:
		return fmt.Errorf("%d clients: want 1 to %d", h.Clients, MaxClients)
	case h.LongestTTL < 0 || h.Allowance < 0:
		return fmt.Errorf("a longest TTL of %v and an allowance of %v: want neither below 0", h.LongestTTL, h.Allowance)
	case h.Keepers < -1 || h.Keepers > h.Nodes:
		return fmt.Errorf("%d keepers of %d nodes: want -1 (none) to %d", h.Keepers, h.Nodes, h.Nodes)
	}
	return h.Bounds.Validate()
}

// Validate names the first bound that cannot be.
func (b Bounds) Validate() error {
	switch {
	case b.Acquire < 0:
		return fmt.Errorf("the bound of acquire, %v, is negative", b.Acquire)
	case b.Extend < 0:
		return fmt.Errorf("the bound of extend, %v, is negative", b.Extend)
	case b.Release < 0:
		return fmt.Errorf("the bound of release, %v, is negative", b.Release)
	case b.Cleanup < 0:
		return fmt.Errorf("the bound of clean-up, %v, is negative", b.Cleanup)
	case b.Grant < 0:
		return fmt.Errorf("the bound of a grant, %v, is negative", b.Grant)
	case b.Tries < 0:
		return fmt.Errorf("the bound of tries, %d, is negative", b.Tries)
	}
	return nil
}

// Bounds are the limits that the properties of liveness and contract are
// judged by. A zero bound is not judged.
type Bounds struct {
	// Acquire, Extend and Release bound one call of each, in nanoseconds on
	// the ground clock, time in which the client was paused not counted.
	Acquire time.Duration `json:"acquire,omitempty" yaml:"acquire,omitempty"`
	Extend  time.Duration `json:"extend,omitempty" yaml:"extend,omitempty"`
	Release time.Duration `json:"release,omitempty" yaml:"release,omitempty"`

	// Tries is the number of tries within which a client that reaches a
	// majority of the nodes must succeed, while nobody competes.
	Tries int `json:"tries,omitempty" yaml:"tries,omitempty"`

	// Grant bounds how long it may take until some client that waits is granted
	// the lock, in nanoseconds, when faults have ended, nobody holds it and the
	// longest TTL has passed.
	Grant time.Duration `json:"grant,omitempty" yaml:"grant,omitempty"`

	// Cleanup bounds how long a node in reach may keep the key of a token
	// that was given up, in nanoseconds; it should be far below the TTL.
	Cleanup time.Duration `json:"cleanup,omitempty" yaml:"cleanup,omitempty"`
}

//go:build linux

package speed

import (
	"context"
	"testing"
	"time"
)

// aeon ends what hangs.
const aeon = 2 * time.Minute

// Every lock that is measured is one: who is second gets it when the first has let go.
func TestSubjectsExclude(t *testing.T) {
	_, addrs := openFive(t)
	for _, s := range Subjects() {
		t.Run(s.Name, func(t *testing.T) {
			first, second := open(t, s, addrs), open(t, s, addrs)
			release := acquire(t, first)
			if _, err := second.Acquire(t.Context(), "invoice"); err == nil {
				t.Error("two have acquired it at once")
			}
			if err := release(t.Context()); err != nil {
				t.Errorf("release: %v", err)
			}
			if err := acquire(t, second)(t.Context()); err != nil {
				t.Errorf("release by the second: %v", err)
			}
		})
	}
}

// TestNetworks checks that each network has its trouble: with the last node in trouble, locks on a
// majority continue, and the node that drops everything receives nothing.
func TestNetworks(t *testing.T) {
	servers, addrs := openFive(t)
	for _, n := range Networks() {
		t.Run(n.Name, func(t *testing.T) {
			way := openWay(t, n, addrs)
			strike(t, way)
			for _, s := range Subjects() {
				if !s.Quorum {
					continue
				}
				if err := Reset(t.Context(), servers); err != nil {
					t.Fatal(err)
				}
				lock := open(t, s, way.Addrs())
				if tally := NewCrowd(lock, 2).Cycle(4); tally.Failed > 0 || len(tally.Took) != 4 {
					t.Errorf("%s: %d of 4 cycles failed: %v", s.Name, tally.Failed, tally.Err)
				}
				counts, err := Count(t.Context(), servers[4:])
				if err != nil {
					t.Fatal(err)
				}
				if silent := n.trouble != nil && n.trouble.Holds != nil; silent && counts.Commands > 0 {
					t.Errorf("%s: %d commands came to the node that hears nothing", s.Name, counts.Commands)
				}
			}
		})
	}
}

// The requests counted for a grant by the floor are those that it sends: a SET to each of five
// nodes, and a script that reads the key and deletes it on at least a majority.
func TestCounts(t *testing.T) {
	servers, addrs := openFive(t)
	floor := open(t, Subjects()[0], addrs)
	crowd := NewCrowd(floor, 1)
	crowd.Cycle(10)
	time.Sleep(settling)
	if err := Reset(t.Context(), servers); err != nil {
		t.Fatal(err)
	}
	const cycles = 100
	crowd.Cycle(cycles)
	for end := time.Now().Add(aeon); ; time.Sleep(time.Millisecond) {
		counts, err := Count(t.Context(), servers)
		if err != nil {
			t.Fatal(err)
		}
		if counts.Commands >= cycles*(5*3+3) {
			if counts.Commands > cycles*5*4 || counts.Bytes < cycles*5*100 {
				t.Errorf("%+v of %d grants", counts, cycles)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%+v of %d grants", counts, cycles)
		}
	}
}

func open(t *testing.T, s Subject, addrs []string) Lock {
	t.Helper()
	lock, err := s.Open(addrs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	})
	return lock
}

// acquire acquires it as soon as it can be had.
func acquire(t *testing.T, by Lock) (release func(context.Context) error) {
	t.Helper()
	for end := time.Now().Add(aeon); ; time.Sleep(time.Millisecond) {
		release, err := by.Acquire(t.Context(), "invoice")
		if err == nil {
			return release
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

package mutextest

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Place is independent nodes, and a way to look at what they hold past the
// lock.
type Place interface {
	// Connect returns the nodes as one more client sees them. Every client sees
	// the same nodes. They are closed when the test ends, and then no goroutine
	// of theirs is left.
	Connect(t *testing.T) env.Nodes

	// Look returns the token that a node, from 1, holds under a key, and how
	// long it will. No key is an empty token.
	Look(t *testing.T, node int, key string) (token string, life time.Duration)
}

// Run tests every behaviour as a subtest. They are not parallel, because each
// counts the goroutines at its end; nor may be what runs beside them.
func Run(t *testing.T, p Place) {
	for _, b := range []struct {
		name string
		test func(*scene)
	}{
		{"lock and release", lockAndRelease},
		{"taken", taken},
		{"refused", refused},
		{"bounded tries", boundedTries},
		{"exclusion", exclusion},
		{"one hold, many hands", manyHands},
		{"extend", extend},
		{"extend what is lost", extendLost},
		{"release what is lost", releaseLost},
		{"watchdog", watchdog},
		{"watchdog and loss", watchdogLoss},
		{"watchdog and release", watchdogRelease},
		{"with lock", withLock},
		{"lock all or nothing", lockAllOrNothing},
		{"lock all, one ends", lockAllEnds},
		{"lock all in one order", lockAllInOneOrder},
		{"cancelled while waiting", cancelledWhileWaiting},
		{"cancelled in a try", cancelledInATry},
		{"close", closeEndsEverything},
		{"close while extending", closeWhileExtending},
		{"close during calls", closeDuringCalls},
	} {
		t.Run(b.name, func(t *testing.T) { b.test(newScene(t, p)) })
	}
}

// Exclusion tests one of them by itself, for places that are in trouble.
func Exclusion(t *testing.T, p Place) { exclusion(newScene(t, p)) }

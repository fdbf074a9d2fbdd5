package sim_test

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// newStopwatch starts a watch that goes on in a bubble, where package time
// shows the bubble's time.
func newStopwatch() func() time.Duration {
	begin := env.System().Now(env.Monotonic)
	return func() time.Duration { return env.System().Now(env.Monotonic).Sub(begin) }
}

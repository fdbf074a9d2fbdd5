package runner

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// impossible are times to live that no lock can keep to.
var impossible = []time.Duration{-time.Second, -1, 0, 1, 500 * time.Microsecond, time.Millisecond - 1}

// misuse holds the lock and does with it what is refused: the caller has made a
// mistake, and a lock owes it an error and not a promise. The release that follows
// is the second.
func (u *user) misuse(h Hold) {
	ctx := context.Background()
	for _, ttl := range impossible {
		u.extend(ctx, h, ttl)
	}
	u.work(h.Context(), h)
	u.release(ctx, h)
	// In the instant of the release nobody could tell which came first.
	u.wait(ctx, nemesis.Range{Min: time.Microsecond, Max: time.Millisecond})
	u.extend(ctx, h, u.ttl)
}

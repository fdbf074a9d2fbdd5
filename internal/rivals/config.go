package rivals

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Config is what the locks have in common. A field that a lock has no use for
// says so there.
type Config struct {
	// TTL is the time to live of the lock's key or row, or of its session.
	TTL time.Duration

	// Allowance is what is set aside of the TTL for clock error: the validity is
	// counted from before the send and ends so much before the TTL has passed.
	Allowance time.Duration

	// Clock is what the validity is counted on. Waits are on the monotonic one.
	Clock env.Clock

	// NodeTimeout is how long the answer of a node, or of the store, is waited for.
	NodeTimeout time.Duration

	// Margin is how long before the end of validity the holder is told of it.
	Margin time.Duration

	// RetryMin and RetryMax bound the random time between two tries of a lock
	// that spins, or that could not reach whom it asks. Tries is the most that
	// [Mutex.Lock] makes; 0: any number.
	RetryMin, RetryMax time.Duration
	Tries              int
}

// ErrConfig is the error of a configuration that cannot be.
var ErrConfig = errors.New("impossible configuration")

// Validate returns an [ErrConfig] that names the first value that cannot be.
func (c Config) Validate() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, args...))
	}
	switch {
	case c.TTL < time.Millisecond || c.TTL%time.Millisecond != 0:
		return wrong("a TTL of %v: want whole milliseconds, at least 1", c.TTL)
	case c.Allowance < 0 || c.Allowance >= c.TTL:
		return wrong("an allowance of %v: want at least 0, and less than the TTL, %v", c.Allowance, c.TTL)
	case c.NodeTimeout <= 0:
		return wrong("a node timeout of %v: want more than 0", c.NodeTimeout)
	case c.Margin < 0 || c.Margin >= c.TTL-c.Allowance:
		return wrong("a margin of %v: want at least 0, and less than the validity, %v", c.Margin, c.TTL-c.Allowance)
	case c.RetryMin < 0 || c.RetryMax < c.RetryMin:
		return wrong("a retry delay of %v to %v: want 0 or more, and no less than its beginning", c.RetryMin, c.RetryMax)
	case c.RetryMax == 0 && c.Tries == 0:
		return wrong("any number of tries without a delay between them")
	case c.Tries < 0:
		return wrong("%d tries: want at least 1, or 0 for any number", c.Tries)
	}
	return nil
}

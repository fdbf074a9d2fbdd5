package rivals

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Config is the common configuration of the locks. A lock that does not use a field says
// so.
type Config struct {
	// TTL is the time to live of the lock's key or row, or of its session.
	TTL time.Duration

	// Allowance is the part of the TTL that is reserved for clock error: the validity is
	// counted from before the send and ends so much before the TTL has passed.
	Allowance time.Duration

	// Clock is the clock on which the validity is counted. Waits use the monotonic one.
	Clock env.Clock

	// NodeTimeout is how long to wait for the reply of a node or the store.
	NodeTimeout time.Duration

	// Margin is how long before the end of validity the holder is warned.
	Margin time.Duration

	// RetryMin and RetryMax are the bounds of the random delay between two tries, for a
	// lock that polls or could not reach the nodes or the store. Tries is the maximum
	// number of tries of [Mutex.Lock]; 0: no limit.
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

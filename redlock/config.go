package redlock

import (
	"fmt"
	"math"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Config is how a [Mutex] acquires, keeps and gives up locks. Start from
// [Defaults]; no field has a hidden default.
type Config struct {
	// Quorum says which sets of nodes hold the lock; the zero value: those of more
	// than half of the nodes. Nodes that do not vote are not asked. All clients have
	// to agree on it.
	Quorum env.Quorum

	// TTL is the time to live of the keys, in whole milliseconds, at least 1, and
	// more than its [Allowance].
	TTL time.Duration

	// DriftFactor is the share of the TTL, from 0 to 1, that is set aside for
	// clocks that run apart.
	DriftFactor float64

	// Clock is the client's clock that validity is counted on: the zero value
	// is the monotonic clock. That one stands still while the machine is
	// suspended, and the lock then outlives its keys; env.Boottime does not. A
	// lock on env.Wall, which is there to be compared, does so when that clock is
	// stepped back. Waits are on the monotonic clock in any case.
	Clock env.Clock

	// NodeTimeout is how long one node's answer is waited for, above 0. It
	// should be small against the TTL, so that a node that does not answer
	// costs little of the validity.
	NodeTimeout time.Duration

	// Sequential asks one node after another, each for NodeTimeout at most, in
	// place of all at once. That is slower, and worse under contention; it is
	// there to be compared.
	Sequential bool

	// Linger is how long after the begin of a try an answer is still
	// listened for in the background, so that a key set late can be deleted.
	// Below NodeTimeout, as 0 is, it means NodeTimeout.
	Linger time.Duration

	// Margin is how long before the end of validity the hold's context ends:
	// the time that a holder needs to stop. At least 0, below the validity.
	Margin time.Duration

	// Quarantine, if it is not 0, is how long a node's yes does not count after
	// a restart, in whole milliseconds: at least the longest TTL, extensions
	// included, that any client uses. All clients have to agree on it. A lock
	// then survives nodes that come back without their keys, or with old ones,
	// however soon; until the quarantine is over such a node is missing, and
	// where no client knows the nodes' runs yet, all are. Notes about runs stay
	// on the nodes under keys such as "watched for 10000ms", which must not be
	// locked.
	Quarantine time.Duration

	// Fence draws a number with each grant, [Hold.Fence], at the cost of two
	// more round trips. No number is given twice, and who is called after
	// another was granted the lock gets a higher one, whatever clocks do, as
	// long as no node forgets its counters: nodes must sync every write to
	// their disks, and have no replica take their place. Of two whose calls
	// overlap, the later holder gets the higher one if the lock excludes the
	// earlier, under the assumptions that it has anyway. A counter stays on
	// the nodes for ever, under the key "<resource>:fence", which must not be
	// locked.
	Fence bool

	// FenceFrom, if it is not nil, is where fences are drawn from in place of the
	// nodes' counters, and [Config.Fence] has to be set. With a source that grows
	// whatever happens, such as a sequence of a database or the zxid of a
	// ZooKeeper, fences do not rest on nodes that forget nothing.
	FenceFrom FenceSource

	// Tokens is how the tokens of tries are made; the zero value is right.
	// Client is the name of this client among all, for [TimeTokens].
	Tokens Tokens
	Client string

	// Watchdog extends holds in the background. The zero value does not.
	Watchdog Watchdog

	// RetryMin and RetryMax bound the random delay between two tries of
	// Lock, 0 <= RetryMin <= RetryMax. The width between them should be a
	// multiple of the time that an acquisition takes, so that contenders fall
	// out of step.
	RetryMin, RetryMax time.Duration

	// Tries is after how many tries Lock gives up; 0 means never.
	Tries int
}

// Defaults returns what suits nodes within a data centre: a drift factor of
// 1 %, validity counted on the clock that counts suspension too, a node timeout
// of 1 % of the TTL (at least 5 ms, at most 50 ms), four times that to linger, a
// margin of 5 % of the TTL, and retries after one to five node timeouts, without
// end. There is no watchdog, no quarantine and no fence. It checks nothing: New
// does.
func Defaults(ttl time.Duration) Config {
	timeout := min(max(ttl/100, 5*time.Millisecond), 50*time.Millisecond)
	return Config{
		TTL:         ttl,
		DriftFactor: 0.01,
		Clock:       env.Boottime,
		NodeTimeout: timeout,
		Linger:      4 * timeout,
		Margin:      ttl / 20,
		RetryMin:    timeout,
		RetryMax:    5 * timeout,
	}
}

// Quorum returns the number of nodes out of n that make a majority.
func Quorum(n int) int { return env.Majority(n).Bare().Len() }

// clockGrain is what the algorithm's page adds to the drift allowance for the
// precision of expiry in Redis (1 ms) and a minimum of drift (1 ms).
const clockGrain = 2 * time.Millisecond

// Allowance returns what a lock gives away for clock error: ttl × driftFactor
// + 2 ms, rounded up to whole nanoseconds.
func Allowance(ttl time.Duration, driftFactor float64) time.Duration {
	return time.Duration(math.Ceil(float64(ttl)*driftFactor)) + clockGrain
}

// Validate returns an error that wraps [ErrConfig] and names the first field
// that cannot be. Whether the quorum fits the nodes is for [New] to say.
func (c Config) Validate() error {
	switch {
	case math.IsNaN(c.DriftFactor) || c.DriftFactor < 0 || c.DriftFactor > 1:
		return fmt.Errorf("%w: drift factor %v: want 0 to 1", ErrConfig, c.DriftFactor)
	case c.Clock > env.Wall:
		return fmt.Errorf("%w: unknown clock %v", ErrConfig, c.Clock)
	case c.NodeTimeout <= 0:
		return fmt.Errorf("%w: node timeout %v: want more than 0", ErrConfig, c.NodeTimeout)
	case c.RetryMin < 0 || c.RetryMax < c.RetryMin:
		return fmt.Errorf("%w: retry delay from %v to %v", ErrConfig, c.RetryMin, c.RetryMax)
	case c.Tries < 0:
		return fmt.Errorf("%w: %d tries", ErrConfig, c.Tries)
	case c.FenceFrom != nil && !c.Fence:
		return fmt.Errorf("%w: a source of fences, and no fence is to be drawn", ErrConfig)
	}
	if err := c.validateTTL(c.TTL); err != nil {
		return err
	}
	for _, validate := range []func() error{c.validateWatchdog, c.validateQuarantine, c.validateTokens} {
		if err := validate(); err != nil {
			return err
		}
	}
	if longest := c.TTL - c.allowance(c.TTL); c.Margin < 0 || c.Margin >= longest {
		return fmt.Errorf("%w: margin %v: want 0 to less than the validity, %v", ErrConfig, c.Margin, longest)
	}
	return nil
}

func (c Config) validateTTL(ttl time.Duration) error {
	switch {
	case ttl < time.Millisecond:
		return fmt.Errorf("%w: TTL %v: want at least 1ms, the unit of expiry in Redis", ErrConfig, ttl)
	case ttl%time.Millisecond != 0:
		return fmt.Errorf("%w: TTL %v: want whole milliseconds, the unit of expiry in Redis", ErrConfig, ttl)
	case c.Quarantine > 0 && ttl > c.Quarantine:
		return fmt.Errorf("%w: TTL %v: it outlasts the quarantine of nodes, %v", ErrConfig, ttl, c.Quarantine)
	case c.allowance(ttl) >= ttl:
		return fmt.Errorf("%w: TTL %v: the allowance for clock error, %v, leaves nothing of it", ErrConfig, ttl, c.allowance(ttl))
	}
	return nil
}

func (c Config) allowance(ttl time.Duration) time.Duration { return Allowance(ttl, c.DriftFactor) }

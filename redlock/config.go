package redlock

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Config says how a [Mutex] acquires, keeps and releases locks. Start from [Defaults]; no
// field has a hidden default.
type Config struct {
	// Quorum says which sets of nodes hold the lock. The zero value is a majority of the
	// nodes. Nodes that do not vote get no requests. All clients must use the same quorum.
	Quorum env.Quorum

	// TTL is the time to live of the keys: whole milliseconds, at least 1 ms, and more than
	// its [Allowance].
	TTL time.Duration

	// DriftFactor is the share of the TTL, from 0 to 1, that is subtracted from the
	// validity, because clocks run at different rates.
	DriftFactor float64

	// Clock is the client's clock that validity is counted on: [env.Monotonic], the zero
	// value, or [env.Boottime]. The monotonic clock stands still while the machine is
	// suspended, and the lock then outlives its keys. Waits always use the monotonic clock.
	Clock env.Clock

	// NodeTimeout is how long to wait for a node's reply, more than 0. It should be small
	// compared with the TTL, so that a node that does not reply costs little validity.
	NodeTimeout time.Duration

	// Linger is how long after the start of a try late replies are still read in the
	// background, so that a key that was set late can be deleted. A value below NodeTimeout
	// means NodeTimeout.
	Linger time.Duration

	// Margin is how long before the end of validity the hold's context ends: the time that
	// a holder needs to stop. At least 0, and less than the validity.
	Margin time.Duration

	// Quarantine, unless it is 0, is how long a node's vote does not count after a restart:
	// whole milliseconds, at least the longest TTL of any client, extensions included. All
	// clients must use the same value. The lock then survives nodes that restart without
	// their keys, or with old ones, however soon. Until its quarantine is over such a node
	// is missing; while no client knows the nodes' runs yet, all nodes are. Notes about
	// runs stay on the nodes under keys such as "watched for 10000ms", which must not be
	// used as resources.
	Quarantine time.Duration

	// Fence draws a number with each grant ([Hold.Fence]), which takes two more round
	// trips. No number is drawn twice, and a call that begins after a grant draws a higher
	// number, whatever clocks do, as long as no node forgets its counters: nodes must sync
	// every write to disk, and no replica may replace them. If two calls overlap, the later
	// holder draws the higher number as long as the lock excludes the earlier one. A
	// counter stays on the nodes for ever under the key "<resource>:fence", which must not
	// be used as a resource.
	Fence bool

	// FenceFrom, unless it is nil, replaces the nodes' counters as the source of fences;
	// Fence must be set. With a source that always grows, such as a database sequence or
	// ZooKeeper's zxid, fences do not depend on nodes that forget nothing.
	FenceFrom FenceSource

	// NativeCommands makes the nodes delete and extend keys by conditional commands in place of
	// scripts, where a server has them: DELEX with IFEQ (Redis 8.4) or DELIFEQ (Valkey 9.0), and
	// SET with IFEQ and PX (Redis 8.4, Valkey 8.1). Only an extension to exactly TTL uses the
	// latter, because SET could shorten the life of a key; a shorter one still is a script. A
	// longer one is refused: a SET of an earlier extension that arrives late would take back
	// what the longer one has won. Nobody has run the native commands on a real server yet.
	NativeCommands bool

	// NewToken, unless it is nil, makes the token of each try. Tokens must differ from those
	// of all other tries of all clients: two tries with one token release each other's
	// lock. By default a token is 20 random bytes in hexadecimal.
	NewToken func() string

	// Watchdog extends holds in the background. The zero value does not.
	Watchdog Watchdog

	// RetryMin and RetryMax bound the random delay between two tries of Lock, 0 <= RetryMin
	// <= RetryMax. Their difference should be a multiple of the time that an acquisition
	// takes, so that contenders do not try again at the same time.
	RetryMin, RetryMax time.Duration

	// Tries is the number of tries after which Lock returns an error; 0 means no limit.
	Tries int
}

// Defaults returns a configuration for nodes within a data centre: a drift factor of 1 %,
// validity on the clock that counts suspension, a node timeout of 1 % of the TTL (5 ms to
// 50 ms), a linger time of four node timeouts, a margin of 5 % of the TTL, and retries after
// one to five node timeouts, without limit. It has no watchdog, no quarantine and no fence.
// It does not validate ttl; [New] does.
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

// Watchdog extends a hold in the background to a full TTL each time, until it is released or lost.
// While no quorum replies it tries again every node timeout, or every quarter of Every if that is
// shorter, until the holder is warned.
//
// If the work hangs, a watchdog without a limit keeps the lock for ever.
type Watchdog struct {
	// Every is the time from the grant, and from each extension, to the next extension, on
	// the lock's clock: less than the validity minus the margin. A third of the TTL leaves
	// time for a second try. 0 means no watchdog.
	Every time.Duration

	// Limit is the largest number of extensions of a hold; 0 means no limit. After the last
	// one the hold ends like one without a watchdog.
	Limit int
}

// Validate returns an error that wraps [ErrConfig] and names the first invalid field. It
// does not check that the quorum fits the nodes; [New] does.
func (c Config) Validate() error {
	switch {
	case math.IsNaN(c.DriftFactor) || c.DriftFactor < 0 || c.DriftFactor > 1:
		return fmt.Errorf("%w: drift factor %v: want 0 to 1", ErrConfig, c.DriftFactor)
	case c.Clock != env.Monotonic && c.Clock != env.Boottime:
		return fmt.Errorf("%w: clock %v: want monotonic or boottime", ErrConfig, c.Clock)
	case c.NodeTimeout <= 0:
		return fmt.Errorf("%w: node timeout %v: want more than 0", ErrConfig, c.NodeTimeout)
	case c.RetryMin < 0 || c.RetryMax < c.RetryMin:
		return fmt.Errorf("%w: retry delay from %v to %v", ErrConfig, c.RetryMin, c.RetryMax)
	case c.Tries < 0:
		return fmt.Errorf("%w: %d tries", ErrConfig, c.Tries)
	case c.FenceFrom != nil && !c.Fence:
		return fmt.Errorf("%w: FenceFrom without Fence", ErrConfig)
	}
	if err := c.validateTTL(c.TTL); err != nil {
		return err
	}
	if err := c.validateWatchdog(); err != nil {
		return err
	}
	if err := c.validateQuarantine(); err != nil {
		return err
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
	case c.NativeCommands && ttl > c.TTL:
		return fmt.Errorf("%w: TTL %v: with NativeCommands an extension is no longer than the lock's TTL, %v", ErrConfig, ttl, c.TTL)
	case c.allowance(ttl) >= ttl:
		return fmt.Errorf("%w: TTL %v: the allowance for clock error, %v, leaves nothing of it", ErrConfig, ttl, c.allowance(ttl))
	}
	return nil
}

func (c Config) validateWatchdog() error {
	w := c.Watchdog
	switch {
	case w.Every < 0:
		return fmt.Errorf("%w: watchdog every %v: want at least 0", ErrConfig, w.Every)
	case w.Limit < 0:
		return fmt.Errorf("%w: watchdog limit %d: want at least 0", ErrConfig, w.Limit)
	case w.Every == 0 && w.Limit != 0:
		return fmt.Errorf("%w: watchdog limit %d without a time between extensions", ErrConfig, w.Limit)
	}
	if room := c.TTL - c.allowance(c.TTL) - c.Margin; w.Every >= room && w.Every > 0 {
		return fmt.Errorf("%w: watchdog every %v: want less than the validity without the margin, %v", ErrConfig, w.Every, room)
	}
	return nil
}

func (c Config) validateQuarantine() error {
	switch q := c.Quarantine; {
	case q < 0 || q%time.Millisecond != 0:
		return fmt.Errorf("%w: quarantine %v: want whole milliseconds, at least 0", ErrConfig, q)
	case q > 0 && q < c.TTL:
		return fmt.Errorf("%w: quarantine %v: want at least the longest TTL of any client, and this one's is %v", ErrConfig, q, c.TTL)
	}
	return nil
}

// clockGrain is what the description of the algorithm adds to the drift allowance: 1 ms for
// the precision of expiry in Redis and 1 ms as a minimum of drift.
const clockGrain = 2 * time.Millisecond

// Allowance returns the part of a TTL that is subtracted from the validity for clock error:
// ttl × driftFactor + 2 ms, rounded up to whole nanoseconds.
func Allowance(ttl time.Duration, driftFactor float64) time.Duration {
	return time.Duration(math.Ceil(float64(ttl)*driftFactor)) + clockGrain
}

func (c Config) allowance(ttl time.Duration) time.Duration { return Allowance(ttl, c.DriftFactor) }

// The errors of this package. They are wrapped with details; use errors.Is.
var (
	// ErrConfig means that the configuration or a TTL is invalid. Nothing was sent.
	ErrConfig = errors.New("redlock: impossible setting")
	// ErrTaken means that so many nodes hold another token that no quorum is possible.
	ErrTaken = errors.New("redlock: taken by another holder")
	// ErrNoQuorum means that too few nodes replied in time.
	ErrNoQuorum = errors.New("redlock: no quorum of nodes answered")
	// ErrValidity means that a quorum agreed so late that no validity was left.
	ErrValidity = errors.New("redlock: acquired too late, no validity is left")
	// ErrNoFence means that a quorum agreed but no fence could be drawn.
	ErrNoFence = errors.New("redlock: no fence")
	// ErrQuarantined means that a node restarted too recently for its vote to count, see
	// [Config.Quarantine]. It is the error of a node within a [QuorumError].
	ErrQuarantined = errors.New("the node is in quarantine after a restart")
	// ErrClosed means that the mutex is closed.
	ErrClosed = errors.New("redlock: mutex is closed")

	// ErrLost means that the lock is no longer held: its keys are gone or its validity has
	// ended.
	ErrLost = errors.New("redlock: the lock is lost")
	// ErrExpiring means that the validity ends within the margin. It is a cause of the end of
	// a hold's context.
	ErrExpiring = errors.New("redlock: the validity is about to end")
	// ErrReleased means that the hold has been released. It is a cause of the end of a hold's
	// context.
	ErrReleased = errors.New("redlock: the lock has been released")
	// ErrExtending means that another extension of the same hold is under way.
	ErrExtending = errors.New("redlock: an extension is under way")
)

var errEnded = fmt.Errorf("%w: its validity has ended", ErrLost)

// QuorumError is the error of an operation without a quorum, with the reply of each node. Use
// errors.As; errors.Is finds Err.
type QuorumError struct {
	// Err is [ErrTaken], [ErrLost] or [ErrNoQuorum].
	Err error

	// Replies has one reply for each node that votes, in order. An Answer of 0 means that the
	// node had not replied when the outcome was certain.
	Replies []env.Reply
}

// Unwrap returns Err.
func (e *QuorumError) Unwrap() error { return e.Err }

// Error counts the nodes that agreed and declined, and gives the reason of each other node.
//
// It does without package fmt because a client that waits for a lock is refused again and again.
func (e *QuorumError) Error() string {
	agreed, declined := int64(0), int64(0)
	for i := range e.Replies {
		switch e.Replies[i].Answer {
		case env.Yes:
			agreed++
		case env.No:
			declined++
		}
	}
	var room [256]byte
	text := append(room[:0], e.Err.Error()...)
	text = appendCount(text, ": of ", int64(len(e.Replies)))
	text = appendCount(text, " nodes ", agreed)
	text = appendCount(text, " agreed and ", declined)
	text = append(text, " declined"...)
	for i := range e.Replies {
		r := &e.Replies[i]
		if r.Answer == env.Yes || r.Answer == env.No {
			continue
		}
		text = appendCount(text, "; node ", int64(r.Node))
		text = append(text, ": "...)
		if r.Err != nil {
			text = append(text, r.Err.Error()...)
		} else {
			text = append(text, "nothing heard"...)
		}
	}
	return string(text)
}

func appendCount(text []byte, words string, n int64) []byte {
	return strconv.AppendInt(append(text, words...), n, 10)
}

package memory

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/world"
)

// bubbleRuntime is the machine of a world in memory. Its clocks are those of package time,
// which are virtual in a bubble. They count from when the world was opened.
type bubbleRuntime struct {
	env.Runtime
	began time.Time
}

// Runtime returns the runtime of the machine of a world in memory, for a lock that is not a
// client of the world. Its clocks are those of package time, which are virtual in a bubble
// of synctest, unlike those of [env.System]. They count from now.
func Runtime() env.Runtime { return newRuntime() }

func newRuntime() bubbleRuntime { return bubbleRuntime{env.System(), time.Now()} }

// Now implements [env.Runtime]. The machine is never suspended, and nobody sets its wall
// clock.
func (m bubbleRuntime) Now(c env.Clock) env.Instant {
	since := time.Since(m.began)
	if c == env.Wall {
		return env.Instant(m.began.UnixNano()).Add(since)
	}
	return env.Instant(since)
}

// Sleep implements [env.Runtime].
func (m bubbleRuntime) Sleep(ctx context.Context, until env.Instant) error {
	timer := time.NewTimer(until.Sub(m.Now(env.Monotonic)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// databases is the number of databases of a Redis server.
const databases = 16

// clock is a node's wall clock. As in Redis, keys live in whole milliseconds, up to the
// first millisecond after their end. Miniredis instead counts the rest of a key's life, and
// removes the key when nothing is left.
type clock struct {
	machine bubbleRuntime
	redis   *miniredis.Miniredis

	mu      sync.Mutex
	reading world.Clock
	shown   int64 // ms, at the last tick
}

// extraLife is added to a key's time to live, so that miniredis removes it after its last
// millisecond. The server's time is ahead by as much, so that a key is gone that is set to end now (PXAT):
// miniredis takes a time to live of 0 for none.
const extraLife = time.Nanosecond

func newClock(m bubbleRuntime, redis *miniredis.Miniredis) *clock {
	c := &clock{machine: m, redis: redis, reading: world.ClockShowing(int64(m.Now(env.Wall)) - int64(m.Now(env.Monotonic)))}
	c.shown = c.now()
	redis.SetTime(time.UnixMilli(c.shown).Add(extraLife))
	return c
}

// now returns the clock's time in milliseconds.
func (c *clock) now() int64 {
	return c.reading.At(int64(c.machine.Now(env.Monotonic))) / int64(time.Millisecond)
}

// tick advances the server's time to the clock's. Keys whose time is over expire. If the
// clock was set back, keys live that much longer.
func (c *clock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now == c.shown {
		return
	}
	for db := range 2 * databases { // including those that simulate the disk
		c.extendTTLs(c.redis.DB(db))
	}
	c.redis.FastForward(time.Duration(now-c.shown) * time.Millisecond)
	c.redis.SetTime(time.UnixMilli(now).Add(extraLife))
	c.shown = now
}

// extendTTLs adds extraLife to keys that were set since the last tick.
func (c *clock) extendTTLs(db *miniredis.RedisDB) {
	for _, key := range db.Keys() {
		if left := db.TTL(key); left > 0 {
			db.SetTTL(key, wholeMilliseconds(left)+extraLife)
		}
	}
}

// wholeMilliseconds returns a time to live without extraLife, or with the one that a time of day lacks.
func wholeMilliseconds(left time.Duration) time.Duration {
	return (left + extraLife).Truncate(time.Millisecond)
}

// SetClock implements [live.Clocked].
func (n *node) SetClock(ahead time.Duration, ppm int64) error {
	n.thread.Lock()
	defer n.thread.Unlock()
	n.clock.tick()
	n.clock.set(ahead, ppm)
	n.look(cause{}) // keys now expire at another time
	return nil
}

func (c *clock) set(ahead time.Duration, ppm int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = world.ClockAlong(world.Line{
		Ground: int64(c.machine.Now(env.Monotonic)),
		Shown:  int64(c.machine.Now(env.Wall).Add(ahead)),
		PPM:    ppm,
	})
}

// lastTick returns the clock's time at the last tick, in milliseconds.
func (c *clock) lastTick() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown
}

// until returns how long it takes until the clock shows a time in milliseconds.
func (c *clock) until(shown int64) time.Duration {
	at := c.when(shown)
	if at == 0 {
		return math.MaxInt64
	}
	return at.Sub(c.machine.Now(env.Monotonic))
}

// when returns the instant of the machine's monotonic clock at which the clock shows a time in milliseconds;
// 0: it never does.
func (c *clock) when(shown int64) env.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.reading.When(shown * int64(time.Millisecond))
	if at == math.MaxInt64 {
		return 0
	}
	return env.Instant(at)
}

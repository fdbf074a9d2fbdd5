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

// bubbleRuntime is the one that such a world is on: its clocks are those of package time, which
// are virtual in a bubble, and count from when it was opened.
type bubbleRuntime struct {
	env.Runtime
	began time.Time
}

// Runtime returns the runtime of the machine that a world in memory is on, as a lock reads it
// that is no client of that world's: its clocks are those of package time, virtual in a bubble
// of synctest, where those of [env.System] are not. They count from now on.
func Runtime() env.Runtime { return newRuntime() }

func newRuntime() bubbleRuntime { return bubbleRuntime{env.System(), time.Now()} }

// Now implements [env.Runtime]. Nothing suspends the machine, and nobody sets its wall
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

// databases is how many a Redis has.
const databases = 16

// clock is a node's wall clock, by which its keys live as those of Redis do: in whole
// milliseconds, and up to the first one behind their end. Miniredis counts what is left of
// a key instead, and has nothing left of it at its end.
type clock struct {
	machine bubbleRuntime
	redis   *miniredis.Miniredis

	mu    sync.Mutex
	reading  world.Clock
	shown int64 // ms, at the last tick
}

// extraLife is what a key lives longer than its end, for a clock that shows milliseconds.
const extraLife = time.Nanosecond

func newClock(m bubbleRuntime, redis *miniredis.Miniredis) *clock {
	c := &clock{machine: m, redis: redis, reading: world.ClockShowing(int64(m.Now(env.Wall)) - int64(m.Now(env.Monotonic)))}
	c.shown = c.now()
	redis.SetTime(time.UnixMilli(c.shown))
	return c
}

// now is what the clock shows, in milliseconds.
func (c *clock) now() int64 {
	return c.reading.At(int64(c.machine.Now(env.Monotonic))) / int64(time.Millisecond)
}

// tick lets the server see what time it is: keys that are over go, and those of a clock
// that was set back have as much longer to live.
func (c *clock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now == c.shown {
		return
	}
	for db := range 2 * databases { // and those of the disk
		c.extendTTLs(c.redis.DB(db))
	}
	c.redis.FastForward(time.Duration(now-c.shown) * time.Millisecond)
	c.redis.SetTime(time.UnixMilli(now))
	c.shown = now
}

// extendTTLs lets the keys that are new since the last tick live beyond their end.
func (c *clock) extendTTLs(db *miniredis.RedisDB) {
	for _, key := range db.Keys() {
		if left := db.TTL(key); left > 0 && left%time.Millisecond == 0 {
			db.SetTTL(key, left+extraLife)
		}
	}
}

// SetClock implements [live.Clocked].
func (n *node) SetClock(ahead time.Duration, ppm int64) error {
	n.thread.Lock()
	defer n.thread.Unlock()
	n.clock.tick()
	n.clock.set(ahead, ppm)
	n.look(cause{}) // keys end at another time now
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

// lastTick is what the clock showed at the last tick, in milliseconds.
func (c *clock) lastTick() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown
}

// until is how long it takes until the clock shows so many milliseconds.
func (c *clock) until(shown int64) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.reading.When(shown * int64(time.Millisecond))
	if at == math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(at - int64(c.machine.Now(env.Monotonic)))
}

package redlock_test

import (
	"context"
	"testing"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

func timeTokens() redlock.Config {
	c := config()
	c.Tokens, c.Client = redlock.TimeTokens, "web-3"
	return c
}

// A token of time and client is the microsecond in which its try began, on the
// wall clock, which begins at the world's epoch.
func TestTimeToken(t *testing.T) {
	playWith(t, timeTokens(), 5, nil, func(b *bench, m *redlock.Mutex) {
		first := lock(b, m)
		b.want("token", first.Token(), "1600000000000000-web-3")
		b.wantError("release", first.Release(context.Background()), nil)
		b.want("the next, 4 ms later", lock(b, m).Token(), "1600000000004000-web-3")
	})
}

// What the algorithm's page proposes as the simpler token lets a client release
// its own other lock: here its wall clock was stepped back to the microsecond of
// the first try. A refused try deletes the keys of its token, which are those of
// the hold. Random tokens know no such case.
func TestTimeTokenComesTwice(t *testing.T) {
	for _, c := range []struct {
		config redlock.Config
		left   int
	}{{config(), 5}, {timeTokens(), 0}} {
		back := nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Client: 1}, By: -100 * ms}, Start: nemesis.At(100*ms - 1)}
		b := playWith(t, c.config, 5, nemesis.Plan{back}, func(b *bench, m *redlock.Mutex) {
			lock(b, m)
			b.sleep(1, 98*ms)
			_, err := m.TryLock(context.Background(), "r")
			b.wantError("second try", err, redlock.ErrTaken)
			b.sleep(1, 10*ms)
			b.want("keys of the hold", b.keys(), c.left)
		})
		_ = b
	}
}

package memory

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockstorm/lockstorm/nemesis"
)

// own is a Redis client as somebody else's lock has one.
func (w *trial) own(client, node int) *redis.Client {
	return redis.NewClient(&redis.Options{
		MaxRetries: -1,
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return w.Dial(ctx, client, node)
		},
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// A client of somebody else's gets the replies of the node, and is refused by one that is
// down.
func TestDialForSomebodyElse(t *testing.T) {
	try(t, nemesis.Setting{Plan: between(&nemesis.Crash{Node: 1})}, func(w *trial, client int) {
		c := w.own(1, 1)
		defer c.Close()
		if err := c.Set(w.t.Context(), "key", "value", time.Minute).Err(); err != nil {
			t.Error(err)
		}
		w.sleep(1, time.Minute)
		if got, err := c.Get(w.t.Context(), "key").Result(); err != nil || got != "value" {
			t.Errorf("in the last millisecond: %q, %v", got, err)
		}
		w.sleep(1, time.Millisecond)
		if _, err := c.Get(w.t.Context(), "key").Result(); !errors.Is(err, redis.Nil) {
			t.Errorf("after it: %v", err)
		}
		w.Reach(1, begin, 0)
		_ = c.Ping(w.t.Context()).Err() // the last connection ends under it
		if err := c.Ping(w.t.Context()).Err(); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("while it is down: %v", err)
		}
		w.Reach(1, end, 0)
		if err := c.Ping(w.t.Context()).Err(); err != nil {
			t.Error(err)
		}
	})
}

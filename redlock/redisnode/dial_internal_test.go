package redisnode

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A refusal is the answer to whoever comes within a millisecond of it. That nobody said anything
// in time is none.
func TestRefusalCountsForAMillisecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			reason error
			spared bool
		}{{errors.New("connection refused"), true}, {context.DeadlineExceeded, false}} {
			dials := 0
			o := Options{Dial: func(context.Context, string, string) (net.Conn, error) {
				dials++
				return nil, c.reason
			}}
			d := newDialer(o, nil, newHandshaker(1, o, newIdentities([]string{"one:1"})), t.Context(), new(headcount))
			want := 0
			for _, step := range []struct {
				wait  time.Duration
				again bool // the refusal before is over
			}{{0, true}, {0, false}, {turn - 1, false}, {1, true}, {turn / 2, false}, {turn, true}} {
				time.Sleep(step.wait)
				if step.again || !c.spared {
					want++
				}
				conn, err := d.open(t.Context(), "tcp", "one:1")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := conn.Write(nil); !unconnected(err) || err.Error() != c.reason.Error() {
					t.Errorf("%v, want %v", err, c.reason)
				}
				if dials != want {
					t.Errorf("%v after %v: %d dials, want %d", c.reason, step.wait, dials, want)
				}
			}
		}
	})
}

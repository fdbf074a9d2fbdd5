package sim

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A key lives by the wall clock of its node, whatever the time that has passed.
// Here it is set at 1 ms for 100 ms, so that with a true clock it is gone from
// 102 ms on, before another request finds that out.
func TestKeysExpireByTheNodesClock(t *testing.T) {
	runs := func(ppm int64) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Node: 1}, PPM: ppm}, Start: nemesis.At(0)}
	}
	jumps := func(by time.Duration) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: by}, Start: nemesis.At(50 * ms)}
	}
	for name, c := range map[string]struct {
		plan []nemesis.Fault
		want string
	}{
		"true":           {nil, "key-gone@102ms"},
		"fast":           {[]nemesis.Fault{runs(250_000)}, "key-gone@81.6ms"},
		"slow":           {[]nemesis.Fault{runs(-500_000)}, "key-gone@202ms"},
		"jumps forward":  {[]nemesis.Fault{jumps(30 * ms)}, "key-gone@72ms"},
		"jumps past it":  {[]nemesis.Fault{jumps(time.Hour)}, "key-gone@50ms"},
		"jumps backward": {[]nemesis.Fault{jumps(-30 * ms)}, "key-gone@132ms"},
	} {
		log := play(t, setting(1, 1, c.plan...), func(w *World) {
			ask(w, 1, 1, set, time.Second)
			other := set
			other.Token = "b"
			for ask(w, 1, 1, other, time.Second) != env.Yes.String() {
			}
		})
		expect(t, name, kinds(log, history.KeyGone), c.want)
	}
}

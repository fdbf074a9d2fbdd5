package sim

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Two places that become free at once are both taken.
func TestPoolFillsEveryPlace(t *testing.T) {
	s := over(nemesis.Connections{Limit: 2}, fault(&nemesis.Pause{Client: 1}, ms/2, 20*ms))
	sendAll(t, s, 1, make([]request, 4)...).
		expect(t, "two", "yes@20.5ms yes@20.5ms yes@22.5ms yes@22.5ms", "a@1ms b@1ms c@21.5ms d@21.5ms")
}

// A request frees its place at its deadline, even if nobody has looked at it.
func TestPoolKeepsTheDeadline(t *testing.T) {
	s := over(nemesis.Connections{Limit: 1}, fault(&nemesis.Partition{Way: nemesis.Replies}, 0, time.Second))
	log := play(t, s, func(w *World) {
		w.Nodes(1).Send(1, named(0), env.Instant(5*ms))
		w.Nodes(1).Send(1, named(1), env.Never)
		sleep(w, 1, 100*ms)
	})
	expect(t, "keys", kinds(log, history.KeySet), "key-set@1ms key-set@6ms")
}

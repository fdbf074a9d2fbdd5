package live

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// PowerLosses is what can be done to a fleet of [Powered] servers.
func PowerLosses() Repertoire {
	return Repertoire{world.Carry(
		func(w *World, c world.Case[*nemesis.PowerLoss]) error {
			w.goDark(c.Action.Node, c.Number)
			err := w.server(c.Action.Node).(Powered).LosePower()
			w.restartAfter(c.Action.Node, c.Number, c.Action.RestartDelay)
			return err
		},
		func(w *World, c world.Case[*nemesis.PowerLoss]) error { w.comeUp(c.Action.Node, c.Number); return nil },
	).EndingLate().With(nemesis.RestartDelayFeature).Opening(func(w *World, c world.Case[*nemesis.PowerLoss]) {
		if w.setting.Persistence == nemesis.EverySecond {
			phase := newRandom(w.seed, fmt.Sprintf("syncs of node %d", c.Action.Node)).bits() % uint64(time.Second)
			w.server(c.Action.Node).(Powered).SyncFrom(time.Duration(phase))
		}
	})}
}

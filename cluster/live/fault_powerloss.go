package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/cluster/aof"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// PowerLosses is what can be done to a fleet of [Powered] servers; with
// [nemesis.StuckSyncFeature], of those that go by an [aof.File], and with
// [nemesis.TornRefuseFeature], of [Refuser]s.
func PowerLosses(features ...nemesis.Feature) Repertoire {
	return Repertoire{world.Carry(
		func(w *World, c world.Case[*nemesis.PowerLoss]) error {
			if c.Action.TornTail == nemesis.TornRefuse {
				return w.loseForGood(c)
			}
			w.goDark(c.Action.Node, c.Number)
			err := w.server(c.Action.Node).(Powered).LosePower(lossOf(c.Action))
			w.restartAfter(c.Action.Node, c.Number, c.Action.RestartDelay)
			return err
		},
		func(w *World, c world.Case[*nemesis.PowerLoss]) error { w.comeUp(c.Action.Node, c.Number); return nil },
	).EndingLate().With(append(slices.Clip(features), nemesis.RestartDelayFeature)...).Opening(func(w *World, c world.Case[*nemesis.PowerLoss]) {
		if w.setting.Persistence == nemesis.EverySecond {
			phase := newRandom(w.seed, fmt.Sprintf("syncs of node %d", c.Action.Node)).bits() % uint64(time.Second)
			w.server(c.Action.Node).(Powered).SyncFrom(time.Duration(phase))
		}
	})}
}

// Torn reports whether a plan has an append-only file torn.
func Torn(p nemesis.Plan) bool {
	return slices.ContainsFunc(p, func(f nemesis.Fault) bool {
		loss, is := f.Action.(*nemesis.PowerLoss)
		return is && loss.TornTail != ""
	})
}

func lossOf(p *nemesis.PowerLoss) aof.Loss {
	return aof.Loss{Stuck: p.StuckSync, Torn: p.TornTail != ""}
}

// loseForGood takes the power from a machine that is back at once, and whose server
// refuses its file.
func (w *World) loseForGood(c world.Case[*nemesis.PowerLoss]) error {
	w.goDown(c.Action.Node, "")
	server := w.server(c.Action.Node).(Refuser)
	if err := server.LosePower(lossOf(c.Action)); err != nil {
		return err
	}
	w.crew.start(fmt.Sprintf("restart of node %d", c.Action.Node), func() {
		if err := server.Refuse(w.over); err != nil && w.over.Err() == nil {
			w.fail(err)
		}
	}, w.fail)
	return nil
}

// Package watch lets package conform watch the runs of an experiment.
package watch

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/conform"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Experiment returns an experiment whose runs are compared with the specification. each is called with the
// outcome of each run, before its verdicts are known. Its runs must not go side by side.
func Experiment(e runner.Experiment, each func(conform.Outcome)) runner.Experiment {
	l := e.Scenario().Lock
	return e.Watched(watcher{conform.New(conform.Lock{Clock: l.ReadsClock(), Allowance: l.Allowance}, each)})
}

// watcher is a [runner.NodeWatcher].
type watcher struct{ *conform.Recorder }

// Open implements [runner.Watcher].
func (w watcher) Open(h history.Header, clocks runner.ClockReader) { w.Start(h, clocks) }

// Sent implements [runner.Watcher].
func (w watcher) Sent(client, round int, _ env.NodeSet, c env.Command) {
	w.Recorder.Sent(client, round, c)
}

// Replied, Asked and Answered implement [runner.Watcher].
func (w watcher) Replied(_, round int, r env.Reply)      { w.Recorder.Replied(round, r) }
func (watcher) Asked(int, int, env.StoreRequest)         {}
func (watcher) Answered(int, int, env.StoreReply, error) {}

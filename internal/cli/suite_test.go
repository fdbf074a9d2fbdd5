package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// A scenario that does not fit the backend is named and left out: a fault, or a lock that needs a
// store. A scenario that fits no backend ends the suite.
func TestWhatDoesNotFitIsNotRun(t *testing.T) {
	tin := runner.Backend{Ability: nemesis.Ability{Name: "tin"}, Open: func(context.Context, nemesis.Setting, uint64, history.Sink) (runner.World, error) {
		return nil, errors.New("rust")
	}}
	s := suite{backend: tin}
	for _, name := range []string{"crash-restart", "compare-calm-etcd"} {
		row, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		s.tasks = append(s.tasks, task{Scenario: row, First: 1, Runs: 1})
	}
	found, refused, err := s.run(t.Context(), io.Discard)
	told := []string{
		"crash-restart: the tin backend cannot carry out fault 1 of the plan, a partition (who can: sim, process, container)",
		"compare-calm-etcd: etcd needs a store, which the tin backend has not (who can: sim)",
	}
	if err != nil || len(found) > 0 || fmt.Sprint(refused) != fmt.Sprint(told) {
		t.Errorf("found %v, refused %q, %v", found, refused, err)
	}

	s.tasks[0].Scenario.Nodes = 0
	_, _, err = s.run(t.Context(), io.Discard)
	want(t, "error", err.Error(), "crash-restart: nodes: 0: want 1 to 64")
}

// lateWorld is a simulated world of which somebody says that it was late.
type lateWorld struct {
	runner.World
	slip time.Duration
}

func (w lateWorld) SchedulingLag() time.Duration { return w.slip }

// late is the simulator on a machine that is late by so much, in every world.
func late(by time.Duration) runner.Backend {
	b := backends[0].Backend
	open := b.Open
	b.Open = func(c context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
		w, err := open(c, s, seed, sink)
		return lateWorld{w, by}, err
	}
	return b
}

// Runs on a machine that is too slow are undecided. The output says how late they were, how late
// they may be, and which violations may be due to that.
func TestTooSlowIsTold(t *testing.T) {
	d, err := choose([]string{"crash-restart"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var out bytes.Buffer
	o := suiteOptions{backend: late(45 * time.Millisecond), runs: 2, seed: 1, out: dir, format: asText}
	_, _, err = o.present(t.Context(), &d, &out, io.Discard)
	if !errors.Is(err, verdictError(exitUndecided)) {
		t.Errorf("got %v", err)
	}
	wantIn(t, out.String(), "V1?", "0/2 undecided", "crash-restart: the machine was too slow in 2 of 2 runs, 45ms late; allowed: 20ms (a quarter of the 80ms between the end of work for 920ms and that of the TTL of 1s)\n")

	code, text, _ := command(t, "check", filepath.Join(dir, "crash-restart-sim-1"))
	want(t, "exit code", code, exitUndecided)
	wantIn(t, text, "undecided (1 run, 1 of them not counted: too slow)",
		"Too slow (seed 1): the machine was too slow in 1 of 1 run, 45ms late; allowed: 20ms (a quarter of the 80ms between the end of work for 920ms and that of the TTL of 1s). Such a run does not count: no property holds in it, and none is violated.",
		"lease exclusion violated, possibly because of the slow machine:\n  nodes 4 and 5 are cut off")
	_, text, _ = command(t, "check", "--format", "json", filepath.Join(dir, "crash-restart-sim-1"))
	wantIn(t, text, `"as_expected":false`, `"slip":45000000,"slipped":true`)

	out.Reset()
	o = suiteOptions{backend: late(20 * time.Millisecond), runs: 2, seed: 1, format: asText}
	if _, _, err := o.present(t.Context(), &d, &out, io.Discard); err != nil {
		t.Errorf("as late as is allowed: %v\n%s", err, out.String())
	}
}

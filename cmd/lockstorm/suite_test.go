package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// What does not fit a backend is told and left out: a fault, a lock that needs a store.
// What cannot be run anywhere ends the suite.
func TestWhatDoesNotFitIsNotRun(t *testing.T) {
	tin := storm.Backend{Ability: nemesis.Ability{Name: "tin"}, Open: func(context.Context, nemesis.Setting, uint64, history.Sink) (storm.World, error) {
		return nil, errors.New("rust")
	}}
	s := suite{backend: tin}
	for _, name := range []string{"crash-restart", "compare-calm-etcd"} {
		row, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		s.tasks = append(s.tasks, task{row, 1, 1})
	}
	found, refused, err := s.run(t.Context(), io.Discard)
	told := []string{
		"crash-restart: the tin backend cannot carry out fault 1 of the plan, a partition (who can: sim, process)",
		"compare-calm-etcd: etcd needs a store, which the tin backend has not (who can: sim)",
	}
	if err != nil || len(found) > 0 || !slices.Equal(refused, told) {
		t.Errorf("found %v, refused %q, %v", found, refused, err)
	}

	s.tasks[0].scenario.Nodes = 0
	_, _, err = s.run(t.Context(), io.Discard)
	want(t, "error", err.Error(), "crash-restart: nodes: 0: want 1 to 64")
}

package memory

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// refused are the kinds of faults that are refused, by name.
func refused(t *testing.T, able nemesis.Ability) (kinds []string) {
	t.Helper()
	for _, a := range nemesis.Actions() {
		if !slices.Contains(able.Kinds, a.Kind()) {
			err := able.Refuse(nemesis.Plan{{Action: a}})
			if err == nil || !strings.Contains(err.Error(), "the memory backend cannot") || !strings.Contains(err.Error(), string(a.Kind())) {
				t.Errorf("%s: %v", a.Kind(), err)
			}
			kinds = append(kinds, string(a.Kind()))
		}
	}
	slices.Sort(kinds)
	return kinds
}

// What needs a journal or a replica nodes in memory do not have.
func TestFaultsOnOffer(t *testing.T) {
	able := nemesis.Ability{Name: Backend{}.Name(), Kinds: Backend{}.Faults(), Features: Backend{}.Features()}
	if got, want := refused(t, able), []string{"failover", "old-snapshot", "split-brain", "vm-restore"}; !slices.Equal(got, want) {
		t.Errorf("refused are %v, want %v", got, want)
	}
	for name, a := range map[string]nemesis.Action{
		"stuck_sync":        &nemesis.PowerLoss{Node: 1, StuckSync: time.Second},
		"torn_tail: refuse": &nemesis.PowerLoss{Node: 1, TornTail: nemesis.TornRefuse},
		"first: timers":     &nemesis.Pause{Client: 1, First: nemesis.TimersFirst},
		"error: loading":    &nemesis.NodeError{Error: nemesis.Loading},
	} {
		if err := able.Refuse(nemesis.Plan{{Action: a}}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := able.Refuse(nemesis.Plan{{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Client: 1}, By: time.Second}}}); err != nil {
		t.Error(err)
	}
}

// A network in the memory of this process leads no other process anywhere.
func TestClientsAreOfThisProcess(t *testing.T) {
	w, err := Backend{}.Open(t.Context(), nemesis.Setting{Nodes: 1, Clients: 1}, 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.RunApart(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "in the memory of this one") {
		t.Error(err)
	}
}

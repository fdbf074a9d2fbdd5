//go:build linux

package process

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Real servers can be given every kind of fault but for those that need what they do not
// have yet, and these are refused by name.
func TestFaultsOnOffer(t *testing.T) {
	able := nemesis.Ability{Name: "process", Kinds: Backend{}.Faults(), Features: Backend{}.Features()}
	refused := []string{}
	for _, a := range nemesis.Actions() {
		if err := able.Refuse(nemesis.Plan{{Action: a}}); err != nil {
			if !strings.Contains(err.Error(), string(a.Kind())) {
				t.Errorf("%s: %v", a.Kind(), err)
			}
			refused = append(refused, string(a.Kind()))
		}
	}
	if want := []string{}; !equalSets(refused, want) {
		t.Errorf("refused are %v, want %v", refused, want)
	}
	loading := nemesis.Plan{{Action: &nemesis.NodeError{Error: nemesis.Loading}}}
	if err := able.Refuse(loading); err == nil || !strings.Contains(err.Error(), string(nemesis.LoadingFeature)) {
		t.Errorf("got %v", err)
	}
}

func equalSets(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// Which of replies and timers goroutines see first is not for this backend to
// choose.
func TestTimersFirstIsRefused(t *testing.T) {
	plan := nemesis.Plan{{Action: &nemesis.Pause{Client: 1, First: nemesis.TimersFirst}}}
	able := nemesis.Ability{Name: "process", Kinds: Backend{}.Faults(), Features: Backend{}.Features()}
	if err := able.Refuse(plan); err == nil || !strings.Contains(err.Error(), "first: timers") {
		t.Errorf("got %v", err)
	}
}

func TestMissingServerIsOneLine(t *testing.T) {
	_, err := Backend{Binary: "/nowhere/redis-server"}.Open(t.Context(), nemesis.Setting{Nodes: 1, Clients: 1}, 1, new(history.Log))
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("got: %v", err)
	}
}

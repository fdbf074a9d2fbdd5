//go:build linux

package process

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Whatever is done to messages this backend can do, and to the clocks of clients; those
// of its servers it refuses to touch.
func TestFaultsOnOffer(t *testing.T) {
	able := nemesis.Ability{Name: "process", Kinds: Backend{}.Faults(), Features: Backend{}.Features()}
	jump := func(m nemesis.Machine) nemesis.Plan {
		return nemesis.Plan{{Action: &nemesis.ClockJump{Machine: m, By: 1}}}
	}
	for _, a := range nemesis.Actions() {
		if _, ofMessages := a.(nemesis.Traffic); ofMessages {
			if err := able.Refuse(nemesis.Plan{{Action: a}}); err != nil {
				t.Error(err)
			}
		}
	}
	if err := able.Refuse(jump(nemesis.Machine{Client: 1})); err != nil {
		t.Error(err)
	}
	if err := able.Refuse(jump(nemesis.Machine{Node: 1})); err == nil || !strings.Contains(err.Error(), `fault 1 of the plan, a clock-jump with "node"`) {
		t.Error(err)
	}
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

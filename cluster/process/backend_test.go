//go:build linux

package process

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Whatever is done to messages this backend can do; what it cannot, as what is
// done to clocks, it refuses by name.
func TestFaultsOnOffer(t *testing.T) {
	for _, a := range nemesis.Actions() {
		err := nemesis.Ability{Name: "process", Kinds: Backend{}.Faults()}.Refuse(nemesis.Plan{{Action: a}})
		if _, ofMessages := a.(nemesis.Traffic); ofMessages && err != nil {
			t.Errorf("%s: %v", a.Kind(), err)
		}
		if strings.HasPrefix(string(a.Kind()), "clock-") && (err == nil || !strings.Contains(err.Error(), string(a.Kind()))) {
			t.Errorf("%s: %v", a.Kind(), err)
		}
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

package world

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

func TestRulesAddUpAndAreTakenAway(t *testing.T) {
	slower := func(d time.Duration) nemesis.Rule {
		return nemesis.Rule{Delay: func(nemesis.Message) time.Duration { return d }}
	}
	cut := nemesis.Rule{Holds: func(m nemesis.Message) bool { return m.Key == "cut" }}
	var none Rules
	all := none.With(slower(1), 1, false).With(slower(10), 2, false).With(cut, 3, true).With(cut, 4, false)
	for _, c := range []struct {
		rules         Rules
		key           string
		delay         time.Duration
		held, forGood bool
	}{
		{none, "cut", 0, false, false},
		{all, "cut", 11, true, true},
		{all, "other", 11, false, false},
		{all.Without(1), "cut", 10, true, true},
		{all.Without(3), "cut", 11, true, false},
		{all.Without(3).Without(4), "cut", 11, false, false},
	} {
		m := nemesis.Message{Key: c.key}
		held, forGood := c.rules.Holds(m)
		if d := c.rules.Delay(m); d != c.delay || held != c.held || forGood != c.forGood {
			t.Errorf("%d rules, the key %s: %v longer, held %v, for good %v", len(c.rules), c.key, d, held, forGood)
		}
	}
	if len(all) != 4 {
		t.Error("a list was changed that others have")
	}
}

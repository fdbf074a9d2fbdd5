package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Law: a machine that is restored has the keys of its snapshot. With the time of now those
// are gone that have expired since; with the time of then none has.
func TestRestoredMachineHasTheKeysOfItsSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := commands(t)
		at := instant(t, list) + ms
		age := time.Duration(rapid.IntRange(1, 3000).Draw(t, "age")) * ms
		away := time.Duration(rapid.IntRange(0, 3000).Draw(t, "away")) * ms
		then := at - age
		clock := rapid.SampledFrom([]nemesis.GuestClock{"", nemesis.ClockSynced, nemesis.ClockRestored}).Draw(t, "clock")
		s := nemesis.Setting{Persistence: nemesis.Nothing, Plan: nemesis.Plan{
			{Action: &nemesis.VMRestore{Node: 1, Age: age, Clock: clock}, Start: nemesis.At(at), End: nemesis.After(away)},
		}}
		n := work(t, s, before(slices.Clone(list), at-1), at+away)
		if n.run != 1 {
			t.Fatalf("run %d, want the first", n.run)
		}
		now := at + away
		if clock == nemesis.ClockRestored {
			now = max(then, 0)
		}
		want := replay(t, before(list, then), max(now, 1))
		if then < 0 {
			want = map[string]key{}
		}
		sameKeys(t, fmt.Sprintf("restored at %v to %v", at+away, then), n.keys, want)
	})
}

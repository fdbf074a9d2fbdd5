package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var (
	client1 = nemesis.Machine{Client: 1}
	node1   = nemesis.Machine{Node: 1}
	byStep  = nemesis.Healing{Heal: nemesis.HealStep}
	bySlew  = nemesis.Healing{Heal: nemesis.HealSlew, HealPPM: 100_000}
	unmade  = nemesis.Healing{Heal: nemesis.HealNone}
)

// from10to50 is a fault that lasts from 10 ms to 50 ms.
func from10to50(a nemesis.Action) nemesis.Fault {
	return nemesis.Fault{Action: a, Start: nemesis.At(10 * ms), End: nemesis.After(40 * ms)}
}

func from10(a nemesis.Action) nemesis.Fault {
	return nemesis.Fault{Action: a, Start: nemesis.At(10 * ms)}
}

// shows prints a client's clocks: the monotonic clock, the one that counts
// suspension, and the wall clock since the start of the run.
func shows(w *World, client int) string {
	r := w.Runtime(client)
	return fmt.Sprint(time.Duration(r.Now(env.Monotonic)), time.Duration(r.Now(env.Boottime)), time.Duration(r.Now(env.Wall))-time.Duration(epoch))
}

// Client 2, whose clocks are true, looks at those of client 1 while a fault
// lasts, soon after it, and later.
func TestClocksOfAClient(t *testing.T) {
	for name, c := range map[string]struct {
		fault              nemesis.Fault
		at30, at60, at1000 string
	}{
		"jump, for good":    {from10(&nemesis.ClockJump{Machine: client1, By: -5 * ms}), "30ms 30ms 25ms", "60ms 60ms 55ms", "1s 1s 995ms"},
		"jump, stepped":     {from10to50(&nemesis.ClockJump{Machine: client1, By: 5 * ms, Healing: byStep}), "30ms 30ms 35ms", "60ms 60ms 60ms", "1s 1s 1s"},
		"jump, slewed":      {from10to50(&nemesis.ClockJump{Machine: client1, By: 5 * ms, Healing: bySlew}), "30ms 30ms 35ms", "59ms 59ms 64ms", "995ms 995ms 1s"},
		"rate, not healed":  {from10to50(&nemesis.ClockRate{Machine: client1, PPM: -500_000, Healing: unmade}), "20ms 20ms 20ms", "40ms 40ms 40ms", "980ms 980ms 980ms"},
		"rate, stepped":     {from10to50(&nemesis.ClockRate{Machine: client1, PPM: 250_000, Healing: byStep}), "35ms 35ms 35ms", "70ms 70ms 60ms", "1.01s 1.01s 1s"},
		"rate, slewed":      {from10to50(&nemesis.ClockRate{Machine: client1, PPM: -250_000, Healing: bySlew}), "25ms 25ms 25ms", "51ms 51ms 51ms", "1s 1s 1s"},
		"slew forward":      {from10(&nemesis.ClockSlew{Machine: client1, By: 4 * ms, PPM: 100_000}), "32ms 32ms 32ms", "64ms 64ms 64ms", "1.004s 1.004s 1.004s"},
		"slew back":         {from10(&nemesis.ClockSlew{Machine: client1, By: -4 * ms, PPM: 100_000}), "28ms 28ms 28ms", "56ms 56ms 56ms", "996ms 996ms 996ms"},
		"strobe":            {from10to50(&nemesis.ClockStrobe{Machine: client1, By: 5 * ms, Period: 15 * ms}), "30ms 30ms 30ms", "60ms 60ms 60ms", "1s 1s 1s"},
		"strobe, off":       {from10to50(&nemesis.ClockStrobe{Machine: client1, By: 5 * ms, Period: 7 * ms}), "30ms 30ms 35ms", "60ms 60ms 60ms", "1s 1s 1s"},
		"strobe, never":     {from10(&nemesis.ClockStrobe{Machine: client1, By: 5 * ms, Period: 15 * ms}), "30ms 30ms 30ms", "60ms 60ms 60ms", "1s 1s 1.005s"},
		"freeze, stepped":   {from10to50(&nemesis.ClockFreeze{Machine: client1, Healing: byStep}), "30ms 30ms 10ms", "60ms 60ms 60ms", "1s 1s 1s"},
		"freeze, slewed":    {from10to50(&nemesis.ClockFreeze{Machine: client1, Healing: bySlew}), "30ms 30ms 10ms", "61ms 61ms 21ms", "1.04s 1.04s 1s"},
		"freeze, not":       {from10to50(&nemesis.ClockFreeze{Machine: client1}), "30ms 30ms 10ms", "60ms 60ms 20ms", "1s 1s 960ms"},
		"suspend":           {from10to50(&nemesis.Suspend{Client: 1}), "10ms 30ms 30ms", "20ms 60ms 60ms", "960ms 1s 1s"},
		"snapshot":          {from10to50(&nemesis.Snapshot{Client: 1}), "10ms 10ms 10ms", "20ms 20ms 20ms", "960ms 960ms 960ms"},
		"snapshot, stepped": {from10to50(&nemesis.Snapshot{Client: 1, Healing: byStep}), "10ms 10ms 10ms", "20ms 20ms 60ms", "960ms 960ms 1s"},
	} {
		play(t, setting(2, 1, c.fault), func(*World) {}, func(w *World) {
			sleep(w, 2, 30*ms)
			expect(t, name+" at 30ms", shows(w, 1), c.at30)
			sleep(w, 2, 30*ms)
			expect(t, name+" at 60ms", shows(w, 1), c.at60)
			sleep(w, 2, 940*ms)
			expect(t, name+" at 1s", shows(w, 1), c.at1000)
		})
	}
}

// Healing a fault undoes its own effect and no other fault's, even while one clock stands still.
func TestHealingLeavesOtherFaultsAlone(t *testing.T) {
	jump := nemesis.Fault{Action: &nemesis.ClockJump{Machine: client1, By: 7 * ms}, Start: nemesis.At(20 * ms)}
	slew := nemesis.Fault{Action: &nemesis.ClockJump{Machine: client1, By: -ms, Healing: bySlew}, Start: nemesis.At(0), End: nemesis.After(5 * ms)}
	for name, fault := range map[string]nemesis.Fault{
		"freeze": from10to50(&nemesis.ClockFreeze{Machine: client1, Healing: byStep}),
		"rate":   from10to50(&nemesis.ClockRate{Machine: client1, PPM: 250_000, Healing: byStep}),
		"strobe": from10to50(&nemesis.ClockStrobe{Machine: client1, By: time.Hour, Period: 3 * ms}),
	} {
		play(t, setting(1, 1, slew, fault, jump), func(w *World) {
			sleep(w, 1, 200*ms)
			r := w.Runtime(1)
			ahead := time.Duration(r.Now(env.Wall)) - time.Duration(epoch) - time.Duration(w.now)
			expect(t, name, ahead.String(), "7ms")
		})
	}
}

// A client that waits is woken by its own monotonic clock.
func TestTimersFollowTheMonotonicClock(t *testing.T) {
	for name, c := range map[string]struct {
		fault nemesis.Fault
		want  string
	}{
		"suspend":             {from10to50(&nemesis.Suspend{Client: 1}), "end@140ms"},
		"snapshot":            {from10to50(&nemesis.Snapshot{Client: 1}), "end@140ms"},
		"suspend for longer":  {fault(&nemesis.Suspend{Client: 1}, 10*ms, 500*ms), "end@600ms"},
		"snapshot for longer": {fault(&nemesis.Snapshot{Client: 1}, 10*ms, 500*ms), "end@600ms"},
		"slew":                {from10(&nemesis.ClockSlew{Machine: client1, By: -time.Hour, PPM: 100_000}), "end@110ms"},
		"freeze":              {from10to50(&nemesis.ClockFreeze{Machine: client1}), "end@100ms"},
		"jump":                {from10(&nemesis.ClockJump{Machine: client1, By: time.Hour}), "end@100ms"},
		"no end":              {from10(&nemesis.Suspend{Client: 1}), "end@10s"},
	} {
		log := play(t, setting(1, 1, c.fault), func(w *World) { sleep(w, 1, 100*ms) })
		expect(t, name, kinds(log, history.End), c.want)
	}
}

// A sleeping machine is a paused client.
func TestSleepingMachinePausesItsClient(t *testing.T) {
	for _, a := range []nemesis.Action{&nemesis.Suspend{Client: 1}, &nemesis.Snapshot{Client: 1}} {
		log := play(t, setting(1, 1, from10to50(a)), func(w *World) {
			for range 100 {
				sleep(w, 1, ms)
				w.Record(history.Event{Kind: history.Step, Client: 1, Name: "awake"})
			}
		})
		for _, e := range log {
			if e.Kind == history.Step && e.Time > history.Time(10*ms) && e.Time < history.Time(50*ms) {
				t.Errorf("%v: awake at %v", a, e.Time)
			}
		}
		expect(t, a.String(), kinds(log, history.Pause, history.Resume), "pause@10ms resume@50ms")
	}
}

// Keys live by the node's wall clock, however it comes to run. The key is set at 1 ms for 100 ms, so that
// with a true clock it is gone from 102 ms on, before another request finds that out.
func TestKeysExpireByTheNodesClock(t *testing.T) {
	for name, c := range map[string]struct {
		fault nemesis.Fault
		want  string
	}{
		"true":                     {from10(&nemesis.Pause{Client: 2}), "key-gone@102ms"},
		"fast":                     {forGood(&nemesis.ClockRate{Machine: node1, PPM: 250_000}, 0), "key-gone@81.6ms"},
		"slow":                     {forGood(&nemesis.ClockRate{Machine: node1, PPM: -500_000}, 0), "key-gone@202ms"},
		"jumps forward":            {forGood(&nemesis.ClockJump{Machine: node1, By: 30 * ms}, 50*ms), "key-gone@72ms"},
		"jumps past it":            {forGood(&nemesis.ClockJump{Machine: node1, By: time.Hour}, 50*ms), "key-gone@50ms"},
		"jumps backward":           {forGood(&nemesis.ClockJump{Machine: node1, By: -30 * ms}, 50*ms), "key-gone@132ms"},
		"stepped back and forward": {from10to50(&nemesis.ClockJump{Machine: node1, By: -time.Hour, Healing: byStep}), "key-gone@102ms"},
		"stepped back, slewed":     {from10to50(&nemesis.ClockJump{Machine: node1, By: -5 * ms, Healing: bySlew}), "key-gone@102ms"},
		"slewed":                   {from10(&nemesis.ClockSlew{Machine: node1, By: 100 * ms, PPM: 100_000}), "key-gone@93.636364ms"},
		"strobe":                   {from10to50(&nemesis.ClockStrobe{Machine: node1, By: 200 * ms, Period: 5 * ms}), "key-gone@10ms"},
		"strobe that is over":      {from10to50(&nemesis.ClockStrobe{Machine: node1, By: 20 * ms, Period: 5 * ms}), "key-gone@102ms"},
		"frozen":                   {from10to50(&nemesis.ClockFreeze{Machine: node1}), "key-gone@142ms"},
		"frozen, catches up":       {from10to50(&nemesis.ClockFreeze{Machine: node1, Healing: byStep}), "key-gone@102ms"},
		"fast, stepped":            {from10to50(&nemesis.ClockRate{Machine: node1, PPM: 500_000, Healing: byStep}), "key-gone@102ms"},
	} {
		log := play(t, setting(2, 1, c.fault), func(w *World) {
			ask(w, 1, 1, set, time.Second)
			other := set
			other.Token = "b"
			for ask(w, 1, 1, other, time.Second) != env.Yes.String() {
			}
		}, returns)
		expect(t, name, kinds(log, history.KeyGone), c.want)
	}
}

// A clock that is frozen again catches up with what it missed this time.
func TestFreezeAfterFreeze(t *testing.T) {
	freeze := &nemesis.ClockFreeze{Machine: client1, Healing: byStep}
	play(t, setting(1, 1, fault(freeze, 10*ms, 10*ms), fault(freeze, 50*ms, 10*ms)), func(w *World) {
		sleep(w, 1, 100*ms)
		expect(t, "clocks", shows(w, 1), "100ms 100ms 100ms")
	})
}

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
		sameKeys(t, fmt.Sprintf("restored at %v to %v", at+away, then), n.keys.byName(), want)
	})
}

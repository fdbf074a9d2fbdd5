package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// keyLines prints the history's events of keys, as in "set a by 1".
func keyLines(log history.Log) string {
	var list []string
	for _, e := range log {
		switch e.Kind {
		case history.KeySet:
			list = append(list, fmt.Sprintf("set %s by %d", e.Token, e.Client))
		case history.KeyExtended:
			list = append(list, fmt.Sprintf("extended %s by %d", e.Token, e.Client))
		case history.KeyGone:
			list = append(list, fmt.Sprintf("%s %s by %d", e.Reason, e.Token, e.Client))
		}
	}
	return strings.Join(list, ", ")
}

// answers asks node 1 one command after another, and returns what it says.
func answers(w *World, client int, commands ...env.Command) string {
	var list []string
	for _, c := range commands {
		r, _ := w.Nodes(client).Send(1, c, env.Never).Next(context.Background(), env.Never)
		list = append(list, strings.TrimSpace(fmt.Sprint(r.Answer, " ", r.Token)))
	}
	return strings.Join(list, ", ")
}

// Plain commands ignore whose key it is. The history records whose key was deleted, and by whom.
func TestPlainCommands(t *testing.T) {
	get, remove := command(env.OpGet, ""), command(env.OpRemove, "")
	log := play(t, setting(2, 1), func(w *World) {
		expect(t, "nothing there", answers(w, 1, get, remove, command(env.OpExpire, "")), "no, no, no")
		expect(t, "created once", answers(w, 1, command(env.OpAdd, "a"), command(env.OpAdd, "b"), get), "yes, no, yes a")
		sleep(w, 1, time.Second)
		expect(t, "for ever", answers(w, 1, get), "yes a")
		sleep(w, 1, time.Second)
	}, func(w *World) {
		sleep(w, 2, 1500*ms)
		expect(t, "overwritten", answers(w, 2, command(env.OpPut, "b"), get), "yes, yes b")
		expect(t, "given a time to live", answers(w, 2, command(env.OpExpire, "c")), "yes")
		sleep(w, 2, 98*ms)
		expect(t, "within it", answers(w, 2, get), "yes b")
		sleep(w, 2, 10*ms)
		expect(t, "after it", answers(w, 2, get), "no")
		expect(t, "deleted, whoever's", answers(w, 2, command(env.OpSet, "d"), remove, get), "yes, yes, no")
	})
	expect(t, "history", keyLines(log), "set a by 1, overwritten a by 2, set b by 2, extended b by 2, expired b by 0, set d by 2, deleted d by 2")
}

// A key without a time to live is a lock's key too: the history records when a node loses it, and
// an eviction of volatile keys spares it.
func TestKeysWithoutATimeToLive(t *testing.T) {
	evict := nemesis.Fault{Action: &nemesis.Evict{Node: 1}, Start: nemesis.At(10 * ms)}
	crash := nemesis.Fault{Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(20 * ms), End: nemesis.After(0)}
	log := play(t, setting(1, 1, evict, crash), func(w *World) {
		brief := set
		brief.Key = "brief"
		answers(w, 1, command(env.OpAdd, "a"), brief)
		sleep(w, 1, 11*ms-4*ms)
		expect(t, "after an eviction", answers(w, 1, command(env.OpGet, "")), "yes a")
		sleep(w, 1, 20*ms)
		expect(t, "after a crash", answers(w, 1, command(env.OpGet, "")), "no")
	})
	expect(t, "history", keyLines(log), "set a by 1, set a by 1, evicted a by 0, forgotten a by 0")
}

// A counter with a time to live is none of a lock's keys, however it ends.
func TestCountersWithATimeToLive(t *testing.T) {
	increment, expire := command(env.OpIncrement, ""), command(env.OpExpire, "")
	count := func(w *World) uint64 {
		r, _ := w.Nodes(1).Send(1, increment, env.Never).Next(context.Background(), env.Never)
		return r.Count
	}
	evict := nemesis.Fault{Action: &nemesis.Evict{Node: 1}, Start: nemesis.At(270 * ms)}
	log := play(t, setting(1, 1, evict), func(w *World) {
		expect(t, "counted", fmt.Sprint(count(w), count(w)), "1 2")
		answers(w, 1, expire)
		sleep(w, 1, 50*ms)
		expect(t, "counting keeps the time to live", fmt.Sprint(count(w)), "3")
		sleep(w, 1, 60*ms)
		expect(t, "expired", fmt.Sprint(count(w)), "1")
		sleep(w, 1, 100*ms)
		expect(t, "evicted later on", answers(w, 1, expire), "yes")
		sleep(w, 1, 80*ms)
		expect(t, "evicted", fmt.Sprint(count(w)), "1")
		expect(t, "a lock is no counter", answers(w, 1, command(env.OpPut, "a"), increment), "yes, failed")
	})
	expect(t, "history", keyLines(log), "set a by 1")
}

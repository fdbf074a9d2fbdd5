package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A node has two masters, each for some clients, until the old one is demoted: what only
// that had is lost. The history has what either keeps.
func TestSplitBrain(t *testing.T) {
	s := setting(2, 1, nemesis.Fault{Action: &nemesis.SplitBrain{Node: 1, Clients: []int{1}}, Start: nemesis.At(150 * ms), End: nemesis.After(100 * ms)})
	s.Replication = &nemesis.Distribution{Range: nemesis.Range{Min: 100 * ms, Max: 100 * ms}}
	command := func(op env.Op, key, token string) env.Command {
		return env.Command{Op: op, Key: key, Token: token, TTL: time.Hour}
	}
	w, err := Open(t.Context(), s, 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	log := w.sink.(*history.Log)
	err = w.Run(t.Context(), func(client int) {
		wait := func(until time.Duration) { sleep(w, client, until-time.Duration(w.now)) }
		want := func(what, want string, c env.Command) {
			t.Helper()
			if got := ask(w, client, 1, c, time.Second); got != want {
				t.Errorf("client %d, %s: %s, want %s", client, what, got, want)
			}
		}
		mine := fmt.Sprint("of client ", client)
		if client == 1 {
			want("old", "yes", command(env.OpSet, "old", "a"))
			wait(120 * ms)
			want("young", "yes", command(env.OpSet, "young", "a"))
		}
		wait(160 * ms)
		if client == 1 {
			want("deletes at the old master", "yes", command(env.OpDelete, "old", "a"))
		} else {
			t.Log("two")
			want("has come to the new master", "no", command(env.OpSet, "old", "b"))
			want("has not come there", "yes", command(env.OpSet, "young", "b"))
		}
		want("its own", "yes", command(env.OpSet, mine, "c"))
		wait(260 * ms)
		want("the key of client 1", []string{"yes", "no"}[client-1], command(env.OpSet, "of client 1", "d"))
		want("the key of client 2", "no", command(env.OpSet, "of client 2", "d"))
		want("young", "no", command(env.OpSet, "young", "d"))
		want("old", "no", command(env.OpSet, "old", "d"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := w.node(1); n.peer != nil || n.run != 2 {
		t.Errorf("run %d, peer %v: want one master, in its second run", n.run, n.peer)
	}
	var lost []string
	for _, e := range *log {
		if e.Kind == history.KeyGone && e.Reason == history.RolledBack || e.Kind == history.KeySet && e.Client == 0 {
			lost = append(lost, fmt.Sprintf("%v %v %s %s", e.Time, e.Kind, e.Resource, e.Token))
		}
	}
	if want := "250ms key-gone young a"; !slices.Contains(lost, want) || !slices.Contains(lost, "250ms key-gone of client 1 c") {
		t.Errorf("the history tells %q, want %q and the like", lost, want)
	}
}

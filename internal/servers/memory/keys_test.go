package memory

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func ofKeys(k history.Kind) bool {
	return slices.Contains([]history.Kind{history.KeySet, history.KeyExtended, history.KeyGone}, k)
}

// wantKeys checks the events of keys, one per line.
func (w *testWorld) wantKeys(want string) {
	w.t.Helper()
	var got []string
	for _, e := range *w.log {
		if ofKeys(e.Kind) {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%v %v %s of %d %s", e.Time, e.Kind, e.Token, e.Client, e.Reason)))
		}
	}
	if lines := strings.Join(got, "\n"); lines != want {
		w.t.Errorf("the history tells\n%s\nwant\n%s", lines, want)
	}
}

// The history has every change of a key at its time, with the client that caused it,
// including expiry without any access.
func TestKeysAreRecorded(t *testing.T) {
	lasting := func(op env.Op, token string, ttl time.Duration) env.Command {
		return env.Command{Op: op, Key: "key", Token: token, TTL: ttl}
	}
	w := try(t, nemesis.Setting{Clients: 2}, func(w *testWorld, client int) {
		if client == 2 {
			w.sleep(2, 5*time.Second)
			w.ask(2, lasting(env.OpSet, "b", time.Second), patience)
			w.ask(2, env.Command{Op: env.OpCount, Key: "fence"}, patience)
			w.ask(2, env.Command{Op: env.OpRaise, Key: "fence", Count: 7}, patience) // a counter is no lock
			w.sleep(2, 500*time.Millisecond)
			w.ask(2, lasting(env.OpDelete, "b", 0), patience)
			return
		}
		w.ask(1, lasting(env.OpSet, "a", time.Second), patience)
		w.sleep(1, 500*time.Millisecond)
		w.ask(1, lasting(env.OpExtend, "a", 2*time.Second), patience)
		w.ask(1, lasting(env.OpSet, "c", time.Second), patience) // is taken
		w.ask(1, lasting(env.OpDelete, "c", 0), patience)
		w.sleep(1, 4750*time.Millisecond)
		w.ask(1, env.Command{Op: env.OpRemove, Key: "key"}, patience)
		w.ask(1, lasting(env.OpSet, "d", time.Second), patience)
		w.ask(1, env.Command{Op: env.OpExpire, Key: "key", TTL: 100 * time.Millisecond}, patience)
	})
	w.wantKeys(`0s key-set a of 1
500ms key-extended a of 1
2.501s key-gone a of 0 expired
5s key-set b of 2
5.25s key-gone b of 1 deleted
5.25s key-set d of 1
5.25s key-extended d of 1
5.351s key-gone d of 0 expired`)
}

// A lock's key is recorded before it gets an expiry, and if it never does. It is not gone when it
// loses its expiry, or gets another value without one. Counters and data are no locks, and what is set with
// an end that has come is nothing.
func TestKeysWithoutExpiry(t *testing.T) {
	w := try(t, nemesis.Setting{}, func(w *testWorld, client int) {
		conn, err := w.Dial(w.t.Context(), 1, 1)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		for _, command := range []string{
			"SETNX lock a", "PEXPIRE lock 10000", "PERSIST lock", "SETNX lock b", "GETSET lock c", "DEL lock", "SET lock d",
			"INCR fence", "SETNX count 0", "INCR count", "INCR count", "SET data x", "SET other y NX", "MSETNX lock1 z lock2 z",
			"SET over x NX PXAT 946684815000", "SET last x NX PXAT 946684816001", // by the bubble's clock: now, and in a millisecond
		} {
			w.sleep(1, time.Second)
			words := strings.Fields(command)
			_, _ = fmt.Fprintf(conn, "*%d\r\n", len(words))
			for _, word := range words {
				_, _ = fmt.Fprintf(conn, "$%d\r\n%s\r\n", len(word), word)
			}
		}
		w.sleep(1, time.Second)
	})
	var got []string
	for _, e := range *w.log {
		if ofKeys(e.Kind) {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%v %v %s %s %s%s", e.Time, e.Kind, e.Resource, e.Token, e.Reason, e.Detail)))
		}
	}
	want := []string{
		"1s key-set lock a without an expiry", "2s key-extended lock a", "3s key-extended lock a without an expiry",
		"5s key-gone lock a overwritten", "5s key-set lock c without an expiry", "6s key-gone lock c deleted", "7s key-set lock d without an expiry",
		"9s key-set count 0 without an expiry", "10s key-gone count 0 deleted",
		"13s key-set other y without an expiry", "14s key-set lock1 z without an expiry", "14s key-set lock2 z without an expiry",
		"16s key-set last x", "16.002s key-gone last x expired",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the history tells\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The conditional commands do what their pages say, on their own and in a script, and the history has the changes of
// keys.
func TestConditionalCommands(t *testing.T) {
	w := try(t, nemesis.Setting{}, func(w *testWorld, client int) {
		c := w.own(1, 1)
		defer c.Close()
		ask := func(line string) string {
			reply, err := c.Do(w.t.Context(), words(line)...).Result()
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(reply)
		}
		for _, step := range []struct{ line, want string }{
			{"SET k a IFEQ a PX 5000", "redis: nil"}, // creates no key
			{"DELEX k IFEQ a", "0"},
			{"DELIFEQ k a", "0"},
			{"SET k a NX PX 5000", "OK"},
			{"SET k b IFEQ b PX 9000", "redis: nil"},
			{"SET k b IFEQ b PX 9000 GET", "a"},
			{"PTTL k", "5000"},
			{"set k a px 9000 ifeq a", "OK"},
			{"PTTL k", "9000"},
			{"SET k a IFEQ a NX PX 1000", "ERR syntax error"},
			{"SET k a IFEQ", "ERR syntax error"},
			{"DELEX k IFEQ b", "0"},
			{"DELIFEQ k b", "0"},
			{"DELIFEQ k", "ERR wrong number of arguments for 'delifeq' command"},
			{"DELIFEQ k a", "1"},
			{"SET k c IFNE a PX 5000", "OK"}, // creates it
			{"SET k d IFNE c PX 5000", "redis: nil"},
			{"SET k d IFNE x PX 5000 GET", "c"},
			{"SET k d IFEQ d", "OK"}, // and so it never expires
			{"PTTL k", "-1"},
			{"DELEX k IFEQ d", "1"},
			{"RPUSH list x", "1"},
			{"SET list a IFEQ x", "WRONGTYPE Operation against a key holding the wrong kind of value"},
			{"SET k e NX PX 5000", "OK"},
			{"DELEX k", "1"},
		} {
			if got := ask(step.line); got != step.want {
				t.Errorf("%s: %s, want %s", step.line, got, step.want)
			}
		}
		const script = `return {redis.call("SET", "s", "a", "PX", 5000), redis.call("SET", "s", "a", "IFEQ", "b"), redis.call("SET", "s", "a", "IFEQ", "a", "PX", 7000), redis.call("PTTL", "s"), redis.call("DELIFEQ", "s", "a")}`
		for range 2 { // by miniredis, and by the server's interpreter
			if got, err := c.Eval(w.t.Context(), script, nil).Result(); err != nil || fmt.Sprint(got) != "[OK <nil> OK 7000 1]" {
				t.Errorf("in a script: %v, %v", got, err)
			}
		}
		_, _ = c.Do(w.t.Context(), "MULTI").Result()
		if got := ask("SET k a IFEQ a"); !strings.Contains(got, "in a transaction") {
			t.Errorf("in a transaction: %s", got)
		}
	})
	var got []string
	for _, e := range *w.log {
		if ofKeys(e.Kind) && e.Resource == "k" {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%v %s %s%s", e.Kind, e.Token, e.Reason, e.Detail)))
		}
	}
	want := []string{
		"key-set a", "key-extended a", "key-gone a deleted", "key-set c", "key-gone c overwritten", "key-set d",
		"key-extended d without an expiry", "key-gone d deleted", "key-set e", "key-gone e deleted",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the history tells\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func words(line string) (all []any) {
	for _, w := range strings.Fields(line) {
		all = append(all, w)
	}
	return all
}

// A script changes keys on behalf of its client. Keys lost by a restart or an eviction are
// recorded as such.
func TestKeysThatFaultsTake(t *testing.T) {
	for _, evict := range []*nemesis.Evict{{Node: 1}, {Node: 1, Policy: nemesis.AllKeys}, {Node: 1, Resource: "key"}, {Node: 1, Resource: "key", Policy: nemesis.AllKeys}} {
		t.Run(evict.String(), func(t *testing.T) { keysThatFaultsTake(t, evict) })
	}
}

func keysThatFaultsTake(t *testing.T, evict *nemesis.Evict) {
	t.Helper()
	plan := append(between(&nemesis.Crash{Node: 1}), nemesis.Fault{Action: evict, Start: nemesis.When(1, env.StepGranted, 0)})
	w := try(t, nemesis.Setting{Plan: plan}, func(w *testWorld, client int) {
		w.ask(1, set("a"), patience)
		w.Reach(1, begin, 0)
		w.Reach(1, end, 0)
		for answers, _ := w.ask(1, set("b"), patience); answers[0] != env.Yes; answers, _ = w.ask(1, set("b"), patience) {
			w.sleep(1, time.Millisecond)
		}
		w.Reach(1, env.StepGranted, 0)
	})
	var reasons []string
	for _, e := range *w.log {
		if e.Kind == history.KeyGone {
			reasons = append(reasons, e.Token+" "+e.Reason)
		}
	}
	if want := []string{"a " + history.Forgotten, "b " + history.Evicted}; !slices.Equal(reasons, want) {
		t.Errorf("gone are %q, want %q", reasons, want)
	}
}

// Law: a change is recorded with the time at which its command was sent, even if several
// commands of a connection were held up and arrive together.
func TestKeysThatComeTogether(t *testing.T) {
	const commands = 20
	cut := nemesis.Fault{Action: &nemesis.Partition{}, Start: nemesis.At(0), End: nemesis.After(time.Minute)}
	w := try(t, nemesis.Setting{Plan: nemesis.Plan{cut}}, func(w *testWorld, client int) {
		conn, err := w.Dial(w.t.Context(), 1, 1)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		for i := range commands {
			w.sleep(1, time.Second)
			_, _ = fmt.Fprintf(conn, "*5\r\n$3\r\nSET\r\n$3\r\nk%02d\r\n$1\r\nv\r\n$2\r\nPX\r\n$7\r\n1000000\r\n", i+1)
		}
		w.sleep(1, 2*time.Minute)
	})
	set := 0
	for _, e := range *w.log {
		if e.Kind == history.KeySet {
			set++
			if want := fmt.Sprintf("k%02d", e.Sent.Sub(0)/time.Second); e.Resource != want {
				t.Errorf("%s is set by what was sent at %v", e.Resource, e.Sent)
			}
		}
	}
	if set != commands {
		t.Errorf("%d keys of %d are set", set, commands)
	}
}

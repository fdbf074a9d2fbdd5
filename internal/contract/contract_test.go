package contract

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/cluster/process/redisserver"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
	"github.com/lockstorm/lockstorm/sim"
)

const ms = time.Millisecond

// step is one line of a script: a command, or a wait, or a restart.
type step struct {
	command env.Command
	wait    time.Duration
	restart bool
}

func (s step) String() string {
	switch {
	case s.restart:
		return "restart"
	case s.wait > 0:
		return "wait " + s.wait.String()
	case s.command.Op == env.OpDelete:
		return fmt.Sprintf("delete %s %s", s.command.Key, s.command.Token)
	}
	return fmt.Sprintf("%v %s %s %v", s.command.Op, s.command.Key, s.command.Token, s.command.TTL)
}

// Waits are multiples of 50 ms and times to live lie half-way between, so that
// nothing expires nearer than 25 ms to a command, if the machine keeps time.
const (
	grain = 50 * ms
	slack = 15 * ms // by which a real script may run late before it says nothing
)

// scripts generates scripts over two keys and two tokens, one of each more often
// than the other, so that commands meet.
func scripts(restarts bool) *rapid.Generator[[]step] {
	kinds := []string{"command", "command", "wait"}
	if restarts {
		kinds = append(kinds, "restart")
	}
	one := rapid.Custom(func(t *rapid.T) step {
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case "wait":
			return step{wait: grain * time.Duration(rapid.IntRange(1, 3).Draw(t, "wait"))}
		case "restart":
			return step{restart: true}
		}
		return step{command: env.Command{
			Op:    rapid.SampledFrom([]env.Op{env.OpSet, env.OpSet, env.OpExtend, env.OpExtend, env.OpDelete}).Draw(t, "op"),
			Key:   rapid.SampledFrom([]string{"k", "k", "k", "l"}).Draw(t, "key"),
			Token: rapid.SampledFrom([]string{"a", "a", "a", "b"}).Draw(t, "token"),
			TTL:   grain/2 + grain*time.Duration(rapid.IntRange(0, 4).Draw(t, "ttl")),
		}}
	})
	return rapid.SliceOfN(one, 5, 25)
}

// node is something that executes scripts.
type node struct {
	sleep   func(time.Duration)
	ask     func(env.Command) env.Answer
	restart func()
	now     func() time.Duration
}

// play gives a script to a node. It returns the answers, and how late the
// script ran at most against a clock on which commands take no time.
func play(script []step, n node) (answers []string, late time.Duration) {
	start, planned := n.now(), time.Duration(0)
	for _, s := range script {
		switch {
		case s.wait > 0:
			planned += s.wait
			n.sleep(start + planned - n.now())
		case s.restart:
			n.restart()
		default:
			answers = append(answers, fmt.Sprintf("%v: %v", s, n.ask(s.command)))
		}
		late = max(late, n.now()-start-planned)
	}
	return answers, late
}

// only returns the answer of the one node that was asked.
func only(r env.Round) env.Answer {
	reply, err := r.Next(context.Background(), env.Never)
	if err != nil {
		panic(err)
	}
	return reply.Answer
}

// simulated plays the script in a simulated world in which messages take no
// time. Its restarts are faults that wait for a step of the client.
func simulated(t *testing.T, script []step) []string {
	t.Helper()
	s := nemesis.Setting{Nodes: 1, Clients: 1, Persistence: nemesis.Nothing, Horizon: time.Hour}
	for _, line := range script {
		if line.restart {
			crash := nemesis.Fault{Crash: &nemesis.Crash{Node: 1}, Start: nemesis.When(1, env.StepBeforeWrite, 0), End: nemesis.After(0)}
			crash.Start.Count = len(s.Plan) + 1
			s.Plan = append(s.Plan, crash)
		}
	}
	w, err := sim.Open(context.Background(), s, 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	err = w.Run(context.Background(), func(int) {
		r := w.Runtime(1)
		answers, _ = play(script, node{
			now:     func() time.Duration { return time.Duration(r.Mono()) },
			sleep:   func(d time.Duration) { _ = r.Sleep(context.Background(), r.Mono().Add(d)) },
			ask:     func(c env.Command) env.Answer { return only(w.Nodes(1).Send(env.SetOf(1), c, env.Never)) },
			restart: func() { w.Reach(1, env.StepBeforeWrite, 0) },
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// real plays the script on a real server, under keys of its own.
func real(t *testing.T, fleet *redisserver.Fleet, prefix string, script []step) ([]string, time.Duration) {
	t.Helper()
	server := fleet.Server(1)
	nodes := redisnode.New([]string{server.Addr()}, redisnode.Options{Prefix: prefix})
	defer func() {
		if err := nodes.Close(); err != nil {
			t.Error(err)
		}
	}()
	ping := env.Command{Op: env.OpDelete, Key: "warm-up", Token: "-"}
	only(nodes.Send(env.SetOf(1), ping, env.System().Mono().Add(10*time.Second)))
	start := time.Now()
	return play(script, node{
		now:   func() time.Duration { return time.Since(start) },
		sleep: time.Sleep,
		ask: func(c env.Command) env.Answer {
			return only(nodes.Send(env.SetOf(1), c, env.System().Mono().Add(10*time.Second)))
		},
		restart: func() {
			server.Kill()
			if err := server.Start(context.Background()); err != nil {
				t.Error(err)
			}
			// The connection to the old server has broken; the first request
			// may find that out.
			only(nodes.Send(env.SetOf(1), ping, env.System().Mono().Add(10*time.Second)))
		},
	})
}

// tries is how often a script may be played until the machine keeps time.
const tries = 5

// compare plays a script on both and compares. It reports whether the real
// server could be held to time.
func compare(t *testing.T, fleet *redisserver.Fleet, name string, script []step) bool {
	t.Helper()
	want := simulated(t, script)
	for try := range tries {
		got, late := real(t, fleet, fmt.Sprintf("%s-%d:", name, try), script)
		if late > slack+time.Duration(strings.Count(fmt.Sprint(script), "restart"))*grain/2 {
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("script %v\nreal:      %s\nsimulated: %s", script, got[i], want[i])
				return true
			}
		}
		return true
	}
	return false
}

func open(t *testing.T) *redisserver.Fleet {
	t.Helper()
	fleet, err := redisserver.Open(context.Background(), redisserver.Options{Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(); err != nil {
			t.Error(err)
		}
	})
	return fleet
}

// Law: a simulated node answers as a real one, key expiry included.
func TestSimulatedNodeAnswersAsRedis(t *testing.T) {
	fleet := open(t)
	all := scripts(false)
	const groups, each = 16, 6
	for g := range groups {
		t.Run(fmt.Sprint("group ", g), func(t *testing.T) {
			t.Parallel()
			judged := 0
			for i := range each {
				if compare(t, fleet, fmt.Sprintf("%d-%d", g, i), all.Example(g*each+i)) {
					judged++
				}
			}
			if judged < each/2 {
				t.Errorf("only %d of %d scripts could be held to time", judged, each)
			}
		})
	}
}

// Law: so it does after restarts without persistence.
func TestSimulatedNodeForgetsAsRedis(t *testing.T) {
	fleet := open(t)
	all := scripts(true)
	judged := 0
	const n = 8
	for i := range n {
		if compare(t, fleet, fmt.Sprint(i), all.Example(i)) {
			judged++
		}
	}
	if judged < n/2 {
		t.Errorf("only %d of %d scripts could be held to time", judged, n)
	}
}

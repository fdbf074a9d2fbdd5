package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servertest"
	"github.com/lockstorm/lockstorm/nemesis"
)

const ms = time.Millisecond

// step is one line of a script.
type step struct {
	what    what
	command env.Command   // if the step sends one
	wait    time.Duration // for waits and stalled
	start   time.Duration // time allowed for a server to start
}

// what is the kind of a step: a command to a healthy node, a wait, something done to the
// node, or a command to a node that is not healthy.
type what string

const (
	asked     what = "ask"
	waits     what = "wait"
	restarts  what = "restart"   // the process is killed and started again
	shutDown  what = "shutdown"  // the server is shut down and started again
	evicts    what = "evict"     // the node evicts every key with a time to live
	evictsAll what = "evict all" // the node evicts all keys
	evictsKey what = "evict k"   // the node evicts one key if it has a time to live
	twice     what = "twice"     // a command that arrives a second time, soon after
	flushes   what = "flush"     // the node forgets its scripts
	stalled   what = "stalled"   // a command to a stopped node, which continues after a while
	full      what = "full"      // a command to a node without memory
	follows   what = "follows"   // a command to a replica whose master is gone
)

// asks reports whether the step sends a command.
func (w what) asks() bool {
	return w == asked || w == twice || w == stalled || w == full || w == follows
}

func (s step) String() string {
	text := string(s.what)
	if s.what.asks() {
		c := s.command
		if c.Op == env.OpVouch {
			c.Token = "" // a run id, which is another on each node
		}
		text += fmt.Sprintf(" %+v", c)
	}
	if s.wait > 0 {
		text += " " + s.wait.String()
	}
	return text
}

// Waits are multiples of 50 ms and times to live lie half-way between, so that no key
// expires within 25 ms of a command if the machine keeps time.
const (
	grain = 50 * ms
	slack = 15 * ms // how late a script may run on a real server
)

// scripts generates scripts over two keys and two tokens. One of each is more frequent, so
// that commands meet. Besides commands and waits they contain steps of the given kinds.
func scripts(kinds ...what) *rapid.Generator[[]step] {
	kinds = append([]what{asked, asked, waits}, kinds...)
	one := rapid.Custom(func(t *rapid.T) step {
		s := step{what: rapid.SampledFrom(kinds).Draw(t, "what")}
		if s.what.asks() {
			s.command = commands.Draw(t, "command")
			if s.what == follows && s.command.Op == env.OpExtend {
				s.command.TTL = apart(s.command.TTL)
			}
		}
		if s.what == twice {
			s.wait = grain
		}
		if s.what == waits || s.what == stalled {
			s.wait = grain * time.Duration(rapid.IntRange(1, 3).Draw(t, "wait"))
		}
		return s
	})
	return rapid.SliceOfN(one, 5, 25)
}

// apart is a time to live that is surely shorter, or surely longer, than what a key has
// left: a replica replies yes to an extension that changes nothing, and of two instants
// that are equal a real server may see either first.
func apart(ttl time.Duration) time.Duration {
	if ttl < 2*grain {
		return ms
	}
	return ttl + 10*grain
}

// operations are mostly those of a lock on its keys, on counters and on run ids, and those
// of locks that do not check whose key it is.
var operations = []env.Op{
	env.OpSet, env.OpSet, env.OpSet, env.OpExtend, env.OpExtend, env.OpDelete, env.OpCount, env.OpRaise, env.OpVouch,
	env.OpGet, env.OpPut, env.OpAdd, env.OpExpire, env.OpRemove, env.OpIncrement,
}

// commands generates commands.
var commands = rapid.Custom(func(t *rapid.T) env.Command {
	c := env.Command{
		Op:    rapid.SampledFrom(operations).Draw(t, "op"),
		Key:   rapid.SampledFrom([]string{"k", "k", "k", "l"}).Draw(t, "key"),
		Token: rapid.SampledFrom([]string{"a", "a", "a", "b"}).Draw(t, "token"),
		TTL:   grain/2 + grain*time.Duration(rapid.IntRange(0, 4).Draw(t, "ttl")),
	}
	watched := rapid.SampledFrom([]time.Duration{0, ms, 2 * ms}).Draw(t, "watched")
	switch c.Op {
	case env.OpSet, env.OpExtend:
		c.Vouched = watched
	case env.OpVouch:
		c.TTL = max(watched, ms)
	case env.OpCount, env.OpRaise, env.OpIncrement:
		c.Key = rapid.SampledFrom([]string{"n", "n", "n", "m", "k"}).Draw(t, "counter")
		c.Count = rapid.Uint64Range(1, 5).Draw(t, "count")
	case env.OpGet, env.OpExpire, env.OpRemove:
		c.Key = rapid.SampledFrom([]string{"k", "k", "l", "n"}).Draw(t, "key or counter")
	}
	return c
})

// node executes scripts.
type node struct {
	now   func() time.Duration
	sleep func(time.Duration)
	ask   func(env.Command) env.Reply
	begin func(step) // changes the node
	end   func(step) // undoes the change after the command
}

// play runs a script on a node. It returns the replies, and how late the script ran at most
// compared with a clock on which only waits take time.
func play(script []step, n node) (answers []string, late time.Duration) {
	start, planned := n.now(), time.Duration(0)
	var known runs
	for _, s := range script {
		if s.what != asked && s.what != waits {
			n.begin(s)
		}
		if s.what.asks() {
			if s.command.Op == env.OpVouch {
				s.command.Token = known.latest()
			}
			reply := n.ask(s.command)
			answers = append(answers, fmt.Sprintf("%v: %v%s", s, formatAnswer(reply), known.formatExtras(s.command, reply)))
			n.end(s)
		}
		if s.what == asked || s.what == twice { // a late command moves the expiry of its key, even if the wait after it hides that
			late = max(late, n.now()-start-planned)
		}
		planned += s.wait
		if s.what == restarts || s.what == shutDown {
			planned += s.start
		}
		n.sleep(start + planned - n.now())
		late = max(late, n.now()-start-planned)
	}
	return answers, late
}

// runs are the ids of a node's runs, in the order in which it sent them.
type runs []string

// latest returns the last run id, or one that never existed.
func (r runs) latest() string {
	if len(r) == 0 {
		return "none"
	}
	return r[len(r)-1]
}

// formatExtras formats what a reply contains besides its answer.
func (r *runs) formatExtras(c env.Command, reply env.Reply) string {
	switch {
	case reply.Err != nil:
	case c.Op == env.OpCount, c.Op == env.OpRaise, c.Op == env.OpIncrement:
		return fmt.Sprintf(", %d", reply.Count)
	case c.Op == env.OpGet:
		return fmt.Sprintf(", %q", reply.Token)
	case c.Vouched > 0:
		if reply.Run != r.latest() {
			*r = append(*r, reply.Run)
		}
		return fmt.Sprintf(", in run %d, vouched for: %t", len(*r), reply.Vouched)
	}
	return ""
}

// formatAnswer formats a node's answer and, if it is an error, its first word, which is what
// programs look at.
func formatAnswer(r env.Reply) string {
	err := r.Err
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	if err == nil {
		return r.Answer.String()
	}
	word, _, _ := strings.Cut(err.Error(), " ")
	return fmt.Sprint(r.Answer, " ", word)
}

// only returns the reply of the only node.
func only(r env.Round) env.Reply {
	reply, err := r.Next(context.Background(), env.Never)
	if err != nil {
		panic(err)
	}
	return reply
}

// tries is how often a script is played until the machine keeps time.
const tries = 7

// slower returns the script with times multiplied by n, for a server that may take boot to
// start.
func slower(script []step, n int, boot time.Duration) []step {
	script = slices.Clone(script)
	for i := range script {
		script[i].wait *= time.Duration(n)
		script[i].command.TTL *= time.Duration(n)
		script[i].start = boot * time.Duration(n)
	}
	return script
}

// player plays a script on a real server, under keys that contain name.
type player func(t *testing.T, name string, script []step) (answers []string, late time.Duration)

// compare plays a script on both nodes and compares the replies. If the machine was too
// busy to keep time, it plays the script again, each time at half the pace. It reports
// whether the machine has kept time.
func compare(t *testing.T, served player, boot time.Duration, p nemesis.Persistence, name string, original []step) bool {
	t.Helper()
	for try := range tries {
		times := 1 << try
		script := slower(original, times, boot)
		got, late := served(t, fmt.Sprintf("%s-%d:", name, try), script)
		if late > slack*time.Duration(times) {
			continue
		}
		if want := simulated(t, p, script); !slices.Equal(got, want) && !t.Failed() {
			t.Errorf("script %v\nreal:      %q\nsimulated: %q", script, got, want)
		}
		return true
	}
	return false
}

// compareMany compares n scripts one after another, starting with number first. It returns
// for how many the machine has kept time.
func compareMany(t *testing.T, served player, boot time.Duration, p nemesis.Persistence, all *rapid.Generator[[]step], first, n int) (judged int) {
	t.Helper()
	for i := first; i < first+n; i++ {
		if compare(t, served, boot, p, fmt.Sprint(i), all.Example(i)) {
			judged++
		}
	}
	return judged
}

// enough fails a test if the machine has kept time for too few scripts.
func enough(t *testing.T, judged, all int) {
	t.Helper()
	if judged < all/4 {
		t.Errorf("only %d of %d scripts could be held to time", judged, all)
	}
}

// sideBySide runs jobs in parallel. They mostly wait, so there may be more of them than
// processors, unlike parallel tests.
func sideBySide(jobs int, job func(i int)) {
	var all sync.WaitGroup
	for i := range jobs {
		all.Go(func() { job(i) })
	}
	all.Wait()
}

// answering checks that a simulated node replies as a healthy server does, including the
// expiry of keys.
func answering(t *testing.T, served player, each int) {
	all := scripts()
	const groups = 12
	var judged atomic.Int64
	sideBySide(groups, func(g int) {
		judged.Add(int64(compareMany(t, served, grain, nemesis.Nothing, all, g*each, each)))
	})
	enough(t, int(judged.Load()), groups*each)
}

// expiring checks what happens to a time to live when a key gets a new value, which random
// scripts seldom do.
func expiring(t *testing.T, served player) {
	for i, anew := range []env.Command{{Op: env.OpIncrement, Key: "n"}, {Op: env.OpRaise, Key: "n", Count: 7}, {Op: env.OpPut, Key: "n", Token: "a"}} {
		look := step{what: asked, command: env.Command{Op: env.OpGet, Key: "n"}}
		script := []step{
			{what: asked, command: env.Command{Op: env.OpIncrement, Key: "n"}},
			{what: asked, command: env.Command{Op: env.OpExpire, Key: "n", TTL: 2*grain + grain/2}},
			{what: waits, wait: grain},
			{what: asked, command: anew}, look,
			{what: waits, wait: grain}, look,
			{what: waits, wait: grain}, look,
		}
		for try := 1; !compare(t, served, grain, nemesis.Nothing, fmt.Sprint("anew ", i), script); try++ {
			if try == 20 {
				t.Fatalf("%v: the script could never be held to time", anew.Op)
			}
		}
	}
}

// Law: a simulated node replies as a real one.
func TestSimulatedNodeAnswersAsRedis(t *testing.T) {
	served := on(servertest.Open(t, redisserver.Options{Nodes: 1}).Server(1))
	t.Run("at random", func(t *testing.T) { answering(t, served, 5) })
	t.Run("values anew", func(t *testing.T) { expiring(t, served) })
}

// Law: it also does when it is restarted, shut down, stopped, out of memory or a replica,
// and when it has lost keys or scripts, with every persistence.
func TestSimulatedNodeSuffersAsRedis(t *testing.T) {
	all := scripts(asked, restarts, shutDown, evicts, evictsAll, evictsKey, twice, flushes, stalled, full, follows)
	const servers, each = 2, 5
	modes := []struct {
		persistence nemesis.Persistence
		options     redisserver.Options
	}{
		{nemesis.Nothing, redisserver.Options{Nodes: servers}},
		{nemesis.EverySecond, redisserver.Options{Nodes: servers, AppendOnly: true, EverySecond: true}},
		{nemesis.Always, redisserver.Options{Nodes: servers, AppendOnly: true}},
	}
	var fleets []*redisserver.Fleet
	for _, m := range modes {
		fleets = append(fleets, servertest.Open(t, m.options))
	}
	var judged atomic.Int64
	sideBySide(len(modes)*servers, func(i int) {
		m, server := i/servers, i%servers
		judged.Add(int64(compareMany(t, on(fleets[m].Server(server+1)), grain, modes[m].persistence, all, i*each, each)))
	})
	enough(t, int(judged.Load()), len(modes)*servers*each)
}

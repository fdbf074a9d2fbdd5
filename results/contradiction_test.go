package results_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// stormy are histories of several locks in storms of faults of all kinds.
func stormy(t *testing.T) []file {
	t.Helper()
	var files []file
	for _, name := range []string{"calm", "watchdog", "pause-then-write", "compare-death-setnx-del", "compare-pause-waiting-zookeeper", "compare-crash-chubby", "compare-cut-off-etcd"} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := runner.Prepare(simulator, runner.WithGenerator(s, nemesis.Generator{Faults: nemesis.Weights{nemesis.AllKinds: 1}, Most: 8}))
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(3) {
			var log history.Log
			if _, err := e.Run(context.Background(), seed, &log); err != nil {
				t.Fatal(err)
			}
			files = append(files, file{e.Header(seed), log})
		}
	}
	return files
}

// file is a history as it is stored.
type file struct {
	header history.Header
	log    history.Log
}

// judged judges the history as it is stored.
func (f file) judged(t *testing.T) error {
	t.Helper()
	_, _, err := results.Judge(strings.NewReader(historytest.Text(f.header, f.log)))
	return err
}

// damage changes a history at event i of a kind, and returns the place of the first changed line,
// or nil if it cannot.
type damage struct {
	name  string
	legal bool // what comes of it can be true
	kinds []history.Kind
	do    func(log history.Log, i int) (history.Log, int)
}

var (
	calls   = []history.Kind{history.Acquire, history.Extend, history.Release, history.Read, history.Write}
	returns = []history.Kind{history.Granted, history.Refused, history.Extended, history.ExtendFailed, history.Released, history.ReadDone, history.WriteDone}
	begins  = []history.Kind{history.Pause, history.NodeDown, history.LinkDown, history.FaultStart}
	ends    = []history.Kind{history.Resume, history.NodeUp, history.LinkUp, history.FaultEnd}
	events  = []history.Kind{history.Expiring, history.Lost, history.Cancel, history.Kill, history.Apply, history.Leader, history.EntryGone}
)

var damages = []damage{
	{"a return is dropped", true, returns, drop},
	{"a call that has returned is dropped", false, calls, func(log history.Log, i int) (history.Log, int) {
		if answer(log, i) < 0 {
			return nil, 0
		}
		return drop(log, i)
	}},
	{"the start is dropped of what ends", false, begins, func(log history.Log, i int) (history.Log, int) {
		if answer(log, i) < 0 {
			return nil, 0
		}
		return drop(log, i)
	}},
	{"a line is there twice", false, slices.Concat(calls, returns, begins, ends, events), func(log history.Log, i int) (history.Log, int) {
		if madeAgain(log, i) {
			return nil, 0
		}
		return slices.Insert(slices.Clone(log), i, log[i]), i
	}},
	// A lock whose tokens are the time makes the call again under the same token, when it
	// came back at once; and the second may never return.
	{"a call that returned at once is made again", true, []history.Kind{history.Acquire, history.Extend}, func(log history.Log, i int) (history.Log, int) {
		if !madeAgain(log, i) {
			return nil, 0
		}
		return slices.Insert(slices.Clone(log), i, log[i]), i
	}},
	{"two lines are swapped", false, slices.Concat(calls, returns, begins, ends, events), func(log history.Log, i int) (history.Log, int) {
		if log[i].Time == log[i+1].Time {
			return nil, 0
		}
		log = slices.Clone(log)
		log[i], log[i+1] = log[i+1], log[i]
		return log, i
	}},
	{"a return comes before its call", false, calls, func(log history.Log, i int) (history.Log, int) {
		j := answer(log, i)
		if j < 0 || i == 0 || log[i-1].Time == log[i].Time {
			return nil, 0
		}
		early := log[j]
		early.Time = log[i-1].Time
		log, _ = drop(log, j)
		return slices.Insert(log, i, early), i
	}},
	{"a return is of another token", false, returns, func(log history.Log, i int) (history.Log, int) {
		log = slices.Clone(log)
		log[i].Token = strings.Repeat("f", 40)
		return log, i
	}},
	{"a return is of another client", false, returns, func(log history.Log, i int) (history.Log, int) {
		log = slices.Clone(log)
		log[i].Client = log[i].Client%2 + 1
		return log, i
	}},
	{"what was never granted is released", false, slices.Concat(calls, returns), func(log history.Log, i int) (history.Log, int) {
		stray := log[i]
		stray.Kind, stray.Token = history.Release, strings.Repeat("f", 40)
		return slices.Insert(slices.Clone(log), i, stray), i
	}},
	{"the dead try", false, []history.Kind{history.Kill}, func(log history.Log, i int) (history.Log, int) {
		for j := i + 1; j < len(log); j++ {
			if log[j].Time > log[i].Time {
				ghost := history.Event{Time: log[j].Time, Kind: history.Acquire, Client: log[i].Client, Resource: "r", Token: strings.Repeat("f", 40)}
				return slices.Insert(slices.Clone(log), j, ghost), j
			}
		}
		return nil, 0
	}},
}

func drop(log history.Log, i int) (history.Log, int) {
	return slices.Delete(slices.Clone(log), i, i+1), i
}

// madeAgain reports whether a second line of the event i can be true: it is the call of a
// try, or of an extension, that returned in its own instant, as when no node is sent
// anything. Then the second is another, which came behind that return.
func madeAgain(log history.Log, i int) bool {
	if call := log[i].Kind; call != history.Acquire && call != history.Extend {
		return false
	}
	j := answer(log, i)
	return j >= 0 && log[j].Time == log[i].Time
}

// answer returns the place of the event that ends what the event i began, or -1.
func answer(log history.Log, i int) int {
	call := &log[i]
	wanted := map[history.Kind][]history.Kind{
		history.Acquire: {history.Granted, history.Refused}, history.Extend: {history.Extended, history.ExtendFailed},
		history.Release: {history.Released}, history.Read: {history.ReadDone}, history.Write: {history.WriteDone},
		history.Pause: {history.Resume}, history.NodeDown: {history.NodeUp}, history.LinkDown: {history.LinkUp}, history.FaultStart: {history.FaultEnd},
	}[call.Kind]
	for j := i + 1; j < len(log); j++ {
		e := &log[j]
		same := e.Client == call.Client && e.Token == call.Token && e.Resource == call.Resource && e.Node == call.Node
		if call.Kind == history.FaultStart {
			same = e.Fault == call.Fault
		}
		if same && slices.Contains(wanted, e.Kind) {
			return j
		}
	}
	return -1
}

// Law: what a run of ours tells is never refused; a history that was damaged is, unless
// what came of it can be true as well, and the error names the line of the damage or one
// after it.
func TestDamageIsFound(t *testing.T) {
	const times = 10 // at most, of each damage to each history
	r := rand.New(rand.NewPCG(1, 2))
	tried := map[string]int{}
	for _, f := range stormy(t) {
		name := fmt.Sprintf("%s, seed %d", f.header.Scenario, f.header.Seed)
		if err := f.judged(t); err != nil {
			t.Fatalf("%s, which nobody has damaged: %v", name, err)
		}
		for _, d := range damages {
			done := 0
			for _, i := range r.Perm(len(f.log) - 1) {
				if done == times || !slices.Contains(d.kinds, f.log[i].Kind) {
					continue
				}
				log, from := d.do(f.log, i)
				if log == nil {
					continue
				}
				done++
				d.check(t, name, file{f.header, log}, from, f.log[i])
			}
			tried[d.name] += done
		}
	}
	for _, d := range damages {
		t.Logf("%s: %d times", d.name, tried[d.name])
		if tried[d.name] == 0 {
			t.Errorf("%s: in no history", d.name)
		}
	}
}

func (d damage) check(t *testing.T, name string, f file, from int, at history.Event) {
	t.Helper()
	err := f.judged(t)
	var line *history.LineError
	switch {
	case d.legal && err == nil:
	case d.legal:
		t.Errorf("%s, %s (%+v): refused: %v", name, d.name, at, err)
	case !errors.As(err, &line):
		t.Errorf("%s, %s (line %d, %+v): not refused: %v", name, d.name, from+2, at, err)
	case line.Line < from+2:
		t.Errorf("%s, %s: the damage is on line %d, the error names line %d: %v", name, d.name, from+2, line.Line, err)
	}
}

func TestContradictionNamesItsLine(t *testing.T) {
	f := file{history.Header{Nodes: 5, Clients: 2}, history.Log{
		{Time: 1, Kind: history.Acquire, Client: 1, Resource: "x", Token: "ab"},
		{Time: 2, Kind: history.Granted, Client: 2, Resource: "x", Token: "ab"},
		{Time: 3, Kind: history.End},
	}}
	const want = `line 3: client 2 is granted "x" with token ab, but it has not asked for it, or was answered before`
	if err := f.judged(t); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

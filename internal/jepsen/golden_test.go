package jepsen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

const histories = "testdata/histories.txt"

// cases returns the histories of testdata, each with its name and its findings.
func cases(t testing.TB) [][3]string {
	t.Helper()
	text := testkit.Read(t, histories)
	var list [][3]string
	for _, part := range strings.Split(text, "\n== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		history, found, divided := strings.Cut(rest, "--\n")
		if !divided {
			t.Fatalf("%s: %q has no -- at its end", histories, name)
		}
		list = append(list, [3]string{name, history, found})
	}
	return list
}

func (r Report) told() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d operations, %d of unknown outcome, keys %d\n", r.Workload, r.Operations, r.Infos, r.Keys)
	for _, f := range r.Findings {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Model, f.Verdict, f.Story)))
	}
	return b.String()
}

// Law: the findings for the histories of testdata stay the same.
func TestGolden(t *testing.T) {
	var all strings.Builder
	for _, c := range cases(t) {
		report, err := Judge(context.Background(), strings.NewReader(c[1]), Options{})
		if err != nil {
			t.Fatalf("%s: %v", c[0], err)
		}
		fmt.Fprintf(&all, "\n== %s\n%s--\n%s", c[0], c[1], report.told())
	}
	testkit.GoldenFile(t, histories, all.String(), "Histories of Jepsen are now judged or told otherwise.")
}

// Law: without the time to search nothing is decided that has anything to
// search for, and it is said how far the judge came.
func TestUnknown(t *testing.T) {
	for _, c := range cases(t) {
		report, err := Judge(context.Background(), strings.NewReader(c[1]), Options{Budget: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			if f.Verdict == checker.NotApplicable {
				continue
			}
			if f.Verdict != checker.Unknown || !strings.Contains(f.Story, ": 0 of ") {
				t.Errorf("%s: %s %s %s", c[0], f.Model, f.Verdict, f.Story)
			}
		}
	}
}

// Law: who stops the judge gets an error and no verdict.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Judge(ctx, strings.NewReader(cases(t)[0][1]), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Models that are not judged by default are found by name.
func TestModels(t *testing.T) {
	twice := begin + ended + begin + ended // by one process
	for name, want := range map[string]checker.Verdict{
		"owner-aware": checker.Violated, "fenced mutex": checker.NotApplicable, "reentrant": checker.Holds,
		"semaphore=1": checker.Violated, "semaphore=2": checker.Holds,
	} {
		m, err := FindModel(name)
		if err != nil {
			t.Fatal(err)
		}
		report, err := Judge(context.Background(), strings.NewReader(twice), Options{Models: []Model{m}})
		if err != nil || report.Findings[0].Verdict != want {
			t.Errorf("%s: %+v, %v; want %s", name, report, err, want)
		}
	}
	for _, name := range []string{"", "register", "semaphore", "semaphore=0", "semaphore=x"} {
		if _, err := FindModel(name); err == nil {
			t.Errorf("there is a model %q", name)
		}
	}
}

// traffic is a history of clients that take turns at a lock, with a share of unknown outcomes; at
// the end two clients hold it if it is broken.
func traffic(operations int, infos float64, broken bool) string {
	var b strings.Builder
	draw := rand.New(rand.NewPCG(1, 2))
	line := func(kind, f string, process int) {
		fmt.Fprintf(&b, "{:type :%s, :f :%s, :process %d, :value nil}\n", kind, f, process)
	}
	clients := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for n, holder := 0, 0; n < operations; n += 2 {
		p := clients[holder]
		end := "ok"
		if draw.Float64() < infos {
			end = "info"
			clients[holder] += len(clients)
		}
		next := (holder + 1 + draw.IntN(len(clients)-1)) % len(clients)
		if n == 0 {
			line("invoke", "acquire", p)
		}
		line("ok", "acquire", p)
		line("invoke", "release", p)
		line("invoke", "acquire", clients[next])
		line(end, "release", p)
		holder = next
	}
	if broken {
		line("invoke", "acquire", 1000)
		line("ok", "acquire", 1000)
		line("invoke", "acquire", 1001)
		line("ok", "acquire", 1001)
	}
	return b.String()
}

// Law: the operations of an excerpt have no order either, and they are few.
func TestExcerpt(t *testing.T) {
	report, err := Judge(context.Background(), strings.NewReader(traffic(1000, 0, true)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings[:2] {
		m, list := f.Excerpt()
		if f.Verdict != checker.Violated || len(list) < 2 || len(list) > 41 || porcupine.CheckOperations(m, list) {
			t.Errorf("%s %s: an excerpt of %d operations", f.Model, f.Verdict, len(list))
		}
	}
}

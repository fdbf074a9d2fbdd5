package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// plainText has no character that a shell reads as anything but itself.
var plainText = regexp.MustCompile(`^[a-zA-Z0-9.,:+@-]+$`)

// Law: a replay of a named scenario is read as it was written, is short, and
// can be pasted.
func TestAReplayIsReadAsItWasWritten(t *testing.T) {
	kinds, _ := nemesis.Kinds()
	rapid.Check(t, func(t *rapid.T) {
		r := runner.Replay{
			Scenario: rapid.SampledFrom(scenarios.Every()).Draw(t, "scenario").Name,
			Seed:     rapid.OneOf(rapid.Uint64(), rapid.Just[uint64](math.MaxUint64)).Draw(t, "seed"),
			Trace:    rapid.Uint32().Draw(t, "trace"),
		}
		if rapid.Bool().Draw(t, "generated") {
			r.Generator = &nemesis.Generator{
				Faults:  rapid.MapOfN(rapid.SampledFrom(kinds), rapid.IntRange(1, nemesis.MaxWeight), 1, len(kinds)).Draw(t, "faults"),
				Most:    rapid.IntRange(1, nemesis.MostFaults).Draw(t, "most"),
				NoSwarm: rapid.Bool().Draw(t, "no swarm"),
			}
		}
		if rapid.Bool().Draw(t, "explored") {
			r = explored(t, r)
		}
		text := r.String()
		if r.Course.Straight() && len(text) > runner.MaxReplay || !plainText.MatchString(text) {
			t.Errorf("%s: %d bytes", text, len(text))
		}
		if got, err := runner.ParseReplay(text); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s: got %+v (%v), want %+v", text, got, err, r)
		}
	})
}

// explored draws a replay of an exploration's run.
func explored(t *rapid.T, r runner.Replay) runner.Replay {
	numbers := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 5)
	for _, list := range []*[]int{&r.Part.Clients, &r.Part.Nodes, &r.Part.Rounds} {
		if rapid.Bool().Draw(t, "whole") {
			*list = numbers.Draw(t, "numbers")
		}
	}
	r.Part.Faults = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) scenarios.Pick {
		return scenarios.Pick{
			Kind:   rapid.SampledFrom(append(nemesis.FewKinds(), "")).Draw(t, "kind"),
			Number: rapid.IntRange(1, 99).Draw(t, "number"),
			At:     time.Duration(rapid.OneOf(rapid.Just[int64](-1), rapid.Int64Range(0, 1e12)).Draw(t, "at")),
		}
	}), 0, 3).Draw(t, "faults")
	r.Choices = &runner.Choices{Grain: choice.Grain{
		Latencies: rapid.IntRange(1, 9).Draw(t, "latencies"), Draws: rapid.IntRange(0, 9).Draw(t, "draws"), EveryOrder: rapid.Bool().Draw(t, "order"),
	}}
	point := 0
	for range rapid.IntRange(0, 3).Draw(t, "turns") {
		point += rapid.IntRange(1, 50).Draw(t, "further")
		r.Choices.Turns = append(r.Choices.Turns, runner.Turn{Point: point, Way: rapid.IntRange(1, 5).Draw(t, "way")})
	}
	if rapid.Bool().Draw(t, "branched") {
		r.Branches = []runner.Branch{{Event: rapid.IntRange(0, 99).Draw(t, "event"), Seed: rapid.Uint64().Draw(t, "branch")}}
	}
	return r
}

// Law: a replay string has room for every scenario's name, the largest seed and weights
// of all kinds of faults, and for some kinds more.
func TestLongestReplay(t *testing.T) {
	const kindsToCome = 8 // a little more than half a character each
	kinds, _ := nemesis.Kinds()
	r := runner.Replay{Seed: math.MaxUint64, Trace: math.MaxUint32, Generator: &nemesis.Generator{Faults: nemesis.Weights{}, Most: nemesis.MostFaults, NoSwarm: true}}
	for _, k := range kinds {
		r.Generator.Faults[k] = nemesis.MaxWeight
	}
	for _, s := range scenarios.Every() {
		r.Scenario = s.Name
		if text := r.String(); len(text)+kindsToCome*5/8 > runner.MaxReplay {
			t.Errorf("%s has %d bytes, of %d: there is no room for %d kinds of faults more", text, len(text), runner.MaxReplay, kindsToCome)
		}
	}
}

func TestParseReplayRefuses(t *testing.T) {
	sealed := func(body string) string {
		return body + fmt.Sprintf("%04x", uint16(crc32.ChecksumIEEE([]byte(body))))
	}
	good := runner.Replay{Scenario: "calm", Seed: 7, Generator: &nemesis.Generator{Faults: nemesis.Weights{"crash": 2}, Most: 3}}.String()
	cases := map[string]string{
		"":                                          "does not begin with v1.: it is no replay string",
		"crash-restart":                             "does not begin with v1.",
		"v2.calm.7":                                 "does not begin with v1.",
		good[:len(good)-1]:                          "is cut off or mistyped: its last four characters do not fit the others",
		good[:20]:                                   "is cut off or mistyped",
		strings.Replace(good, "7", "8", 1):          "is cut off or mistyped",
		sealed("v1.calm.7."):                        "has 4 parts: want at least 5",
		sealed("v1.calm.x.00000000."):               `has the seed "x": want a number`,
		sealed("v1.calm.7.0000000g."):               `has the trace "0000000g"`,
		sealed("v1.calm.7.b7.00000000."):            `has the branches "b7": want events in their order, each with a seed`,
		sealed("v1.calm.7.b7-1+6-1.00000000."):      `has the branches "b7-1+6-1"`,
		sealed("v1.calm.7.x1.l2d2.00000000."):       `has a part of a scenario that cannot be: "x1": want lists`,
		sealed("v1.calm.7.n0.l2d2.00000000."):       `has a part of a scenario that cannot be: "0": want a number from 1`,
		sealed("v1.calm.7.f1@1h.l2d2.00000000."):    `has a part of a scenario that cannot be: "1@1h": want a fault`,
		sealed("v1.calm.7..l0d2.00000000."):         `has the choices "l0d2": want those such as l2d2-17-1+40-1`,
		sealed("v1.calm.7..l2d2-3-1+3-2.00000000."): `has the choices "l2d2-3-1+3-2"`,
		sealed("v1.calm.7..l2d2.b7.00000000."):      `has the branches "b7"`,
		sealed("v1.calm.7..l2d2.b7-1.b.00000000."):  "has too many parts",
		sealed("v1.calm.7.g0.3.crash.00000000."):    "is of the generator g0; this program has g2, whose plans are others",
		sealed("v1.calm.7.g2.x.crash.00000000."):    `has the number of faults "x"`,
		sealed("v1.calm.7.g2.100.crash.00000000."):  "has a generator that cannot be: most: 100: want 1 to 99",
		sealed("v1.calm.7.g2.3.burn.00000000."):     `has weights that cannot be: unknown kind of fault "burn"`,
	}
	for text, want := range cases {
		_, err := runner.ParseReplay(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("the replay string %q ", text)) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// Law: a run in a storm, the repetition of its replay string, and that of the
// scenario with the plan that was drawn, are the same run.
func TestReplayIsTheSameRun(t *testing.T) {
	g := nemesis.Generator{Faults: nemesis.Weights{"crash": 1, "partition": 1, "pause": 2, "clock-jump": 1}, Most: 5}
	run := func(s scenarios.Scenario, seed uint64) runner.Result {
		t.Helper()
		r, err := runner.Run(context.Background(), simulator, s, seed, nil)
		if err != nil {
			t.Fatalf("%s, seed %d: %v", s.Name, seed, err)
		}
		return r
	}
	for i, s := range scenarios.All() {
		seed := uint64(i)
		first := run(runner.WithGenerator(s, g), seed)
		replay, err := runner.ParseReplay(first.Replay().String())
		if err != nil {
			t.Fatal(err)
		}
		again, err := replay.Find()
		if err != nil {
			t.Fatal(err)
		}
		if got := run(again, replay.Seed); !replay.Same(got) || got.TraceHash != first.TraceHash {
			t.Errorf("%v: another run", replay)
		}
		if got := run(first.Executed(), seed); got.TraceHash != first.TraceHash {
			t.Errorf("%s, seed %d: another run with the plan that was drawn", s.Name, seed)
		}
		if replay.Same(run(again, replay.Seed+1)) {
			t.Errorf("%v: the next seed gives the same run", replay)
		}
	}
}

// Law: a history that was written to a file and read again has the same findings, stories and
// measurements as during the run: for every row, and for every lock under faults of all kinds.
func TestStoredHistoryIsJudgedTheSame(t *testing.T) {
	for i, s := range scenarios.All() {
		storeAndJudge(t, s, uint64(i))
	}
	for _, c := range scenarios.Contenders() {
		s := runner.WithGenerator(scenarios.Trials()[0].Enter(c), nemesis.Generator{Most: 8})
		for seed := range uint64(2) {
			storeAndJudge(t, s, seed)
		}
	}
}

func storeAndJudge(t *testing.T, s scenarios.Scenario, seed uint64) {
	t.Helper()
	var file bytes.Buffer
	writer := history.NewWriter(&file, prepared(t, simulator, s).Header(seed))
	r, err := runner.Run(context.Background(), simulator, s, seed, writer)
	if err = errors.Join(err, writer.Flush()); err != nil {
		t.Fatal(err)
	}
	_, again, err := results.Judge(&file)
	if err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(again, r.Report) {
		return
	}
	t.Errorf("%s, seed %d, is found to be something else when its stored history is judged again; lockstorm run %[1]s --seed %[2]d", s.Name, seed)
	for i, f := range r.Report.Findings {
		if g := again.Findings[i]; !reflect.DeepEqual(f, g) {
			t.Logf("%s, while it ran: %v (%d) %s\nand from the file: %v (%d) %s", f.Property.Title(), f.Verdict, f.Count, f.Story(), g.Verdict, g.Count, g.Story())
		}
	}
}

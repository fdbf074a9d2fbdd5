package parts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// suite is some rows of the debate, of which some violate something.
func suite(t testing.TB, runs int, names ...string) parts.Suite {
	t.Helper()
	s := parts.Suite{Backend: simulated.Backend(), SideBySide: 2}
	for _, name := range names {
		row, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		s.Tasks = append(s.Tasks, parts.Task{Scenario: row, First: 3, Runs: runs})
	}
	return s
}

// store runs some parts and returns their bytes.
func store(t testing.TB, s parts.Suite, list []parts.Part) [][]byte {
	t.Helper()
	texts := make([][]byte, len(list))
	for i, p := range list {
		steps := 0
		var err error
		if texts[i], err = s.RunPart(context.Background(), p, func(n int) { steps += n }); err != nil || steps != p.Runs {
			t.Fatalf("%d steps of %d, %v", steps, p.Runs, err)
		}
	}
	return texts
}

// join joins stored parts to rows and spreads.
func join(s parts.Suite, list []parts.Part, texts [][]byte) (rows []results.Row, spreads []runner.Spread, err error) {
	err = s.Join(list, func(i int) ([]byte, error) { return texts[i], nil }, func(t parts.Task, tally runner.Tally) error {
		rows, spreads = append(rows, results.RowOf(tally, t.First)), append(spreads, tally.Measured.Spread())
		return nil
	})
	return rows, spreads, err
}

// Law: however the runs of scenarios are divided, and whatever is joined first, the stored results
// are those of one process.
func TestAnyDivision(t *testing.T) {
	const runs = 30
	s := suite(t, runs, "calm", "crash-restart", "majority-partition-bridge", "delayed-restart")
	var rows []results.Row
	var spreads []runner.Spread
	for _, task := range s.Tasks {
		tally, err := task.Run(t.Context(), s.Backend, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, spreads = append(rows, results.RowOf(tally, task.First)), append(spreads, tally.Measured.Spread())
	}
	stored := map[parts.Part][]byte{} // what one part is does not depend on the others
	rapid.Check(t, func(rt *rapid.T) {
		var list []parts.Part
		for _, of := range parts.ByUnit(s.Parts(runs)) {
			for p := of[0]; p.Runs > 0; {
				n := min(p.Runs, 6*rapid.IntRange(1, 5).Draw(rt, "sixths"))
				list = append(list, parts.Part{Unit: p.Unit, First: p.First, Runs: n})
				p.First, p.Runs = p.First+uint64(n), p.Runs-n
			}
		}
		texts := make([][]byte, len(list))
		for i, p := range list {
			if stored[p] == nil {
				stored[p] = store(t, s, []parts.Part{p})[0]
			}
			texts[i] = stored[p]
		}
		gotRows, gotSpreads, err := join(s, list, texts)
		if err != nil {
			rt.Fatal(err)
		}
		if !reflect.DeepEqual(gotRows, rows) || !reflect.DeepEqual(gotSpreads, spreads) {
			rt.Fatalf("%v:\n%+v\nand not\n%+v", list, gotRows, rows)
		}
	})
}

// Law: runs that slipped, of a slow machine, are joined like others.
func TestSlippedRunsAreJoined(t *testing.T) {
	s := suite(t, 4, "calm")
	task := s.Tasks[0]
	whole := runner.NewTally(task.Scenario)
	var texts [][]byte
	for i := range 4 {
		one := parts.Task{Scenario: task.Scenario, First: task.First + uint64(i), Runs: 1}
		r, err := runner.Run(t.Context(), s.Backend, one.Scenario, one.First, nil)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && i < 3 {
			r.SchedulingLag = 1e12
		}
		tally := runner.NewTally(one.Scenario)
		tally.Add(r)
		whole.Add(r)
		text, err := one.Store(s.Backend, tally)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	rows, _, err := join(s, s.Parts(1), texts)
	if want := []results.Row{results.RowOf(whole, task.First)}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v\n%+v\nand not\n%+v", err, rows, want)
	}
}

// places returns the first places of a text, and some of the others.
func places(n int) (list []int) {
	for i := 0; i < n; i += 1 + 12*min(i/400, 1) {
		list = append(list, i)
	}
	return list
}

// A part that is cut off anywhere, or changed in any byte, is rejected.
func TestDamagedParts(t *testing.T) {
	s := suite(t, 3, "crash-restart")
	list := s.Parts(3)
	text := store(t, s, list)[0]
	rejected := func(damaged []byte, what string) error {
		t.Helper()
		_, _, err := join(s, list, [][]byte{damaged})
		if err == nil {
			t.Errorf("%s is accepted", what)
		}
		return err
	}
	for _, n := range places(len(text)) {
		err := rejected(text[:n], fmt.Sprintf("%d bytes of %d", n, len(text)))
		if err != nil && !strings.Contains(err.Error(), "cut off") {
			t.Fatalf("%d bytes of %d: %v", n, len(text), err)
		}
	}
	for _, i := range places(len(text)) {
		damaged := slices.Clone(text)
		damaged[i] ^= 1 << (i % 8)
		_ = rejected(damaged, fmt.Sprintf("a change of byte %d", i))
	}
	err := rejected(append(slices.Clone(text), '\n'), "a further byte")
	if !strings.Contains(err.Error(), "its first line says") {
		t.Error(err)
	}
	unreadable := errors.New("unreadable")
	if err := s.Join(list, func(int) ([]byte, error) { return nil, unreadable }, nil); !errors.Is(err, unreadable) || !strings.Contains(err.Error(), "crash-restart: unit 1, seeds 3 to 5: ") {
		t.Error(err)
	}
}

// What is no stored part at all is rejected.
func TestNoParts(t *testing.T) {
	s := suite(t, 1, "calm")
	for text, want := range map[string]string{
		"":                         "no line ends within its first 0 bytes",
		"\n":                       "it is not a stored part: EOF",
		"{}\n":                     `its format is ""; want "lockstorm-block"`,
		"[]\n":                     "it is not a stored part: json",
		"{}x\n":                    "it is not a stored part: 1 unexpected bytes",
		strings.Repeat("x", 1<<20): "no line ends within its first 512 bytes",
		`{"format":"lockstorm-block","version":2}` + "\n":                                         "it has version 2; this program reads version 1",
		`{"format":"lockstorm-block","version":1,"bytes":-1,"sha256":""}` + "\n":                  "it has 0 bytes; its first line says -1",
		`{"format":"lockstorm-block","version":1,"bytes":9223372036854775807,"sha256":""}` + "\n": "it is cut off: 0 of 9223372036854775807 bytes",
		`{"format":"lockstorm-block","version":1,"bytes":1e999}` + "\n":                           "it is not a stored part: json",
		`{"version":1,"format":"lockstorm-block"}` + "\n":                                         "its first line is",
		`{"format":"lockstorm-block","version":1,"more":1}` + "\n":                                `unknown field "more"`,
	} {
		_, _, err := join(s, s.Parts(1), [][]byte{[]byte(text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %q", text, err, want)
		}
	}
}

// content is the content of a stored block, as JSON has it.
type content map[string]any

// at returns the object at a path.
func (c content) at(path ...string) map[string]any {
	at := map[string]any(c)
	for _, name := range path {
		at = at[name].(map[string]any)
	}
	return at
}

// A block whose hash is right, and whose content no runs have, is rejected.
func TestHostileBlocks(t *testing.T) {
	s := suite(t, 8, "crash-restart")
	list := s.Parts(8)
	text := store(t, s, list)[0]
	if _, _, err := join(s, list, [][]byte{text}); err != nil {
		t.Fatal(err)
	}
	row := func(name string, value any) func(content) {
		return func(c content) { c.at("row")[name] = value }
	}
	violation := func(name string, value any) func(content) {
		return func(c content) { c.at("row")["violations"].([]any)[0].(map[string]any)[name] = value }
	}
	numbers := func(list ...int) []any {
		all := make([]any, len(list))
		for i, n := range list {
			all[i] = n
		}
		return all
	}
	for want, change := range map[string]func(content){
		"unknown field \"more\"":                                           func(c content) { c["more"] = 1 },
		"it is of the process backend, and not of sim":                     func(c content) { c["backend"] = "process" },
		"it is of another scenario that is also called":                    func(c content) { c["contents"] = "" },
		`it is of the scenario "calm", and not "crash-restart"`:            row("scenario", "calm"),
		"it has 9 runs from seed 3 on, and not 8 from 3 on":                row("runs", 9),
		"it has 8 runs from seed 4 on, and not 8 from 3 on":                row("first_seed", 4),
		"cannot unmarshal number -1 into Go struct":                        row("first_seed", -1),
		"cannot unmarshal number 1e+100":                                   row("runs", 1e100),
		"cannot unmarshal string into Go struct":                           row("runs", "8"),
		"-1 runs showed what was expected and 0 contradicted it, of 8":     row("shown", -1),
		"8 runs showed what was expected and 1 contradicted it, of 8":      row("against", 1),
		"seed 2, the witness, is none of its runs":                         row("witness", 2),
		`the trace "xyz": want 16 hexadecimal digits`:                      row("trace", "xyz"),
		"9 of 8 runs slipped":                                              row("slipped", map[string]any{"runs": 9, "seed": 3}),
		"seed 11, which slipped, is none of its runs":                      row("slipped", map[string]any{"runs": 1, "seed": 11}),
		`unknown property "faith"`:                                         func(c content) { c.at("row", "seen")["faith"] = map[string]any{"holds": 8} },
		"lease is holds in -1 runs of 8":                                   func(c content) { c.at("row", "seen")["lease"] = map[string]any{"holds": -1} },
		"7 verdicts on lease in 8 runs":                                    func(c content) { c.at("row", "seen")["lease"] = map[string]any{"holds": 7} },
		"lease is holds in 9 runs of 8":                                    func(c content) { c.at("row", "seen")["lease"] = map[string]any{"holds": 9} },
		"no violation of fence is described":                               func(c content) { c.at("row", "seen")["fence"] = map[string]any{"violated": 8} },
		"8 violations of lease in 0 runs with one":                         func(c content) { c.at("row", "seen")["lease"] = map[string]any{"holds": 8} },
		"seed 11, which violates lease, is none of its runs":               violation("seed", 11),
		"0 violations of lease in 8 runs with one":                         violation("count", 0),
		`the trace "x": want 16`:                                           violation("trace", "x"),
		"9 of 8 runs without a fault":                                      func(c content) { c["faultless"] = 9 },
		"-1 of 8 runs without a fault":                                     func(c content) { c["faultless"] = -1 },
		"9 of 8 runs without the return of a node":                         func(c content) { c["return_untried"] = 9 },
		"-1 of 8 runs without the return of a node":                        func(c content) { c["return_untried"] = -1 },
		"-1 runs discarded":                                                func(c content) { c["discarded"] = -1 },
		"grants is -1 in 8 runs":                                           func(c content) { c.at("row", "measured")["grants"] = -1 },
		"the measurements are not those of their samples: median_outage":   func(c content) { c.at("row", "measured")["median_outage"] = 1 },
		"samples of median_outage: 0 values of 8 runs":                     func(c content) { delete(c.at("spread", "samples"), "median_outage") },
		"samples of median_outage: number 2: the count 9 with 8 runs left": func(c content) { c.at("spread", "samples")["median_outage"] = numbers(1, -9) },
		"samples of median_outage: number 1: a count without a value":      func(c content) { c.at("spread", "samples")["median_outage"] = numbers(-1, 8) },
		"samples of median_outage: number 2: the value is out of order":    func(c content) { c.at("spread", "samples")["median_outage"] = numbers(5, 0) },
		"samples of an unknown measurement":                                func(c content) { c.at("spread", "samples")["grants"] = numbers(5, 8) },
		"squares of an unknown measurement":                                func(c content) { c.at("spread", "squares")["grants"] = map[string]any{} },
		"a number of 1 digits: want 48":                                    func(c content) { c.at("spread", "squares", "availability")["part"] = "1" },
		"want hexadecimal digits":                                          func(c content) { c.at("spread", "squares", "availability")["part"] = strings.Repeat("g", 48) },
		"exceeded max depth": func(c content) {
			deep := json.RawMessage(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000))
			c["backend"] = deep
		},
	} {
		var c content
		if err := parts.Unseal(text, parts.BlockFormat, parts.BlockVersion, &c); err != nil {
			t.Fatal(err)
		}
		change(c)
		hostile, err := parts.Seal(parts.BlockFormat, parts.BlockVersion, c)
		if err == nil {
			_, _, err = join(s, list, [][]byte{hostile})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Law: no content makes the decoder panic, or take more than its size: any change of one value of
// a block is rejected, or changes nothing but that value.
func TestAnyChangeOfABlock(t *testing.T) {
	s := suite(t, 8, "crash-restart")
	list := s.Parts(8)
	text := store(t, s, list)[0]
	rapid.Check(t, func(rt *rapid.T) {
		var c content
		if err := parts.Unseal(text, parts.BlockFormat, parts.BlockVersion, &c); err != nil {
			rt.Fatal(err)
		}
		at := map[string]any(c)
		for {
			name := rapid.SampledFrom(slices.Sorted(maps.Keys(at))).Draw(rt, "name")
			next, deeper := at[name].(map[string]any)
			if deeper && len(next) > 0 && rapid.IntRange(0, 9).Draw(rt, "deeper") > 0 {
				at = next
				continue
			}
			at[name] = rapid.SampledFrom([]any{nil, true, "", "x", 0, -1, 1, 1.5, 1 << 62, []any{}, []any{1}, []any{1, 1 << 62}, map[string]any{}, map[string]any{"x": 1}}).Draw(rt, "value")
			break
		}
		hostile, err := parts.Seal(parts.BlockFormat, parts.BlockVersion, c)
		if err != nil {
			rt.Fatal(err)
		}
		_, _, _ = join(s, list, [][]byte{hostile})
	})
}

// Law: the size of a block stays far below what a message or a file may have.
func TestSizeOfBlocks(t *testing.T) {
	for _, name := range []string{"calm", "crash-restart", "compare-crash-etcd"} {
		s := suite(t, 200, name)
		n := len(store(t, s, s.Parts(200))[0])
		t.Logf("%s: %d bytes for 200 runs", name, n)
		if n > 20*200+8000 {
			t.Errorf("%s: %d bytes for 200 runs: want at most 20 for each and 8000", name, n)
		}
	}
}

// A long list is divided without gaps.
func TestDivide(t *testing.T) {
	for _, c := range []struct{ runs, block, want int }{{1, 1, 1}, {10, 3, 4}, {10, 10, 1}, {10, 11, 1}, {10, 0, 10}, {10_000_000, 10_000, 1000}} {
		list := parts.Divide(7, 5, c.runs, c.block)
		next := uint64(5)
		for _, p := range list {
			if p.Unit != 7 || p.First != next || p.Runs < 1 || p.Runs > max(c.block, 1) {
				t.Fatalf("%+v: %v follows seed %d", c, p, next)
			}
			next += uint64(p.Runs)
		}
		if len(list) != c.want || next != 5+uint64(c.runs) {
			t.Errorf("%+v: %d parts, to seed %d", c, len(list), next)
		}
	}
	if got, want := (parts.Part{Unit: 1, First: 2, Runs: 3}).String(), "unit 1, seeds 2 to 4"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

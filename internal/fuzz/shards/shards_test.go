package shards_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/fuzz/shards"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

// around divides a hunt around a row that violates several properties.
func around(t testing.TB, runs, size int) shards.Division {
	t.Helper()
	row, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	return shards.Division{
		Hunt: fuzz.Hunt{Backend: simulated.Backend(), Space: fuzz.SpaceAround(row), Terms: promises.Unconditional, MaxFaults: 6, Seed: 1},
		Runs: runs, Size: size, Sum: "this one",
	}
}

// run makes a shard, and reads what it has stored.
func run(t testing.TB, d shards.Division, shard int, drawn []fuzz.Entry) (shards.Result, []byte) {
	t.Helper()
	made, err := d.Run(t.Context(), shard, drawn)
	if err != nil {
		t.Fatal(err)
	}
	text, err := made.Seal()
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Unseal(shard, text)
	if err != nil {
		t.Fatal(err)
	}
	return r, text
}

// divided is a hunt whose shards draw from the pool of those before.
type divided struct {
	shards.Division
	results []shards.Result
	texts   [][]byte
}

// shared is used by several tests.
var shared *divided

// all returns a hunt in some shards, the last of which is smaller.
func all(t testing.TB) *divided {
	t.Helper()
	if shared != nil {
		return shared
	}
	d := &divided{Division: around(t, 330, 40)}
	var pool shards.Pool
	for shard := range d.Shards() {
		r, text := run(t, d.Division, shard, pool.Draw(d.Division, shard))
		pool.Add(r.Offers...)
		d.results, d.texts = append(d.results, r), append(d.texts, text)
	}
	shared = d
	return d
}

// Law: a shard that is repeated from its log has the same bytes. Its log is read from its own result,
// and the entries from the results of the shards that have offered them.
func TestShardsAreRepeatedFromTheirLogs(t *testing.T) {
	d := all(t)
	results, texts := d.results, d.texts
	if results[0].Drawn != nil || len(results[d.Shards()-1].Drawn) < 8 {
		t.Fatalf("the last shard has drawn %d entries", len(results[d.Shards()-1].Drawn))
	}
	offers := func(shard int) ([]fuzz.Entry, error) { return results[shard].Offers, nil }
	differ := 0
	for _, shard := range []int{0, 3, d.Shards() - 1} {
		r := results[shard]
		drawn, err := d.Redraw(r.Drawn, offers)
		if err != nil {
			t.Fatal(err)
		}
		if _, again := run(t, d.Division, shard, drawn); !bytes.Equal(again, texts[shard]) {
			t.Errorf("shard %d: other bytes", shard)
		}
		if _, alone := run(t, d.Division, shard, nil); !bytes.Equal(alone, texts[shard]) {
			differ++
		}
	}
	if differ == 0 {
		t.Error("what is drawn changes nothing")
	}
	log := []shards.Drawn{{Entry: strings.Repeat("0", 64), Shard: 2}}
	if _, err := d.Redraw(log, offers); err == nil || err.Error() != "shard 2 has offered no entry with the hash "+log[0].Entry {
		t.Error(err)
	}
	lost := errors.New("lost")
	if _, err := d.Redraw(log, func(int) ([]fuzz.Entry, error) { return nil, lost }); !errors.Is(err, lost) {
		t.Error(err)
	}
}

// Law: results are joined in any order and grouping to the same summary.
func TestAnyGrouping(t *testing.T) {
	d := all(t)
	results, texts := d.results, d.texts
	want, _, err := d.Join(func(shard int) ([]byte, error) { return texts[shard], nil })
	if err != nil {
		t.Fatal(err)
	}
	if want.Runs != 330 || len(want.Finds) < 8 {
		t.Errorf("%d runs, %d finds", want.Runs, len(want.Finds))
	}
	rapid.Check(t, func(rt *rapid.T) {
		groups := make([]shards.Summary, rapid.IntRange(1, len(results)).Draw(rt, "groups"))
		for _, r := range rapid.Permutation(results).Draw(rt, "order") {
			groups[rapid.IntRange(0, len(groups)-1).Draw(rt, "group")].Join(r.Summary)
		}
		var got shards.Summary
		for _, g := range groups {
			got.Join(g)
		}
		if !reflect.DeepEqual(got, want) {
			rt.Fatalf("%+v\nand not\n%+v", got, want)
		}
	})
}

// Law: a hunt without a corpus shows the same, however it is divided, as one process: the same totals,
// near misses and first runs.
func TestAnyDivision(t *testing.T) {
	d := around(t, 150, 150)
	d.Hunt.Guidance = fuzz.Aim
	var whole fuzz.Results
	h := d.Hunt
	h.Runs, h.Each = d.Runs, func(s fuzz.Run) bool { whole.Add(s); return true }
	if err := h.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{150, 149, 40, 7} {
		d.Size = size
		var sum shards.Summary
		for shard := range d.Shards() {
			r, _ := run(t, d, shard, nil)
			sum.Join(r.Summary)
		}
		got, err := sum.Results(t.Context(), d.Hunt.Backend)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Counts, whole.Counts) || got.Near != whole.Near || len(got.First) != len(whole.First) {
			t.Errorf("shards of %d runs: %+v\nand not\n%+v", size, got.Counts, whole.Counts)
		}
		for p, run := range whole.First {
			if again := got.First[p]; again.Number != run.Number || again.Result.TraceHash != run.Result.TraceHash {
				t.Errorf("shards of %d runs: %s is first violated in run %d, and not %d", size, p, again.Number, run.Number)
			}
		}
	}
}

// A shard ends when it has found enough, or with its context.
func TestShardsEnd(t *testing.T) {
	d := around(t, 500, 500)
	d.Enough = func(r *fuzz.Results) bool { return r.Has([]checker.Property{checker.Lease}) }
	r, _ := run(t, d, 0, nil)
	if f, found := r.Summary.First(checker.Lease); !found || r.Summary.Runs != f.Run || f.Run == 500 {
		t.Errorf("%d runs, and a find in run %d", r.Summary.Runs, f.Run)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := d.Run(ctx, 0, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A find that is not what it says is rejected when it is repeated.
func TestFindsAreRepeated(t *testing.T) {
	d := around(t, 100, 100)
	r, _ := run(t, d, 0, nil)
	f, _ := r.Summary.First(checker.Lease)
	again, err := f.Repeat(t.Context(), d.Hunt.Backend)
	if err != nil || again.Number != f.Run || again.Result.Report.Finding(checker.Lease).Verdict != checker.Violated {
		t.Fatal(err)
	}
	other := f
	other.Candidate.Seed++
	if _, err := other.Repeat(t.Context(), d.Hunt.Backend); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("run %d: repeated, it has the trace ", f.Run)) {
		t.Error(err)
	}
	other = f
	other.Broken = []checker.Property{checker.Lease, checker.Cleanup}
	s := shards.Summary{Finds: []shards.Find{other}}
	if _, err := s.Results(t.Context(), d.Hunt.Backend); err == nil || !strings.HasSuffix(err.Error(), "repeated, it does not violate cleanup") {
		t.Error(err)
	}
}

// Law: a pool keeps the same entries in whatever order they are added, of each key one, and the
// closest of each group.
func TestPool(t *testing.T) {
	d := all(t)
	results := d.results
	var offered []fuzz.Entry
	var want shards.Pool
	for _, r := range results {
		offered = append(offered, r.Offers...)
		want.Add(r.Offers...)
	}
	kept := want.Entries()
	keys := map[string]bool{}
	for _, e := range kept {
		if keys[e.Key()] {
			t.Errorf("%s is there twice", e.Key())
		}
		keys[e.Key()] = true
	}
	for _, e := range offered {
		closest := slices.ContainsFunc(kept, func(k fuzz.Entry) bool { return k.Group() == e.Group() && k.Compare(e) <= 0 })
		if !closest {
			t.Errorf("%s of run %d is closer than all that are kept", e.Key(), e.Run)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		var p shards.Pool
		for _, e := range rapid.Permutation(offered).Draw(rt, "order") {
			p.Add(e)
		}
		if !reflect.DeepEqual(p.Entries(), kept) {
			rt.Fatal("another order keeps others")
		}
		shard := rapid.IntRange(0, d.Shards()-1).Draw(rt, "shard")
		drawn := p.Draw(d.Division, shard)
		if !reflect.DeepEqual(drawn, want.Draw(d.Division, shard)) || len(drawn) == 0 {
			rt.Fatal("another draw")
		}
		runs := map[int]bool{}
		for _, e := range drawn {
			if runs[e.Run] || (e.Run-1)/d.Size == shard {
				rt.Fatalf("run %d is drawn twice, or by its own shard", e.Run)
			}
			runs[e.Run] = true
		}
	})
}

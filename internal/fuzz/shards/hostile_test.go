package shards_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/fuzz/shards"
	"github.com/lockstorm/lockstorm/internal/parts"
)

// content is the content of a stored result, as JSON has it.
type content map[string]any

// at returns the object at a path of names and indices.
func (c content) at(path ...any) map[string]any {
	var at any = map[string]any(c)
	for _, step := range path {
		switch s := step.(type) {
		case string:
			at = at.(map[string]any)[s]
		case int:
			at = at.([]any)[s]
		}
	}
	return at.(map[string]any)
}

// forged returns the stored result of a shard with a change, and a hash that is right.
func forged(t testing.TB, d shards.Division, text []byte, change func(content)) []byte {
	t.Helper()
	_, body, _ := strings.Cut(string(text), "\n")
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	var c content
	if err := dec.Decode(&c); err != nil {
		t.Fatal(err)
	}
	change(c)
	changed, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	// Written as this program writes it, if it can be read at all.
	var r shards.Result
	if json.Unmarshal(changed, &r) == nil && !strings.Contains(string(changed), `"more":1`) {
		if text, err = r.Seal(); err == nil {
			return text
		}
	}
	if text, err = parts.Seal(shards.ResultFormat, shards.Version, c); err != nil {
		t.Fatal(err)
	}
	return text
}

// A stored result whose hash is right, and whose content no shard has, is rejected with what is wrong.
func TestHostileResults(t *testing.T) {
	d := all(t)
	last := d.Shards() - 1
	if _, err := d.Unseal(last, d.texts[last]); err != nil {
		t.Fatal(err)
	}
	set := func(name string, value any, path ...any) func(content) {
		return func(c content) { c.at(path...)[name] = value }
	}
	twice := func(name string, path ...any) func(content) {
		return func(c content) {
			list := c.at(path...)[name].([]any)
			c.at(path...)[name] = append(list[:1:1], list...)
		}
	}
	for want, change := range map[string]func(content){
		`unknown field "more"`:                      set("more", 1),
		"it is of another hunt":                     set("hunt", "that one"),
		"it is of shard 3, and not of 8":            set("shard", 3),
		"cannot unmarshal":                          set("shard", "8"),
		"11 runs: want 0 to 10":                     set("runs", 11, "summary"),
		"-1 runs: want 0 to 10":                     set("runs", -1, "summary"),
		`unknown property "faith"`:                  set("faith", 1, "summary", "tested"),
		"lease violated in 11 of the":               set("lease", 11, "summary", "violations"),
		"near: votes of -1":                         set("votes", -1, "summary", "near"),
		"it is not written as this program writes":  set("more", 1, "summary", "near"),
		"find 1, of run 1: it is none of the shard": set("run", 1, "summary", "finds", 0),
		`the trace "xyz": want 16 hexadecimal`:      set("trace", "xyz", "summary", "finds", 0),
		"it broke nothing":                          set("broken", []any{}, "summary", "finds", 0),
		"want known ones, in their order":           set("broken", []any{"effect", "lease"}, "summary", "finds", 0),
		"it broke [cleanup], which no run violates": set("broken", []any{"cleanup"}, "summary", "finds", 0),
		"there is no find of":                       set("finds", []any{}, "summary"),
		"not in order":                              twice("finds", "summary"),
		"unknown field rain":                        set("plan", []any{map[string]any{"rain": 1}}, "summary", "finds", 0, "candidate", "scenario"),
		"cannot unmarshal number -1":                set("seed", -1, "summary", "finds", 0, "candidate"),
		"offered entry 1: run 7 is none":            set("run", 7, "offers", 0),
		`offered entry 1: unknown measure "luck"`:   set("measure", "luck", "offers", 0),
		"offered entry 1: a distance of -1":         set("distance", -1, "offers", 0),
		"drawn entry 1: the hash \"\": want 64":     set("entry", "", "drawn", 0),
		"drawn entry 1: it is of shard 9 of 9":      set("shard", 9, "drawn", 0),
		"drawn entry 1: it is of shard -1":          set("shard", -1, "drawn", 0),
		"the shard has offered it itself":           set("shard", 8, "drawn", 0),
		"drawn entry 2: it is drawn twice":          twice("drawn"),
		"65 drawn entries: want at most 64": func(c content) {
			c["drawn"] = slices.Repeat([]any{map[string]any{"entry": "", "shard": 1}}, 65)
		},
	} {
		text := forged(t, d.Division, d.texts[last], change)
		if _, err := d.Unseal(last, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	_, _, err := d.Join(func(shard int) ([]byte, error) { return d.texts[max(shard, 1)], nil })
	if err == nil || err.Error() != "the result of shard 0: it is of shard 1, and not of 0" {
		t.Error(err)
	}
	lost := errors.New("lost")
	if _, _, err := d.Join(func(int) ([]byte, error) { return nil, lost }); !errors.Is(err, lost) {
		t.Error(err)
	}
}

// A shard that has drawn what no other offers is named: it cannot be repeated.
func TestTornShards(t *testing.T) {
	d := all(t)
	read := func(shard int) ([]byte, error) { return d.texts[shard], nil }
	_, torn, err := d.Join(read)
	if err != nil || len(torn) > 0 {
		t.Fatal(torn, err)
	}
	var drawers []int
	for shard, r := range d.results {
		if slices.ContainsFunc(r.Drawn, func(drawn shards.Drawn) bool { return drawn.Shard == 0 }) {
			drawers = append(drawers, shard)
		}
	}
	_, torn, err = d.Join(func(shard int) ([]byte, error) {
		if shard == 0 {
			r := d.results[0]
			r.Offers = nil // as if it was made again, and found others
			return r.Seal()
		}
		return read(shard)
	})
	if err != nil || len(torn) == 0 || !slices.Equal(torn, drawers) {
		t.Errorf("torn: %v; want %v; %v", torn, drawers, err)
	}
}

// A stored result or entry that is cut off anywhere, or changed in any byte, is rejected.
func TestDamagedResults(t *testing.T) {
	d := all(t)
	result := d.texts[8]
	entry, err := shards.SealEntry(d.results[8].Offers[0])
	if err != nil {
		t.Fatal(err)
	}
	if e, err := shards.UnsealEntry(entry); err != nil || e.Key() != d.results[8].Offers[0].Key() {
		t.Fatal(e.Key(), err)
	}
	for name, c := range map[string]struct {
		text []byte
		read func([]byte) error
	}{
		"result": {result, func(text []byte) error { _, err := d.Unseal(8, text); return err }},
		"entry":  {entry, func(text []byte) error { _, err := shards.UnsealEntry(text); return err }},
	} {
		if err := c.read(c.text); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(c.text); i += 1 + len(c.text)/100 {
			if err := c.read(c.text[:i]); err == nil || !strings.Contains(err.Error(), "cut off") {
				t.Errorf("%s: %d bytes of %d: %v", name, i, len(c.text), err)
			}
			damaged := slices.Clone(c.text)
			damaged[i] ^= 1 << (i % 8)
			if err := c.read(damaged); err == nil {
				t.Errorf("%s: a change of byte %d is accepted", name, i)
			}
		}
	}
	if err := errors.Join(errOf(shards.UnsealEntry(result)), errOf(shards.UnsealEntry(make([]byte, shards.MaxEntry+1)))); err == nil ||
		err.Error() != `its format is "lockstorm-hunt-shard"; want "lockstorm-hunt-entry"`+"\n"+"it has 1048577 bytes: want at most 1048576" {
		t.Error(err)
	}
}

func errOf(_ fuzz.Entry, err error) error { return err }

// What a shard is to begin with is checked before anything is run.
func TestHostileDraws(t *testing.T) {
	d := all(t)
	e := d.results[0].Offers[0]
	with := func(change func(*fuzz.Entry)) fuzz.Entry {
		other := e
		change(&other)
		return other
	}
	for want, drawn := range map[string][]fuzz.Entry{
		"drawn entry 2: it is drawn twice":                   {e, e},
		"drawn entry 1: run 0: want 1 to":                    {with(func(e *fuzz.Entry) { e.Run = 0 })},
		"drawn entry 1: it is of shard 9 of 9":               {with(func(e *fuzz.Entry) { e.Run = 361 })},
		"drawn entry 1: the shard has offered it itself":     {with(func(e *fuzz.Entry) { e.Run = 130 })},
		`given candidate 1: it is of "calm", and not of`:     {with(func(e *fuzz.Entry) { e.Candidate.Scenario.Name = "calm" })},
		"drawn entry 1: scenario: ":                          {with(func(e *fuzz.Entry) { e.Candidate.Scenario.Nodes = -1 })},
		fmt.Sprintf("%d drawn entries: want at most 64", 65): slices.Repeat([]fuzz.Entry{e}, 65),
	} {
		if _, err := d.Run(t.Context(), 3, drawn); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

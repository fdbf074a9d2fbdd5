package sweep

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Shard is the units i, i+n, i+2n, … of a measurement: part I of Of, 1 ≤ I ≤ Of. The zero value
// is all of them.
type Shard struct{ I, Of int }

// ParseShard reads "i/n".
func ParseShard(text string) (Shard, error) {
	i, of, cut := strings.Cut(text, "/")
	part, err := strconv.Atoi(i)
	parts, err2 := strconv.Atoi(of)
	s := Shard{part, parts}
	if !cut || err != nil || err2 != nil || parts == 0 || !s.valid() {
		return Shard{}, fmt.Errorf("the shard %q: want i/n, with i from 1 to n", text)
	}
	return s, nil
}

func (s Shard) valid() bool { return s == Shard{} || 1 <= s.I && s.I <= s.Of }

// String returns "i/n", or "" for all.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.I, s.Of)
}

// MarshalText implements [encoding.TextMarshaler].
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Shard) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*s = Shard{}
		return nil
	}
	*s, err = ParseShard(string(text))
	return err
}

// shardOf returns the part of a list that belongs to a shard.
func shardOf[T any](s Shard, all []T) []T {
	if s.Of == 0 {
		return all
	}
	var part []T
	for i := s.I - 1; i < len(all); i += s.Of {
		part = append(part, all[i])
	}
	return part
}

// Merge combines the shards in some directories to the results of the whole measurement. It
// returns an error for shards of different measurements, and unless each shard is there once and
// complete.
func Merge(dirs []string) (Results, error) {
	shards := map[int]Results{}
	at := map[int]string{}
	var first Results
	for i, dir := range dirs {
		r, err := ReadJournal(dir)
		if err != nil {
			return r, err
		}
		if i == 0 {
			first = r
		}
		if err := mergeable(dirs[0], dir, first, r); err != nil {
			return r, err
		}
		if other, twice := at[r.Shard.I]; twice {
			return r, fmt.Errorf("%s and %s are both shard %s", other, dir, r.Shard)
		}
		shards[r.Shard.I], at[r.Shard.I] = r, dir
	}
	if missing := first.Shard.missing(at); len(missing) > 0 {
		return first, fmt.Errorf("%s %s: no directory has it", textfmt.Plural(len(missing), "shard"), strings.Join(missing, ", "))
	}
	whole := Results{Head: first.Whole()}
	n := first.Shard.Of
	for i := range n {
		whole.Versions = runner.WithProgramsOf(whole.Versions, shards[i+1].Versions)
	}
	for k := range whole.Units() {
		whole.Outcomes = append(whole.Outcomes, shards[k%n+1].Outcomes[k/n])
	}
	return whole, nil
}

// mergeable returns an error if a shard does not fit the first.
func mergeable(firstDir, dir string, first, r Results) error {
	switch d := first.Whole().differences(r.Whole()); {
	case r.Shard.Of == 0:
		return fmt.Errorf("%s is no shard: it is a whole sweep", dir)
	case len(d) > 0:
		return fmt.Errorf("%s and %s are of different sweeps: %s", firstDir, dir, strings.Join(d, "; "))
	case r.Shard.Of != first.Shard.Of:
		return fmt.Errorf("%s is shard %s, and %s is %s", firstDir, first.Shard, dir, r.Shard)
	case !r.Complete():
		return fmt.Errorf("%s, shard %s: %d of %s are there; run it to its end", dir, r.Shard, len(r.Outcomes), textfmt.Count(r.Units(), "point"))
	}
	return nil
}

// missing returns the names of the missing shards.
func (s Shard) missing(there map[int]string) (list []string) {
	for i := 1; i <= s.Of; i++ {
		if _, ok := there[i]; !ok {
			list = append(list, Shard{i, s.Of}.String())
		}
	}
	return list
}

// Keep writes the journal of merged results, as a single measurement would have written it. An
// existing journal is continued if it agrees.
func (r Results) Keep(dir string) error {
	j, err := OpenJournal(dir, r.Head)
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }() // Add has synced
	for i, o := range r.Outcomes {
		if i >= len(j.Outcomes()) {
			if err := j.Add(o); err != nil {
				return err
			}
			continue
		}
		if same, err := alike(o, j.Outcomes()[i]); err != nil || !same {
			return fmt.Errorf("%s has other outcomes of the same sweep, from point %d on", dir, o.Unit)
		}
	}
	return nil
}

func alike(a, b Outcome) (bool, error) {
	x, err := encode(a)
	if err != nil {
		return false, err
	}
	y, err := encode(b)
	return bytes.Equal(x, y), err
}

package sweep

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Merge puts the shards in some directories together to what one run of the whole
// campaign would have found. It refuses shards of different campaigns, and wants each of
// them once and whole.
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
	for k := range whole.Units() {
		n := first.Shard.Of
		whole.Outcomes = append(whole.Outcomes, shards[k%n+1].Outcomes[k/n])
	}
	return whole, nil
}

// mergeable says why a shard cannot be put together with the first.
func mergeable(firstDir, dir string, first, r Results) error {
	switch d := first.Whole().differences(r.Whole()); {
	case r.Shard.Of == 0:
		return fmt.Errorf("%s is no shard: it is a whole campaign", dir)
	case len(d) > 0:
		return fmt.Errorf("%s and %s are of different campaigns: %s", firstDir, dir, strings.Join(d, "; "))
	case r.Shard.Of != first.Shard.Of:
		return fmt.Errorf("%s is shard %s, and %s is %s", firstDir, first.Shard, dir, r.Shard)
	case !r.Complete():
		return fmt.Errorf("%s, shard %s: %d of %s are there; run it to its end", dir, r.Shard, len(r.Outcomes), textfmt.Count(r.Units(), "point"))
	}
	return nil
}

// missing names the parts that are not there.
func (s Shard) missing(there map[int]string) (list []string) {
	for i := 1; i <= s.Of; i++ {
		if _, ok := there[i]; !ok {
			list = append(list, Shard{i, s.Of}.String())
		}
	}
	return list
}

// Keep writes the journal of results that were put together, as one run would have
// written it. It goes on with one that is there if that says the same.
func (r Results) Keep(dir string) error {
	j, err := OpenJournal(dir, r.Head)
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }() // what is written is on the disk
	for i, o := range r.Outcomes {
		if i >= len(j.Outcomes()) {
			if err := j.Add(o); err != nil {
				return err
			}
			continue
		}
		if same, err := alike(o, j.Outcomes()[i]); err != nil || !same {
			return fmt.Errorf("%s has other outcomes of the same campaign, from point %d on", dir, o.Unit)
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

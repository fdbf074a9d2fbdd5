package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
	"github.com/lockstorm/lockstorm/internal/shard"
	"github.com/lockstorm/lockstorm/scenarios"
)

// huntUnit is how many runs of a hunt have a record together: their [hunt.Counts]. Tests change it.
var huntUnit = 1000

// unit returns some runs of the hunt: those of the unit with a number, from 0.
func (q search) unit(number int) hunt.Hunt {
	h := q.Hunt
	h.Before = number * huntUnit
	h.Runs = min(huntUnit, q.most-h.Before)
	return h
}

// units returns how many units the hunt has.
func (q search) units() int { return (q.most-1)/huntUnit + 1 }

// huntWork is what identifies a hunt in its records.
type huntWork struct {
	Ground     string             `json:"ground"`
	Scenario   scenarios.Scenario `json:"scenario,omitzero"`
	Properties []checker.Property `json:"properties"`
	Assume     string             `json:"assume,omitempty"` // the flag, or the text of its file
	Faults     string             `json:"faults"`
	Most       int                `json:"most"`
	Seed       uint64             `json:"seed"`
	Runs       int                `json:"runs"`
	First      bool               `json:"first"`
}

// log returns the records of the shard that is made, or of those that are joined; nil: neither is done.
func (o *huntOptions) log(cmd *cobra.Command, q search) (*shard.Log, error) {
	if !o.shards.one() && len(o.shards.merge) == 0 {
		return nil, nil
	}
	if o.runs == 0 {
		return nil, errors.New("--shard and --merge: want --runs, the number of runs of the whole hunt")
	}
	work := huntWork{q.Space.Name(), o.around, q.hunted(), o.assumed, o.faults, o.most, o.seed, o.runs, o.first}
	if o.assumed != "" && o.assumed != promisedWord {
		text, err := os.ReadFile(o.assumed)
		if err != nil {
			return nil, err
		}
		work.Assume = string(text)
	}
	dir := ""
	if cmd.Flags().Changed("out") { // its default is for cases
		dir = o.out
	}
	return o.shards.log("hunt", dir, work)
}

// shard makes the units of a shard that its log has not, or as many as show enough by themselves: then the
// whole hunt ends no later.
func (q search) shard(ctx context.Context, log *shard.Log, problems io.Writer) error {
	line := newHuntLine(problems, q.Space.Name())
	defer line.Done()
	var all haul
	began := time.Now()
	for n := range q.units() {
		if !log.Shard().Has(n) {
			continue
		}
		if q.enough(&all.Results) {
			break
		}
		var counts hunt.Counts
		known, err := log.Get(n, &counts)
		if err != nil {
			return err
		}
		if known {
			all.Join(counts)
			continue
		}
		var unit hunt.Results
		h := q.unit(n)
		h.Each = func(s hunt.Run) bool {
			unit.Add(s)
			all.Add(s)
			line.see(q, &all.Results, time.Since(began))
			return true
		}
		if err := h.Run(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		if err := log.Add(n, unit.Counts); err != nil {
			return err
		}
	}
	return log.Finish()
}

// joined returns what the hunt shows whose shards were joined. It makes the units again in which a property
// is violated for the first time, so that it has these runs and ends with the right one.
func (q search) joined(ctx context.Context, log *shard.Log) (h haul, err error) {
	for n := 0; n < q.units() && !q.enough(&h.Results); n++ {
		var counts hunt.Counts
		if _, err := log.Get(n, &counts); err != nil {
			return h, err
		}
		if !h.learns(counts) {
			h.Join(counts)
			continue
		}
		var unit hunt.Results
		again, ended := q.unit(n), false
		again.Each = func(s hunt.Run) bool {
			unit.Add(s)
			h.Add(s)
			ended = q.enough(&h.Results)
			return !ended
		}
		if err := cmp.Or(again.Run(ctx), ctx.Err()); err != nil {
			return h, err
		}
		if !ended && !same(unit.Counts, counts) {
			return h, fmt.Errorf("--merge: the %d runs after run %d are not those of their record: the program has changed", again.Runs, again.Before)
		}
	}
	return h, nil
}

// learns reports whether runs with these counts violate a property that no run has violated yet.
func (h haul) learns(counts hunt.Counts) bool {
	for p := range counts.Violations {
		if h.Violations[p] == 0 {
			return true
		}
	}
	return false
}

// same reports whether counts are equal as they are stored.
func same(a, b hunt.Counts) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

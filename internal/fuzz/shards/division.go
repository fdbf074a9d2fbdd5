package shards

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/parts"
)

// Division is a hunt that is divided into shards.
type Division struct {
	// Hunt is the hunt, without Before, Runs and Each.
	Hunt fuzz.Hunt

	Runs int // of the whole hunt, at least 1
	Size int // most runs of a shard, at least 1

	// Sum identifies the hunt and how it is divided: results with another sum are of another hunt.
	Sum string

	// Enough says whether a shard may end before all its runs are made, by what it alone has found
	// so far. nil: it may not.
	Enough func(*fuzz.Results) bool
}

// Shards returns their number.
func (d Division) Shards() int { return (d.Runs-1)/d.Size + 1 }

// before returns how many runs shards before this one have, and runs how many this one has.
func (d Division) before(shard int) int { return shard * d.Size }
func (d Division) runs(shard int) int   { return min(d.Size, d.Runs-d.before(shard)) }

// shardOf returns the shard of a run of the hunt.
func (d Division) shardOf(run int) int { return (run - 1) / d.Size }

// Run makes a shard, from 0 to Shards()-1, that begins with entries that other shards have offered.
// The result depends on the division, the shard and the entries, and on nothing else. If ctx ends it
// returns its error.
func (d Division) Run(ctx context.Context, shard int, drawn []fuzz.Entry) (Result, error) {
	r := Result{Hunt: d.Sum, Shard: shard}
	given := make([]fuzz.Candidate, len(drawn))
	for i, e := range drawn {
		if err := e.Validate(); err != nil {
			return r, fmt.Errorf("drawn entry %d: %w", i+1, err)
		}
		hash, err := parts.Hash(e)
		if err != nil {
			return r, err
		}
		r.Drawn = append(r.Drawn, Drawn{Entry: hash, Shard: d.shardOf(e.Run)})
		given[i] = e.Candidate
	}
	if err := d.validateDrawn(r); err != nil {
		return r, err
	}
	var found fuzz.Results
	h := d.Hunt
	h.Before, h.Runs = d.before(shard), d.runs(shard)
	h.Each = func(run fuzz.Run) bool {
		found.Add(run)
		r.Summary.addFind(run)
		return d.Enough == nil || !d.Enough(&found)
	}
	offers, err := h.RunFrom(ctx, given)
	if err == nil {
		err = ctx.Err() // what was stopped is no result
	}
	if err != nil {
		return r, err
	}
	r.Summary.Counts, r.Summary.Near = found.Counts, found.Near
	r.Offers, err = storable(offers)
	return r, err
}

// Join joins the results of all shards, in their order. It calls read with the number of a shard.
// An error names the shard whose stored result is damaged, or of another hunt.
//
// It also returns the shards that cannot be repeated, because they have drawn what no other offers. That
// happens if a shard was lost after others drew from it, and was then made again of other entries.
func (d Division) Join(read func(shard int) ([]byte, error)) (all Summary, torn []int, err error) {
	offered := map[Drawn]bool{}
	logs := make([][]Drawn, d.Shards())
	for shard := range d.Shards() {
		text, err := read(shard)
		if err != nil {
			return all, nil, err
		}
		r, err := d.Unseal(shard, text)
		if err != nil {
			return all, nil, fmt.Errorf("the result of shard %d: %w", shard, err)
		}
		all.Join(r.Summary)
		for _, e := range r.Offers {
			hash, err := parts.Hash(e)
			if err != nil {
				return all, nil, err
			}
			offered[Drawn{hash, shard}] = true
		}
		logs[shard] = r.Drawn
	}
	for shard, log := range logs {
		if slices.ContainsFunc(log, func(drawn Drawn) bool { return !offered[drawn] }) {
			torn = append(torn, shard)
		}
	}
	return all, torn, nil
}

// Redraw returns the entries of a log, in its order, so that the shard that has drawn them can be
// repeated. It calls offers with the number of a shard, whose offers it returns.
func (d Division) Redraw(log []Drawn, offers func(shard int) ([]fuzz.Entry, error)) ([]fuzz.Entry, error) {
	var list []fuzz.Entry
	for _, drawn := range log {
		offered, err := offers(drawn.Shard)
		if err != nil {
			return nil, err
		}
		e, err := drawn.find(offered)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

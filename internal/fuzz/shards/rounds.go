package shards

import (
	"context"

	"github.com/lockstorm/lockstorm/internal/fuzz"
)

// Rounds imitates a campaign in one process, to measure whether sharing helps: so many workers make
// the shards of a division side by side, each one shard in a round.
type Rounds struct {
	Division
	Workers int  // at least 1
	Share   bool // whether the shards of a round draw from the pool of the rounds before
}

// Until returns the runs until the first that found accepts: those of all workers up to then, if
// they are equally fast. It is false, with all runs, if there is none.
func (r Rounds) Until(ctx context.Context, found func(fuzz.Run) bool) (runs int, ok bool, err error) {
	var pool Pool
	for first := 0; first < r.Shards(); first += r.Workers {
		offers, steps, err := r.round(ctx, first, pool, found)
		switch {
		case err != nil:
			return 0, false, err
		case steps > 0:
			return min(first*r.Size+steps*r.Workers, r.Runs), true, nil
		case r.Share:
			pool.Add(offers...)
		}
	}
	return r.Runs, false, nil
}

// round makes the shards of a round, and returns after how many runs of a worker the first of them
// found something; 0: none did.
func (r Rounds) round(ctx context.Context, first int, pool Pool, found func(fuzz.Run) bool) (offers []fuzz.Entry, steps int, err error) {
	for shard := first; shard < min(first+r.Workers, r.Shards()); shard++ {
		var given []fuzz.Candidate
		for _, e := range pool.Draw(r.Division, shard) {
			given = append(given, e.Candidate)
		}
		h := r.Hunt
		h.Before, h.Runs = r.before(shard), r.runs(shard)
		h.Each = func(run fuzz.Run) bool {
			step := run.Number - h.Before
			if found(run) {
				steps = step
			}
			return steps == 0 || step < steps // what comes later in another shard does not matter
		}
		list, err := h.RunFrom(ctx, given)
		if err != nil {
			return nil, 0, err
		}
		offers = append(offers, list...)
	}
	return offers, steps, ctx.Err()
}

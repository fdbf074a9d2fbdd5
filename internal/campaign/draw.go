package campaign

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
)

// Other is the result of another shard of the campaign.
type Other struct {
	Shard int
	Data  []byte
}

// Origin names the result of another shard.
type Origin struct {
	Shard int    `json:"shard"`
	Hash  string `json:"hash"`
}

// maxOthers bounds the bytes of all results from which a shard draws.
const maxOthers = MaxResult

// draw returns the results from which a shard draws. Which they are depends on what is done by now, so
// the record of the shard names them. Whoever has these results can repeat the shard.
//
// It takes results of earlier shards at random, and asks for no list of those that are done: the queue
// is in order, so nearly all earlier ones are. What is missing or lost is left out.
func (c *Campaign) draw(ctx context.Context, b Build, shard int) (others []Other, origins []Origin, err error) {
	ctx, done := undated(ctx)
	defer done()
	size := 0
	for _, other := range candidates(c.Spec.Sum, shard, 2*c.Spec.Draws) {
		if len(others) == c.Spec.Draws {
			break
		}
		r, err := c.record(ctx, b, other)
		if errors.Is(err, errNoResult) || err == nil && size+r.Size > maxOthers {
			continue
		}
		if err != nil {
			return others, origins, err
		}
		data, err := read(ctx, c.bucket, r.Hash)
		if errors.Is(err, errMissing) || errors.Is(err, errChanged) {
			continue
		}
		if err != nil {
			return others, origins, err
		}
		size += r.Size
		others = append(others, Other{other, data})
		origins = append(origins, Origin{other, r.Hash})
	}
	return others, origins, nil
}

// candidates returns up to n different shards before a shard, in random order. The sum of the campaign
// and the shard determine them.
func candidates(sum string, shard, n int) (list []int) {
	random := rand.New(rand.NewPCG(binary.BigEndian.Uint64([]byte(sum)), uint64(shard))) //nolint:gosec // no secret
	seen := map[int]bool{}
	for len(list) < min(n, shard) {
		if other := random.IntN(shard); !seen[other] {
			seen[other] = true
			list = append(list, other)
		}
	}
	return list
}

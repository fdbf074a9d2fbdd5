package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Record is the note on a result. The result itself is in the bucket.
type Record struct {
	Hash   string        `json:"hash"` // of its bytes
	Size   int           `json:"size"` // in bytes
	Worker string        `json:"worker"`
	Took   time.Duration `json:"took"`
	Waited time.Duration `json:"waited"`           // in the queue, on its server's clock
	Find   string        `json:"find,omitempty"`   // what was found, in one line
	Others []Origin      `json:"others,omitempty"` // from which it could draw
}

// maxFind bounds the line on a find, in bytes.
const maxFind = 300

// store stores the result of a shard, and reports whether it was the first. If another result is
// stored that was made of the same others, both are kept.
func (c *Campaign) store(ctx context.Context, b Build, shard int, r Record, data []byte) (first bool, err error) {
	r.Hash, r.Size = hashOf(data), len(data)
	r.Find = r.Find[:min(len(r.Find), maxFind)]
	if err := c.bucket.put(ctx, r.Hash, data); err != nil {
		return false, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return false, err
	}
	_, err = c.results.Create(ctx, keyOf(resultKey, b, shard), text)
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return err == nil, err
	}
	was, err := c.record(ctx, b, shard)
	if err != nil || was.Hash == r.Hash || !slices.Equal(was.Others, r.Others) {
		return false, err
	}
	_, err = c.results.Put(ctx, keyOf(conflictKey, b, shard, r.Hash), text)
	return false, err
}

// errNoResult says that a shard has no result yet.
var errNoResult = errors.New("it has no result")

// record returns the note on the result of a shard, or errNoResult.
func (c *Campaign) record(ctx context.Context, b Build, shard int) (r Record, err error) {
	stored, err := c.results.Get(ctx, keyOf(resultKey, b, shard))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return r, errNoResult
	}
	if err != nil {
		return r, err
	}
	return decodeRecord(stored.Value())
}

func decodeRecord(text []byte) (r Record, err error) {
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("a stored result is malformed: %w", err)
	}
	if !sums.MatchString(r.Hash) || r.Size < 0 || r.Size > MaxResult {
		return r, fmt.Errorf("a stored result is malformed: hash %q, %d bytes", r.Hash, r.Size)
	}
	return r, nil
}

// resultAttempts is how often a result is asked for while the servers do not answer, as when they elect a
// leader.
const resultAttempts = 20

// Result returns the result of a shard that a build has made. Shards are numbered from 0. The error is
// [ErrLost] if it was there and is gone, or is not what was stored.
func (c *Campaign) Result(ctx context.Context, b Build, shard int) (data []byte, err error) {
	ctx, done := undated(ctx)
	defer done()
	for range resultAttempts {
		data, err = c.result(ctx, b, shard)
		if err == nil || errors.Is(err, ErrLost) || ctx.Err() != nil {
			break
		}
		sleep(ctx, patience)
	}
	return data, err
}

func (c *Campaign) result(ctx context.Context, b Build, shard int) ([]byte, error) {
	r, err := c.record(ctx, b, shard)
	var data []byte
	if err == nil {
		data, err = read(ctx, c.bucket, r.Hash)
	}
	switch {
	case errors.Is(err, errNoResult):
		err = fmt.Errorf("%w: %w", ErrLost, err)
	case errors.Is(err, errMissing), errors.Is(err, errChanged):
		err = errors.Join(fmt.Errorf("%w: %w", ErrLost, err), c.forget(ctx, b, shard, r.Hash))
	}
	if err != nil {
		return nil, fmt.Errorf("campaign %s, shard %d: %w", c.Spec.Name, shard, err)
	}
	return data, nil
}

// forget forgets the result of a shard, of which the bucket has not the right bytes.
func (c *Campaign) forget(ctx context.Context, b Build, shard int, hash string) error {
	return cmp.Or(c.results.Delete(ctx, keyOf(resultKey, b, shard)), c.bucket.remove(ctx, hash))
}

// Conflict is two different results of one shard by the same build.
type Conflict struct {
	Build  string // its ID
	Shard  int
	First  Record // counts
	Second Record
}

// String names the shard and the workers.
func (c Conflict) String() string {
	return fmt.Sprintf("shard %d: %s stored the result %.12s, and %s the result %.12s", c.Shard, c.First.Worker, c.First.Hash, c.Second.Worker, c.Second.Hash)
}

// Explain says at which byte the two results differ.
func (c *Campaign) Explain(ctx context.Context, x Conflict) string {
	a, errA := read(ctx, c.bucket, x.First.Hash)
	b, errB := read(ctx, c.bucket, x.Second.Hash)
	if err := errors.Join(errA, errB); err != nil {
		return fmt.Sprintf("%s (%v)", x, err)
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return fmt.Sprintf("%s; they have %d and %d bytes, and differ from byte %d on", x, len(a), len(b), at)
}

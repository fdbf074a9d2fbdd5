package campaign

import (
	"context"
	"time"
)

// SetAckWait changes how long a worker may be silent, so that tests need not wait.
func (e *Engine) SetAckWait(d time.Duration) { e.ackWait = d }

// Store stores a result as a worker does.
func (c *Campaign) Store(ctx context.Context, b Build, shard int, worker string, data []byte, others ...Origin) (bool, error) {
	return c.store(ctx, b, shard, Record{Worker: worker, Others: others}, data)
}

// QueueAll queues shards as a follower does.
func (c *Campaign) QueueAll(ctx context.Context, b Build, shards []int) error {
	return c.queue(ctx, b, shards)
}

// SubjectOf returns the subject of a build's shards.
func (c *Campaign) SubjectOf(b Build) string { return c.subject(b) }

// Vanish takes a shard and says nothing of it any more, as a worker that has lost its machine.
func (c *Campaign) Vanish(ctx context.Context, b Build) error {
	queue, err := c.consumer(ctx, b)
	if err != nil {
		return err
	}
	_, err = queue.Next()
	return err
}

package campaign

import (
	"context"
	"fmt"
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

// Queued returns how many shards are queued, of all builds.
func (c *Campaign) Queued(ctx context.Context) (uint64, error) {
	stream, err := c.stream.Info(ctx)
	if err != nil {
		return 0, err
	}
	return stream.State.Msgs, nil
}

// Describe says what the servers have of the queue of a build.
func (c *Campaign) Describe(ctx context.Context, b Build) string {
	stream, err := c.stream.Info(ctx)
	if err != nil {
		return err.Error()
	}
	consumer, err := c.stream.Consumer(ctx, b.ID())
	if err != nil {
		return err.Error()
	}
	info, err := consumer.Info(ctx)
	return fmt.Sprintf("stream %+v of %+v; queue %+v, %v", stream.State, stream.Cluster, info, err)
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

package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Campaign is a campaign on the servers.
type Campaign struct {
	Spec Spec

	engine  *Engine
	stream  jetstream.Stream // the queues of its shards
	results jetstream.KeyValue
	bucket  Bucket
}

// defaultAckWait is how long a worker may be silent until its shard is given to another one.
const defaultAckWait = 15 * time.Second

// open opens what the servers have of a campaign, or makes it.
func (e *Engine) open(ctx context.Context, s Spec) (*Campaign, error) {
	c := &Campaign{Spec: s, engine: e}
	var err error
	c.stream, err = e.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: prefix + s.Name, Subjects: []string{subjects + s.Name + ".*"},
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, Replicas: e.replicas,
		MaxMsgSize: 64, MaxMsgs: 2 * MaxShards * maxBuilds,
	})
	if err != nil {
		return nil, err
	}
	c.results, err = e.keyValue(ctx, jetstream.KeyValueConfig{Bucket: prefix + s.Name, MaxValueSize: 2 * maxMessage})
	if err != nil {
		return nil, err
	}
	if s.Bucket != "" {
		c.bucket, err = OpenBucket(ctx, s.Bucket)
	} else {
		c.bucket, err = e.objects(ctx, prefix+s.Name)
	}
	return c, err
}

// objects opens the bucket that the servers keep, or makes it.
func (e *Engine) objects(ctx context.Context, name string) (Bucket, error) {
	store, err := e.js.ObjectStore(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		store, err = e.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: name, Replicas: e.replicas, Storage: jetstream.FileStorage})
	}
	if errors.Is(err, jetstream.ErrBucketExists) { // somebody else was faster
		store, err = e.js.ObjectStore(ctx, name)
	}
	return objects{store}, err
}

// Close closes the bucket of the campaign. The engine stays open.
func (c *Campaign) Close() error { return c.bucket.Close() }

// consumer returns the queue of a build's shards.
func (c *Campaign) consumer(ctx context.Context, b Build) (jetstream.Consumer, error) {
	return c.stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: b.ID(), FilterSubject: c.subject(b), AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: c.engine.ackWait, MaxAckPending: MaxShards, MaxDeliver: -1,
	})
}

// subject returns the subject of a build's shards.
func (c *Campaign) subject(b Build) string { return subjects + c.Spec.Name + "." + b.ID() }

// unacknowledged is how many messages are sent to a queue before their acknowledgements are awaited. The
// client library refuses more than 4,000, if the servers do not acknowledge one within 0.2 s.
const unacknowledged = 1000

// queue queues shards of a build.
func (c *Campaign) queue(ctx context.Context, b Build, shards []int) error {
	subject := c.subject(b)
	for some := range slices.Chunk(shards, unacknowledged) {
		for _, shard := range some {
			if _, err := c.engine.js.PublishAsync(subject, []byte(strconv.Itoa(shard))); err != nil {
				return err
			}
		}
		select {
		case <-c.engine.js.PublishAsyncComplete(): // what was not acknowledged is queued again by whoever follows the campaign
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// shardOf reads a message of a queue.
func (c *Campaign) shardOf(data []byte) (int, error) {
	shard, err := strconv.Atoi(string(data))
	if err != nil || shard < 0 || shard >= c.Spec.Shards {
		return 0, fmt.Errorf("campaign %s: a message names the shard %.20q: want 0 to %d", c.Spec.Name, data, c.Spec.Shards-1)
	}
	return shard, nil
}

// The keys of a campaign's bucket: kind.build.shard, and for some kinds a last part.
const (
	resultKey   = "result"   // a [Record]
	failureKey  = "failure"  // a [Failure]; last: its number
	asideKey    = "aside"    // an [Aside]
	conflictKey = "conflict" // a [Record]; last: its hash
)

// keyOf returns the key of a kind of value.
func keyOf(kind string, b Build, shard int, last ...string) string {
	return strings.Join(append([]string{kind, b.ID(), strconv.Itoa(shard)}, last...), ".")
}

// parsedKey is the parts of a key.
type parsedKey struct {
	kind, build string
	shard       int
}

// parseKey reads a key; ok is false for keys that nobody of ours writes.
func (c *Campaign) parseKey(key string) (k parsedKey, ok bool) {
	parts := strings.Split(key, ".")
	if len(parts) < 3 {
		return k, false
	}
	shard, err := strconv.Atoi(parts[2])
	return parsedKey{parts[0], parts[1], shard}, err == nil && 0 <= shard && shard < c.Spec.Shards
}

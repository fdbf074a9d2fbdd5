package campaign

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Presence is what a worker says of itself, while it is there.
type Presence struct {
	Worker   string `json:"worker"`
	Build    string `json:"build"` // its ID
	Campaign string `json:"campaign"`
	Slots    int    `json:"slots"` // shards at a time
	Made     int    `json:"made"`  // shards of the campaign so far
}

const (
	workersBucket = "lockstorm-workers"
	heartbeat     = 5 * time.Second
	presenceTTL   = 4 * heartbeat // a worker that was silent for so long is not there
)

// presences opens the bucket of the workers that are there, or makes it.
func (e *Engine) presences(ctx context.Context) (jetstream.KeyValue, error) {
	return e.keyValue(ctx, jetstream.KeyValueConfig{Bucket: workersBucket, Description: "workers of lockstorm", TTL: presenceTTL, MaxValueSize: 2048})
}

// Workers returns the workers that are there, by name. A worker that has vanished is among them for up
// to 20 seconds.
func (e *Engine) Workers(ctx context.Context) ([]Presence, error) {
	kv, err := e.presences(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := kv.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	var list []Presence
	for key := range keys.Keys() {
		stored, err := kv.Get(ctx, key)
		var p Presence
		if err == nil && json.Unmarshal(stored.Value(), &p) == nil { // or it has gone
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Presence) int { return strings.Compare(a.Worker, b.Worker) })
	return list, nil
}

// beat says that a worker is there, until ctx ends; then that it has gone.
func (e *Engine) beat(ctx context.Context, now func() Presence) {
	kv, err := e.presences(ctx)
	if err != nil {
		return // it works all the same
	}
	key := presenceKey(now().Worker)
	t := time.NewTicker(heartbeat)
	defer t.Stop()
	for ctx.Err() == nil {
		if text, err := json.Marshal(now()); err == nil {
			_, _ = kv.Put(ctx, key, text) // or the next one
		}
		select {
		case <-ctx.Done():
		case <-t.C:
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = kv.Delete(ctx, key) // or it expires
}

// presenceKey returns a key for the name of a worker.
func presenceKey(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return r
		}
		return '_'
	}, name)
}

package storetest

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Long is a TTL that no key of a test reaches.
const Long = 10 * time.Minute

// Expiring returns the request that creates a key which expires by itself.
func Expiring(key, value string, ttl time.Duration) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreCreate, Key: key, Value: value, TTL: ttl, Expires: true}
}

// Renewal returns the request that renews an entry at its revision.
func Renewal(e env.Entry, ttl time.Duration) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreRenew, Key: e.Key, Revision: e.Revision, TTL: ttl}
}

// Deletion returns the request that deletes an entry at its revision.
func Deletion(e env.Entry) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreDelete, Key: e.Key, Revision: e.Revision}
}

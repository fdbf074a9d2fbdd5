package speed

import (
	"context"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// caching is rueidislock, which keeps several keys on one deployment.
type caching struct{ locker rueidislock.Locker }

// openRueidislock opens it with a majority of so many keys.
func openRueidislock(majority int32) func(addrs []string) (Lock, error) {
	return func(addrs []string) (Lock, error) {
		locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
			ClientOption:   rueidis.ClientOption{InitAddress: addrs[:1]},
			KeyValidity:    ttl,
			TryNextAfter:   patience,
			KeyMajority:    majority,
			NoLoopTracking: true, // as it advises from Redis 7.0.5 on
		})
		if err != nil {
			return nil, err
		}
		return caching{locker}, nil
	}
}

func (c caching) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	_, release, err := c.locker.TryWithContext(ctx, resource)
	if err != nil {
		return nil, err
	}
	return func(context.Context) error { release(); return nil }, nil
}

func (c caching) Close() error { c.locker.Close(); return nil }

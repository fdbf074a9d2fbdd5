package speed

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// floor does what every lock on a majority has to do, and nothing else: it reads no
// clock, cleans nothing up, and tells nobody that the lock has expired.
type floor struct{ nodes []*redis.Client }

func openFloor(addrs []string) (Lock, error) { return floor{plainAll(addrs)}, nil }

// compareAndDelete is the script of the algorithm's page.
var compareAndDelete = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

func (f floor) Acquire(_ context.Context, resource string) (func(context.Context) error, error) {
	token := rand.Text()
	err := f.most(func(node *redis.Client) (bool, error) {
		said, err := node.SetArgs(context.Background(), resource, token, redis.SetArgs{Mode: "NX", TTL: ttl}).Result()
		return said == "OK", err
	})
	return func(context.Context) error {
		return f.most(func(node *redis.Client) (bool, error) {
			return compareAndDelete.Run(context.Background(), node, []string{resource}, token).Bool()
		})
	}, err
}

// most asks all nodes at once, and returns as soon as most have said yes.
func (f floor) most(ask func(*redis.Client) (bool, error)) error {
	type answer struct {
		yes bool
		err error
	}
	answers := make(chan answer, len(f.nodes))
	for _, node := range f.nodes {
		go func() {
			yes, err := ask(node)
			answers <- answer{yes, err}
		}()
	}
	votes := 0
	var errs []error
	for range f.nodes {
		a := <-answers
		if a.yes {
			votes++
		}
		if votes > len(f.nodes)/2 {
			return nil
		}
		errs = append(errs, a.err)
	}
	return fmt.Errorf("%d votes of %d: %w", votes, len(f.nodes), errors.Join(errs...))
}

func (f floor) Close() error { return closeAll(f.nodes) }

func closeAll(clients []*redis.Client) error {
	var errs []error
	for _, c := range clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

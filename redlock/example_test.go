package redlock_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// A program makes one set of nodes and one mutex, and closes the mutex first.
func Example() {
	addrs := masters() // such as "10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"
	nodes, err := redisnode.New(addrs, redisnode.Options{Prefix: "lock:"})
	if err != nil {
		log.Fatal(err) // the addresses cannot be
	}
	defer nodes.Close()
	mutex, err := redlock.New(redlock.Defaults(10*time.Second), env.System(), nodes, nil)
	if err != nil {
		log.Fatal(err) // the configuration cannot be
	}
	defer mutex.Close(context.Background())

	if err := sendInvoice(context.Background(), mutex, 7); err != nil {
		fmt.Println(err)
	}
	// Output: invoice 7 is sent
}

// sendInvoice does something that must not be done twice at a time.
func sendInvoice(ctx context.Context, mutex *redlock.Mutex, number int) error {
	hold, err := mutex.Lock(ctx, fmt.Sprint("invoice-", number))
	if err != nil {
		return err
	}
	defer hold.Release(ctx)

	ctx = hold.Context() // ends when the lock is lost, or about to expire
	if ctx.Err() == nil {
		fmt.Println("invoice", number, "is sent")
	}
	return context.Cause(ctx)
}

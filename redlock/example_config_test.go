package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// With a watchdog the hold lasts as long as the work, and the holder learns of a loss quickly.
func ExampleWatchdog() {
	config := redlock.Defaults(2 * time.Second)
	config.Watchdog = redlock.Watchdog{
		Every: config.TTL / 3,
		Limit: 1000, // after which work that hangs no longer keeps all others out
	}
	mutex, done := newMutex(config, masters()...)
	defer done()

	hold, err := mutex.Lock(context.Background(), "leader")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer hold.Release(context.Background())

	forget() // the masters are restarted without their keys
	<-hold.Context().Done()
	fmt.Println("lost:", errors.Is(context.Cause(hold.Context()), redlock.ErrLost))
	// Output: lost: true
}

// A logger records grants, losses and releases. Here it omits what differs from run to run.
func ExampleLogged() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case slog.TimeKey, "token", "validity":
				return slog.Attr{}
			}
			return a
		},
	}))
	nodes, err := redisnode.New(masters(), redisnode.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer nodes.Close()
	config := redlock.Defaults(10 * time.Second)
	config.NodeTimeout = time.Second // patience, or a busy machine adds a record
	mutex, err := redlock.New(config, env.System(), nodes, redlock.Logged(logger, nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mutex.Close(context.Background())

	hold, err := mutex.Lock(context.Background(), "invoice-8")
	if err != nil {
		return // the log says why
	}
	defer hold.Release(context.Background())
	// Output:
	// level=INFO msg="lock granted" resource=invoice-8 ttl=10s
	// level=INFO msg="lock released" resource=invoice-8
}

package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/redlock"
)

// TryLock suits a job that only one of many programs has to do. The right reaction to an error
// depends on the error.
func ExampleMutex_TryLock() {
	mutex, done := newMutex(redlock.Defaults(10*time.Second), masters()...)
	defer done()
	for range 2 {
		hold, err := mutex.TryLock(context.Background(), "nightly-report")
		switch {
		case err == nil:
			fmt.Println("it is for me to make the report")
			defer hold.Release(context.Background())
		case errors.Is(err, redlock.ErrTaken):
			fmt.Println("somebody else makes the report")
		case errors.Is(err, redlock.ErrNoQuorum), errors.Is(err, redlock.ErrValidity):
			fmt.Println("the masters are not well, or slow; try again later:", err)
		default:
			fmt.Println("the context has ended, or the mutex is closed:", err)
		}
	}
	// Output:
	// it is for me to make the report
	// somebody else makes the report
}

// WithLock releases whatever becomes of the work. Its error tells if the lock was
// lost meanwhile.
func ExampleMutex_WithLock() {
	mutex, done := newMutex(redlock.Defaults(10*time.Second), masters()...)
	defer done()

	stock := 3
	err := mutex.WithLock(context.Background(), "stock", func(ctx context.Context) error {
		if stock == 0 {
			return errors.New("sold out")
		}
		stock--
		return ctx.Err()
	})
	fmt.Println(stock, err)
	// Output: 2 <nil>
}

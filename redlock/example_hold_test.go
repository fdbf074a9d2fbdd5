package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/redlock"
)

// A release tells whether the lock had been held to the end. If it had not,
// another may have been granted it meanwhile.
func ExampleHold_Release() {
	mutex, done := newMutex(redlock.Defaults(10*time.Second), masters()...)
	defer done()
	hold, err := mutex.Lock(context.Background(), "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}

	forget() // the masters are restarted without their keys
	switch err := hold.Release(context.Background()); {
	case err == nil:
		fmt.Println("released")
	case errors.Is(err, redlock.ErrLost):
		fmt.Println("the lock was lost: the work has to be checked")
	default:
		fmt.Println("nobody could tell; the keys expire:", err)
	}
	// Output: the lock was lost: the work has to be checked
}

// A fence is shown to the resource with every access. One that has seen a higher
// one refuses, and so a holder who was paused past its validity does no harm.
func ExampleHold_Fence() {
	config := redlock.Defaults(10 * time.Second)
	config.Fence = true
	mutex, done := newMutex(config, masters()...)
	defer done()

	seen := uint64(0) // by the resource
	write := func(fence uint64) error {
		if fence < seen {
			return errors.New("refused")
		}
		seen = fence
		return nil
	}
	var fences []uint64
	for range 2 {
		hold, err := mutex.Lock(context.Background(), "ledger")
		if err != nil {
			fmt.Println(err)
			return
		}
		fences = append(fences, hold.Fence())
		hold.Release(context.Background())
	}
	fmt.Println(write(fences[1]))
	fmt.Println(write(fences[0]), "as it comes late")
	// Output:
	// <nil>
	// refused as it comes late
}

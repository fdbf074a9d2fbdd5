package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
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

// A QuorumError tells which masters to look at.
func ExampleQuorumError() {
	mutex, done := newMutex(redlock.Defaults(10*time.Second), masters()[0], nobody, nobodyElse)
	defer done()

	_, err := mutex.TryLock(context.Background(), "invoice-9")
	fmt.Println("no quorum:", errors.Is(err, redlock.ErrNoQuorum))
	var quorum *redlock.QuorumError
	if !errors.As(err, &quorum) {
		return
	}
	for _, reply := range quorum.Replies {
		switch reply.Answer {
		case env.No:
			fmt.Println("node", reply.Node, "holds the key of somebody else")
		case env.Failed:
			fmt.Println("node", reply.Node, "refused; reply.Err says why")
		case env.Lost:
			fmt.Println("node", reply.Node, "did not answer; reply.Err says why")
		default: // env.Yes, or 0: not heard of when the others had decided
		}
	}
	// Output:
	// no quorum: true
	// node 2 refused; reply.Err says why
	// node 3 refused; reply.Err says why
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

// LockAll acquires in the order of the names, so that two transfers between the
// same accounts do not wait for each other.
func ExampleMutex_LockAll() {
	mutex, done := newMutex(redlock.Defaults(10*time.Second), masters()...)
	defer done()

	holds, err := mutex.LockAll(context.Background(), "account-9", "account-7")
	if err != nil {
		fmt.Println(err) // and none of them is held
		return
	}
	for _, hold := range holds.Each() {
		fmt.Println(hold.Resource())
	}
	fmt.Println(holds.Context().Err()) // ends when the first of them is lost
	fmt.Println(holds.Release(context.Background()))
	// Output:
	// account-7
	// account-9
	// <nil>
	// <nil>
}

package env

import (
	"context"
	"errors"
)

// Access says who touches the guarded resource.
type Access struct {
	Resource string
	Token    string // of the grant under which the client acts
	Fence    uint64 // 0: none
}

// Register is the resource that a lock guards: a register that can be read and
// written, and, beside it, a linearizable counter that hands out fences. A
// resource that checks fences refuses an access whose fence is lower than one
// it has seen; one that checks tokens refuses a write unless the last read was
// made under the same token.
type Register interface {
	// Read returns the value. The error is [ErrFenced] when the resource
	// refused; any other error leaves open what happened.
	Read(ctx context.Context, a Access) (int64, error)

	// Write stores the value. The error is [ErrFenced] when the resource
	// refused; after any other error the write may have been applied, or may
	// be later.
	Write(ctx context.Context, a Access, value int64) error

	// Fence draws the next fence of the resource, a number above all that
	// were drawn before.
	Fence(ctx context.Context, resource string) (uint64, error)
}

// ErrFenced is the error of an access that the guarded resource refused
// because it has seen another: one with a higher fence, or a read under another
// token.
var ErrFenced = errors.New("refused: the resource has seen a higher fence, or been read under another token")

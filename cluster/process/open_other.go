//go:build !linux

package process

import (
	"context"
	"errors"
	"runtime"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// World is what Open would return on Linux.
type World interface {
	Runtime(client int) env.Runtime
	Nodes(client int) env.Nodes
	Register(client int) env.Register
	Store(client int) env.Store
	Record(e history.Event)
	Reach(client int, step env.Step, k int)
	Watch(client int, clock env.Clock, resource, token string, until env.Instant)
	Unwatch(client int, token string)
	Call(ctx context.Context, client int) (calling context.Context, returned func())
	Run(ctx context.Context, main func(client int)) error
	Trace() (hash uint64, exact bool)
	Close() error
}

// Faults lists none.
func (Backend) Faults() []nemesis.Kind { return nil }

// Features lists none.
func (Backend) Features() []nemesis.Feature { return nil }

// Open fails: only on Linux can servers be made to die with their parent.
func (Backend) Open(context.Context, nemesis.Setting, uint64, history.Sink) (World, error) {
	return nil, errors.New("the process backend runs on Linux only, not on " + runtime.GOOS)
}

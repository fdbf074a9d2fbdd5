//go:build !linux

package redisserver

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
)

// Fleet is empty: servers run on Linux only.
type Fleet struct{}

// Server is empty, too.
type Server struct{}

// OpenFleet fails: servers can be made to die with their parent on Linux only.
func OpenFleet(context.Context, Options) (*Fleet, error) {
	return nil, errors.New("the process backend runs on Linux only, not on " + runtime.GOOS)
}

func (*Fleet) Len() int                                    { return 0 }
func (*Fleet) Servers() []*Server                          { return nil }
func (*Fleet) Server(int) *Server                          { return nil }
func (*Fleet) Died() <-chan error                          { return nil }
func (*Fleet) Close() error                                { return nil }
func (*Server) Addr() string                               { return "" }
func (*Server) Kill()                                      {}
func (*Server) Quit()                                      {}
func (*Server) Synced() int64                              { return 0 }
func (*Server) SyncFrom(time.Duration)                     {}
func (*Server) Restore(time.Duration) error                { return nil }
func (*Server) LosePower(aof.Loss) error                   { return nil }
func (*Server) Rewind(context.Context, time.Time) error    { return nil }
func (*Server) Stop() error                                { return nil }
func (*Server) Continue() error                            { return nil }
func (*Server) Do(context.Context, ...string) (any, error) { return nil, nil }
func (*Server) SetClock(time.Duration, int64) error        { return nil }
func (*Server) Start(context.Context) error                { return nil }
func (*Server) Refuse(context.Context) error               { return nil }

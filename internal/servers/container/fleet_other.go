//go:build !linux

package container

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
)

// Fleet is empty: containers are supported on Linux only.
type Fleet struct{}

// Server is empty, too.
type Server struct{}

// OpenFleet fails: ports stay reserved, and containers are removed after a crash of this
// program, on Linux only.
func OpenFleet(context.Context, Options) (*Fleet, error) {
	return nil, errors.New("the container backend runs on Linux only, not on " + runtime.GOOS)
}

// Versions returns nothing.
func (Backend) Versions() map[string]string { return map[string]string{} }

func (*Fleet) Servers() []*Server                          { return nil }
func (*Fleet) Server(int) *Server                          { return nil }
func (*Fleet) Died() <-chan error                          { return nil }
func (*Fleet) Close() error                                { return nil }
func (*Server) Addr() string                               { return "" }
func (*Server) Kill()                                      {}
func (*Server) Quit()                                      {}
func (*Server) SyncFrom(time.Duration)                     {}
func (*Server) LosePower(aof.Loss) error                   { return nil }
func (*Server) Restore(time.Duration) error                { return nil }
func (*Server) Stop() error                                { return nil }
func (*Server) Continue() error                            { return nil }
func (*Server) Do(context.Context, ...string) (any, error) { return nil, nil }
func (*Server) SetClock(time.Duration, int64) error        { return nil }
func (*Server) Start(context.Context) error                { return nil }

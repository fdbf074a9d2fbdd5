//go:build !linux

package container

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
)

// Fleet is what OpenFleet would return on Linux.
type Fleet struct{}

// Server is one of its servers.
type Server struct{}

// OpenFleet fails: only on Linux is a port kept for a server that is down, and does a
// process see to the end.
func OpenFleet(context.Context, Options) (*Fleet, error) {
	return nil, errors.New("the container backend runs on Linux only, not on " + runtime.GOOS)
}

// Versions says what a run would be made with: nothing.
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

//go:build linux

package redisserver

import (
	"context"
	_ "embed" // the script
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/preflight"
)

//go:embed kill.sh
var killScript string

// Fleet is a number of servers with one directory.
type Fleet struct {
	options Options
	reaper  *child.Reaper
	preload string    // what lets the servers have clocks of their own
	servers []*Server // by node, from 0
	died    chan error

	forker *child.Forker

	watch *aof.Watch // of their files

	closing sync.Once
	err     error
}

// OpenFleet starts the servers and returns when all of them answer. After an error
// nothing is left of them.
func OpenFleet(ctx context.Context, o Options) (*Fleet, error) {
	binary, err := FindServer(o.Binary)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(ctx, binary, o); err != nil {
		return nil, err
	}
	o.Binary = binary
	preload := ""
	if o.Clocks {
		if preload, err = FindFakeTime(); err != nil {
			return nil, err
		}
	}
	reaper, err := child.StartReaper(killScript)
	if err != nil {
		return nil, err
	}
	f := &Fleet{options: o, reaper: reaper, preload: preload, forker: child.NewForker(), died: make(chan error, 1), watch: aof.NewWatch()}
	if err := f.start(ctx); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (f *Fleet) start(ctx context.Context) error {
	var files []*aof.File
	for node := 1; node <= f.options.Nodes; node++ {
		port, err := ReservePort()
		if err != nil {
			return err
		}
		dir := filepath.Join(f.reaper.Dir(), fmt.Sprintf("node-%d", node))
		s := &Server{fleet: f, port: port, dir: dir, file: aof.In(dir)}
		f.servers, files = append(f.servers, s), append(files, s.file)
		if err := os.Mkdir(s.dir, 0o700); err != nil {
			return err
		}
		if f.options.Clocks {
			s.clock = NewFakeClock(s.clockFile())
		}
	}
	if err := f.each(func(s *Server) error { return s.Start(ctx) }); err != nil {
		return err
	}
	if f.options.Journal {
		f.watch.Journal(files)
	}
	return nil
}

// each does something to all servers at once and returns the first of the errors, when
// all is done.
func (f *Fleet) each(do func(*Server) error) error {
	var all errgroup.Group
	for _, s := range f.servers {
		all.Go(func() error { return do(s) })
	}
	return all.Wait()
}

// launch starts a server's process, with options beside its own. died is called if it dies
// and we did not kill it.
func (f *Fleet) launch(s *Server, died func(error), options ...string) (*process, error) {
	cmd := exec.Command(f.options.Binary, append(s.args(), options...)...)
	cmd.Dir = s.dir
	if s.clock != nil {
		cmd.Env = append(os.Environ(), FakeTimeEnv(f.preload, s.clockFile())...)
	}
	return launch(f.forker, cmd, s.Addr(), died)
}

// report tells of a server that died of itself; the first one is enough.
func (f *Fleet) report(death error) {
	select {
	case f.died <- death:
	default:
	}
}

// Len is the number of servers.
func (f *Fleet) Len() int { return len(f.servers) }

// Servers are the servers of all nodes, in their order.
func (f *Fleet) Servers() []*Server { return f.servers }

// Server is the server of a node, from 1.
func (f *Fleet) Server(node int) *Server { return f.servers[node-1] }

// Died delivers an error when a server has died that nobody killed through
// [Server.Kill]. The error has the end of its log.
func (f *Fleet) Died() <-chan error { return f.died }

// Close kills all servers and removes what they have written. Nobody may use
// them any more. A second Close does nothing and returns the same error.
func (f *Fleet) Close() error {
	f.closing.Do(func() {
		f.watch.Close()
		_ = f.each(func(s *Server) error { s.Kill(); s.port.Free(); return nil })
		f.forker.Close()
		f.err = f.reaper.Close()
	})
	return f.err
}

// checkVersion refuses a redis-server that is too old, before it is started. One that does
// not tell its version shows at its start what it is.
func checkVersion(ctx context.Context, binary string, o Options) error {
	told := ServerVersion(ctx, binary)
	v, err := preflight.ParseVersion(told)
	if err != nil {
		return nil
	}
	least, why := preflight.LeastVersion, "to be a node of a lock"
	if o.EverySecond || o.Journal || o.Torn {
		least, why = aof.LeastVersion, "to be given back what was on its disk at a time before"
	}
	if v.Before(least) {
		return fmt.Errorf("%s is Redis %s, which is too old %s: %v is the least", binary, told, why, least)
	}
	return nil
}

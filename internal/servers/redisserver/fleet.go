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

// Fleet is a number of servers below one directory.
type Fleet struct {
	options Options
	reaper  *child.Reaper
	preload string    // see FindFakeTime; empty without Options.Clocks
	servers []*Server // by node, from 0
	died    chan error

	forker *child.Forker

	watch *aof.Watch // of their files

	closing sync.Once
	err     error
}

// OpenFleet starts the servers and returns when all of them answer. If it returns an error,
// it has left nothing behind.
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

// each calls do for all servers at once. When all calls have returned, it returns the first
// error.
func (f *Fleet) each(do func(*Server) error) error {
	var all errgroup.Group
	for _, s := range f.servers {
		all.Go(func() error { return do(s) })
	}
	return all.Wait()
}

// launch starts a server's process with additional options. died is called if the process
// dies and was not killed by us.
func (f *Fleet) launch(s *Server, died func(error), options ...string) (*process, error) {
	cmd := exec.Command(f.options.Binary, append(s.args(), options...)...)
	cmd.Dir = s.dir
	if s.clock != nil {
		cmd.Env = append(os.Environ(), FakeTimeEnv(f.preload, s.clockFile())...)
	}
	return launch(f.forker, cmd, s.Addr(), died)
}

// report records the death of a server that nobody killed. Only the first one counts.
func (f *Fleet) report(death error) {
	select {
	case f.died <- death:
	default:
	}
}

// Len returns the number of servers.
func (f *Fleet) Len() int { return len(f.servers) }

// Servers returns the servers by node.
func (f *Fleet) Servers() []*Server { return f.servers }

// Server returns the server of a node, numbered from 1.
func (f *Fleet) Server(node int) *Server { return f.servers[node-1] }

// Died delivers an error when a server has died without [Server.Kill] or another call that
// ends it. The error contains the end of the server's log.
func (f *Fleet) Died() <-chan error { return f.died }

// Close kills all servers and removes their files. Nobody may use them afterwards. A second
// Close returns the same error.
func (f *Fleet) Close() error {
	f.closing.Do(func() {
		f.watch.Close()
		_ = f.each(func(s *Server) error { s.Kill(); s.port.Free(); return nil })
		f.forker.Close()
		f.err = f.reaper.Close()
	})
	return f.err
}

// checkVersion returns an error if a redis-server binary is too old. A binary that prints
// no version passes; starting it shows what it is.
func checkVersion(ctx context.Context, binary string, o Options) error {
	version := ServerVersion(ctx, binary)
	v, err := preflight.ParseVersion(version)
	if err != nil {
		return nil
	}
	least, why := preflight.LeastVersion, "to be a node of a lock"
	if o.EverySecond || o.Journal || o.Torn {
		least, why = preflight.Version{Major: aof.LeastMajor}, "to be restored to an earlier state of its disk"
	}
	if v.Before(least) {
		return fmt.Errorf("%s is Redis %s, which is too old %s: at least %v is needed", binary, version, why, least)
	}
	return nil
}

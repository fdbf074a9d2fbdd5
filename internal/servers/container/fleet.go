package container

import (
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

//go:embed remove.sh
var removeScript string

// closeTimeout bounds how long it may take to remove all containers.
const closeTimeout = time.Minute

// Fleet is a number of servers, each in its own container.
type Fleet struct {
	options Options
	image   string
	preload string // libfaketime in the image; empty without Options.Clocks
	engine  *engine
	reaper  *child.Reaper
	servers []*Server // by node, from 0
	died    chan error

	user  string     // the user to run servers as; empty: the image's
	watch *aof.Watch // of their files

	closing sync.Once
	err     error
}

// OpenFleet starts the servers and returns when all of them answer. If it returns an error,
// it has left nothing behind.
func OpenFleet(ctx context.Context, o Options) (*Fleet, error) {
	f := &Fleet{options: o, died: make(chan error, 1), watch: aof.NewWatch()}
	var err error
	if o.Clocks {
		if f.preload, err = redisserver.FindFakeTime(); err != nil {
			return nil, err
		}
	}
	if f.engine, err = connect(ctx); err != nil {
		return nil, err
	}
	if f.user, err = f.engine.userFor(ctx, o); err != nil {
		return nil, err
	}
	f.image = o.Image
	if o.Image == "" {
		f.image, err = f.engine.ownImage(ctx)
	} else {
		err = f.engine.ensureImage(ctx, o.Image)
	}
	if err != nil {
		return nil, err
	}
	if f.reaper, err = child.StartReaper(removeScript, f.engine.socket); err != nil {
		return nil, err
	}
	if err := f.start(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Fleet) start(ctx context.Context) error {
	for node := 1; node <= f.options.Nodes; node++ {
		s, err := f.server(node)
		if err != nil {
			return err
		}
		f.servers = append(f.servers, s)
		if err := s.makeDirs(); err != nil {
			return err
		}
	}
	err := f.each(func(s *Server) error {
		if err := s.create(ctx); err != nil {
			return err
		}
		if err := s.Start(ctx); err != nil {
			return err
		}
		return s.check(ctx)
	})
	if err == nil && f.options.Journal {
		var files []*aof.File
		for _, s := range f.servers {
			files = append(files, s.file)
		}
		f.watch.Journal(files)
	}
	return err
}

// server returns a server with a reserved port. Its container does not exist yet.
func (f *Fleet) server(node int) (*Server, error) {
	port, err := child.ReservePort()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("node-%d", node)
	dir := filepath.Join(f.reaper.Dir(), name)
	return &Server{
		fleet: f, port: port, dir: dir, name: filepath.Base(f.reaper.Dir()) + "-" + name,
		linked: slices.Contains(f.options.Linked, node),
		file:   aof.In(filepath.Join(dir, dataDir)),
	}, nil
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

// report records the end of a server that nobody ended. Only the first one counts.
func (f *Fleet) report(death error) {
	select {
	case f.died <- death:
	default:
	}
}

// Servers returns the servers by node.
func (f *Fleet) Servers() []*Server { return f.servers }

// Server returns the server of a node, numbered from 1.
func (f *Fleet) Server(node int) *Server { return f.servers[node-1] }

// Died delivers an error when a container has ended and nobody ended it through its
// [Server]. The error contains the end of its log.
func (f *Fleet) Died() <-chan error { return f.died }

// Close removes all containers and their files. Nobody may use them afterwards. A second
// Close returns the same error.
func (f *Fleet) Close() error {
	f.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		f.watch.Close()
		err := f.each(func(s *Server) error { return s.remove(ctx) })
		f.err = errors.Join(err, f.reaper.Close())
	})
	return f.err
}

package child

import (
	"context"
	_ "embed" // the script
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"
)

//go:embed kill.sh
var killScript string

// Group is a number of servers below one directory. None of them, and none of their files,
// outlives this program: see package child.
type Group struct {
	reaper  *Reaper
	forker  *Forker
	daemons []*Daemon
	died    chan error

	closing sync.Once
	err     error
}

// NewGroup returns a group without servers. It has to be closed.
func NewGroup() (*Group, error) {
	reaper, err := StartReaper(killScript)
	if err != nil {
		return nil, err
	}
	return &Group{reaper: reaper, forker: NewForker(), died: make(chan error, 1)}, nil
}

// Dir returns the directory of the group.
func (g *Group) Dir() string { return g.reaper.Dir() }

// ReaperPid returns the process id of the reaper.
func (g *Group) ReaperPid() int { return g.reaper.Pid() }

// Add adds a server, which has a directory of that name, and reserves a number of ports for
// it. It does not start it.
func (g *Group) Add(name string, ports int) (*Daemon, error) {
	d := &Daemon{group: g, Dir: filepath.Join(g.Dir(), name)}
	g.daemons = append(g.daemons, d)
	for range ports {
		p, err := ReservePort()
		if err != nil {
			return nil, err
		}
		d.Ports = append(d.Ports, p)
	}
	return d, os.Mkdir(d.Dir, 0o700)
}

// Start starts all servers at once. It returns when all of them serve, or the first error
// when every start has ended.
func (g *Group) Start(ctx context.Context) error {
	var all errgroup.Group
	for _, d := range g.daemons {
		all.Go(func() error { return d.Start(ctx) })
	}
	return all.Wait()
}

// Report records the death of a server that nobody killed, or another reason why it does
// not serve. Only the first one counts.
func (g *Group) Report(death error) {
	select {
	case g.died <- death:
	default:
	}
}

// Died delivers an error when a server has died and nobody ended it. The error contains the
// end of the server's log.
func (g *Group) Died() <-chan error { return g.died }

// Close kills all servers and removes their files. Nobody may use them afterwards. A second
// Close returns the same error.
func (g *Group) Close() error {
	g.closing.Do(func() {
		var all sync.WaitGroup
		for _, d := range g.daemons {
			all.Go(func() {
				d.Kill()
				for _, p := range d.Ports {
					p.Free()
				}
			})
		}
		all.Wait()
		g.forker.Close()
		g.err = g.reaper.Close()
	})
	return g.err
}

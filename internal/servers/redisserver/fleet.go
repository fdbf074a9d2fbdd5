package redisserver

import (
	"context"
	"fmt"

	"golang.org/x/mod/semver"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/child"
)

// Fleet is a number of servers below one directory.
type Fleet struct {
	options Options
	group   *child.Group
	preload string     // see FindFakeTime; empty without Options.Clocks
	servers []*Server  // by node, from 0
	watch   *aof.Watch // of their files
}

// OpenFleet starts the servers and returns when all of them answer. If it returns an error,
// it has left nothing behind.
func OpenFleet(ctx context.Context, o Options) (*Fleet, error) {
	binary, err := FindServer(o.Binary)
	if err != nil {
		return nil, err
	}
	if err := CheckVersion(ServerVersion(ctx, binary), o.EverySecond || o.Journal || o.Torn); err != nil {
		return nil, fmt.Errorf("%s is %w", binary, err)
	}
	o.Binary = binary
	preload := ""
	if o.Clocks {
		if preload, err = FindFakeTime(); err != nil {
			return nil, err
		}
	}
	group, err := child.NewGroup()
	if err != nil {
		return nil, err
	}
	f := &Fleet{options: o, group: group, preload: preload, watch: aof.NewWatch()}
	if err := f.start(ctx); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (f *Fleet) start(ctx context.Context) error {
	var files []*aof.File
	for node := 1; node <= f.options.Nodes; node++ {
		s, err := f.newServer(node)
		if err != nil {
			return err
		}
		f.servers, files = append(f.servers, s), append(files, s.file)
	}
	if err := f.group.Start(ctx); err != nil {
		return err
	}
	if f.options.Journal {
		f.watch.Journal(files)
	}
	return nil
}

// Len returns the number of servers.
func (f *Fleet) Len() int { return len(f.servers) }

// Servers returns the servers by node.
func (f *Fleet) Servers() []*Server { return f.servers }

// Server returns the server of a node, numbered from 1.
func (f *Fleet) Server(node int) *Server { return f.servers[node-1] }

// Died delivers an error when a server has died without [Server.Kill] or another call that
// ends it. The error contains the end of the server's log.
func (f *Fleet) Died() <-chan error { return f.group.Died() }

// Close kills all servers and removes their files. Nobody may use them afterwards. A second
// Close returns the same error.
func (f *Fleet) Close() error {
	f.watch.Close()
	return f.group.Close()
}

// OldestVersion is the oldest Redis that a lock can use: HELLO came with 6.0. [aof.OldestVersion] is
// the oldest one whose disk can be restored to an earlier state.
const OldestVersion = "6.0"

// CheckVersion returns an error if a version of Redis, such as "7.0.15", is too old: for a lock, or with
// restored, to be restored to an earlier state of its disk. What is no version passes: starting the
// server shows what it is.
func CheckVersion(version string, restored bool) error {
	oldest, why := OldestVersion, "to be a node of a lock"
	if restored {
		oldest, why = aof.OldestVersion, "to be restored to an earlier state of its disk"
	}
	if semver.IsValid("v"+version) && semver.Compare("v"+version, "v"+oldest) < 0 {
		return fmt.Errorf("of Redis %s, which is too old %s: at least %s is needed", version, why, oldest)
	}
	return nil
}

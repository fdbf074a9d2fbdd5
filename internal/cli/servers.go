//go:build !simulated

package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/address"
	"github.com/lockstorm/lockstorm/internal/servers/container"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/process"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servers/stores"
	"github.com/lockstorm/lockstorm/nemesis"
)

// serverCommands are the commands that talk to servers only. The libraries for that take most of the
// time of a build, so go build -tags simulated leaves them out.
func serverCommands() []*cobra.Command {
	return []*cobra.Command{newTest()}
}

// serverBackends are the backends of real servers.
var serverBackends = []backendKind{
	{
		what:    "real servers on this machine, behind proxies in this process: redis-server, or the store of the lock",
		Backend: processes(process.Backend{}, ""),
		flags:   processFlags,
		linux:   true,
	},
	{
		what:    "real redis-servers in Docker containers on this machine, behind the same proxies",
		Backend: contained(container.Backend{}),
		flags:   containerFlags,
		linux:   true,
	},
	{
		what:    "your own Redis servers (--redis), behind the same proxies; only faults of messages and clients",
		Backend: addressed(address.Backend{}),
		flags:   addrFlags,
	},
}

// absentBackends are the backends that were left out of this program.
var absentBackends []string

// processFlags declares the flags of the backend with processes of this machine.
func processFlags(set *pflag.FlagSet) func() (runner.Backend, error) {
	var b process.Backend
	set.StringVar(&b.Binary, "redis-server", "", "path of another server than the redis-server in PATH, such as valkey-server")
	var etcd string
	set.StringVar(&etcd, "etcd", "", "path of another etcd than the one in PATH, such as ./etcd (make etcd)")
	return func() (runner.Backend, error) { return processes(b, etcd), nil }
}

// processes returns the backend with processes of this machine in the form of the runner.
func processes(b process.Backend, etcd string) runner.Backend {
	programs := stores.Programs{Redis: b.Binary, Etcd: etcd}
	watching := b
	watching.WatchKeys = true
	return runner.Backend{
		Ability: ability(b), Idle: true, Keys: true, Watched: true,
		Open: runner.Opener(watching.Open), Unwatched: runner.Opener(b.Open),
		InStore:  func(product string) (runner.Backend, bool) { return inStore(product, programs) },
		Versions: func() map[string]string { return ofServer(cmp.Or(b.Binary, localServer)) },
	}
}

// inStore returns the backend with servers of a store's product. They keep the cores busier
// than Redis does, so it is not idle.
func inStore(product string, programs stores.Programs) (runner.Backend, bool) {
	p, ok := stores.Named(product)
	if !ok {
		return runner.Backend{}, false
	}
	p = p.With(programs)
	return runner.Backend{Ability: ability(p), Product: product, Floor: p.Floor, Keys: p.Watched, Watched: p.Watched, Open: runner.Opener(p.Open), Versions: func() map[string]string {
		return map[string]string{product: cmp.Or(p.Version(context.Background()), "(unknown)")}
	}}, true
}

// ability is the interface of the backends of real servers.
func ability(b interface {
	Name() string
	Faults() []nemesis.Kind
	Features() []nemesis.Feature
}) nemesis.Ability {
	return nemesis.Ability{Name: b.Name(), Kinds: b.Faults(), Features: b.Features()}
}

// containerFlags declares the flags that select the image of the containers.
func containerFlags(set *pflag.FlagSet) func() (runner.Backend, error) {
	var b container.Backend
	set.StringVar(&b.Image, "redis-image", "", "image with redis-server in its PATH, such as redis:7 (default: an image built from the local redis-server)")
	set.StringVar(&b.Preload, "redis-preload", "", "libraries in that image that redis-server preloads for a clock of its own: the paths of libfaketime.so.1:libc.so.6 (default: none; clocks of nodes cannot be set)")
	return func() (runner.Backend, error) {
		if b.Preload != "" && b.Image == "" {
			return runner.Backend{}, errors.New("--redis-preload needs --redis-image")
		}
		return contained(b), nil
	}
}

// contained returns the container backend in the form of the runner.
func contained(b container.Backend) runner.Backend {
	watching := b
	watching.WatchKeys = true
	// A busy engine takes a second to restart a container, and then a node is not back as soon as a plan says.
	return runner.Backend{Ability: ability(b), Alone: true, Keys: true, Watched: true, Open: runner.Opener(watching.Open), Unwatched: runner.Opener(b.Open), Versions: func() map[string]string {
		v := b.Versions()
		if b.Image == "" {
			maps.Copy(v, ofServer(localServer))
		}
		return v
	}}
}

// beClient runs a client if this process was started as one, and then never returns. Otherwise it
// does nothing.
func beClient() {
	redis.SetLogger(quiet{})
	live.BeClient(stores.Clients(), func(world *live.Remote, brief []byte) (func(), error) {
		return runner.ClientMain(world, world.Number(), brief)
	})
}

// quiet keeps go-redis from writing to stderr. Broken connections are part of the experiments.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// localServer is the server in PATH.
const localServer = "redis-server"

// ofServer returns the version of a redis-server, by the name of its file.
func ofServer(binary string) map[string]string {
	return map[string]string{filepath.Base(binary): cmp.Or(redisserver.ServerVersion(context.Background(), binary), "(unknown)")}
}

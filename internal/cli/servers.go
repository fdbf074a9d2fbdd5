package cli

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/container"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/process"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/redis/go-redis/v9"
)

// serverBackends are the backends of real servers.
var serverBackends = []backendKind{
	{
		what:     "real servers on this machine, behind proxies in this process; process:SERVER runs another redis-server than the one in PATH, such as valkey-server",
		argument: "SERVER",
		Backend:  processes(""),
		with:     processes,
		linux:    true,
	},
	{
		what:     "real redis-servers in Docker containers on this machine, behind the same proxies; container:IMAGE runs that image, such as redis:7, where clocks of nodes cannot be set",
		argument: "IMAGE",
		Backend:  contained(""),
		with:     contained,
		linux:    true,
	},
}

// processes returns the backend with processes of this machine in the form of the runner. They run a
// redis-server of that path; empty: the one in PATH.
func processes(binary string) runner.Backend {
	b := process.Backend{Binary: binary}
	watching := b
	watching.WatchKeys = true
	return runner.Backend{
		Ability: ability(b), Idle: true, Keys: true, Watched: true,
		Open: runner.Opener(watching.Open), Unwatched: runner.Opener(b.Open),
		InStore:  func(product string) (runner.Backend, bool) { return inStore(product, binary) },
		Versions: func() map[string]string { return ofServer(cmp.Or(binary, localServer)) },
	}
}

// stores are the replicated stores whose servers this program runs: see [Main].
var stores []*live.StoreServers

// inStore returns the backend with servers of a store's product, with another redis-server if the
// path is not empty. They keep the cores busier than Redis does, so it is not idle.
func inStore(product, redisServer string) (runner.Backend, bool) {
	i := slices.IndexFunc(stores, func(s *live.StoreServers) bool { return s.Product == product })
	if i < 0 {
		return runner.Backend{}, false
	}
	s := stores[i]
	if redisServer != "" && s.WithRedis != nil {
		s = s.WithRedis(redisServer)
	}
	return runner.Backend{Ability: ability(s), Product: product, Keys: s.Watched, Watched: s.Watched, Open: runner.Opener(s.Open), Versions: func() map[string]string {
		return map[string]string{product: cmp.Or(s.Version(context.Background()), "(unknown)")}
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

// contained returns the container backend in the form of the runner. An image is built if it is empty.
func contained(image string) runner.Backend {
	b := container.Backend{Image: image}
	watching := b
	watching.WatchKeys = true
	// A busy engine takes a second to restart a container, and then a node is not back as soon as a plan says.
	return runner.Backend{Ability: ability(b), Alone: true, Keys: true, Watched: true, Open: runner.Opener(watching.Open), Unwatched: runner.Opener(b.Open), Versions: func() map[string]string {
		v := b.Versions()
		if image == "" {
			maps.Copy(v, ofServer(localServer))
		}
		return v
	}}
}

// beClient runs a client if this process was started as one, and then never returns. Otherwise it
// does nothing.
func beClient() {
	redis.SetLogger(quiet{})
	var clients []live.Store
	for _, s := range stores {
		clients = append(clients, s.Clients...)
	}
	live.BeClient(clients, func(world *live.Remote, brief []byte) (func(), error) {
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

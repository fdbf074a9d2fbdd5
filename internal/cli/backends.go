package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/servers/container"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/process"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/scenarios"
)

// backendKind is a backend that --backend can select.
type backendKind struct {
	what string

	// Backend is the backend without an argument.
	runner.Backend

	linux bool // it needs Linux

	// with makes the backend with an argument: --backend NAME:ARGUMENT. nil: it has none.
	with     func(argument string) runner.Backend
	argument string // what that is, in capitals
}

// backends lists the backends; the first is the default.
var backends = append([]backendKind{{
	what:    "virtual time in this process; the same seed gives the same run",
	Backend: simulated.Backend(),
}}, serverBackends...)

func backendNames() string {
	list := make([]string, len(backends))
	for i, b := range backends {
		list[i] = b.Name
		if b.with != nil {
			list[i] += "[:" + b.argument + "]"
		}
	}
	return strings.Join(list, ", ")
}

// findBackend returns the backend NAME or NAME:ARGUMENT.
func findBackend(text string) (backendKind, error) {
	name, argument, given := strings.Cut(text, ":")
	for _, b := range backends {
		switch {
		case b.Name != name:
			continue
		case given && (b.with == nil || argument == ""):
			return b, fmt.Errorf("unknown backend %q: want %s", text, backendNames())
		case given:
			b.Backend = b.with(argument)
		}
		return b, nil
	}
	return backendKind{}, fmt.Errorf("unknown backend %q: want %s", text, backendNames())
}

// backendChoice is the flags that select and configure a backend.
type backendChoice struct {
	set     *pflag.FlagSet
	name    *string
	clients *string
}

func backendFlags(cmd *cobra.Command) *backendChoice {
	return &backendChoice{
		set:     cmd.Flags(),
		name:    cmd.Flags().String("backend", backends[0].Name, "where to run: "+backendNames()),
		clients: clientsFlag(cmd.Flags()),
	}
}

// backend returns the selected backend.
func (c *backendChoice) backend() (runner.Backend, error) {
	b, err := findBackend(*c.name)
	if err == nil {
		err = supported("--backend "+b.Name, b.linux)
	}
	if err != nil {
		return runner.Backend{}, err
	}
	return withClients(b.Backend, *c.clients)
}

// able returns the selected backend for a caller that only needs its abilities: it need not run on
// this system.
func (c *backendChoice) able() (runner.Backend, error) {
	b, err := findBackend(*c.name)
	if err != nil {
		return runner.Backend{}, err
	}
	return withClients(b.Backend, *c.clients)
}

// words returns the given flags that select the backend.
func (c *backendChoice) words() []string {
	return givenWords(c.set, func(name string) bool { return name == "backend" || name == "clients" })
}

// prepareOn prepares a scenario. If the backend cannot run it, the error names backends that can.
func prepareOn(b runner.Backend, s scenarios.Scenario) (runner.Experiment, error) {
	e, err := runner.Prepare(b, s)
	var unfit *runner.UnfitError
	if errors.As(err, &unfit) {
		err = &runner.UnfitError{Path: unfit.Path, Reason: fmt.Errorf("%w (%s)", unfit.Reason, whoCan(b.Name, s))}
	}
	return e, err
}

// whoCan names the backends that can run a scenario that the selected one cannot.
func whoCan(unable string, s scenarios.Scenario) string {
	var able []string
	for _, b := range backends {
		if _, err := runner.Prepare(b.Backend, s); err != nil {
			continue
		}
		if b.Name == unable {
			able = append(able, b.Name+" without :"+b.argument)
			continue
		}
		able = append(able, b.Name)
	}
	if len(able) == 0 {
		return "no backend can"
	}
	return "who can: " + strings.Join(able, ", ")
}

// The kinds of clients on real servers.
const (
	asGoroutines = "goroutines"
	asProcesses  = "processes"
)

// whatClientsAre describes the kinds; the first is the default.
var whatClientsAre = []struct{ name, what string }{
	{asGoroutines, "goroutines of this process: one that is paused stands still from its next call on"},
	{asProcesses, "processes of their own: a pause is SIGSTOP, a kill SIGKILL"},
}

func clientsFlag(set *pflag.FlagSet) *string {
	return set.String("clients", whatClientsAre[0].name, "clients on real servers: "+asGoroutines+", or "+asProcesses+" that are paused by SIGSTOP and killed by SIGKILL")
}

// withClients returns the backend with clients of that kind.
func withClients(b runner.Backend, what string) (runner.Backend, error) {
	switch {
	case what == asGoroutines:
		return b, nil
	case what != asProcesses:
		return b, fmt.Errorf("--clients %s: want %s or %s", what, asGoroutines, asProcesses)
	case b.Exact:
		return b, fmt.Errorf("--clients %s needs real servers, not --backend %s", asProcesses, b.Name)
	}
	b.ClientProcesses = true
	return b, supported("--clients "+asProcesses, true)
}

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
	b := process.Backend{Binary: binary, WatchKeys: true}
	external := b
	external.External = true
	return runner.Backend{
		Ability: b.Ability(), Idle: true, Keys: true, Watched: true,
		Open: runner.Opener(b.Open), OpenExternal: runner.Opener(external.Open),
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
	return runner.Backend{Ability: s.Ability(), Product: product, Keys: s.Watched, Watched: s.Watched, Open: runner.Opener(s.Open), Versions: func() map[string]string {
		return map[string]string{product: cmp.Or(s.Version(context.Background()), "(unknown)")}
	}}, true
}

// contained returns the container backend in the form of the runner. An image is built if it is empty.
func contained(image string) runner.Backend {
	b := container.Backend{Image: image, WatchKeys: true}
	// A busy engine takes a second to restart a container, and then a node is not back as soon as a plan says.
	return runner.Backend{Ability: b.Ability(), Alone: true, Keys: true, Watched: true, Open: runner.Opener(b.Open), Versions: func() map[string]string {
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

// supported returns an error if what the user chose needs Linux and this is another system.
func supported(choice string, needsLinux bool) error {
	return supportedOn(runtime.GOOS, choice, needsLinux)
}

func supportedOn(system, choice string, needsLinux bool) error {
	if !needsLinux || system == "linux" {
		return nil
	}
	return fmt.Errorf("%s: needs Linux, not %s (the image ghcr.io/lockstorm/lockstorm:servers has all it needs; --backend sim runs everywhere)", choice, system)
}

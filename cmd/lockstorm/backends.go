package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/servers/address"
	"github.com/lockstorm/lockstorm/internal/servers/container"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/process"
	"github.com/lockstorm/lockstorm/internal/servers/stores"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// backendKind is a backend that --backend can select.
type backendKind struct {
	what string

	// Backend is the backend without its own flags.
	runner.Backend

	// flags declares the flags of this backend, and returns a function that makes the backend
	// from them. nil means that it has none.
	flags func(*pflag.FlagSet) func() (runner.Backend, error)
}

// unreadyError is the reason why a backend cannot be opened yet. Its abilities are known.
type unreadyError struct {
	runner.Backend
	why error
}

func (e *unreadyError) Error() string { return e.why.Error() }
func (e *unreadyError) Unwrap() error { return e.why }

// backends lists the backends; the first is the default.
var backends = []backendKind{
	{
		what:    "virtual time in this process; the same seed gives the same run",
		Backend: simulated.Backend(),
	},
	{
		what:    "real servers on this machine, behind proxies in this process: redis-server, or the store of the lock",
		Backend: processes(process.Backend{}, ""),
		flags:   processFlags,
	},
	{
		what:    "real redis-servers in Docker containers on this machine, behind the same proxies",
		Backend: contained(container.Backend{}),
		flags:   containerFlags,
	},
	{
		what:    "your own Redis servers (--redis), behind the same proxies; only faults of messages and clients",
		Backend: addressed(address.Backend{}),
		flags:   addrFlags,
	},
}

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

func backendNames() string {
	list := make([]string, len(backends))
	for i, b := range backends {
		list[i] = b.Name
	}
	return strings.Join(list, ", ")
}

func findBackend(name string) (backendKind, error) {
	for _, b := range backends {
		if b.Name == name {
			return b, nil
		}
	}
	return backendKind{}, fmt.Errorf("unknown backend %q: want %s", name, backendNames())
}

// backendChoice is the flags that select and configure a backend.
type backendChoice struct {
	set     *pflag.FlagSet
	name    *string
	clients *string
	own     map[string][]string                       // the flags of a backend, by its name
	made    map[string]func() (runner.Backend, error) // what makes it of them
}

func backendFlags(cmd *cobra.Command) *backendChoice {
	c := &backendChoice{
		set:     cmd.Flags(),
		name:    cmd.Flags().String("backend", backends[0].Name, "where to run: "+backendNames()),
		clients: clientsFlag(cmd.Flags()),
		own:     map[string][]string{},
		made:    map[string]func() (runner.Backend, error){},
	}
	for _, b := range backends {
		if b.flags == nil {
			continue
		}
		own := pflag.NewFlagSet(b.Name, pflag.ContinueOnError)
		c.made[b.Name] = b.flags(own)
		own.VisitAll(func(f *pflag.Flag) {
			f.Usage = "with --backend " + b.Name + ": " + f.Usage
			c.own[b.Name] = append(c.own[b.Name], f.Name)
		})
		cmd.Flags().AddFlagSet(own)
	}
	return c
}

// backend returns the selected backend.
func (c *backendChoice) backend() (runner.Backend, error) {
	b, err := findBackend(*c.name)
	if err != nil {
		return runner.Backend{}, err
	}
	for _, other := range backends {
		for _, flag := range c.own[other.Name] {
			if other.Name != b.Name && c.set.Changed(flag) {
				return runner.Backend{}, fmt.Errorf("--%s needs --backend %s, not %s", flag, other.Name, b.Name)
			}
		}
	}
	if made := c.made[b.Name]; made != nil {
		if b.Backend, err = made(); err != nil {
			return runner.Backend{}, err
		}
	}
	return withClients(b.Backend, *c.clients)
}

// able returns the selected backend for a caller that only needs its abilities: it need not be
// ready to open a world.
func (c *backendChoice) able() (runner.Backend, error) {
	b, err := c.backend()
	var unready *unreadyError
	if errors.As(err, &unready) {
		return unready.Backend, nil
	}
	return b, err
}

// words returns the flags that select the backend, without defaults.
func (c *backendChoice) words() string {
	if *c.name == backends[0].Name {
		return ""
	}
	text := " --backend " + *c.name
	if *c.clients != whatClientsAre[0].name {
		text += " --clients " + *c.clients
	}
	c.set.Visit(func(f *pflag.Flag) {
		if !slices.Contains(c.own[*c.name], f.Name) {
			return
		}
		text += " --" + f.Name
		if f.Value.Type() != "bool" {
			text += " " + textfmt.Quoted(strings.Trim(f.Value.String(), "[]"))
		}
	})
	return text
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
			able = append(able, b.Name+" with other flags")
			continue
		}
		able = append(able, b.Name)
	}
	if len(able) == 0 {
		return "no backend can"
	}
	return "who can: " + strings.Join(able, ", ")
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

// beClient runs a client if this process was started as one, and then never returns. Otherwise it
// does nothing.
func beClient() {
	redis.SetLogger(quiet{})
	live.BeClient(stores.Clients(), func(world *live.Remote, brief []byte) (func(), error) {
		return runner.ClientMain(world, world.Number(), brief)
	})
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
	return b, nil
}

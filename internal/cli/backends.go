package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

// backendKind is a backend that --backend can select.
type backendKind struct {
	what string

	// Backend is the backend without its own flags.
	runner.Backend

	linux bool // it needs Linux

	// flags declares the flags of this backend, and returns a function that makes the backend
	// from them. nil means that it has none.
	flags func(*pflag.FlagSet) func() (runner.Backend, error)
}

// unreadyError is the reason why a backend cannot be opened here. Its abilities are known.
type unreadyError struct {
	runner.Backend
	why error
}

func (e *unreadyError) Error() string { return e.why.Error() }
func (e *unreadyError) Unwrap() error { return e.why }

// backends lists the backends; the first is the default.
var backends = append([]backendKind{{
	what:    "virtual time in this process; the same seed gives the same run",
	Backend: simulated.Backend(),
}}, serverBackends...)

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
	if slices.Contains(absentBackends, name) {
		return backendKind{}, absentError("--backend " + name)
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
	if err := supported("--backend "+b.Name, b.linux); err != nil {
		return runner.Backend{}, &unreadyError{b.Backend, err}
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

// words returns the given flags that select the backend.
func (c *backendChoice) words() []string {
	return givenWords(c.set, func(name string) bool {
		return name == "backend" || name == "clients" || slices.Contains(c.own[*c.name], name)
	})
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

// absentError is the error of something that was left out of this program when it was built.
type absentError string

func (e absentError) Error() string {
	return fmt.Sprintf("%s is not in this lockstorm, which was built with -tags simulated: build it without", string(e))
}

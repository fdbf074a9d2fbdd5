package main

import (
	"fmt"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// What clients are on real servers.
const (
	asGoroutines = "goroutines"
	asProcesses  = "processes"
)

// whatClientsAre says what that means; the first is the default.
var whatClientsAre = []struct{ name, what string }{
	{asGoroutines, "goroutines of this process: one that is paused stands still from its next call on"},
	{asProcesses, "processes of their own: a pause is SIGSTOP, a kill SIGKILL"},
}

// beClient is the whole program in a process that is a client of another one's run, and
// nothing otherwise.
func beClient() {
	redis.SetLogger(quiet{})
	live.BeClient(func(world *live.Remote, brief []byte) (func(), error) {
		return runner.ClientMain(world, world.Number(), brief)
	})
}

func clientsFlag(set *pflag.FlagSet) *string {
	return set.String("clients", whatClientsAre[0].name, "what clients are on real servers: "+asGoroutines+" of this process, or "+asProcesses+", of which a pause is SIGSTOP and a kill SIGKILL")
}

// withClients returns the backend with clients of that sort.
func withClients(b runner.Backend, what string) (runner.Backend, error) {
	switch {
	case what == asGoroutines:
		return b, nil
	case what != asProcesses:
		return b, fmt.Errorf("--clients %s: want %s or %s", what, asGoroutines, asProcesses)
	case b.Exact:
		return b, fmt.Errorf("--clients %s is for real servers, and not for --backend %s", asProcesses, b.Name)
	}
	b.ClientProcesses = true
	return b, nil
}

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/cluster/process"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/storm"
	"github.com/lockstorm/lockstorm/storm/simulated"
)

// backends lists the worlds in which an experiment can run; the first is the
// default.
var backends = []struct {
	what string
	storm.Backend
}{
	{
		"virtual time in this process; the same seed gives the same run",
		simulated.Backend(),
	},
	{
		"real redis-server processes on this machine, behind proxies in this process",
		storm.Backend{Ability: nemesis.Ability{Name: servers.Name(), Kinds: servers.Faults(), Features: servers.Features()}, Open: storm.Opener(servers.Open)},
	},
}

var servers process.Backend

func backendNames() string {
	list := make([]string, len(backends))
	for i, b := range backends {
		list[i] = b.Name
	}
	return strings.Join(list, ", ")
}

func findBackend(name string) (storm.Backend, error) {
	for _, b := range backends {
		if b.Name == name {
			return b.Backend, nil
		}
	}
	return storm.Backend{}, fmt.Errorf("unknown backend %q: there is %s", name, backendNames())
}

func backendFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("backend", backends[0].Name, "world to run in: "+backendNames())
}

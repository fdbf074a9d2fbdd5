//go:build simulated

package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/tune"
)

var serverBackends []backendKind

var absentBackends = []string{"process", "container", "addr"}

func beClient() {}

func serverCommands() (all []*cobra.Command) {
	for _, name := range []string{"test"} {
		all = append(all, &cobra.Command{
			Use:                name,
			Hidden:             true,
			DisableFlagParsing: true,
			RunE:               func(*cobra.Command, []string) error { return absentError("lockstorm " + name) },
		})
	}
	return all
}

// measuring is the flag of tune that measures servers.
type measuring struct{ addrs []string }

func (m *measuring) flags(set *pflag.FlagSet) {
	set.StringSliceVar(&m.addrs, "measure", nil, "")
	set.Lookup("measure").Hidden = true
}

func (*measuring) asked(*pflag.FlagSet) error { return nil }

func (m *measuring) into(context.Context, *tune.Question, io.Writer) error {
	if len(m.addrs) > 0 {
		return absentError("--measure")
	}
	return nil
}

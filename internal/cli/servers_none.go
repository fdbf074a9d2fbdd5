//go:build simulated

package cli

import (
	"github.com/spf13/cobra"
)

var serverBackends []backendKind

var absentBackends = []string{"process", "container"}

func beClient() {}

func serverCommands() (all []*cobra.Command) {
	for _, name := range []string{"campaign", "work", "doctor", "test"} {
		all = append(all, &cobra.Command{
			Use:                name,
			Hidden:             true,
			DisableFlagParsing: true,
			RunE:               func(*cobra.Command, []string) error { return absentError("lockstorm " + name) },
		})
	}
	return all
}

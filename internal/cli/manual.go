//go:build manual

package cli

import (
	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/manual"
)

// releaseCommands returns the command that writes the files of a release. It is not released itself:
// go run -tags manual ./cmd/lockstorm manual DIR.
func releaseCommands() []*cobra.Command {
	return []*cobra.Command{{
		Use:    "manual DIR",
		Hidden: true,
		Args:   takes(1, 1),
		RunE:   func(cmd *cobra.Command, args []string) error { return manual.Write(cmd.Root(), args[0]) },
	}}
}

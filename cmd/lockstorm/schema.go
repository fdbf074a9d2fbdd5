package main

import (
	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/docs"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of scenario files",
		Long: `Print the JSON schema of scenario files (draft 2020-12), with which an editor
completes and checks them while they are written.`,
		Example: `  lockstorm schema >scenario.schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(docs.ScenarioSchema)
			return err
		},
	}
}

//go:build !manual

package cli

import "github.com/spf13/cobra"

// releaseCommands returns nothing: see manual.go.
func releaseCommands() []*cobra.Command { return nil }

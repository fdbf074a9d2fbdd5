//go:build !manual

package main

import "github.com/spf13/cobra"

// releaseCommands returns nothing: see manual.go.
func releaseCommands() []*cobra.Command { return nil }

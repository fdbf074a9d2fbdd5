// Package manual writes what a release has beside the program: pages for man, and completion scripts
// for shells. It is not part of the program, which would grow by a converter from Markdown.
package manual

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Write writes a page for man of each command into dir/man, and a completion script for each shell into
// dir/completions, under the names that the shells expect. The pages are dated with the Unix time in the
// environment variable SOURCE_DATE_EPOCH, or else with now.
func Write(root *cobra.Command, dir string) error {
	pages, scripts := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	if err := errors.Join(os.MkdirAll(pages, 0o755), os.MkdirAll(scripts, 0o755)); err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	name := root.Name()
	return errors.Join(
		doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: name, Manual: "User Commands"}, pages),
		root.GenBashCompletionFileV2(filepath.Join(scripts, name+".bash"), true),
		root.GenZshCompletionFile(filepath.Join(scripts, "_"+name)),
		root.GenFishCompletionFile(filepath.Join(scripts, name+".fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(scripts, name+".ps1")),
	)
}

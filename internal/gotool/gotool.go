// Package gotool runs the go command.
package gotool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// Output returns the standard output of the go command in a directory; "": the current one. An error has its
// last line on standard error.
func Output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := Run(cmd); err != nil {
		lines := strings.Split(strings.TrimSpace(problems.String()), "\n")
		if last := lines[len(lines)-1]; last != "" {
			err = errors.New(last)
		}
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return out.Bytes(), nil
}

// Only returns the pattern for -run that selects a test alone. A name such as TestA/b is that of a
// subtest.
func Only(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

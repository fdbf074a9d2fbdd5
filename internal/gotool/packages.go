package gotool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// Package is a package of the module in the current directory.
type Package struct {
	ImportPath string
	Dir        string // absolute
}

// ErrNoModule means that the current directory belongs to no module.
var ErrNoModule = errors.New("no Go module here (no go.mod)")

// MainModule returns the path of the module of the current directory. The error is
// [ErrNoModule], or the reason why the go command cannot be run.
func MainModule(ctx context.Context) (string, error) {
	out, err := Output(ctx, "", "list", "-m")
	switch path := strings.TrimSpace(string(out)); {
	case err != nil && strings.Contains(err.Error(), "go.mod"):
		return "", ErrNoModule
	case err != nil:
		return "", err
	case path == "" || path == "command-line-arguments":
		return "", ErrNoModule
	default:
		first, _, _ := strings.Cut(path, "\n") // a workspace has several
		return first, nil
	}
}

// TestsImporting lists the packages that match the patterns and whose tests import a package.
func TestsImporting(ctx context.Context, path string, patterns ...string) (list []Package, err error) {
	out, err := Output(ctx, "", append([]string{"list", "-e", "-json=ImportPath,Dir,TestImports,XTestImports,Error"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Package
			TestImports, XTestImports []string
			Error                     *struct{ Err string }
		}
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		case p.Dir == "" && p.Error != nil:
			return nil, errors.New(p.Error.Err)
		}
		if slices.Contains(p.TestImports, path) || slices.Contains(p.XTestImports, path) {
			list = append(list, p.Package)
		}
	}
}

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

//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// tested is a package with tests.
type tested struct {
	name   string // its folder below the root, with slashes
	dir    string // where its tests run
	module string // the folder of its module
	path   string // by which it is imported
}

// list returns the packages with tests of the modules in some folders below root.
func list(ctx context.Context, root string, modules []string) (all []tested, err error) {
	for _, module := range modules {
		dir := filepath.Join(root, module)
		text, err := command(ctx, dir, "go", "list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "./...").Output()
		if err != nil {
			return nil, fmt.Errorf("list the packages in %s: %w", dir, explained(err))
		}
		for d := json.NewDecoder(bytes.NewReader(text)); ; {
			var p struct {
				Dir, ImportPath           string
				TestGoFiles, XTestGoFiles []string
			}
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
				continue
			}
			name, err := filepath.Rel(root, p.Dir)
			if err != nil {
				return nil, err
			}
			all = append(all, tested{name: filepath.ToSlash(name), dir: p.Dir, module: dir, path: p.ImportPath})
		}
	}
	return all, nil
}

// matches reports whether a package is meant by one of some patterns, such as ./locks and
// ./internal/servers/...; none mean all.
func (p tested) matches(patterns []string) bool {
	for _, pattern := range patterns {
		pattern, below := strings.CutSuffix(path.Clean(pattern), "...")
		pattern = strings.TrimSuffix(pattern, "/")
		if p.name == pattern || below && (pattern == "" || pattern == "." || strings.HasPrefix(p.name, pattern+"/")) {
			return true
		}
	}
	return len(patterns) == 0
}

// compile builds a package's tests into a file in a folder, and returns that.
func (p tested) compile(ctx context.Context, folder string, race bool) (string, error) {
	name := strings.ReplaceAll(p.name, "/", "_")
	flags := []string{"test", "-c", "-vet=off", "-pgo=off"}
	if race {
		name += ".race"
		flags = append(flags, "-race")
	}
	binary := filepath.Join(folder, name+".test")
	if out, err := command(ctx, p.module, "go", append(flags, "-o", binary, p.path)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile the tests of %s: %w\n%s", p.name, err, out)
	}
	return binary, nil
}

// fingerprint is the hash of a binary and of the files in the package's testdata: results
// of the same are results of the same tests.
func (p tested) fingerprint(binary string) (string, error) {
	h := sha256.New()
	if err := add(h, binary); err != nil {
		return "", err
	}
	err := filepath.WalkDir(filepath.Join(p.dir, "testdata"), func(file string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || !d.Type().IsRegular():
			return err
		}
		_, _ = fmt.Fprintf(h, "%s\n", strings.TrimPrefix(file, p.dir))
		return add(h, file)
	})
	return hex.EncodeToString(h.Sum(nil)[:12]), err
}

func add(h hash.Hash, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(h, f)
	return err
}

func explained(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%w\n%s", err, exit.Stderr)
	}
	return err
}

//go:build linux

package main

import (
	"bytes"
	"cmp"
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
	"slices"
	"strings"
)

// testPackage is a package with tests.
type testPackage struct {
	name   string // its directory below the root, with slashes
	dir    string // where its tests run
	module string // the directory of its module
	path   string // its import path
}

// listPackages returns the packages with tests of the modules in some directories below root.
func listPackages(ctx context.Context, root string, modules []string) (all []testPackage, err error) {
	for _, module := range modules {
		dir := filepath.Join(root, module)
		text, err := command(ctx, dir, "go", "list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "./...").Output()
		if err != nil {
			return nil, fmt.Errorf("list the packages in %s: %w", dir, withStderr(err))
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
			all = append(all, testPackage{name: filepath.ToSlash(name), dir: p.Dir, module: dir, path: p.ImportPath})
		}
	}
	return all, nil
}

// matches reports whether a package matches a pattern such as ./locks and
// ./internal/servers/...; without patterns, all match.
func (p testPackage) matches(patterns []string) bool {
	for _, pattern := range patterns {
		pattern, below := strings.CutSuffix(path.Clean(pattern), "...")
		pattern = strings.TrimSuffix(pattern, "/")
		if p.name == pattern || below && (pattern == "" || pattern == "." || strings.HasPrefix(p.name, pattern+"/")) {
			return true
		}
	}
	return len(patterns) == 0
}

// compile builds a package's test binary in a directory, and returns its path.
func (p testPackage) compile(ctx context.Context, folder string, race bool) (string, error) {
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

// hash returns the hash of a binary and of the package's testdata: results with the same hash
// are of the same tests.
func (p testPackage) hash(binary string) (string, error) {
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

func withStderr(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%w\n%s", err, exit.Stderr)
	}
	return err
}

// selection says which tests run.
type selection struct {
	skip   string // tests that do not run
	raced  string // packages all of whose tests run under the race detector
	others string // tests of other packages that run under it
}

// apply completes the job of a package under a stress. It returns false if there is nothing to
// run.
func (c selection) apply(j *job) bool {
	j.skip = c.skip
	switch {
	case !j.race:
	case c.raced == "" || j.matches(strings.Fields(c.raced)):
	case c.others == "":
		return false
	default:
		j.run = c.others
	}
	return true
}

// compileAll compiles the tests of the selected packages and returns their jobs. left are the
// packages all of whose tests are skipped.
func compileAll(ctx context.Context, packages []testPackage, o options, folder string, progress io.Writer) (jobs []*job, left []string, err error) {
	for _, p := range packages {
		if !p.matches(o.patterns) {
			continue
		}
		_, _ = fmt.Fprintf(progress, "compile %s\n", p.name)
		some := false
		for _, race := range []bool{false, true} {
			of, err := p.jobs(ctx, o.chosen, folder, race)
			if err != nil {
				return nil, nil, err
			}
			some = some || len(of) > 0
			jobs = append(jobs, of...)
		}
		if !some {
			left = append(left, p.name)
		}
	}
	return jobs, left, nil
}

// jobs compiles a package's tests, with the race detector or without, and returns their jobs.
func (p testPackage) jobs(ctx context.Context, c selection, folder string, race bool) (list []*job, err error) {
	for _, s := range stresses {
		if j := (&job{testPackage: p, stress: s}); s.race == race && c.apply(j) {
			list = append(list, j)
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	binary, err := p.compile(ctx, folder, race)
	if err != nil {
		return nil, err
	}
	if some, err := list[0].some(ctx, binary); err != nil || !some {
		return nil, err
	}
	hash, err := p.hash(binary)
	if err != nil {
		return nil, err
	}
	for _, j := range list {
		j.binary, j.hash = binary, hash
	}
	return list, nil
}

// some reports whether any test of a binary runs.
func (j *job) some(ctx context.Context, binary string) (bool, error) {
	wanted, err := listTests(ctx, j.dir, binary, cmp.Or(j.run, "^(Test|Example|Fuzz)"))
	if err != nil || j.skip == "" {
		return len(wanted) > 0, err
	}
	skipped, err := listTests(ctx, j.dir, binary, j.skip)
	return slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(skipped, name) }), err
}

// listTests returns the tests whose names match an expression.
func listTests(ctx context.Context, dir, binary, expression string) ([]string, error) {
	text, err := command(ctx, dir, binary, "-test.list="+expression).Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", binary, withStderr(err))
	}
	var names []string
	for name := range strings.Lines(string(text)) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

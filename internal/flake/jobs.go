//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// choice is which tests run.
type choice struct {
	skip   string // not at all
	raced  string // packages whose tests run under the race detector
	others string // tests of other packages that do
}

func fields(text string) []string { return strings.Fields(text) }

// of completes the job of a package under a stress; it is false if there is nothing to run.
func (c choice) of(j *job) bool {
	j.skip = c.skip
	switch {
	case !j.race:
	case c.raced == "" || j.matches(fields(c.raced)):
	case c.others == "":
		return false
	default:
		j.run = c.others
	}
	return true
}

// compileAll compiles the tests of the packages that are asked for, and returns what is to
// run of them. left are the packages of which all tests are left out.
func compileAll(ctx context.Context, packages []tested, o options, folder string, progress io.Writer) (jobs []*job, left []string, err error) {
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

// jobs compiles a package's tests, with the race detector or without, and returns what is to
// run of them.
func (p tested) jobs(ctx context.Context, c choice, folder string, race bool) (list []*job, err error) {
	for _, s := range stresses {
		if j := (&job{tested: p, stress: s}); s.race == race && c.of(j) {
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
	hash, err := p.fingerprint(binary)
	if err != nil {
		return nil, err
	}
	for _, j := range list {
		j.binary, j.hash = binary, hash
	}
	return list, nil
}

// some reports whether a binary has tests that run.
func (j *job) some(ctx context.Context, binary string) (bool, error) {
	wanted, err := listed(ctx, j.dir, binary, cmp.Or(j.run, "^(Test|Example|Fuzz)"))
	if err != nil || j.skip == "" {
		return len(wanted) > 0, err
	}
	skipped, err := listed(ctx, j.dir, binary, j.skip)
	return slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(skipped, name) }), err
}

// listed returns the tests whose names match an expression.
func listed(ctx context.Context, dir, binary, expression string) ([]string, error) {
	text, err := command(ctx, dir, binary, "-test.list="+expression).Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", binary, explained(err))
	}
	var names []string
	for name := range strings.Lines(string(text)) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

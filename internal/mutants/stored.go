package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/gotool"
	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/scenarios"
)

// The format of a stored report, and its version.
const (
	reportFormat  = "lockstorm-mutant-shard"
	reportVersion = 1
)

// Seal stores the report without its times, so that equal hunts have equal bytes.
func (r Report) Seal() ([]byte, error) {
	r.Seconds = 0
	finds := make([]Find, len(r.Finds))
	for i, f := range r.Finds {
		f.Seconds = 0
		finds[i] = f
	}
	r.Finds = finds
	return parts.Seal(reportFormat, reportVersion, r)
}

// UnsealReport reads what [Report.Seal] has stored of runs before+1 to before+runs of a seed. It returns an
// error for a text that is cut off or changed, or has what no hunt of these runs can have.
func UnsealReport(text []byte, e Effort) (r Report, err error) {
	if err := parts.Unseal(text, reportFormat, reportVersion, &r); err != nil {
		return r, err
	}
	if r.Seed != e.Seed {
		return r, fmt.Errorf("it is of the seed %d, and not of %d", r.Seed, e.Seed)
	}
	if err := r.Validate(e.Runs); err != nil {
		return r, err
	}
	seen := map[checker.Property]bool{}
	for i, f := range r.Finds {
		if err := f.validate(e); err != nil {
			return r, fmt.Errorf("find %d: %w", i+1, err)
		}
		if seen[f.Property] {
			return r, fmt.Errorf("find %d: %s was found before", i+1, f.Property)
		}
		seen[f.Property] = true
	}
	return r, nil
}

// validate returns an error for a find that a hunt of some runs cannot have.
func (f Find) validate(e Effort) error {
	if f.Run <= e.Before || f.Run > e.Before+e.Runs {
		return fmt.Errorf("run %d: want %d to %d", f.Run, e.Before+1, e.Before+e.Runs)
	}
	s, err := scenarios.Parse(f.Scenario) // YAML contains JSON
	if err == nil {
		err = s.Validate()
	}
	return err
}

// Join adds the report of later runs of the same hunt.
func (r *Report) Join(o Report) {
	if r.Space == "" {
		r.Space, r.Seed, r.Finds = o.Space, o.Seed, []Find{}
	}
	r.Counts.Join(o.Counts)
	for _, f := range o.Finds {
		if !r.found(f.Property) {
			r.Finds = append(r.Finds, f)
		}
	}
}

func (r *Report) found(p checker.Property) bool {
	for _, f := range r.Finds {
		if f.Property == p {
			return true
		}
	}
	return false
}

// Sum returns a hash of the sources of the hunter in the checkout: checkouts of the same sum, built with the
// same Go, make the same hunts.
func (c Checkout) Sum(ctx context.Context) (string, error) {
	const files = `{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`
	cmd := exec.CommandContext(ctx, c.goTool, "list", "-deps", "-f", files, "./internal/mutants/hunter")
	cmd.Dir = c.root
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := gotool.Run(cmd); err != nil {
		return "", errors.Join(ctx.Err(), fmt.Errorf("go list: %w: %s", err, strings.TrimSpace(problems.String())))
	}
	all := map[string][]byte{}
	for _, name := range append(strings.Fields(out.String()), filepath.Join(c.root, "go.mod"), filepath.Join(c.root, "go.sum")) {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		short, err := filepath.Rel(c.root, name)
		if err != nil {
			return "", err
		}
		all[filepath.ToSlash(short)] = text
	}
	return parts.Hash(all)
}

package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/conform/watch"
	"github.com/lockstorm/lockstorm/internal/gotool"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
)

// Task is what a hunter has to find. It is the hunter's input, as JSON.
type Task struct {
	Lock  string             // the kind
	Runs  int                // at most
	Named []checker.Property // one of them ends the hunt
	Aimed bool               // search for nothing but Named

	// Conform: runs of Redlock are compared with the specification instead, and the first that is none of it
	// ends the hunt.
	Conform bool
}

// Report is what a hunter has found. It is the hunter's output, as JSON.
type Report struct {
	hunt.Counts
	Seconds float64     `json:"seconds"` // of the hunt
	Finds   []hunt.Find `json:"finds"`   // the first of each property, in the order of their runs

	Conform *watch.Tally `json:"conform,omitempty"` // nil: runs were not compared
}

// module is the path of the module into which mutants are planted.
const module = "github.com/lockstorm/lockstorm"

// Checkout is the root of a checkout of the project.
type Checkout string

// Hunter is the program that hunts one mutant.
type Hunter struct{ dir string }

// Try hunts a mutant until a named property is violated, in at most so many runs. A mutant without a number is a lock
// without a defect: all runs are made, and nothing should be found.
func (c Checkout) Try(ctx context.Context, m Mutant, runs int) (Report, error) {
	return c.hunt(ctx, m, Task{Lock: m.Lock, Runs: runs, Named: m.Names})
}

// Conform compares at most so many runs of a mutant of Redlock with the specification, up to the first that is
// none of it.
func (c Checkout) Conform(ctx context.Context, m Mutant, runs int) (Report, error) {
	return c.hunt(ctx, m, Task{Lock: m.Lock, Runs: runs, Conform: true})
}

func (c Checkout) hunt(ctx context.Context, m Mutant, t Task) (r Report, err error) {
	h, err := c.Plant(ctx, m)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, h.Remove()) }()
	return h.Hunt(ctx, t)
}

// Plant builds a hunter of a mutant's lock with the defect planted. Remove it afterwards.
func (c Checkout) Plant(ctx context.Context, m Mutant) (h Hunter, err error) {
	if h.dir, err = os.MkdirTemp("", "lockstorm-mutant-"); err != nil {
		return h, err
	}
	// Omitting symbols and line tables saves a third of the linking time.
	if err := c.compile(ctx, m, h.dir, "-ldflags=-s -w", "-o", h.program(), "./mutants/hunter"); err != nil {
		return h, errors.Join(err, h.Remove())
	}
	return h, nil
}

func (h Hunter) program() string { return filepath.Join(h.dir, "hunter") }

// Remove removes the program.
func (h Hunter) Remove() error { return os.RemoveAll(h.dir) }

// Hunt carries out a task.
func (h Hunter) Hunt(ctx context.Context, t Task) (r Report, err error) {
	task, err := json.Marshal(t)
	if err != nil {
		return r, err
	}
	// The hunter ends when its input is closed, and so when this process ends.
	input, open, err := os.Pipe()
	if err != nil {
		return r, err
	}
	defer func() { _, _ = input.Close(), open.Close() }()
	if _, err := open.Write(task); err != nil { // it fits into the pipe's buffer
		return r, err
	}
	cmd := exec.CommandContext(ctx, h.program())
	cmd.Dir = h.dir
	out, err := output(ctx, cmd, input)
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	return r, err
}

// compile runs go build with a mutant planted. dir is for temporary files.
func (c Checkout) compile(ctx context.Context, m Mutant, dir string, args ...string) error {
	overlay, err := c.overlay(m, dir)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-overlay", overlay}, args...)...)
	cmd.Dir = filepath.Join(string(c), "evidence")
	cmd.Env = append(os.Environ(), "GOTMPDIR="+dir) // removed with it, however the build ends
	_, err = output(ctx, cmd, nil)
	return err
}

// output runs a command and returns what it prints. An error has what it prints to the standard error.
func output(ctx context.Context, cmd *exec.Cmd, input io.Reader) ([]byte, error) {
	var out, problems bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, &out, &problems
	if err := gotool.Run(cmd); err != nil {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, strings.TrimSpace(problems.String())))
	}
	return out.Bytes(), nil
}

// overlay writes the mutated files, and the file that describes them to the compiler.
func (c Checkout) overlay(m Mutant, dir string) (file string, err error) {
	root, err := filepath.Abs(string(c))
	if err != nil {
		return "", err
	}
	sources, err := m.sources(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range sources {
		with := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(with, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = with
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o600)
}

// Caught returns the find that reveals a mutant: the first of a property that is named for it, or else the
// first of all; nil: none.
func (r Report) Caught(m Mutant) (f *hunt.Find, named bool) {
	for i := range r.Finds {
		if m.names(r.Finds[i].Property) {
			return &r.Finds[i], true
		}
	}
	if len(r.Finds) > 0 {
		f = &r.Finds[0]
	}
	return f, false
}

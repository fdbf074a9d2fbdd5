package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/gotool"
)

// Hunter is a program that hunts one lock.
type Hunter struct {
	dir string // temporary

	// Took is the duration of the build.
	Took time.Duration
}

// Build builds the hunter of the lock with a mutant, or of the unchanged lock for the zero
// value. Close the hunter.
func (c Checkout) Build(ctx context.Context, m Mutant) (_ Hunter, err error) {
	dir, err := os.MkdirTemp("", "lockstorm-mutant-")
	if err != nil {
		return Hunter{}, err
	}
	h := Hunter{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	began := time.Now()
	// Omitting symbols and line tables saves a third of the linking time.
	err = c.compile(ctx, m, dir, "-ldflags=-s -w", "-o", h.program(), "./mutants/hunter")
	h.Took = time.Since(began)
	return h, err
}

func (h Hunter) program() string { return filepath.Join(h.dir, "hunter") }

// compile runs go build with a mutant planted. dir is for temporary files.
func (c Checkout) compile(ctx context.Context, m Mutant, dir string, args ...string) error {
	overlay, err := c.overlay(m, dir)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-overlay", overlay}, args...)...)
	cmd.Dir = filepath.Join(c.root, "evidence")
	cmd.Env = append(os.Environ(), "GOTMPDIR="+dir) // removed with it, however the build ends
	output := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = output, output
	if err := gotool.Run(cmd); err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("go build: %w: %s", err, strings.TrimSpace(output.String())))
	}
	return nil
}

// overlay writes the mutated files, and the file that describes them to the compiler.
func (c Checkout) overlay(m Mutant, dir string) (file string, err error) {
	sources, err := m.sources(c.root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range sources {
		with := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(with, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(c.root, filepath.FromSlash(name))] = with
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o600)
}

// Close removes the program.
func (h Hunter) Close() error { return os.RemoveAll(h.dir) }

// Task is what a hunter has to find. It is the hunter's input, as JSON.
type Task struct {
	Lock   string        // the kind
	Seed   uint64        // of the hunt
	Budget time.Duration // of time
	Runs   int           // at most; 0: limited by time only

	// Named are the properties one of which ends the hunt. Empty: the budget ends it.
	Named []checker.Property
}

// Hunt hunts until a named property is violated or the budget is used up.
func (h Hunter) Hunt(ctx context.Context, q Task) (Report, error) {
	order, err := json.Marshal(q)
	if err != nil {
		return Report{}, err
	}
	// The hunter ends when its input is closed, and so when this process ends.
	input, open, err := os.Pipe()
	if err != nil {
		return Report{}, err
	}
	defer func() { _, _ = input.Close(), open.Close() }()
	if _, err := open.Write(order); err != nil { // it fits into the pipe's buffer
		return Report{}, err
	}
	cmd := exec.CommandContext(ctx, h.program())
	cmd.Dir, cmd.Stdin = h.dir, input
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := gotool.Run(cmd); err != nil {
		return Report{}, errors.Join(ctx.Err(), fmt.Errorf("the hunter: %w: %s", err, strings.TrimSpace(stderr.String())))
	}
	var r Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return Report{}, fmt.Errorf("the hunter's report: %w", err)
	}
	return r, nil
}

// module is the path of the module into which mutants are planted.
const module = "github.com/lockstorm/lockstorm"

// Checkout is a checkout of the project.
type Checkout struct{ root string }

// FindCheckout returns the checkout that contains a directory.
func FindCheckout(dir string) (Checkout, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return Checkout{}, err
	}
	for {
		if text, err := os.ReadFile(filepath.Join(at, "go.mod")); err == nil && strings.HasPrefix(string(text), "module "+module+"\n") {
			return Checkout{at}, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return Checkout{}, fmt.Errorf("%s is not in a checkout of %s", dir, module)
		}
		at = up
	}
}

// Check returns a [MovedOnError] if a mutant no longer applies.
func (c Checkout) Check(m Mutant) error {
	_, err := m.sources(c.root)
	return err
}

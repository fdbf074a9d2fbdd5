package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/gotool"
)

// Hunter is a program that hunts one lock.
type Hunter struct {
	program string
	dir     workdir // contains only the program

	// Took is the duration of the build.
	Took time.Duration
}

// Build builds the hunter of the lock with a mutant, or of the unchanged lock for the zero
// value. Close the hunter. If ctx ends, nothing of the build is left behind. It also removes
// what killed processes have left.
func (c Checkout) Build(ctx context.Context, m Mutant) (Hunter, error) {
	return c.build(ctx, m, "./internal/mutants/hunter")
}

// build builds a program with a mutant.
func (c Checkout) build(ctx context.Context, m Mutant, program string) (_ Hunter, err error) {
	dir, err := newWorkdir()
	if err != nil {
		return Hunter{}, err
	}
	h := Hunter{dir: dir, program: filepath.Join(dir.path, "hunter")}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	// Omitting symbols and line tables saves a third of the linking time.
	args := []string{"build", "-ldflags=-s -w", "-o", h.program}
	if len(m.edits) > 0 {
		overlay, err := c.overlay(m, dir.path)
		if err != nil {
			return h, err
		}
		args = append(args, "-overlay", overlay)
	}
	began := time.Now()
	cmd := exec.CommandContext(ctx, c.goTool, append(args, program)...)
	cmd.Dir = c.root
	cmd.Env = append(os.Environ(), "GOTMPDIR="+dir.path) // removed with it, however the build ends
	output := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = output, output
	if err := gotool.Run(cmd); err != nil {
		return h, errors.Join(ctx.Err(), fmt.Errorf("go build: %w: %s", err, strings.TrimSpace(output.String())))
	}
	h.Took = time.Since(began)
	return h, nil
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
func (h Hunter) Close() error { return h.dir.remove() }

// Task is what a hunter has to find. It is the hunter's input, as JSON.
type Task struct {
	Lock   string        // the kind
	Seed   uint64        // of the hunt
	Budget time.Duration // of time
	Runs   int           // at most; 0: limited by time only
	Before int           // the number of the run before the first

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
	cmd := exec.CommandContext(ctx, h.program)
	cmd.Dir, cmd.Stdin = h.dir.path, input
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

// workdirPrefix is the common prefix of temporary directories.
const workdirPrefix = "lockstorm-mutant-"

// workdir is a temporary directory. It is removed by remove or, if its process was killed,
// when the next one is created.
type workdir struct {
	path string
	held *os.File // the directory, locked; the system unlocks it when the process ends
}

func newWorkdir() (workdir, error) {
	removeStale()
	for {
		path, err := os.MkdirTemp("", workdirPrefix)
		if err != nil {
			return workdir{}, err
		}
		held, err := files.Hold(path)
		if err == nil || errors.Is(err, errors.ErrUnsupported) {
			return workdir{path, held}, nil
		}
		if !errors.Is(err, files.ErrHeld) && !errors.Is(err, fs.ErrNotExist) {
			return workdir{}, errors.Join(err, os.Remove(path))
		}
		// Another process removed it as stale before it was locked.
	}
}

// removeStale removes the unlocked directories. A directory that cannot be removed is left for the
// next time.
func removeStale() {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), workdirPrefix+"*"))
	for _, path := range all {
		if held, err := files.Hold(path); err == nil {
			_ = os.RemoveAll(path)
			_ = held.Close()
		}
	}
}

func (w workdir) remove() (err error) {
	for range 50 { // killed compilers may still be writing there
		if err = os.RemoveAll(w.path); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	_ = w.held.Close() // nil where locks are not supported
	return err
}

// module is the path of the module into which mutants are planted.
const module = "github.com/lockstorm/lockstorm"

// Checkout is a checkout of the project, with the Go tool.
type Checkout struct {
	root   string
	goTool string
}

// FindCheckout returns the checkout that contains a directory. Mutants cannot be built without
// one, or without the Go tool.
func FindCheckout(dir string) (Checkout, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return Checkout{}, errors.New("mutants are built from source, and there is no Go toolchain in PATH (https://go.dev/dl)")
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		return Checkout{}, err
	}
	for {
		if text, err := os.ReadFile(filepath.Join(at, "go.mod")); err == nil && strings.HasPrefix(string(text), "module "+module+"\n") {
			return Checkout{root: at, goTool: goTool}, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return Checkout{}, fmt.Errorf("mutants are built from source, and %s is not in a checkout of %s", dir, module)
		}
		at = up
	}
}

// Check returns a [MovedOnError] if a mutant no longer applies.
func (c Checkout) Check(m Mutant) error {
	_, err := m.sources(c.root)
	return err
}

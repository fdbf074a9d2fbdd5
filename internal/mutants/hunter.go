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
)

// Hunter is a program that hunts one lock.
type Hunter struct {
	program string
	dir     workdir // that has the program, and nothing of anybody else's

	// Took is how long it took to build.
	Took time.Duration
}

// Build builds the hunter of the lock with a mutant in it; the zero value is the lock
// as it is. Close the hunter. When ctx ends nothing of the build is left behind; what those
// left who were killed is removed.
func (c Checkout) Build(ctx context.Context, m Mutant) (_ Hunter, err error) {
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
	// No names and no line tables, which are a third of the work of the linker.
	args := []string{"build", "-ldflags=-s -w", "-o", h.program}
	if len(m.edits) > 0 {
		overlay, err := c.overlay(m, dir.path)
		if err != nil {
			return h, err
		}
		args = append(args, "-overlay", overlay)
	}
	began := time.Now()
	cmd := exec.CommandContext(ctx, c.goTool, append(args, "./internal/mutants/hunter")...)
	cmd.Dir = c.root
	cmd.Env = append(os.Environ(), "GOTMPDIR="+dir.path) // gone with it, however the build ends
	said := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := run(cmd); err != nil {
		return h, errors.Join(ctx.Err(), fmt.Errorf("go build: %w: %s", err, strings.TrimSpace(said.String())))
	}
	h.Took = time.Since(began)
	return h, nil
}

// overlay writes the mutated files, and the file that tells the compiler of them.
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

// Quarry is what a hunter is sent after. It is told so on its input, as JSON.
type Quarry struct {
	Lock   string        // the kind
	Seed   uint64        // of the hunt
	Budget time.Duration // of time
	Runs   int           // at most; 0: as many as there is time for

	// Guidance is that of the hunt, as fuzz.Guidance has it.
	Guidance string

	// Named are properties of which one has to be found for the hunt to end before
	// its budget does; none: it does not.
	Named []checker.Property
}

// Hunt hunts until what is named is found or the budget has been spent.
func (h Hunter) Hunt(ctx context.Context, q Quarry) (Report, error) {
	order, err := json.Marshal(q)
	if err != nil {
		return Report{}, err
	}
	// It hunts as long as its input is open: so it ends with us, however we end.
	input, open, err := os.Pipe()
	if err != nil {
		return Report{}, err
	}
	defer func() { _, _ = input.Close(), open.Close() }()
	if _, err := open.Write(order); err != nil { // a pipe has room for it
		return Report{}, err
	}
	cmd := exec.CommandContext(ctx, h.program)
	cmd.Dir, cmd.Stdin = h.dir.path, input
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := run(cmd); err != nil {
		return Report{}, errors.Join(ctx.Err(), fmt.Errorf("the hunter: %w: %s", err, strings.TrimSpace(problems.String())))
	}
	var r Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return Report{}, fmt.Errorf("the hunter's report: %w", err)
	}
	return r, nil
}

// workdirs is what the names of temporary directories of ours begin with.
const workdirs = "lockstorm-mutant-"

// workdir is a temporary directory that goes with whoever made it: with Close, or, if
// there was no time for that, when the next one is made.
type workdir struct {
	path string
	held *os.File // the directory, locked; the system lets go of it however we end
}

func newWorkdir() (workdir, error) {
	removeForsaken()
	for {
		path, err := os.MkdirTemp("", workdirs)
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
		// Somebody else took it for forsaken before we could hold it.
	}
}

// removeForsaken removes the directories that nobody holds. What cannot be removed is
// left to the next time.
func removeForsaken() {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), workdirs+"*"))
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
	_ = w.held.Close() // where nothing can be held it is nil, and refuses
	return err
}

// module is the path of the module that mutants are planted in.
const module = "github.com/lockstorm/lockstorm"

// Checkout is a checkout of the project, and what builds it.
type Checkout struct {
	root   string
	goTool string
}

// FindCheckout returns the checkout that a directory lies in. Without one, or without
// the Go toolchain, no mutant can be built.
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

// Check returns a [MovedOnError] if a mutant can no longer be planted.
func (c Checkout) Check(m Mutant) error {
	_, err := m.sources(c.root)
	return err
}

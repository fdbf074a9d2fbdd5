package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/gotool"
)

// paper recomputes claims.
type paper struct {
	root     string // of the project
	keep     string // for results, and what commands write
	program  string // hash of the built command
	store    *store
	progress io.Writer
	release  func() error
}

// open locks the directory for this process and puts the command into it.
func open(ctx context.Context, o options, progress io.Writer) (*paper, error) {
	keep, err := filepath.Abs(o.keep)
	if err != nil {
		return nil, err
	}
	release, err := files.Occupy(keep, "another make paper")
	if err != nil {
		return nil, err
	}
	p := &paper{root: o.root, keep: keep, progress: progress, release: release}
	if err := p.prepare(ctx, o.binary); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// prepare builds the command, or copies a built one, and reads the results.
func (p *paper) prepare(ctx context.Context, built string) (err error) {
	binary := filepath.Join(p.keep, "bin", "lockstorm")
	if built == "" {
		_, err = gotool.Output(ctx, p.root, "build", "-buildvcs=false", "-o", binary, "./cmd/lockstorm")
	} else {
		err = install(built, binary)
	}
	if err != nil {
		return err
	}
	if p.program, err = files.Sum(binary); err != nil {
		return err
	}
	p.store, err = openStore(p.keep)
	return err
}

func (p *paper) close() {
	if p.store != nil {
		_ = p.store.file.Close() // each line is written
	}
	_ = p.release()
}

// install copies a program.
func install(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := files.WriteWhole(to, program); err != nil {
		return err
	}
	return os.Chmod(to, 0o755)
}

// key identifies a check of a program: another program, or another check, is run anew.
func (p *paper) key(c Check) (string, error) {
	text, err := json.Marshal(c)
	sum := sha256.Sum256(append(text, p.program...))
	return hex.EncodeToString(sum[:8]), err
}

// recompute runs the checks of a claim that have not been run, and returns their results. If it is
// stopped, it returns those that there are, and the context's error.
func (p *paper) recompute(ctx context.Context, c Claim) (list []result, err error) {
	for i, check := range c.Again {
		key, err := p.key(check)
		if err != nil {
			return nil, err
		}
		r, done := p.store.of(key)
		if !done && ctx.Err() != nil {
			return list, ctx.Err()
		}
		if !done {
			_, _ = fmt.Fprintf(p.progress, "%s: %s\n", c.Name, check.Command)
			if r, err = p.run(ctx, check, key, filepath.Join(p.keep, fmt.Sprintf("%s-%d-%s", c.Name, i+1, key))); err != nil {
				return list, fmt.Errorf("%s: %s: %w", c.Name, check.Command, err)
			}
			_, _ = fmt.Fprintf(p.progress, "%s: %d figures in %.0f s\n", c.Name, len(r.Found), r.Seconds)
		}
		list = append(list, r)
	}
	return list, nil
}

// run runs a check in a directory of its own, in which a sweep that was stopped continues.
func (p *paper) run(ctx context.Context, c Check, key, dir string) (result, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return result{}, err
	}
	began := time.Now()
	o, err := p.execute(ctx, c, dir)
	seconds := time.Since(began).Seconds()
	if ctx.Err() != nil {
		return result{}, errors.Join(p.store.add(result{Key: key, Seconds: seconds, CPU: o.cpu, Stopped: true}), ctx.Err())
	}
	if err != nil {
		return result{}, err
	}
	found, err := c.compare(p.root, o)
	if err != nil {
		return result{}, fmt.Errorf("%w; it exited with %d and printed\n%s", err, o.code, tail(o.text, 2000))
	}
	err = p.store.add(result{Key: key, Seconds: seconds, CPU: o.cpu, Found: found})
	r, _ := p.store.of(key)
	return r, err
}

// execute runs the command of a check and returns its output. An exit code is no error: the
// comparison decides.
func (p *paper) execute(ctx context.Context, c Check, dir string) (output, error) {
	o := output{dir: dir}
	cmd := exec.CommandContext(ctx, "sh", "-c", placed(c.Command, o))
	cmd.Dir = p.root
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "PATH="+filepath.Join(p.keep, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := gotool.Run(cmd)
	o.text = text.String()
	if s := cmd.ProcessState; s != nil {
		o.cpu = (s.UserTime() + s.SystemTime()).Seconds()
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		o.code, err = exit.ExitCode(), nil
	}
	return o, err
}

// placed returns the command with its directory and file.
func placed(command string, o output) string {
	return strings.NewReplacer("DIR", o.dir, "FILE", o.file()).Replace(command)
}

// tail returns the end of a text.
func tail(text string, n int) string {
	if len(text) > n {
		return "…" + strings.ToValidUTF8(text[len(text)-n:], "")
	}
	return text
}

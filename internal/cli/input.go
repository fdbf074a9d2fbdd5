package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/packed"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
)

// standardInput is the name of standard input on the command line.
const standardInput = "-"

// input is one input of check: a run's directory, a file, or standard input.
type input struct {
	name string      // as the command line has it
	run  results.Run // of a run's directory, or else empty
	size int64       // in bytes; 0: not known
	once bool        // it cannot be read again
	open func() (io.ReadCloser, error)
}

// findInput finds the input that an argument names.
func findInput(ctx context.Context, name string, stdin io.Reader) (input, error) {
	in := input{name: name}
	if name == standardInput {
		in.open = interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil })
		return in, nil
	}
	info, err := files.Stat(name)
	if ext := filepath.Ext(name); err == nil && !info.IsDir() && (ext == ".yaml" || ext == ".yml") {
		return in, fmt.Errorf("%s: a scenario or a case, not a history: see lockstorm run --check-only and lockstorm replay", name)
	}
	file := name
	if err == nil && info.IsDir() {
		if in.run, err = results.Load(name); err == nil {
			if file, err = results.HistoryPath(name); err == nil {
				info, err = os.Stat(file)
			}
		}
	}
	if err != nil {
		return in, err
	}
	open := func() (io.ReadCloser, error) { return os.Open(file) }
	if !info.Mode().IsRegular() { // a pipe that has a name
		in.once, in.open = true, interruptible(ctx, open)
		return in, nil
	}
	in.open, in.size = open, info.Size()
	return in, nil
}

// title returns the name of the input for people.
func (in input) title() string {
	if in.name == standardInput {
		return "standard input"
	}
	return in.name
}

// interruptible makes reading from a pipe or a terminal interruptible. The goroutine inside ends
// with its input or with the program.
func interruptible(ctx context.Context, open func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() {
			from, err := open()
			if err == nil {
				_, err = io.Copy(w, from)
				_ = from.Close()
			}
			_ = w.CloseWithError(err)
		}()
		context.AfterFunc(ctx, func() { _ = w.CloseWithError(ctx.Err()) })
		return r, nil
	}
}

// reading is the decompressed text of an input. It shows progress on a terminal.
type reading struct {
	in       input
	plain    io.ReadCloser
	problems io.Writer
	bar      *terminal.Bar
	lines    int64
	read     bool // to its end
}

// read opens the input, which may be compressed.
func (in input) read(ctx context.Context, problems io.Writer) (*reading, error) {
	raw, err := in.open()
	if err != nil {
		return nil, err
	}
	r := &reading{in: in, problems: problems, bar: terminal.NewBar(problems, in.title(), in.size, terminal.Bytes)}
	if r.plain, err = packed.Opened(counted{raw, ctx, r.bar}); err != nil {
		r.bar.Done()
		return nil, err
	}
	return r, nil
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.plain.Read(p)
	r.lines += int64(bytes.Count(p[:n], []byte{'\n'}))
	if r.bar.Due() {
		r.bar.Say(", %.1f million lines", float64(r.lines)/1e6)
	}
	if err != nil && !r.read { // what is left of the work is to judge it
		r.read = true
		r.bar.Done()
		r.bar = terminal.NewBar(r.problems, "judging "+r.in.title(), 0, terminal.Steps)
	}
	return n, err
}

// Close ends the reading and removes the progress bar.
func (r *reading) Close() error {
	r.bar.Done()
	return r.plain.Close()
}

// counted counts the bytes that are read through it, and ends with the context.
type counted struct {
	io.ReadCloser
	ctx context.Context
	bar *terminal.Bar
}

func (c counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.ReadCloser.Read(p)
	c.bar.Steps(n)
	return n, err
}

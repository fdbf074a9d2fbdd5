package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstorm/lockstorm/internal/packed"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
)

// standardInput is what a command line calls it.
const standardInput = "-"

// input is one thing that is to be judged: a run's directory, a file, or standard input.
type input struct {
	name string      // as the command line has it
	run  results.Run // of a run's directory, or else empty
	size int64       // in bytes; 0: not known
	open func() (io.ReadCloser, error)

	once    bool   // it can be read once alone
	spooled *spool // of such an input that is kept, or nil
}

// findInput finds what the command line names, and says what is wrong where it cannot
// be anything of it.
func findInput(ctx context.Context, name string, stdin io.Reader) (input, error) {
	in := input{name: name}
	if name == standardInput {
		in.once = true
		in.open = interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil })
		return in, nil
	}
	info, err := os.Stat(name)
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

// keep lets an input that can be read once be read again.
func (in *input) keep() {
	if !in.once {
		return
	}
	spooled, open := newSpool(), in.open
	in.spooled = spooled
	in.open = func() (io.ReadCloser, error) {
		from, err := open()
		if err != nil {
			return nil, err
		}
		return spooled.fill(from), nil
	}
}

// title is what a person calls the input.
func (in input) title() string {
	if in.name == standardInput {
		return "standard input"
	}
	return in.name
}

// again opens what has been read once more.
func (in input) again() (io.ReadCloser, error) {
	open := in.open
	if in.spooled != nil {
		open = in.spooled.open
	}
	raw, err := open()
	if err != nil {
		return nil, err
	}
	return packed.Opened(raw)
}

// picture is the file that a picture of the input belongs into: in a run's directory,
// beside a file, or in dir, if that is not empty; of standard input, in the current one.
func (in input) picture(dir, name string) string {
	file := results.PictureFile(name)
	switch {
	case in.name == standardInput:
		return filepath.Join(dir, file)
	case dir != "":
		return filepath.Join(dir, filepath.Base(in.name)+"."+file)
	case in.run.Version != 0:
		return filepath.Join(in.name, file)
	}
	return in.name + "." + file
}

// interruptible opens what may never come: a pipe, or a keyboard. The goroutine inside
// ends with its input, or else with the program.
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

// reading is the plain text of an input while it is read. It says on a terminal how far
// it has come.
type reading struct {
	in       input
	plain    io.ReadCloser
	problems io.Writer
	bar      *terminal.Bar
	lines    int64
	read     bool // to its end
}

// read begins to read the input, which may be compressed.
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

// Close ends the reading and takes the status away.
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

// spool keeps what can be read once for a second time, in a temporary file that has no
// name any more when the first byte goes into it: however the program ends, nothing is
// left. Whatever goes wrong with it, the first reading goes on.
type spool struct {
	file *os.File
	size int64
	err  error
}

func newSpool() *spool {
	s := &spool{}
	if s.file, s.err = os.CreateTemp("", "lockstorm-"); s.err == nil {
		s.err = os.Remove(s.file.Name())
	}
	return s
}

// fill reads on from what is spooled meanwhile.
func (s *spool) fill(from io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(from, s), from}
}

// maxSpool is the most that is kept, in bytes: an input that never ends shall not fill
// the disk.
const maxSpool = 4 << 30

// Write keeps what has been read, and never fails: that comes to light when it is wanted.
func (s *spool) Write(p []byte) (int, error) {
	if s.err != nil {
		return len(p), nil
	}
	var n int
	n, s.err = s.file.Write(p)
	if s.size += int64(n); s.size > maxSpool {
		s.err = fmt.Errorf("more than %d GiB came, too much to be read again", maxSpool>>30)
		_ = s.file.Truncate(0)
	}
	return len(p), nil
}

// open opens what was spooled, from its begin.
func (s *spool) open() (io.ReadCloser, error) {
	if s.err != nil {
		return nil, s.err
	}
	return io.NopCloser(io.NewSectionReader(s.file, 0, s.size)), nil
}

// Close gives the space back.
func (s *spool) Close() error {
	if s == nil || s.file == nil {
		return nil
	}
	return s.file.Close()
}

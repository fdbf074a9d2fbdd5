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
	open func() (io.ReadCloser, error)

	once    bool   // it can be read once alone
	spooled *spool // of such an input that is kept, or nil
}

// findInput finds the input that an argument names.
func findInput(ctx context.Context, name string, stdin io.Reader) (input, error) {
	in := input{name: name}
	if name == standardInput {
		in.once = true
		in.open = interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil })
		return in, nil
	}
	info, err := files.Stat(name)
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

// keep makes an input that can be read only once readable again.
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

// title returns the name of the input for people.
func (in input) title() string {
	if in.name == standardInput {
		return "standard input"
	}
	return in.name
}

// again opens the input a second time.
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

// picture returns the path for a picture of the input: in the run's directory, beside the file, or
// in dir if it is not empty; for standard input in the current directory.
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

// spool stores an input that can be read only once in a temporary file, for a second reading. The
// file is unlinked before the first byte is written, so nothing is left however the program ends.
// An error of the spool does not affect the first reading.
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

// fill reads from the spool while it is written.
func (s *spool) fill(from io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(from, s), from}
}

// maxSpool limits the spool in bytes, so that an endless input does not fill the disk.
const maxSpool = 4 << 30

// Write stores the input that has been read. It never fails: open returns the error.
func (s *spool) Write(p []byte) (int, error) {
	if s.err != nil {
		return len(p), nil
	}
	var n int
	n, s.err = s.file.Write(p)
	if s.size += int64(n); s.size > maxSpool {
		s.err = fmt.Errorf("more than %d GiB of input cannot be buffered", maxSpool>>30)
		_ = s.file.Truncate(0)
	}
	return len(p), nil
}

// open opens the spool from the start.
func (s *spool) open() (io.ReadCloser, error) {
	if s.err != nil {
		return nil, s.err
	}
	return io.NopCloser(io.NewSectionReader(s.file, 0, s.size)), nil
}

// Close frees the space.
func (s *spool) Close() error {
	if s == nil || s.file == nil {
		return nil
	}
	return s.file.Close()
}

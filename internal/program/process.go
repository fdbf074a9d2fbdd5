package program

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/child"
)

const (
	quitTimeout = 2 * time.Second // for a program to exit when it is told to
	exitTimeout = time.Second     // for it to exit when it has closed its standard output, or the reverse
)

// process is a program that runs. Its lines go to receive, one at a time.
type process struct {
	command []string
	cmd     *exec.Cmd
	stderr  *headAndTail
	wall    *wallClock // nil: the machine's

	writing sync.Mutex
	stdin   *os.File

	ended atomic.Bool   // by us
	gone  chan struct{} // closed when it is dead and all its lines have been received
	cause error         // why it is gone, if we did not end it; read after gone is closed
}

// start starts a program. receive gets each line, and returns an error to end the program.
func start(f *child.Forker, command []string, wall *wallClock, receive func(FromProgram) error) (*process, error) {
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), stdin.Close())
	}
	p := &process{
		command: command, cmd: exec.Command(command[0], command[1:]...),
		stderr: new(headAndTail), stdin: stdin, wall: wall, gone: make(chan struct{}),
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, p.stderr
	p.cmd.WaitDelay = exitTimeout // if a child of it still has its standard error
	p.cmd.Env, err = wall.environ()
	if err == nil {
		err = f.Start(p.cmd)
	}
	_, _ = in.Close(), out.Close() // it has its own copies
	if err != nil {
		_, _ = stdin.Close(), stdout.Close()
		return nil, err
	}
	go p.watch(stdout, receive)
	return p, nil
}

// watch receives the lines of the program until it is dead.
func (p *process) watch(stdout *os.File, receive func(FromProgram) error) {
	defer close(p.gone)
	exited := make(chan struct{})
	var exit error // read after exited is closed
	go func() {
		defer close(exited)
		exit = p.cmd.Wait()
		_ = child.KillGroup(p.cmd.Process) // the other processes of its group
		// A daemon that it started in a session of its own survives, and can hold the standard output open
		// for ever.
		_ = stdout.SetReadDeadline(time.Now().Add(exitTimeout))
	}()
	when := "before ready"
	err := p.read(stdout, func(m FromProgram) error {
		when = "during the run" // the first message is ready
		return receive(m)
	})
	patience := exitTimeout
	if err != nil {
		patience = 0
	}
	late := time.AfterFunc(patience, func() { _ = child.KillGroup(p.cmd.Process) })
	<-exited
	late.Stop()
	_, _ = stdout.Close(), p.stdin.Close()
	if err == nil {
		err = fmt.Errorf("it exited (%w) %s", endOf(exit), when)
	}
	p.cause = fmt.Errorf("%s: %w%s", p.name(), err, p.stderr.ending())
}

// name returns the command line, for errors.
func (p *process) name() string { return strings.Join(p.command, " ") }

// endOf returns how a process has ended.
func endOf(waited error) error {
	if waited == nil || errors.Is(waited, exec.ErrWaitDelay) {
		return errors.New("exit status 0")
	}
	return waited
}

// maxShown is how much of a line is shown in an error, in bytes.
const maxShown = 200

// read receives lines until the end of the standard output.
func (p *process) read(stdout io.Reader, receive func(FromProgram) error) error {
	lines := bufio.NewReaderSize(stdout, MaxLine)
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) == 0 || errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			return lineError(number, line, fmt.Errorf("longer than %d bytes", MaxLine))
		case err != nil && p.ended.Load():
			return nil // cut off
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		m, err := parse(line)
		if err == nil {
			err = receive(m)
		}
		if err != nil {
			return lineError(number, line, err)
		}
	}
}

// lineError returns the error of a line of the program.
func lineError(number int, line []byte, err error) error {
	line = bytes.TrimRight(line, "\r\n")
	more := ""
	if len(line) > maxShown {
		line, more = line[:maxShown], "…"
	}
	return fmt.Errorf("line %d of its standard output, %q%s: %w", number, line, more, err)
}

// send writes a line to the program. The pipe has room for all lines that a program that stands still
// can get. If the program is dead, nothing happens: whoever waits for its answer waits for its end,
// too.
func (p *process) send(line []byte) {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, _ = p.stdin.Write(line)
}

// Pause and Resume implement [runner.ClientProcess].
func (p *process) Pause() error  { return p.alive(child.StopGroup) }
func (p *process) Resume() error { return p.alive(child.ContinueGroup) }

func (p *process) alive(do func(*os.Process) error) error {
	select {
	case <-p.gone:
		return nil
	default:
	}
	if err := do(p.cmd.Process); err != nil && !p.ended.Load() {
		return fmt.Errorf("%s: %w", p.name(), err)
	}
	return nil
}

// Kill implements [runner.ClientProcess]. When it returns, all lines have been received.
func (p *process) Kill() {
	p.ended.Store(true)
	_ = child.KillGroup(p.cmd.Process) // fails only if it is dead
	<-p.gone
}

// SetClock implements [runner.ClientProcess].
func (p *process) SetClock(ahead time.Duration) error {
	if err := p.wall.Set(ahead, 0); err != nil {
		return fmt.Errorf("%s: %w", p.name(), err)
	}
	return nil
}

// close ends the program, which may be stopped or dead, as gently as it lets.
func (p *process) close(quit []byte) {
	p.ended.Store(true)
	_ = child.ContinueGroup(p.cmd.Process)
	p.send(quit)
	p.writing.Lock()
	_ = p.stdin.Close()
	p.writing.Unlock()
	select {
	case <-p.gone:
	case <-time.After(quitTimeout):
		p.Kill()
	}
}

// keptEnd is how much of the beginning and of the end of the standard error is kept, in bytes each.
const keptEnd = 32 << 10

// headAndTail keeps the beginning and the end of what is written to it.
type headAndTail struct {
	mu         sync.Mutex
	head, tail []byte
	dropped    int64
}

// Write implements [io.Writer].
func (h *headAndTail) Write(text []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := min(len(text), keptEnd-len(h.head))
	h.head = append(h.head, text[:n]...)
	h.tail = append(h.tail, text[n:]...)
	if over := len(h.tail) - keptEnd; over > 0 {
		h.dropped += int64(over)
		h.tail = append(h.tail[:0], h.tail[over:]...)
	}
	return len(text), nil
}

// bytes returns what is kept, with a line about what is not.
func (h *headAndTail) bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := bytes.Clone(h.head)
	if h.dropped > 0 {
		text = fmt.Appendf(text, "\n[lockstorm: %d bytes left out]\n", h.dropped)
	}
	return append(text, h.tail...)
}

// shownLines is how many of the last lines of the standard error an error shows.
const shownLines = 5

// ending describes the end of the standard error in an error.
func (h *headAndTail) ending() string {
	text := strings.TrimSpace(string(h.bytes()))
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return "\nthe end of its standard error:\n" + strings.Join(lines[max(0, len(lines)-shownLines):], "\n")
}

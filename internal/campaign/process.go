package campaign

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// process is a runner in a process of its own, so that a shard that crashes, hangs or eats memory takes
// nothing else with it.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	log    tail
	limits Limits
	ended  chan struct{} // closed when the process is gone
	exit   error         // how, after that
	fat    atomic.Bool   // it was killed because of its memory
}

// StartProcess starts a command that calls [Serve], and gives it the spec. The process ends with the
// runner, and with this process, however that ends.
func StartProcess(ctx context.Context, cmd *exec.Cmd, s Spec) (Runner, error) {
	text, err := s.encode()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, limits: s.Limits, ended: make(chan struct{})}
	cmd.Stderr = &p.log
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOMEMLIMIT="+strconv.FormatInt(s.Limits.Memory*9/10, 10))
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(out, maxMessage)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.exit = cmd.Wait()
		close(p.ended)
	}()
	go p.weigh()
	if _, err := p.ask(ctx, append(text, '\n')); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Run implements [Runner].
func (p *process) Run(ctx context.Context, shard int, others []Other) (Result, error) {
	text, err := request(shard, others)
	if err != nil {
		return Result{}, err
	}
	r, err := p.ask(ctx, text)
	if err != nil {
		err = &LoggedError{err, p.log.String()}
	}
	return r, err
}

// ask writes a request and reads the reply. If ctx ends before, it kills the process.
func (p *process) ask(ctx context.Context, request []byte) (Result, error) {
	type answer struct {
		Result
		err error
	}
	read := make(chan answer, 1)
	go func() {
		_, err := p.in.Write(request)
		var r Result
		if err == nil {
			r, err = readReply(p.out)
		}
		read <- answer{r, err}
	}()
	select {
	case a := <-read:
		if a.err != nil {
			return a.Result, p.why(a.err)
		}
		return a.Result, nil
	case <-ctx.Done():
		p.kill()
		return Result{}, ctx.Err()
	}
}

// errReported is an error that the process has reported: it is alive.
type errReported string

func (e errReported) Error() string { return string(e) }

// why says why there is no reply: what the process has reported, or how it ended.
func (p *process) why(err error) error {
	var reported errReported
	if errors.As(err, &reported) {
		return err
	}
	p.kill()
	switch {
	case p.fat.Load():
		return fmt.Errorf("it had more than its limit of %d MiB of memory", p.limits.Memory>>20)
	case p.exit != nil:
		return fmt.Errorf("its process ended: %w", p.exit)
	}
	return fmt.Errorf("its process replied nonsense: %w", err)
}

// readReply reads a line and the bytes that follow it.
func readReply(in *bufio.Reader) (Result, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return Result{}, err
	}
	var head reply
	switch err := json.Unmarshal(line, &head); {
	case err != nil:
		return Result{}, err
	case head.Error != "":
		return Result{}, errReported(head.Error)
	case head.Size < 0 || head.Size > MaxResult:
		return Result{}, errReported(fmt.Sprintf("its result has %d bytes: want at most %d", head.Size, MaxResult))
	}
	r := Result{Data: make([]byte, head.Size), Find: head.Find}
	_, err = io.ReadFull(in, r.Data)
	return r, err
}

// kill ends the process at once, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // or it is gone
	<-p.ended
}

// Close implements [Runner].
func (p *process) Close() error {
	_ = p.in.Close()
	p.kill()
	return nil
}

// weighEvery is how often the memory of a process is looked at.
const weighEvery = 500 * time.Millisecond

// weigh kills the process when it has more memory than it may have.
func (p *process) weigh() {
	t := time.NewTicker(weighEvery)
	defer t.Stop()
	for {
		select {
		case <-p.ended:
			return
		case <-t.C:
			if residentMemory(p.cmd.Process.Pid) > p.limits.Memory {
				p.fat.Store(true)
				_ = p.cmd.Process.Kill() // or it is gone
			}
		}
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if len(t.text) > 2*maxMessage {
		t.text = append([]byte(nil), t.text[len(t.text)-maxMessage:]...)
	}
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return clip(string(t.text), maxMessage)
}

package live

import (
	"cmp"
	"context"
	"encoding/gob"
	"encoding/json"
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

// readyTimeout bounds how long the processes of clients may take to start.
const readyTimeout = 30 * time.Second

// RunProcesses is [World.Run] with clients as processes of their own, so that a pause is a real
// one. Each process runs this program again. The program has to call [BeClient] before
// anything else, which passes it the brief: what the client is to do. The ports of this
// world must not be used then.
//
// When RunProcesses returns, or this program dies, no process is left. It returns an error if a
// client cannot start or dies by itself; the error contains the end of its standard error.
func (w *World) RunProcesses(ctx context.Context, brief []byte) error {
	switch {
	case w.fleet.Network != nil:
		return errors.New("clients cannot run as processes: the network is in the memory of this one")
	case os.Getenv(clientEnv) != "":
		return fmt.Errorf("%s is set, but this program does not call BeClient", clientEnv)
	}
	forker := child.NewForker()
	defer forker.Close()
	clients := make([]*process, 0, len(w.clients))
	defer func() {
		for _, p := range clients {
			p.leave()
			p.release()
		}
	}()
	for i, c := range w.clients {
		p, err := startProcess(w, c, forker, brief)
		if err != nil {
			return fmt.Errorf("start the process of client %d: %w", c.number, err)
		}
		clients, w.hosts[i] = append(clients, p), p
	}
	if err := w.awaitReady(ctx, clients); err != nil && ctx.Err() == nil {
		return err
	} // if ctx has ended, the run is recorded as interrupted
	w.history.deferred = true
	return w.run(ctx, func() {
		for _, p := range clients {
			p.send(order{Go: true})
		}
	})
}

// awaitReady waits until all clients are ready.
func (w *World) awaitReady(ctx context.Context, clients []*process) error {
	late := time.After(readyTimeout)
	for _, p := range clients {
		select {
		case <-p.ready:
		case err := <-w.broken:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return fmt.Errorf("client %d was not ready after %v", p.number, readyTimeout)
		}
	}
	return nil
}

// process is a client in its own process, as the world sees it.
type process struct {
	world  *World
	number int
	clocks *clocks
	common sharedFiles
	cmd    *exec.Cmd
	stderr tail

	ready  chan struct{} // closed when the client is ready
	killed atomic.Bool   // we killed it
	gone   chan struct{} // closed when it is dead and all its reports have been handled

	mu     sync.Mutex // protects orders
	orders *gob.Encoder
}

// startProcess starts the process of a client and sends its setup.
func startProcess(w *World, c *client, forker *child.Forker, brief []byte) (*process, error) {
	connect, err := json.Marshal(w.connect(c.number))
	if err != nil {
		return nil, err
	}
	common, err := newCommon()
	if err != nil {
		return nil, err
	}
	p := &process{
		world: w, number: c.number, clocks: c.clocks, common: common,
		ready: make(chan struct{}), gone: make(chan struct{}),
		orders: gob.NewEncoder(common.orders.write),
	}
	p.clocks.publish(common.page)
	p.cmd = exec.Command("/proc/self/exe") // this program, even if its file was replaced
	p.cmd.Args = []string{os.Args[0], fmt.Sprintf("client %d", p.number)}
	p.cmd.Env = append(os.Environ(), clientEnv+"=1")
	p.cmd.ExtraFiles = []*os.File{ordersFile: common.orders.read, reportsFile: common.reports.write, pageFile: common.page.file}
	p.cmd.Stderr = &p.stderr
	err = forker.Start(p.cmd)
	common.closeChildEnds() // the child has its own copies
	if err != nil {
		p.release()
		return nil, err
	}
	go p.watch()
	p.send(setup{
		Client: p.number, Seed: w.seed, Zero: w.ground.zero,
		Nodes: w.addrs(p.number), Connect: connect, Store: w.storeName(),
		Awaited: w.setting.Plan.StepsOf(p.number), Brief: brief,
	})
	return p, nil
}

// watch handles the reports of the process until it is dead.
func (p *process) watch() {
	defer close(p.gone)
	protocolErr := p.readReports()
	if protocolErr != nil {
		_ = p.cmd.Process.Kill()
	}
	err := cmp.Or(protocolErr, p.cmd.Wait())
	if !p.killed.Load() {
		p.world.fail(fmt.Errorf("client %d: its process died, and no fault killed it (%w); the end of its standard error:\n%s", p.number, cmp.Or(err, errDone), &p.stderr))
	}
}

var errDone = errors.New("exit status 0")

// readReports handles all reports until the pipe is closed. It ignores a report that was
// cut off.
func (p *process) readReports() error {
	for from := gob.NewDecoder(p.common.reports.read); ; {
		var r report
		switch err := from.Decode(&r); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
		p.handle(r)
	}
}

// handle handles a report. It must not block: whoever kills the process waits until all its
// reports are handled.
func (p *process) handle(r report) {
	history := p.world.history
	switch {
	case r.Ready:
		close(p.ready)
	case r.Returned:
		p.world.finish(p.number)
	case r.Event != nil:
		history.clientEvent(r.Stamp, *r.Event)
	case r.Watch != nil:
		history.watch(r.Stamp, p.number, *r.Watch)
	case r.Unwatch != "":
		history.unwatch(r.Stamp, p.number, r.Unwatch)
	case r.Reach != nil:
		p.answer(r.Ask, "step", func() (accessResult, bool) {
			p.world.plan.step(p.number, r.Reach.Step, r.Reach.K)
			return accessResult{}, true
		})
	case r.Access != nil:
		delay := p.world.resource.delay(p.number)
		p.answer(r.Ask, "access on its way", func() (accessResult, bool) { return p.world.deliver(p.number, delay, *r.Access) })
	}
}

// answer answers a question in the background, unless the run ends first.
func (p *process) answer(ask uint64, what string, find func() (accessResult, bool)) {
	p.world.tasks.start(p.world.client(p.number).taskName(what), func() {
		if found, ok := find(); ok {
			p.send(order{Ask: ask, Answer: found})
		}
	}, p.world.fail)
}

// send sends a setup or an order to the process, if it lives. The pipe has room for all
// orders that a stopped process can get.
func (p *process) send(what any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.orders.Encode(what) // fails only if the process is dead
}

// These methods implement [clientHost].

func (p *process) pause() error  { return p.signal(child.Stop) }
func (p *process) resume() error { return p.signal(child.Continue) }

func (p *process) signal(how func(*os.Process) error) error {
	if err := how(p.cmd.Process); err != nil && !p.killed.Load() {
		return fmt.Errorf("client %d: %w", p.number, err)
	}
	return nil
}

func (p *process) kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill() // fails only if it is dead
	<-p.gone
}

func (p *process) cancel(fault int) { p.send(order{Cancel: fault}) }

func (p *process) clocksChanged() {
	if p.common.page.notify() {
		p.send(order{ClocksChanged: true})
	}
}

func (p *process) draws(stream string) { p.send(order{Stream: stream}) }

func (p *process) leave() { p.kill() }

// release closes the files of the process, which is gone.
func (p *process) release() {
	p.clocks.publish(nil)
	p.common.closeParentEnds()
}

// sharedFiles are the files that the world and the process of a client share.
type sharedFiles struct {
	page    *page
	orders  pipe // to the process
	reports pipe // from it
}

type pipe struct{ read, write *os.File }

func newCommon() (c sharedFiles, err error) {
	if c.page, err = newPage(); err != nil {
		return c, err
	}
	for _, p := range []*pipe{&c.orders, &c.reports} {
		if p.read, p.write, err = os.Pipe(); err != nil {
			c.closeChildEnds()
			c.closeParentEnds()
			return c, err
		}
	}
	return c, nil
}

func (c *sharedFiles) closeChildEnds() {
	_ = c.orders.read.Close() // fails only if it was not opened
	_ = c.reports.write.Close()
}

func (c *sharedFiles) closeParentEnds() {
	_ = c.orders.write.Close()
	_ = c.reports.read.Close()
	c.page.close()
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

// tailLength is the number of bytes it keeps.
const tailLength = 4096

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailLength):]
	return len(p), nil
}

func (t *tail) String() string {
	if text := strings.TrimSpace(string(t.text)); text != "" {
		return text
	}
	return "(nothing)"
}

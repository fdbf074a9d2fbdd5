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

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/child"
)

// readyTimeout is how long the processes of clients may take until they could begin.
const readyTimeout = 30 * time.Second

// RunApart is [World.Run] with clients that are processes of their own, so that a pause is
// a real one. Each is this program once more, which has to call [BeClient] before anything
// else, and is given the brief: what it makes of it is the life of the client. The clients'
// ports of this world are of no use then.
//
// Nothing of them is left when it returns, nor when this program dies. It is an error
// as well if one of them cannot begin, or dies of itself: then the error has the end of
// what it said on its standard error. Where servers are talked to by TLS that is not
// given as [redisnode.Certificates] it is refused.
func (w *World) RunApart(ctx context.Context, brief []byte) error {
	switch {
	case w.fleet.Network != nil:
		return errors.New("clients cannot be processes of their own where the network is in the memory of this one")
	case w.fleet.Connect.TLS != nil && w.fleet.Connect.Certificates == nil || w.fleet.Connect.Runtime != nil:
		return errors.New("clients cannot be processes of their own where servers are talked to by TLS that is not given as certificates: whom to trust is not told to another process")
	case os.Getenv(clientEnv) != "":
		return fmt.Errorf("%s is set: this program does not look whether it is to be a client", clientEnv)
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
			return fmt.Errorf("client %d cannot be a process of its own: %w", c.number, err)
		}
		clients, w.hosts[i] = append(clients, p), p
	}
	if err := w.awaitReady(ctx, clients); err != nil && ctx.Err() == nil {
		return err
	} // a run that is stopped before it begins is one that was cut short
	w.history.deferred = true
	return w.run(ctx, func() {
		for _, p := range clients {
			p.send(order{Go: true})
		}
	})
}

// awaitReady returns when all clients could begin.
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
			return fmt.Errorf("client %d has not come to life in %v", p.number, readyTimeout)
		}
	}
	return nil
}

// process is a client that is a process of its own, as the world sees it.
type process struct {
	world  *World
	number int
	clocks *clocks
	common sharedFiles
	cmd    *exec.Cmd
	stderr tail

	ready  chan struct{} // closed when it could begin
	killed atomic.Bool   // we have killed it
	gone   chan struct{} // closed when it is dead, and all that it has told is heard

	mu     sync.Mutex // of orders
	orders *gob.Encoder
}

// startProcess starts the process of a client and tells it what to do.
func startProcess(w *World, c *client, forker *child.Forker, brief []byte) (*process, error) {
	connect, err := json.Marshal(w.fleet.Connect)
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
	p.cmd = exec.Command("/proc/self/exe") // what runs, whatever has become of its file
	p.cmd.Args = []string{os.Args[0], fmt.Sprintf("client %d", p.number)}
	p.cmd.Env = append(os.Environ(), clientEnv+"=1")
	p.cmd.ExtraFiles = []*os.File{ordersFile: common.orders.read, reportsFile: common.reports.write, pageFile: common.page.file}
	p.cmd.Stderr = &p.stderr
	err = forker.Start(p.cmd)
	common.closeChildEnds() // it has its own
	if err != nil {
		p.release()
		return nil, err
	}
	go p.watch()
	p.send(setup{
		Client: p.number, Seed: w.seed, Zero: w.ground.zero,
		Nodes: w.addrs(p.number), Connect: connect,
		Awaited: w.setting.Plan.StepsOf(p.number), Brief: brief,
	})
	return p, nil
}

// watch hears what the process says, and sees it die.
func (p *process) watch() {
	defer close(p.gone)
	nonsense := p.readReports()
	if nonsense != nil {
		_ = p.cmd.Process.Kill()
	}
	err := cmp.Or(nonsense, p.cmd.Wait())
	if !p.killed.Load() {
		p.world.fail(fmt.Errorf("client %d: its process died of itself (%w); the end of what it said:\n%s", p.number, cmp.Or(err, errDone), &p.stderr))
	}
}

var errDone = errors.New("exit status 0")

// readReports hears all reports, until there can be no more. One that was cut off is none.
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

// handle takes a report. Nothing in it takes time: whoever kills the process waits until all
// is heard.
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

// answer answers a question in its time, unless the run is over before.
func (p *process) answer(ask uint64, what string, find func() (accessResult, bool)) {
	p.world.tasks.start(p.world.client(p.number).taskName(what), func() {
		if found, ok := find(); ok {
			p.send(order{Ask: ask, Answer: found})
		}
	}, p.world.fail)
}

// send tells the process something, if it lives: a setup or an order. The pipe has room
// for all that there can be to send to one that stands still.
func (p *process) send(what any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.orders.Encode(what) // fails only if nobody hears
}

// These are what faults do to it: see [clientHost].

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

// release takes back what there was of ours. The process has gone.
func (p *process) release() {
	p.clocks.publish(nil)
	p.common.closeParentEnds()
}

// sharedFiles is what the world and the process of a client have in sharedFiles.
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
	_ = c.orders.read.Close() // fails only if it was never opened
	_ = c.reports.write.Close()
}

func (c *sharedFiles) closeParentEnds() {
	_ = c.orders.write.Close()
	_ = c.reports.read.Close()
	c.page.close()
}

// tail keeps the end of what is written.
type tail struct{ text []byte }

// tailLength is how much it keeps, in bytes.
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

// What the world and a client that is a process of its own say to each other: values of
// these types, in gob, for both are the same program. A value that is cut off by the death
// of who wrote it was not said.

// setup is the first that the client hears.
type setup struct {
	Client  int
	Seed    uint64
	Zero    env.Instant // of the ground clock
	Nodes   []string    // where it finds them
	Connect []byte      // the [redisnode.Options], in JSON
	Awaited []env.Step  // those of which the world wants to hear
	Brief   []byte      // what it is to do, for those who know that
}

// order is what it hears later.
type order struct {
	Go            bool   // the run has begun
	Ask           uint64 // the number of a question; this is the answer
	Answer        accessResult
	Cancel        int    // the fault that ends the call under way
	ClocksChanged bool   // a clock of it has changed
	Stream        string // the stream from which it draws from now on
}

// report is what it says. One that bears no stamp says nothing that is in the history.
type report struct {
	Stamp env.Instant // of the machine's monotonic clock

	Ready    bool // it could begin
	Returned bool

	Event   *history.Event
	Watch   *watch
	Unwatch string // a token

	Ask    uint64 // a question of this number
	Reach  *stepReached
	Access *access
}

// stepReached is a step that a client has come to.
type stepReached struct {
	Step env.Step
	K    int
}

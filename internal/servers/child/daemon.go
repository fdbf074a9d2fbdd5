package child

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Daemon is a server of a [Group] over all its restarts. Its methods are safe for
// concurrent use.
type Daemon struct {
	// Name names the server in errors, as in "redis-server on 127.0.0.1:6379".
	Name string

	// Dir is the directory in which it runs. It is below the group's.
	Dir string

	// Ports are the ports on which it listens.
	Ports []*Port

	// Command returns the command that starts the server, and prepares its files.
	Command func() (*exec.Cmd, error)

	// Await waits until the server that was started serves. It returns an error if the run
	// ends first.
	Await func(ctx context.Context, run *Run) error

	// StartTimeout bounds a start. QuitTimeout bounds a clean shutdown, which the signal Quit
	// starts.
	StartTimeout, QuitTimeout time.Duration
	QuitSignal                syscall.Signal

	group    *Group
	mu       sync.Mutex
	run      *Run         // nil while the server is down
	launched atomic.Int64 // the id of the last process
}

// Pid returns the process id, or 0 while the server is down.
func (d *Daemon) Pid() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run == nil {
		return 0
	}
	return d.run.cmd.Process.Pid
}

// WhoDialled returns a function that returns which of some servers has made a connection that this
// program has accepted, from 1, also while the server starts; 0: none of them.
func WhoDialled(servers []*Daemon) func(accepted net.Conn) int {
	return func(accepted net.Conn) int {
		pids := make([]int, len(servers))
		for i, d := range servers {
			pids[i] = int(d.launched.Load())
		}
		return Dialler(accepted, pids) + 1
	}
}

// Start starts the server and waits until it serves. If it does not in time, or ctx ends,
// it is killed.
func (d *Daemon) Start(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	run, err := d.begin(d.Command, d.group.Report)
	if err != nil {
		return err
	}
	ctx, cancel := d.startContext(ctx)
	defer cancel()
	if err := d.Await(ctx, run); err != nil {
		run.Kill()
		return err
	}
	d.run = run
	return nil
}

// Fail starts the server by another command, which is expected to end by itself, and
// returns its run when it has. It is an error if the process does not end in time.
func (d *Daemon) Fail(ctx context.Context, command func() (*exec.Cmd, error)) (*Run, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	run, err := d.begin(command, func(error) {})
	if err != nil {
		return nil, err
	}
	ctx, cancel := d.startContext(ctx)
	defer cancel()
	select {
	case <-run.Ended():
		return run, nil
	case <-ctx.Done():
		run.Kill()
		return nil, fmt.Errorf("%s still runs (%w); %s", d.Name, context.Cause(ctx), ending(run.Log()))
	}
}

func (d *Daemon) startContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d.StartTimeout, fmt.Errorf("waited for %v", d.StartTimeout))
}

// begin launches a process, unless one runs or another program listens on a port.
func (d *Daemon) begin(command func() (*exec.Cmd, error), died func(error)) (*Run, error) {
	if d.run != nil {
		return nil, fmt.Errorf("%s is already running", d.Name)
	}
	cmd, err := command()
	if err != nil {
		return nil, err
	}
	for _, p := range d.Ports {
		if err := p.Vacant(); err != nil {
			return nil, err
		}
	}
	cmd.Dir = d.Dir
	run, err := launch(d.group.forker, cmd, d.Name, died)
	if err == nil {
		d.launched.Store(int64(cmd.Process.Pid))
	}
	return run, err
}

// Kill ends the server by SIGKILL and waits until it is gone. It does nothing if the server
// is down.
func (d *Daemon) Kill() { d.Killed() }

// Killed is Kill, and reports whether the server was running.
func (d *Daemon) Killed() bool {
	return d.end((*Run).Kill)
}

// Quit shuts the server down as an operator does and waits until it is gone. It does
// nothing if the server is down.
func (d *Daemon) Quit() {
	d.end(func(r *Run) { r.Quit(d.QuitSignal, d.QuitTimeout) })
}

func (d *Daemon) end(how func(*Run)) (was bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run == nil {
		return false
	}
	how(d.run)
	d.run = nil
	return true
}

// Stop stops the server's process with SIGSTOP and waits until all its threads have
// stopped. Like Continue it does nothing if the server is down.
func (d *Daemon) Stop() error { return d.running(Stop) }

// Continue lets a stopped server run again.
func (d *Daemon) Continue() error { return d.running(Continue) }

// running calls do with the process, if there is one.
func (d *Daemon) running(do func(*os.Process) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run == nil {
		return nil
	}
	if err := do(d.run.cmd.Process); err != nil {
		return fmt.Errorf("%s: %w", d.Name, err)
	}
	return nil
}

// ServerRun is one run of a server, from a start to its end.
type ServerRun interface {
	// Ended is closed when the server has ended. Death returns the reason then.
	Ended() <-chan struct{}
	Death() error

	// Log returns the end of the server's log.
	Log() string
}

// pollInterval is the time between two looks at whether a server serves.
const pollInterval = 2 * time.Millisecond

// Await waits until serves returns true. It returns an error, which names the server, if
// its run or ctx ends first.
func Await(ctx context.Context, name string, run ServerRun, serves func(context.Context) bool) error {
	for !serves(ctx) {
		select {
		case <-run.Ended():
			return run.Death()
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer (%w); %s", name, context.Cause(ctx), ending(run.Log()))
		case <-time.After(pollInterval):
		}
	}
	return nil
}

package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/child"
)

// readyPatience is how long the processes of clients may take until they could begin.
const readyPatience = 30 * time.Second

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
			p.forget()
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
	w.history.late = true
	return w.run(ctx, func() {
		for _, p := range clients {
			p.tell(order{Go: true})
		}
	})
}

// awaitReady returns when all clients could begin.
func (w *World) awaitReady(ctx context.Context, clients []*process) error {
	late := time.After(readyPatience)
	for _, p := range clients {
		select {
		case <-p.ready:
		case err := <-w.broken:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return fmt.Errorf("client %d has not come to life in %v", p.number, readyPatience)
		}
	}
	return nil
}

package rivals

import (
	"context"

	"github.com/lockstorm/lockstorm/env"
)

// NewGetThenDel returns a lock that creates the key with its time to live (SET NX
// PX); to release it the client looks whose key it is (GET), and if it is its own
// deletes it (DEL). It does in two requests what [NewSingleNode] has a script do in
// one.
//
// If the key expires between the two, and another gets the lock, it is the other's
// key that is deleted, and a third gets in. A failed try whose key may be set gives
// it back in the same way, once, in the background, and with the same gap. A client
// that can send and hears nothing cannot do even that, and keeps everybody out for
// a TTL with each of its tries; a script it could send all the same.
func NewGetThenDel(c Config, p Ports) (*Mutex, error) { return newMutex(c, p, getThenDel{}) }

type getThenDel struct{}

func (getThenDel) acquire(ctx context.Context, a *attempt) error { return a.setForTTL(ctx) }

func (getThenDel) release(ctx context.Context, h *Hold) (env.Answer, error) {
	return releaseOutcome(h.getThenDelete(ctx, h.hearNode))
}

func (getThenDel) abandon(a *attempt) {
	if a.mayBeSet() {
		a.mutex.Runtime.Go("give back", func() { a.getThenDelete(context.Background(), a.askNode) })
	}
}

// getThenDelete returns the reply to DEL, or what has made that needless.
func (a *attempt) getThenDelete(ctx context.Context, ask func(context.Context, env.Command) env.Reply) env.Reply {
	looked := ask(ctx, env.Command{Op: env.OpGet})
	switch {
	case looked.Answer != env.Yes:
		return looked
	case looked.Token != a.token:
		return env.Reply{Node: looked.Node, Answer: env.No}
	}
	return ask(ctx, env.Command{Op: env.OpRemove})
}

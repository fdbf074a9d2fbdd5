package timeline

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Client is one lock user.
type Client struct {
	Number   int
	Holds    []*Hold // in the order of their calls
	held     int     // how many of them are granted and not over
	Sections []*Section
	Dead     bool
	Died     history.Time

	Paused       bool
	PauseChanged history.Time  // when it was last paused or resumed
	PausedFor    time.Duration // up to turned
	LastPause    Pause         // the last pause
	Resumed      history.Time  // when it last resumed

	Unlinked Nodes                // nodes without a link to it
	Relinked map[int]history.Time // by node: when its link last came up

	Cancelled history.Time // when one of its calls was last cancelled

	ContextEnded history.Time // when the last call that was cancelled was cancelled first

	// Wanted is the resource that it tries to acquire: from its first try, also between tries, until a grant,
	// its death, or until a call is cancelled. nil: none.
	Wanted *Resource

	writes     int                   // writes that may still be applied
	unanswered map[string][]*Section // by token: whose write has an unknown outcome and was not applied yet
	accepted   *Section              // the last one whose write was accepted

	adrift   adrift       // calls that may still return
	released releasedHold // the last hold that it released

	unconfirmed []releasedHold // earlier ones whose release was not confirmed
}

// Client returns the client of a number. Number 0 stands for no client.
func (t *Timeline) Client(number int) *Client {
	if known := t.Clients; uint(number) < uint(len(known)) {
		return known[number]
	}
	return t.admit(number)
}

// admit adds clients up to a number, and returns that one.
func (t *Timeline) admit(number int) *Client {
	for number >= len(t.Clients) {
		t.Clients = append(t.Clients, &Client{Number: len(t.Clients), PauseChanged: LongAgo, Cancelled: LongAgo, ContextEnded: LongAgo})
	}
	return t.Clients[number]
}

// PausedUpTo returns how long the client has been paused up to now, in all.
func (c *Client) PausedUpTo(now history.Time) time.Duration {
	if c.Paused {
		return c.PausedFor + now.Sub(c.PauseChanged)
	}
	return c.PausedFor
}

func (c *Client) setPaused(paused bool, now history.Time) {
	c.PausedFor = c.PausedUpTo(now)
	if paused && !c.Paused {
		c.LastPause = Pause{Ever: true, From: now, To: Forever}
	} else if c.Paused && !paused {
		c.LastPause.To, c.Resumed = now, now
	}
	c.Paused, c.PauseChanged = paused, now
}

func (c *Client) begin(f *Fact) Call {
	return Call{Open: true, At: f.Time, Paused: c.PausedUpTo(f.Time)}
}

// Find returns the newest hold with the event's token at a stage. A defective lock may use
// a token twice.
func (c *Client) Find(e *history.Event, fits func(*Hold) bool) *Hold {
	for i := len(c.Holds) - 1; i >= 0; i-- {
		h := c.Holds[i]
		if fits(h) && h.Token == e.Token && h.Resource.Name == e.Resource {
			return h
		}
	}
	return nil
}

// about returns the hold that an event other than a return is about: the newest with its
// token that is granted and not over, or else the newest.
func (c *Client) about(e *history.Event) *Hold {
	if c.held > 0 {
		if h := c.Find(e, isHeld); h != nil {
			return h
		}
	}
	return c.Find(e, AnyStage)
}

// calls reports whether a try under the token was called in this instant and has not
// returned. It looks at the last calls only, because a client that spins can make very
// many in one instant.
func (c *Client) calls(f *Fact) bool {
	for i := len(c.Holds) - 1; i >= 0; i-- {
		h := c.Holds[i]
		if h.Acquire.At != f.Time || i < len(c.Holds)-maxTold {
			return false
		}
		if h.Token == f.Token && h.Resource.Name == f.Resource && h.Acquire.Open {
			return true
		}
	}
	return false
}

// drop counts the hold no longer among those that the client holds.
func (c *Client) drop(h *Hold) {
	if isHeld(h) {
		c.held--
	}
}

func (t *Timeline) cancel(f *Fact, _ bool) bool {
	c := f.Actor
	if !c.cancelled() {
		c.ContextEnded = f.Time
	}
	c.Cancelled, c.Wanted = f.Time, nil
	return true
}

// cancelled reports whether a call that is under way was cancelled before.
func (c *Client) cancelled() bool {
	return slices.ContainsFunc(c.Holds, func(h *Hold) bool {
		before := func(call Call) bool { return call.Open && c.ContextEnded > call.At }
		return before(h.Acquire) || before(h.Extend) || before(h.Release)
	})
}

func (t *Timeline) resume(f *Fact, force bool) bool {
	if !f.Actor.Paused {
		return force && t.contradict("client %d resumes at %s, but it was not paused", f.Client, textfmt.Instant(f.Time))
	}
	f.Actor.setPaused(false, f.Time)
	return true
}

func (t *Timeline) kill(f *Fact, _ bool) bool {
	f.Actor.Dead, f.Actor.Died, f.Actor.Wanted = true, f.Time, nil
	t.retiring = append(t.retiring, f.Actor.Holds...)
	return true
}

// linkDown and linkUp note whether they change anything. A link that is down can go down again; in this
// instant it may have come up before.
func (t *Timeline) linkDown(f *Fact, force bool) bool {
	f.LinkChanged = !f.Actor.Unlinked.Has(f.Node)
	if !f.LinkChanged && !force {
		return false
	}
	f.Actor.Unlinked = f.Actor.Unlinked.With(f.Node)
	return true
}

func (t *Timeline) linkUp(f *Fact, force bool) bool {
	f.LinkChanged = f.Actor.Unlinked.Has(f.Node)
	if !f.LinkChanged {
		if !force {
			return false
		}
		t.contradict("the link of client %d to node %d is up at %s, but it was not down", f.Client, f.Node, textfmt.Instant(f.Time))
	}
	f.Actor.Unlinked = f.Actor.Unlinked.Without(f.Node)
	if f.Actor.Relinked == nil {
		f.Actor.Relinked = map[int]history.Time{}
	}
	f.Actor.Relinked[f.Node] = f.Time
	return true
}

// twice reports a call that is made twice in one instant. A call that began earlier may have
// been given up and made again.
func (t *Timeline) twice(f *Fact, verb string) bool {
	return t.contradict("client %d calls %s of %s twice at %s", f.Client, verb, f.lock(), textfmt.Instant(f.Time))
}

// uncalled reports a return without a call, unless the timeline has dropped such a call.
func (t *Timeline) uncalled(f *Fact, verb string, adrift *int) bool {
	if *adrift > 0 {
		*adrift--
		return true
	}
	return t.contradict("%s of %s returns to client %d, which has none under way", verb, f.lock(), f.Client)
}

// unasked reports the return of a try that is not under way.
func (t *Timeline) unasked(f *Fact, what string) bool {
	if f.Actor.adrift.tries > 0 {
		f.Actor.adrift.tries--
		return true
	}
	why := "it has not asked for it, or was answered before"
	if f.Actor.Find(f.Event, AnyStage) != nil {
		why = "its try has returned before"
	}
	return t.contradict("client %d is %s %q with token %s, but %s", f.Client, what, textfmt.Name(f.Resource), textfmt.Token(f.Token), why)
}

// adrift counts the calls of a client that may still return although their hold or section
// is over and forgotten.
type adrift struct{ tries, extensions, releases, reads int }

// strand counts the open calls of a hold that is retired.
func (c *Client) strand(h *Hold) {
	if h.Acquire.Open {
		c.adrift.tries++
	}
	if h.Extend.Open {
		c.adrift.extensions++
	}
	c.adrift.releases += len(h.inner)
}

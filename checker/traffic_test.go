package checker_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/model"
)

// traffic writes a long history of a correct lock: clients acquire the resources in turn and find
// them taken, extend their holds, in vain or too late too, learn that they lost them, outlive them
// and die with them. The same seed writes the same history.
type traffic struct {
	random  *rand.Rand
	unknown int // calls of a thousand that never return
	now     history.Time
	calls   int
	lost    int // calls that never returned
	tokens  int
	clients []*user
	next    int    // number of a client that takes the place of one that died
	taken   []bool // by resource
	grants  []int  // by resource: how many there were
	events  []history.Event
}

const (
	trafficClients   = 10
	trafficResources = 16
)

// The names are made once, as a lock that is at work has its name once.
var trafficNames = func() (names [trafficResources]string) {
	for i := range names {
		names[i] = fmt.Sprintf("resource-%02d", i)
	}
	return names
}()

// user is one client in the traffic. Its event is the last that it wrote.
type user struct {
	history.Event
	resource int
	grant    int // of the resource, by number
	next     func(*traffic, *user)
}

// trafficOf is the history of so many calls and those of their returns that come.
func trafficOf(calls, unknown int) (history.Header, []history.Event) {
	t := &traffic{
		random: rand.New(rand.NewPCG(1, 1)), unknown: unknown, next: trafficClients + 1,
		taken: make([]bool, trafficResources), grants: make([]int, trafficResources), events: make([]history.Event, 0, calls*9/4),
	}
	for i := range trafficClients {
		t.clients = append(t.clients, &user{Event: history.Event{Client: i + 1}, next: (*traffic).acquire})
	}
	for t.calls < calls {
		u := t.clients[t.random.IntN(len(t.clients))]
		u.next(t, u)
	}
	t.events = append(t.events, history.Event{Time: t.now + 1, Kind: history.End})
	return history.Header{
		Nodes: 5, Clients: trafficClients, LongestTTL: time.Second, UntilClock: history.ClientClock,
		Bounds: history.Bounds{Acquire: time.Second, Release: time.Second, Extend: time.Second, Grant: time.Minute, Tries: 3},
	}, t.events
}

// add writes an event of the client, now and then in the instant of the one before.
func (t *traffic) add(u *user, k history.Kind) {
	if t.random.IntN(16) > 0 {
		t.now += history.Time(time.Microsecond)
	}
	e := history.Event{Time: t.now, Kind: k, Client: u.Client, Resource: u.Resource, Token: u.Token}
	switch k {
	case history.Granted, history.Extended:
		e.Until, e.Validity = u.Until, time.Second
	case history.Extend:
		e.TTL, e.Until = time.Second, u.Until+1
	case history.Acquire:
		e.TTL = time.Second
	case history.Lapse:
		e.Until = u.Until
	case history.Released:
		e.Outcome = u.Outcome
	}
	t.events = append(t.events, e)
}

func (t *traffic) chance(perMille int) bool { return t.random.IntN(1000) < perMille }

// unanswered reports whether the call that was made last is one that never returns.
func (t *traffic) unanswered() bool {
	t.calls++
	if !t.chance(t.unknown) {
		return false
	}
	t.lost++
	return true
}

func (t *traffic) acquire(u *user) {
	t.tokens++
	u.resource = t.random.IntN(trafficResources)
	u.Resource, u.Token, u.Outcome = trafficNames[u.resource], fmt.Sprintf("%040x", t.tokens), history.OK
	u.Until = int64(t.now) + int64(time.Second)
	t.add(u, history.Acquire)
	u.next = (*traffic).acquired
	if t.unanswered() {
		u.next = []func(*traffic, *user){(*traffic).acquire, (*traffic).ask, (*traffic).die}[t.random.IntN(3)]
	}
}

// ask extends a hold that may never have been granted, without a reply.
func (t *traffic) ask(u *user) {
	t.add(u, history.Extend)
	u.next = (*traffic).acquire
}

func (t *traffic) acquired(u *user) {
	if t.taken[u.resource] {
		t.add(u, history.Refused)
		u.next = (*traffic).acquire
		return
	}
	t.taken[u.resource] = true
	t.grants[u.resource]++
	u.grant = t.grants[u.resource]
	t.add(u, history.Granted)
	u.next = (*traffic).hold
}

// hold is what becomes of a hold.
func (t *traffic) hold(u *user) {
	switch n := t.random.IntN(1000); {
	case n < 1:
		t.add(u, history.Kill)
		u.next = (*traffic).lapseOfDead
	case n < 50:
		t.end(u, history.Lapse)
		if t.chance(200) {
			u.next = (*traffic).extendLate
		}
	case n < 80:
		t.end(u, history.Lost)
	case n < 200:
		t.add(u, history.Extend)
		u.next = (*traffic).extended
		if t.unanswered() {
			u.next = (*traffic).hold
		}
	default:
		t.release(u)
	}
}

// end ends the validity. The holder still calls release, which reports that.
func (t *traffic) end(u *user, k history.Kind) {
	t.add(u, k)
	t.taken[u.resource] = false
	u.Outcome, u.next = history.Declined, (*traffic).releaseLate
}

func (t *traffic) extendLate(u *user) {
	t.add(u, history.Extend)
	t.calls++
	u.next = (*traffic).extendedLate
}

// extendedLate continues a hold that is over, if nobody else has had one since.
func (t *traffic) extendedLate(u *user) {
	if t.grants[u.resource] != u.grant {
		t.add(u, history.ExtendFailed)
		u.next = (*traffic).releaseLate
		return
	}
	t.taken[u.resource] = true
	u.Until++
	u.Outcome = history.OK
	t.add(u, history.Extended)
	u.next = (*traffic).hold
}

func (t *traffic) lapseOfDead(u *user) {
	t.add(u, history.Lapse)
	t.taken[u.resource] = false
	t.replace(u)
}

func (t *traffic) die(u *user) {
	t.add(u, history.Kill)
	t.replace(u)
}

func (t *traffic) replace(u *user) {
	*u = user{Event: history.Event{Client: t.next}, next: (*traffic).acquire}
	t.next++
}

func (t *traffic) extended(u *user) {
	u.next = (*traffic).hold
	if t.chance(300) {
		t.add(u, history.ExtendFailed)
		return
	}
	u.Until++
	t.add(u, history.Extended)
}

func (t *traffic) release(u *user) {
	t.taken[u.resource] = false
	t.releaseLate(u)
}

func (t *traffic) releaseLate(u *user) {
	t.add(u, history.Release)
	u.next = (*traffic).released
	if t.unanswered() {
		u.next = (*traffic).acquire
	}
}

func (t *traffic) released(u *user) {
	t.add(u, history.Released)
	u.next = (*traffic).acquire
}

// operations is the traffic for porcupine, as [model.LeaseLock] asks for it.
func operations(events []history.Event) []porcupine.Operation {
	calls := map[string]history.Event{}
	until := map[string]int64{} // of the windows that have not ended
	var ops []porcupine.Operation
	op := func(e *history.Event, step model.LeaseStep, call history.Time) {
		ops = append(ops, porcupine.Operation{
			ClientId: e.Client - 1, Call: int64(call), Return: int64(e.Time),
			Input: model.LeaseInput{Step: step, Resource: e.Resource, Holder: e.Token},
		})
	}
	for i := range events {
		e := &events[i]
		end, held := until[e.Token]
		switch e.Kind {
		case history.Acquire, history.Extend:
			calls[e.Token] = *e
		case history.Granted:
			op(e, model.Acquire, calls[e.Token].Time)
			until[e.Token] = e.Until
		case history.Extended:
			if !held {
				op(e, model.Renew, calls[e.Token].Time)
			}
			until[e.Token] = e.Until
		case history.Release, history.Lost, history.Lapse:
			if held && (e.Kind != history.Lapse || e.Until >= end) {
				op(e, model.End, e.Time)
				delete(until, e.Token)
			}
		}
	}
	return slices.Clip(ops)
}

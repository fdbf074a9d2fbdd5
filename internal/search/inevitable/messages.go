package inevitable

import (
	"cmp"
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// LateMessage is a message of the run, and the share of runs that violate the property if its latency
// is drawn anew, and nothing else.
type LateMessage struct {
	Message  choice.Message `json:"message"`
	Sent     history.Time   `json:"t"` // the latest instant of the history before
	Violated runner.Rate    `json:"violated"`
	Role     Role           `json:"role"`
}

// The runs of a message in the but-for test, and how many messages are shown at most.
const (
	runsOfAMessage  = 20
	shownOfMessages = 20
)

// sentMessage is a message with the number of events before it.
type sentMessage struct {
	choice.Message
	event int
}

// butForMessages redraws the latency of each message, one at a time. It returns those that make a
// difference, the largest first, how many others it tried, and the number of runs.
func (f *futures) butForMessages(ctx context.Context, p *past, most int) (all []LateMessage, others, runs int, err error) {
	e, err := f.experiment(1<<len(f.scenario.Plan) - 1)
	if err != nil {
		return nil, 0, 0, err
	}
	sent, err := f.sent(ctx, e, p, most)
	if err != nil || ctx.Err() != nil {
		return nil, 0, 0, err
	}
	for _, m := range sent {
		rate, err := count(ctx, runsOfAMessage, func(ctx context.Context, number uint64) (bool, error) {
			return f.violated(ctx, e.WithDriver(&redrawn{f.course.Driver(), m.Message, number}), f.course)
		})
		if err != nil || rate.N < runsOfAMessage {
			return all, others, runs, err
		}
		runs += rate.N
		if rate.K == rate.N {
			others++
			continue
		}
		role := Contributing
		if rate.Share() <= hardlyAny {
			role = Necessary
		}
		all = append(all, LateMessage{m.Message, p.at(m.event), rate, role})
	}
	slices.SortStableFunc(all, func(x, y LateMessage) int { return cmp.Compare(x.Violated.Share(), y.Violated.Share()) })
	return all[:min(len(all), shownOfMessages)], others, runs, nil
}

// sent lists the messages before the violation, the last ones if there are many.
func (f *futures) sent(ctx context.Context, e runner.Experiment, p *past, most int) (sent []sentMessage, err error) {
	end := p.moments[len(p.moments)-1].event
	l := &listed{Driver: f.course.Driver(), end: end, most: most}
	_, err = e.WithCourse(f.course).WithDriver(l).Run(ctx, f.seed, nil)
	return l.sent[max(0, len(l.sent)-most):], err
}

// listed is a driver that notes which messages another sends up to an event.
type listed struct {
	choice.Driver
	end, most int
	sent      []sentMessage // at least the last ones
}

// Choose implements [choice.Driver].
func (l *listed) Choose(w choice.World, at choice.Point, n uint64) uint64 {
	if m, ok := at.Message(); ok && w.Events() <= l.end {
		l.sent = append(l.sent, sentMessage{m, w.Events()})
	}
	if len(l.sent) > 2*l.most { // the run may be long
		l.sent = append(l.sent[:0], l.sent[len(l.sent)-l.most:]...)
	}
	return l.Driver.Choose(w, at, n)
}

// redrawn is a driver that draws the latency of one message anew.
type redrawn struct {
	choice.Driver
	message choice.Message
	seed    uint64
}

// Choose implements [choice.Driver].
func (r *redrawn) Choose(w choice.World, at choice.Point, n uint64) uint64 {
	way := r.Driver.Choose(w, at, n)
	if m, ok := at.Message(); ok && m == r.message {
		return choice.Drawn(r.seed, at, n)
	}
	return way
}

// at returns the instant of the last moment up to an event.
func (p *past) at(event int) history.Time {
	i, _ := slices.BinarySearchFunc(p.moments, event+1, func(m moment, event int) int { return cmp.Compare(m.event, event) })
	if i == 0 {
		return 0
	}
	return p.moments[i-1].time
}

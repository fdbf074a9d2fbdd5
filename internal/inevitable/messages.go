package inevitable

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// LateMessage is a message of the run, and the share of runs that violate the property if its latency
// is drawn anew, and nothing else.
type LateMessage struct {
	Message  runner.Message `json:"message"`
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
	runner.Message
	event int
}

// butForMessages redraws the latency of each message, one at a time.
func (f *futures) butForMessages(ctx context.Context, line *timeline, most int, a *Analysis) error {
	e, err := f.experiment(1<<len(f.scenario.Plan) - 1)
	if err != nil {
		return err
	}
	sent, err := f.sent(ctx, e, line, most)
	if err != nil || ctx.Err() != nil {
		return err
	}
	for _, m := range sent {
		rate, err := count(ctx, runsOfAMessage, func(ctx context.Context, number uint64) (bool, error) {
			redrawn := f.backend.Hooked(f.course, runner.Hooks{Message: func(one runner.Message, _ int) (uint64, bool) {
				return number, one == m.Message
			}})
			return f.violated(ctx, e.WithOpener(redrawn), f.course)
		})
		if err != nil || rate.N < runsOfAMessage {
			return err
		}
		a.Runs += rate.N
		switch {
		case rate.K == rate.N:
			a.Others++
		case rate.Share() <= hardlyAny:
			a.Messages = append(a.Messages, LateMessage{m.Message, line.at(m.event), rate, Necessary})
		default:
			a.Messages = append(a.Messages, LateMessage{m.Message, line.at(m.event), rate, Contributing})
		}
	}
	slices.SortStableFunc(a.Messages, func(x, y LateMessage) int { return cmp.Compare(x.Violated.Share(), y.Violated.Share()) })
	a.Messages = a.Messages[:min(len(a.Messages), shownOfMessages)]
	return nil
}

// sent lists the messages before the violation, the last ones if there are many.
func (f *futures) sent(ctx context.Context, e runner.Experiment, line *timeline, most int) (sent []sentMessage, err error) {
	end := line.moments[len(line.moments)-1].event
	e = e.WithOpener(f.backend.Hooked(f.course, runner.Hooks{Message: func(m runner.Message, event int) (uint64, bool) {
		if event <= end {
			sent = append(sent, sentMessage{m, event})
		}
		if len(sent) > 2*most { // the run may be long
			sent = append(sent[:0], sent[len(sent)-most:]...)
		}
		return 0, false
	}}))
	_, err = e.Run(ctx, f.seed, nil)
	return sent[max(0, len(sent)-most):], err
}

// at returns the instant of the last moment up to an event.
func (t *timeline) at(event int) history.Time {
	i, _ := slices.BinarySearchFunc(t.moments, event+1, func(m moment, event int) int { return cmp.Compare(m.event, event) })
	if i == 0 {
		return 0
	}
	return t.moments[i-1].time
}

// MessagesSentence says how many messages make a difference.
func (a Analysis) MessagesSentence() string {
	if len(a.Messages) == 0 {
		return "none makes a difference"
	}
	return fmt.Sprintf("%d make no difference, and these do", a.Others)
}

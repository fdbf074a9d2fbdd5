package redlockotel

import "github.com/lockstorm/lockstorm/env"

// Observer returns an observer for [redlock.New], which passes every event on to next,
// unchanged and after its spans have been made. next may be nil.
func (t *Telemetry) Observer(next env.Observer) env.Observer {
	return &observer{t, next}
}

type observer struct {
	telemetry *Telemetry
	next      env.Observer // may be nil
}

// Observe implements [env.Observer].
func (o *observer) Observe(e env.Event) {
	o.telemetry.hear(&e)
	if o.next != nil {
		o.next.Observe(e)
	}
}

func (t *Telemetry) hear(e *env.Event) {
	switch e.Step {
	case env.StepAcquire:
		t.begin(e)
	case env.StepReply, env.StepBeforeSend, env.StepBeforeCheck, env.StepAfterCheck: // spans of requests tell as much
	default:
		if one := t.find(e.Token); one != nil {
			one.hear(e)
		}
	}
}

package jepsen

import (
	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/model"
)

var register = specification{
	name:  "register",
	model: func(o Options) porcupine.Model { return model.Register(o.initial()) },
	steps: registerSteps,
}

// registerSteps makes steps of reads, writes and compare-and-sets. A read that
// found nil says nothing of the register, as in Knossos, where a client that
// does not know what it read writes nil; nor does one that did not return.
func registerSteps(list []operation) ([]step, error) {
	steps := make([]step, 0, len(list))
	for i := range list {
		o := &list[i]
		if o.f == "read" && (o.value == nil || o.unknown()) {
			continue
		}
		s, err := o.registerStep()
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func (o *operation) registerStep() (step, error) {
	s := step{unknown: o.unknown(), call: o.call, ret: o.ret, of: o}
	switch o.f {
	case "read":
		s.needs = show(o.value)
		s.input = model.RegisterInput{Step: model.Read, From: s.needs}
	case "write":
		s.gives = show(o.value)
		s.input = model.RegisterInput{Step: model.Write, To: s.gives}
	default:
		from, to, pair := tuple(o.value)
		if !pair {
			return step{}, wrong(o.line, "a :cas of %.64s: want [old new]", show(o.value))
		}
		s.needs, s.gives = show(from), show(to)
		s.input = model.RegisterInput{Step: model.CompareAndSet, From: s.needs, To: s.gives}
	}
	return s, nil
}

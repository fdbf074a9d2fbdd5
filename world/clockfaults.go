package world

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
)

// ClockFaults is how worlds carry out what happens to the clocks of clients, and, with
// [nemesis.NodeClockFeature], to those of nodes.
func ClockFaults[W any](of func(W) *Clocks, features ...nemesis.Feature) Repertoire[W] {
	features = append(slices.Clip(features), nemesis.ClientClockFeature)
	return Repertoire[W]{
		onClocks(of, (*Clocks).beginJump, (*Clocks).endJump).With(features...),
		onClocks(of, (*Clocks).beginRate, (*Clocks).endRate).With(features...),
		onClocks(of, (*Clocks).beginSlew, (*Clocks).endSlew).With(features...),
		onClocks(of, (*Clocks).beginStrobe, (*Clocks).endStrobe).With(features...),
		onClocks(of, (*Clocks).beginFreeze, (*Clocks).endFreeze).With(features...),
		onClocks(of, (*Clocks).beginSuspend, (*Clocks).endSuspend),
		onClocks(of, (*Clocks).beginSnapshot, (*Clocks).endSnapshot),
	}
}

// onClocks makes a part of what a fault does to clocks.
func onClocks[W any, A nemesis.Action](of func(W) *Clocks, begin, end func(*Clocks, Case[A])) Part[W, A] {
	return Carry(
		func(w W, c Case[A]) error { begin(of(w), c); return nil },
		func(w W, c Case[A]) error { end(of(w), c); return nil },
	)
}

// whoseClock is the machine some clock of which a fault makes wrong; the zero value: none.
func whoseClock(a nemesis.Action) nemesis.Machine {
	switch a := a.(type) {
	case *nemesis.ClockJump:
		return a.Machine
	case *nemesis.ClockRate:
		return a.Machine
	case *nemesis.ClockSlew:
		return a.Machine
	case *nemesis.ClockStrobe:
		return a.Machine
	case *nemesis.ClockFreeze:
		return a.Machine
	case *nemesis.Suspend:
		return nemesis.Machine{Client: a.Client}
	case *nemesis.Snapshot:
		return nemesis.Machine{Client: a.Client}
	}
	return nemesis.Machine{}
}

func (k *Clocks) beginJump(c Case[*nemesis.ClockJump]) { k.jump(c.Action.Machine, int64(c.Action.By)) }

func (k *Clocks) endJump(c Case[*nemesis.ClockJump]) {
	k.heal(c.Action.Machine, c.Action.Healing, int64(c.Action.By))
}

func (k *Clocks) beginRate(c Case[*nemesis.ClockRate]) {
	k.rates[c.Number] = k.work.GroundTime()
	k.hurry(c.Action.Machine, c.Action.PPM)
}

func (k *Clocks) endRate(c Case[*nemesis.ClockRate]) {
	k.hurry(c.Action.Machine, -c.Action.PPM)
	k.heal(c.Action.Machine, c.Action.Healing, scale(k.work.GroundTime()-k.rates[c.Number], c.Action.PPM))
}

func (k *Clocks) beginSlew(c Case[*nemesis.ClockSlew]) { k.hurry(c.Action.Machine, slewRate(c.Action)) }
func (k *Clocks) endSlew(c Case[*nemesis.ClockSlew])   { k.hurry(c.Action.Machine, -slewRate(c.Action)) }

func slewRate(l *nemesis.ClockSlew) int64 {
	if l.By < 0 {
		return -l.PPM
	}
	return l.PPM
}

func (k *Clocks) beginStrobe(c Case[*nemesis.ClockStrobe]) {
	s := &strobe{}
	k.strobes[c.Number] = s
	k.flip(c.Action, s)
}

func (k *Clocks) endStrobe(c Case[*nemesis.ClockStrobe]) {
	s := k.strobes[c.Number]
	if s.off {
		k.jump(c.Action.Machine, -int64(c.Action.By))
	}
	s.over = true
}

func (k *Clocks) beginFreeze(c Case[*nemesis.ClockFreeze]) { k.stop(c.Action.Machine, WallHands) }

func (k *Clocks) endFreeze(c Case[*nemesis.ClockFreeze]) {
	missed := k.start(c.Action.Machine, WallHands)
	k.heal(c.Action.Machine, c.Action.Healing, -missed)
}

func (k *Clocks) beginSuspend(c Case[*nemesis.Suspend]) {
	k.work.Halt(c.Action.Client)
	k.stop(nemesis.Machine{Client: c.Action.Client}, MonotonicHands)
}

func (k *Clocks) endSuspend(c Case[*nemesis.Suspend]) {
	k.start(nemesis.Machine{Client: c.Action.Client}, MonotonicHands)
	k.work.Proceed(c.Action.Client)
}

func (k *Clocks) beginSnapshot(c Case[*nemesis.Snapshot]) {
	k.work.Halt(c.Action.Client)
	k.stop(nemesis.Machine{Client: c.Action.Client}, AllHands)
}

func (k *Clocks) endSnapshot(c Case[*nemesis.Snapshot]) {
	machine := nemesis.Machine{Client: c.Action.Client}
	missed := k.start(machine, AllHands)
	k.work.Proceed(c.Action.Client)
	k.heal(machine, c.Action.Healing, -missed)
}

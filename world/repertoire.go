package world

import (
	"fmt"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Case is one fault of a plan, as whoever carries it out sees it.
type Case[A nemesis.Action] struct {
	Action  A
	Number  int  // its place in the plan, from 1
	Nth     int  // its place among those of its kind, from 1
	ForGood bool // it never ends
}

// Stream names the fault's own stream of randomness, so that it draws the same
// whatever other kinds of faults a plan has.
func (c Case[A]) Stream() string { return fmt.Sprintf("fault %s %d", c.Action.Kind(), c.Nth) }

// cases returns the faults of a plan.
func cases(p nemesis.Plan) []Case[nemesis.Action] {
	seen := map[nemesis.Kind]int{}
	all := make([]Case[nemesis.Action], len(p))
	for i := range p {
		kind := p[i].Action.Kind()
		seen[kind]++
		all[i] = Case[nemesis.Action]{Action: p[i].Action, Number: i + 1, Nth: seen[kind], ForGood: p[i].ForGood()}
	}
	return all
}

// Repertoire is how worlds of type W carry faults out. Of two parts that can
// carry out a kind the first does.
type Repertoire[W any] []Player[W]

// Player is a [Part] for actions of whatever type.
type Player[W any] interface {
	plays(a nemesis.Action) bool
	prepare(w W, c Case[nemesis.Action])
	begin(w W, c Case[nemesis.Action]) error
	end(w W, c Case[nemesis.Action]) error
	endsLate() bool
	offers() []nemesis.Feature
}

// Part carries out the kinds of faults whose action is an A: one kind, or all
// that implement an interface. [Carry] makes one.
type Part[W any, A nemesis.Action] struct {
	opening  func(w W, c Case[A])
	atBegin  func(w W, c Case[A]) error
	atEnd    func(w W, c Case[A]) error
	late     bool
	features []nemesis.Feature
}

// Carry makes the part that carries out actions of type A. end is nil if they
// have no end.
func Carry[W any, A nemesis.Action](begin, end func(w W, c Case[A]) error) Part[W, A] {
	return Part[W, A]{atBegin: begin, atEnd: end}
}

// Opening says what has to be prepared for each such fault of a plan, when the
// world is opened.
func (p Part[W, A]) Opening(do func(w W, c Case[A])) Part[W, A] {
	p.opening = do
	return p
}

// EndingLate says that the end takes its time: what is done at it only sets it going,
// and [Carrier.EndBy] tells when it has come.
func (p Part[W, A]) EndingLate() Part[W, A] {
	p.late = true
	return p
}

// With says which features of its kinds the part carries out.
func (p Part[W, A]) With(features ...nemesis.Feature) Part[W, A] {
	p.features = features
	return p
}

func (p Part[W, A]) plays(a nemesis.Action) bool {
	_, can := a.(A)
	return can
}

func (p Part[W, A]) prepare(w W, c Case[nemesis.Action]) {
	if p.opening != nil {
		p.opening(w, as[A](c))
	}
}

func (p Part[W, A]) begin(w W, c Case[nemesis.Action]) error { return p.atBegin(w, as[A](c)) }

func (p Part[W, A]) end(w W, c Case[nemesis.Action]) error {
	if p.atEnd == nil {
		return nil
	}
	return p.atEnd(w, as[A](c))
}

func (p Part[W, A]) endsLate() bool { return p.late }

func (p Part[W, A]) offers() []nemesis.Feature { return p.features }

// as gives the action of a case its type.
func as[A nemesis.Action](c Case[nemesis.Action]) Case[A] {
	return Case[A]{Action: c.Action.(A), Number: c.Number, Nth: c.Nth, ForGood: c.ForGood}
}

// Features lists the features in the repertoire.
func (r Repertoire[W]) Features() []nemesis.Feature {
	var all []nemesis.Feature
	for _, p := range r {
		all = append(all, p.offers()...)
	}
	return all
}

// Kinds lists the kinds of faults in the repertoire, in the order of
// [nemesis.Kinds].
func (r Repertoire[W]) Kinds() []nemesis.Kind {
	var kinds []nemesis.Kind
	for _, a := range nemesis.Actions() {
		if r.player(a) != nil {
			kinds = append(kinds, a.Kind())
		}
	}
	return kinds
}

// player returns what carries out an action; nil: nothing does.
func (r Repertoire[W]) player(a nemesis.Action) Player[W] {
	for _, p := range r {
		if p.plays(a) {
			return p
		}
	}
	return nil
}

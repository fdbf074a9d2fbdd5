package excerpt

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/model"
)

// Properties are those whose violations have an excerpt: the others have no model.
var Properties = []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Fence}

// Of returns the operations around the violation of one of [Properties]. from is the history, from
// its beginning.
func Of(r checker.Report, p checker.Property, from io.Reader) (Excerpt, error) {
	f := r.Finding(p)
	in, err := history.NewReader(from)
	if err != nil {
		return Excerpt{}, err
	}
	defer func() { _ = in.Close() }()
	header := in.Header()
	header.UntilClock = cmp.Or(header.UntilClock, r.UntilClock)
	near := nearby{finding: f}
	line := timeline.New(header)
	finish := line.Close
	switch p {
	case checker.Effect:
		c := checker.Of(line, p)
		c.SetSearchLimit(1) // the verdict is known
		c.Accesses(near.access)
		finish = func() { c.Finish() }
	case checker.Section:
		line.Windows(timeline.SectionWindow, near.window)
	default:
		line.Windows(timeline.LeaseWindow, near.window)
	}
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Excerpt{}, err
		}
		line.Record(e)
	}
	finish()
	if p == checker.Effect {
		return near.effect(), nil
	}
	return near.exclusion(), nil
}

// most is how many windows or accesses an excerpt has, apart from those that the finding names.
const most = 40

// nearby keeps what happened at the place of a finding.
type nearby struct {
	finding  checker.Finding
	windows  []timeline.Window
	accesses []checker.Access
}

// at reports whether something on a resource, from call to end, overlaps the place.
func (n *nearby) at(resource string, call, end history.Time) bool {
	where := n.finding.Where
	return resource == where.Resource && end >= where.From && call <= where.To
}

func (n *nearby) window(w timeline.Window) {
	named := func(g checker.Grant) bool { return g.Client == w.Grant.Client && g.Token == w.Grant.Token }
	pair := n.finding.First
	if n.at(w.Grant.Resource, w.Call, w.To) && (len(n.windows) < most || pair != nil && (named(pair.First) || named(pair.Second))) {
		n.windows = append(n.windows, w)
	}
}

func (n *nearby) access(a checker.Access) {
	if a.Unknown {
		a.Return = n.finding.Where.To + 1
	}
	if n.at(a.Resource, a.Call, a.Return) && len(n.accesses) < most {
		n.accesses = append(n.accesses, a)
	}
}

// exclusion makes operations of windows, see [model.LeaseLock].
func (n *nearby) exclusion() Excerpt {
	fenced := n.finding.Property == checker.Fence
	x := Excerpt{Model: model.LeaseLock}
	if fenced {
		x.Model = model.FencedLock
	}
	for _, w := range n.windows {
		add := func(s model.LeaseStep, from, to history.Time) {
			in := model.LeaseInput{Step: s, Resource: w.Grant.Resource, Holder: fmt.Sprintf("client %d (%s)", w.Grant.Client, w.Grant.Token)}
			o := porcupine.Operation{ClientId: w.Grant.Client, Input: in, Call: int64(from), Return: int64(to)}
			if fenced {
				o.Input = model.FencedLockInput{LeaseInput: in, Fence: w.Fence}
			}
			x.Operations = append(x.Operations, o)
		}
		switch {
		case w.Empty && w.Late:
			add(model.Claim, w.From, w.From)
			continue
		case w.Empty:
			add(model.Touch, w.Call, w.From)
			continue
		case w.Late:
			add(model.Renew, w.Call, w.From)
		default:
			add(model.Acquire, w.Call, w.From)
		}
		if w.By != 0 {
			add(model.End, w.To, w.To)
		}
	}
	return x
}

// effect makes operations of accesses. What the first of them found is not known: it is the value
// from which most of them have an order.
func (n *nearby) effect() Excerpt {
	var x Excerpt
	first := n.finding.Where.To
	for _, a := range n.accesses {
		x.Operations = append(x.Operations, porcupine.Operation{
			ClientId: a.Client, Input: model.SectionInput{Resource: a.Resource, Blind: a.Blind, Read: a.Read, Wrote: a.Wrote},
			Output: model.SectionOutput{Unknown: a.Unknown}, Call: int64(a.Call), Return: int64(a.Return),
		})
		first = min(first, a.Return)
	}
	longest := -1
	for _, a := range n.accesses {
		if a.Call > first || a.Blind {
			continue
		}
		register := model.GuardedRegister
		register.Init = func() []any { return []any{a.Read} }
		m := register.ToModel()
		_, info := porcupine.CheckOperationsVerbose(m, x.Operations, searchLimit)
		length := 0
		for _, order := range info.PartialLinearizations()[0] {
			length = max(length, len(order))
		}
		if length > longest {
			longest, x.Model = length, m
		}
	}
	if longest < 0 {
		x.Model = model.GuardedRegister.ToModel()
	}
	return x
}

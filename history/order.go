package history

import (
	"errors"
	"fmt"
)

// order checks what must hold of any history, whatever it tells.
type order struct {
	header Header
	last   Time
	ended  bool
}

func (o *order) next(e *Event) error {
	switch {
	case o.ended:
		return errors.New("an event after the end")
	case e.Kind == 0:
		return errors.New("an event without a kind")
	case e.Time < o.last:
		return fmt.Errorf("%s at %v comes after an event at %v: histories are in the order of time", e.Kind, e.Time, o.last)
	case e.Client < 0 || e.Client > o.header.Clients:
		return fmt.Errorf("client %d of %d", e.Client, o.header.Clients)
	case e.Node < 0 || e.Node > o.header.Nodes:
		return fmt.Errorf("node %d of %d", e.Node, o.header.Nodes)
	}
	o.last, o.ended = e.Time, e.Kind == End
	return e.whole()
}

// whole reports what an event of its kind cannot be without: what a client does, and to
// which resource under which token.
func (e *Event) whole() error {
	switch {
	case e.Client == 0 && e.Kind.ofClient():
		return fmt.Errorf("%s without a client", e.Kind)
	case !e.Kind.ofHold():
		return nil
	case e.Resource == "":
		return fmt.Errorf("%s without a resource", e.Kind)
	case e.Token == "":
		return fmt.Errorf("%s without a token", e.Kind)
	}
	return nil
}

// ofHold reports whether events of the kind tell of one try, or of the hold that it became.
func (k Kind) ofHold() bool { return k >= Acquire && k <= WriteDone }

// ofClient reports whether events of the kind tell of one client.
func (k Kind) ofClient() bool { return k.ofHold() || k >= Pause && k <= Cancel }

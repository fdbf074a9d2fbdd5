package nemesis

import "fmt"

// ClockFreeze stops the wall clock of a node or of a client. The other clocks go
// on. At the end the time that it has missed heals as the fault says: with a step it
// catches up at once; without a healing it continues from where it stopped.
type ClockFreeze struct {
	Machine `yaml:",inline"`
	Healing `yaml:",inline"`
}

// Kind is "clock-freeze".
func (*ClockFreeze) Kind() Kind { return "clock-freeze" }

func (*ClockFreeze) about() string { return "a node's or a client's wall clock stops" }

func (f *ClockFreeze) String() string {
	return fmt.Sprintf("the wall clock of %s stands still%v", f.Machine, f.Healing)
}

func (f *ClockFreeze) claims(Setting) []string { return []string{rate(f.Machine)} }

// Effects implements [Action].
func (f *ClockFreeze) Effects(Setting) Effects {
	return Effects{Does: WandersClock | FreezesWall, Clock: f.Clock()}
}

// Clock implements [ClockFault].
func (f *ClockFreeze) Clock() ClockError {
	return ClockError{Machine: f.Machine, Stops: WallClock, Healing: f.Healing}
}

func (f *ClockFreeze) ending() ending { return f.Healing.ending() }

func (*ClockFreeze) random(g *paramGenerator) Action {
	return &ClockFreeze{Machine: g.machine(), Healing: g.healing()}
}

package nemesis

import "fmt"

// ClockFreeze makes the wall clock of a node or of a client stand still. The
// other clocks go on. What it has missed at the end heals as the fault says: by
// a step it catches up at once; if the fault says nothing it goes on from where
// it stood.
type ClockFreeze struct {
	Machine `yaml:",inline"`
	Healing `yaml:",inline"`
}

// Kind is "clock-freeze".
func (*ClockFreeze) Kind() Kind { return "clock-freeze" }

func (f *ClockFreeze) String() string {
	return fmt.Sprintf("the wall clock of %s stands still%v", f.Machine, f.Healing)
}

func (f *ClockFreeze) validate(s Setting) error {
	if err := f.Healing.validate(); err != nil {
		return err
	}
	return f.Machine.validate(s)
}

func (f *ClockFreeze) targets(Setting) []string { return []string{rate(f.Machine)} }

func (f *ClockFreeze) ending() ending { return f.Healing.ending() }

func (*ClockFreeze) random(d *dice) Action {
	return &ClockFreeze{Machine: d.machine(), Healing: d.healing()}
}

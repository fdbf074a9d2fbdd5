package checker

import "github.com/lockstorm/lockstorm/history"

// FaultCount is how much the nemesis did.
type FaultCount struct {
	Faults int `json:"faults" runs:"sum"` // that took place
}

func (*FaultCount) figures(int) []Figure { return nil }

type faultMeter struct {
	FaultCount
}

func newFaultMeter(history.Header, *state) meter { return &faultMeter{} }

func (*faultMeter) wants() kinds { return kindSet(history.FaultStart) }

func (m *faultMeter) observe(*fact) { m.Faults++ }

func (m *faultMeter) measure(all *Measurements, _ history.Time) { all.FaultCount = m.FaultCount }

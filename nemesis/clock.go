package nemesis

// ClockFault is an action that only affects the clocks of a machine, and perhaps its program. Package world
// injects every such kind by its ClockError, future kinds included.
type ClockFault interface {
	Action
	Clock() ClockError
}

// The features of a fault that befalls the clock of a node, and of one that befalls the
// clocks of a client.
const (
	NodeClockFeature   Feature = "node"
	ClientClockFeature Feature = "client"
)

func (m Machine) features() []Feature {
	if m.Client != 0 {
		return []Feature{ClientClockFeature}
	}
	return []Feature{NodeClockFeature}
}

package nemesis

import "fmt"

// Suspend puts a client's machine to sleep: its program and its monotonic clock
// stop. The clock that counts suspension and the wall clock go on. Without an end
// the machine never wakes.
type Suspend struct {
	Client int `yaml:"client" want:"1.."`
}

// Kind is "suspend".
func (*Suspend) Kind() Kind { return "suspend" }

func (*Suspend) about() string {
	return "a client's machine is suspended: its program and its monotonic clock stop, its boot-time clock goes on"
}

func (u *Suspend) String() string { return fmt.Sprintf("the machine of client %d sleeps", u.Client) }

func (u *Suspend) claims(Setting) []string { return machineOf(u.Client) }

// Effects implements [Action].
func (u *Suspend) Effects(Setting) Effects {
	return Effects{Does: StopsClient | StopsMachine | SettlesClock, Client: u.Client, Clock: u.Clock()}
}

// Clock implements [ClockFault].
func (u *Suspend) Clock() ClockError {
	return ClockError{Machine: Machine{Client: u.Client}, Stops: MonotonicClock, Suspends: true}
}

func (u *Suspend) simpler(Setting) Action { return &Pause{Client: u.Client} }

func (*Suspend) ending() ending { return ending{} }

func (*Suspend) random(g *paramGenerator) Action { return &Suspend{Client: g.client()} }

// few implements enumerable.
func (*Suspend) few(p fewParams) []Fault {
	return p.eachClient(func(client int) []Fault { return []Fault{{Action: &Suspend{Client: client}, End: After(p.scale)}} })
}

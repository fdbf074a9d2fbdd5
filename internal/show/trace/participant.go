package trace

import "fmt"

// Role is the kind of a participant.
type Role int

// The roles.
const (
	Fault Role = iota + 1 // without a number: all faults
	Client
	Store // of a lock that is not kept by nodes
	Node
	Resource // the guarded resource
	Link
	Run
)

// Participant is whom an entry is about.
type Participant struct {
	Role   Role
	Number int // of a fault, client or node
	Node   int // of a link; Number is its client
}

func (p Participant) String() string {
	switch p.Role {
	case Client:
		return fmt.Sprintf("client %d", p.Number)
	case Node:
		return fmt.Sprintf("node %d", p.Number)
	case Store:
		return "store"
	case Resource:
		return "resource"
	case Link:
		return fmt.Sprintf("link %d-%d", p.Number, p.Node)
	case Run:
		return "run"
	}
	if p.Number == 0 {
		return "faults"
	}
	return fmt.Sprintf("fault %d", p.Number)
}

func client(n int) Participant { return Participant{Role: Client, Number: n} }
func node(n int) Participant   { return Participant{Role: Node, Number: n} }

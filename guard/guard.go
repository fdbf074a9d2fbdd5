// Package guard is the state of the resource that a lock guards, as a plain state machine.
// Each resource name has a register, a counter of fences, the highest fence seen, and the
// token of the last reader. The package decides accesses. The world that uses it carries
// the requests and replies.
package guard

// Mode is what a resource checks, and how.
type Mode string

// The modes. The zero value means Plain.
const (
	// Plain: every access is accepted.
	Plain Mode = "plain"
	// FencedWrites: the fence of writes is checked, and that of reads is not. A reader with an outdated fence is not
	// rejected, so that an update can be lost.
	FencedWrites Mode = "fenced-writes"
	// Fenced: the fences of reads and writes are checked. Each access raises the lowest fence
	// that is accepted.
	Fenced Mode = "fenced"
	// Token: a write is accepted only if the writer's token is that of the last read. This is
	// compare-and-set on the token of the lock, which is unique but has no order (antirez,
	// "Is Redlock safe?").
	Token Mode = "token"
)

// Guard is the guarded resources of one world. A resource begins with the value 0, no
// fence and no token.
type Guard struct {
	mode  Mode
	cells map[string]*cell
}

type cell struct {
	value   int64
	bar     uint64 // the highest fence seen
	counter uint64 // the last fence drawn
	reader  string // the token of the last read, in mode Token
}

// New returns resources that check accesses according to mode.
func New(mode Mode) *Guard { return &Guard{mode: mode, cells: map[string]*cell{}} }

func (g *Guard) cell(resource string) *cell {
	c := g.cells[resource]
	if c == nil {
		c = &cell{}
		g.cells[resource] = c
	}
	return c
}

func (c *cell) admit(fence uint64) bool {
	if fence < c.bar {
		return false
	}
	c.bar = fence
	return true
}

// Read returns the value and whether the read was accepted.
func (g *Guard) Read(resource, token string, fence uint64) (int64, bool) {
	c := g.cell(resource)
	switch {
	case g.mode == Fenced && !c.admit(fence):
		return 0, false
	case g.mode == Token:
		c.reader = token
	}
	return c.value, true
}

// Write stores the value and reports whether the write was accepted.
func (g *Guard) Write(resource, token string, fence uint64, value int64) bool {
	c := g.cell(resource)
	switch {
	case (g.mode == Fenced || g.mode == FencedWrites) && !c.admit(fence):
		return false
	case g.mode == Token && c.reader != token:
		return false
	}
	c.value = value
	return true
}

// Draw returns the resource's next fence: 1, 2, …
func (g *Guard) Draw(resource string) uint64 {
	c := g.cell(resource)
	c.counter++
	return c.counter
}

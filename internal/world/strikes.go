package world

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Strikes follows a fault that strikes each of its links once in each direction. Such a fault is over on
// a link as soon as it has struck there, whatever end its plan names: from then on it affects nothing,
// so nothing that happens later is its doing.
type Strikes struct {
	pending []pendingLink
}

// pendingLink is a link that the fault has not struck in every direction.
type pendingLink struct{ client, node, directions int }

// NewStrikes returns the strikes of a fault that begins on links of a setting.
func NewStrikes(s nemesis.Setting, on nemesis.Links, way nemesis.Direction) *Strikes {
	directions := 1
	if way == nemesis.Both {
		directions = 2
	}
	t := &Strikes{}
	for _, client := range nemesis.Each(on.Clients, s.Clients) {
		for _, node := range nemesis.Each(on.Nodes, s.Nodes) {
			t.pending = append(t.pending, pendingLink{client, node, directions})
		}
	}
	return t
}

// Strike notes a strike in one direction of a link. It reports whether the fault is over on that link
// now, and whether it is over on all of its links.
func (t *Strikes) Strike(client, node int) (link, all bool) {
	i := slices.IndexFunc(t.pending, func(p pendingLink) bool { return p.client == client && p.node == node })
	if i < 0 {
		return false, false
	}
	if t.pending[i].directions--; t.pending[i].directions > 0 {
		return false, false
	}
	t.pending = slices.Delete(t.pending, i, i+1)
	return true, len(t.pending) == 0
}

// Pending lists the links on which the fault is not over.
func (t *Strikes) Pending() []nemesis.Links {
	links := make([]nemesis.Links, len(t.pending))
	for i, p := range t.pending {
		links[i] = OneLink(p.client, p.node)
	}
	return links
}

// OneLink is the link of a client to a node.
func OneLink(client, node int) nemesis.Links {
	return nemesis.Links{Clients: []int{client}, Nodes: []int{node}}
}

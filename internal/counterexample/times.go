package counterexample

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// mostTimes is how many instants get a mark: each takes room.
const mostTimes = 12

// times marks the instants that the story is about: where the picture begins and ends, the
// place, and then when what is wrong, what was done to the world and what was done to
// the guarded resource began and ended.
func (d *drawing) times(shown []span) []span {
	at := []history.Time{d.from, d.to}
	add := func(of func(span) bool) {
		for _, s := range shown {
			for _, t := range []history.Time{s.from, s.to} {
				if of(s) && len(at) < mostTimes && t >= d.from && t <= d.to && !slices.Contains(at, t) {
					at = append(at, t)
				}
			}
		}
	}
	add(func(s span) bool { return s.colour == red })
	add(func(s span) bool { return s.colour == orange || s.colour == grey })
	add(func(s span) bool {
		return s.kind == history.Read || s.kind == history.Write || s.kind == history.Apply
	})
	slices.Sort(at)
	at = slices.Compact(at)
	marks := make([]span, len(at))
	for i, text := range instants(at) {
		marks[i] = span{row: "time", text: text, from: at[i], to: at[i]}
	}
	return marks
}

package checker

import (
	"github.com/lockstorm/lockstorm/internal/timeline"

	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// UpdateLosses is the updates of guarded resources that were lost. An update reads the value and
// writes it plus one. It is lost if the final value lacks it, because a later write came from a
// client that had read before it. Resources with other writes are left out, and those whose
// accepted writes are not all recorded as applied.
type UpdateLosses struct {
	// Updates counts the updates that took effect, acknowledged or not.
	Updates int `json:"updates,omitempty" runs:"sum"`

	// LostUpdates counts those of them that were lost.
	LostUpdates int `json:"lost_updates,omitempty" runs:"sum"`

	// LostUpdateShare is their share; 0 if there were no updates.
	LostUpdateShare float64 `json:"lost_update_share,omitempty"`
}

func (u *UpdateLosses) derive() {
	u.LostUpdateShare = shareOf(u.LostUpdates, u.Updates)
}

func (u *UpdateLosses) figures(int) []Figure {
	if u.LostUpdates == 0 {
		return nil
	}
	return []Figure{{"lost updates", []string{fmt.Sprintf("%d of %d", u.LostUpdates, u.Updates)}}}
}

// updateMeter compares the number of updates with how much the value has grown.
type updateMeter struct {
	state     *timeline.Timeline
	resources timeline.PerResource[counter]
}

// counter is what is known of one resource.
type counter struct {
	updates    int
	before     int64 // the value before the first update
	value      int64 // after the last
	other      bool  // a write was not an update, or is not known
	unrecorded int   // writes that were accepted, and are not recorded as applied
}

func (c *counter) lost() int { return c.updates - int(c.value-c.before) }

func newUpdateMeter(l *timeline.Timeline, d *demand) meter { return &updateMeter{state: l} }

func (*updateMeter) Wants() timeline.Kinds { return timeline.KindSet(history.WriteDone, history.Apply) }

func (m *updateMeter) Observe(f *timeline.Fact) {
	c, s := m.resources.Of(m.state.Resource(f.Resource)), f.Section
	if f.Kind == history.WriteDone {
		if f.Outcome == history.OK && s != nil && s.Applied == 0 {
			c.unrecorded++
		}
		return
	}
	if s != nil && s.Stage == timeline.Returned {
		c.unrecorded--
	}
	c.other = c.other || s == nil || s.Blind || s.Wrote != s.Read+1
	if c.updates == 0 {
		c.before = f.Value - 1
	}
	c.updates, c.value = c.updates+1, f.Value
}

func (m *updateMeter) measure(all *Measurements, _ history.Time) {
	u := &all.UpdateLosses
	*u = UpdateLosses{}
	for _, c := range m.resources.List {
		if !c.other && c.unrecorded == 0 {
			u.Updates += c.updates
			u.LostUpdates += c.lost()
		}
	}
	u.derive()
}

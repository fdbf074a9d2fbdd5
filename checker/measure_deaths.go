package checker

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Deaths is how holders died, and what came after.
type Deaths struct {
	// HolderDeaths is how often a client died that held a resource, as its
	// validity goes.
	HolderDeaths int `json:"holder_deaths" runs:"sum"`

	// GrantsAfterDeath is after how many of these deaths the resource was granted
	// again, and NextGrantAfterDeath the longest time that this took.
	GrantsAfterDeath    int           `json:"grants_after_death" runs:"sum"`
	NextGrantAfterDeath time.Duration `json:"next_grant_after_death" runs:"max"`
}

func (d *Deaths) figures(int) []Figure {
	if d.HolderDeaths == 0 {
		return nil
	}
	f := Figure{"holder's death", []string{fmt.Sprintf("%d of %d followed by a grant", d.GrantsAfterDeath, d.HolderDeaths)}}
	if d.GrantsAfterDeath > 0 {
		f.Parts = append(f.Parts, "within "+textfmt.Duration(d.NextGrantAfterDeath))
	}
	return []Figure{f}
}

type deathMeter struct {
	Deaths
	mourning perResource[mourning]
}

// mourning is the holders of a resource that have died since the last grant.
type mourning struct {
	count int
	first history.Time
}

func newDeathMeter(history.Header, *state) meter { return &deathMeter{} }

func (*deathMeter) wants() kinds { return kindSet(history.Granted, history.Kill) }

func (d *deathMeter) observe(f *fact) {
	if f.Kind == history.Kill {
		for _, h := range f.client.holds {
			if h.holding {
				d.mourn(h.resource, f.Time)
			}
		}
		return
	}
	if m := d.mourning.of(f.hold.resource); m.count > 0 {
		d.GrantsAfterDeath += m.count
		d.NextGrantAfterDeath = max(d.NextGrantAfterDeath, f.Time.Sub(m.first))
		m.count = 0
	}
}

func (d *deathMeter) mourn(r *resource, now history.Time) {
	d.HolderDeaths++
	m := d.mourning.of(r)
	if m.count == 0 {
		m.first = now
	}
	m.count++
}

func (d *deathMeter) measure(m *Measurements, _ history.Time) { m.Deaths = d.Deaths }

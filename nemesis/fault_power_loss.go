package nemesis

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// PowerLoss cuts the power of a node's machine at the start; at the end its server
// starts again. Changes that were not synced are lost: with aof-everysec those since
// the last sync, deletions and extensions included.
type PowerLoss struct {
	Node int `yaml:"node" want:"1.. or all"`

	// RestartDelay is the time by the node's own wall clock after which its machine
	// restarts the server, in place of an end. 0 means that the end restarts it.
	RestartDelay time.Duration `yaml:"restart_delay,omitempty" want:"0s.."`

	// StuckSync is how long the node's disk has been stuck when the power goes:
	// no sync has completed since then. It needs aof-everysec. While a sync is in
	// progress Redis puts its writes off for up to two seconds and goes on
	// answering, so the loss grows by this; after that it blocks, as in a
	// node-pause.
	StuckSync time.Duration `yaml:"stuck_sync,omitempty" want:"0s..2s"`

	// TornTail is what the server does with an append-only file whose last record the
	// power loss has cut. Nothing means that no record is cut.
	TornTail TornTail `yaml:"torn_tail,omitempty" want:"load|refuse"`
}

// TornTail is what a server does when it starts with a torn append-only file: its
// aof-load-truncated.
type TornTail string

// The effects of a torn tail.
const (
	TornLoad   TornTail = "load"   // aof-load-truncated yes: it loads all records before
	TornRefuse TornTail = "refuse" // aof-load-truncated no: its machine is back at once, and it does not start for the rest of the run
)

// The features of power losses beyond [RestartDelayFeature].
const (
	StuckSyncFeature  Feature = "stuck_sync"
	TornLoadFeature   Feature = "torn_tail: load"
	TornRefuseFeature Feature = "torn_tail: refuse"
)

// Kind is "power-loss".
func (*PowerLoss) Kind() Kind { return "power-loss" }

func (*PowerLoss) about() string {
	return "a node's machine loses power and all unsynced data; at the end it starts again (members of a simulated store keep what they have agreed on)"
}

func (p *PowerLoss) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s loses power", nodeName(p.Node))
	if p.StuckSync > 0 {
		fmt.Fprintf(&text, " when its disk has been stuck for %v", p.StuckSync)
	}
	switch p.TornTail {
	case TornLoad:
		text.WriteString(" within a record of its append-only file, which it will truncate")
	case TornRefuse:
		text.WriteString(" within a record of its append-only file, with which it will not start")
	}
	return text.String() + Restart(p.RestartDelay).String()
}

func (p *PowerLoss) validate(s Setting) error {
	switch {
	case p.StuckSync > 0 && s.Persistence != EverySecond:
		return field("stuck_sync", fmt.Errorf("only %s answers before a sync", EverySecond))
	case p.TornTail != "" && s.Persistence == Nothing:
		return field("torn_tail", errors.New("no node has an append-only file"))
	case p.TornTail == TornRefuse && p.RestartDelay > 0:
		return field("restart_delay", errors.New("a server that refuses its file does not start"))
	}
	return nil
}

func (p *PowerLoss) node() *int { return &p.Node }

func (p *PowerLoss) claims(Setting) []string { return []string{server(p.Node)} }

// Effects implements [Action].
func (p *PowerLoss) Effects(s Setting) Effects {
	return Effects{
		Does: TakesDown | CutsPower, Away: just(p.Node),
		Outage: Outage{Node: p.Node, Loses: s.Persistence != Always, RestartDelay: p.RestartDelay, Stays: p.TornTail == TornRefuse},
	}
}

func (p *PowerLoss) simpler(Setting) Action {
	return &Crash{Node: p.Node, RestartDelay: p.RestartDelay}
}

func (p *PowerLoss) ending() ending {
	if p.TornTail == TornRefuse {
		return ending{automatic: "a server that refuses its append-only file does not come back"}
	}
	return Restart(p.RestartDelay).ending()
}

func (p *PowerLoss) features() []Feature {
	all := Restart(p.RestartDelay).features()
	if p.StuckSync > 0 {
		all = append(all, StuckSyncFeature)
	}
	switch p.TornTail {
	case TornLoad:
		all = append(all, TornLoadFeature)
	case TornRefuse:
		all = append(all, TornRefuseFeature)
	}
	return all
}

func (*PowerLoss) random(g *paramGenerator) Action {
	p := &PowerLoss{Node: g.node(), RestartDelay: g.restartDelay()}
	if g.setting.Persistence == EverySecond && g.chance(30) {
		p.StuckSync = round(g.upTo(2 * time.Second))
	}
	if g.setting.Persistence != Nothing && g.chance(30) {
		p.TornTail = TornLoad
		if p.RestartDelay == 0 && g.chance(30) {
			p.TornTail = TornRefuse
		}
	}
	return p
}

package sim

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A server that its machine starts again comes up when the node's own clock has
// gone on by the delay, whatever the time that has passed.
func TestRestartFollowsTheNodesClock(t *testing.T) {
	machine := nemesis.Machine{Node: 1}
	jump := func(by time.Duration) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockJump{Machine: machine, By: by}, Start: nemesis.At(50 * ms)}
	}
	rate := func(ppm int64, end *nemesis.Trigger) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockRate{Machine: machine, PPM: ppm}, Start: nemesis.At(50 * ms), End: end}
	}
	for name, c := range map[string]struct {
		clock []nemesis.Fault
		want  string
	}{
		"true":                 {nil, "110ms"},
		"jumps forward":        {[]nemesis.Fault{jump(30 * ms)}, "80ms"},
		"jumps past it":        {[]nemesis.Fault{jump(time.Hour)}, "50ms"},
		"jumps back":           {[]nemesis.Fault{jump(-30 * ms)}, "140ms"},
		"fast":                 {[]nemesis.Fault{rate(500_000, nil)}, "90ms"},
		"slow for a while":     {[]nemesis.Fault{rate(-500_000, nemesis.After(20*ms))}, "120ms"},
		"another node's jumps": {[]nemesis.Fault{{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 2}, By: time.Hour}, Start: nemesis.At(50 * ms)}}, "110ms"},
	} {
		for _, down := range []nemesis.Action{
			&nemesis.Crash{Node: 1, RestartDelay: 100 * ms},
			&nemesis.PowerLoss{Node: 1, RestartDelay: 100 * ms},
			&nemesis.Shutdown{Node: 1, RestartDelay: 100 * ms},
		} {
			plan := append(nemesis.Plan{{Action: down, Start: nemesis.At(10 * ms)}}, c.clock...)
			log := play(t, setting(1, 2, plan...), func(w *World) { sleep(w, 1, time.Second) })
			var up, over string
			for _, e := range log {
				switch {
				case e.Kind == history.NodeUp && e.Node == 1 && e.Fault == 1:
					up += e.Time.String()
				case e.Kind == history.FaultEnd && e.Fault == 1 && e.Detail == down.String():
					over += e.Time.String()
				}
			}
			expect(t, name+", "+down.String()+": up", up, c.want)
			expect(t, name+", "+down.String()+": over", over, c.want)
		}
	}
}

// slowDisk is a setting of one client and one node that syncs for 50 ms.
func slowDisk(c nemesis.Connections, plan ...nemesis.Fault) nemesis.Setting {
	s := over(c, plan...)
	s.Persistence = nemesis.Always
	s.Sync = &nemesis.Distribution{Range: nemesis.Range{Min: 50 * ms, Max: 50 * ms}}
	return s
}

// A request that is on its way when the server dies is lost, even if another
// server is there when it comes.
func TestRequestsUnderWayDieWithTheServer(t *testing.T) {
	crash := fault(&nemesis.Crash{Node: 1}, 10*ms, 0)
	sendAll(t, over(nemesis.Connections{}, crash), 1, request{after: 19 * ms / 2}).expect(t, "apart", "lost@11.5ms", "")
	sendAll(t, over(pipelined, crash), 1, request{after: 19 * ms / 2}).expect(t, "in line", "lost@11ms", "")
}

// A sync that the server did not live to see the end of ends nothing.
func TestSyncDiesWithTheServer(t *testing.T) {
	sendAll(t, slowDisk(nemesis.Connections{}, fault(&nemesis.Crash{Node: 1}, 10*ms, 10*ms)), 1, request{}, request{after: 30 * ms}).
		expect(t, "crash", "lost@11ms yes@82ms", "a@1ms b@31ms")
}

// A server that is shut down answers what it has executed.
func TestShutdownAnswers(t *testing.T) {
	sendAll(t, slowDisk(nemesis.Connections{}, fault(&nemesis.Shutdown{Node: 1}, 10*ms, 0)), 1, request{}).
		expect(t, "shutdown", "yes@11ms", "a@1ms")
}

// A machine without power tells nobody anything. When it has power again, it
// knows none of the connections over which something comes.
func TestNoPowerNoNews(t *testing.T) {
	lost := &nemesis.PowerLoss{Node: 1}
	at := func(d time.Duration) request { return request{after: d} }
	for name, c := range map[string]struct {
		request         request
		answer, applied string
	}{
		"the reply is under way":  {at(17 * ms / 2), "yes@10.5ms", "a@9.5ms"},
		"under way at the loss":   {at(19 * ms / 2), "lost@51ms", ""},
		"meanwhile":               {at(20 * ms), "lost@51ms", ""},
		"given up":                {request{after: 20 * ms, giveUp: 5 * ms}, "lost@25ms", ""},
		"comes after the restart": {at(51 * ms), "yes@53ms", "a@52ms"},
	} {
		for _, connections := range []nemesis.Connections{{}, {Limit: 1}, pipelined, batched} {
			sendAll(t, over(connections, fault(lost, 10*ms, 40*ms)), 1, c.request).expect(t, name, c.answer, c.applied)
		}
	}
	restart := fault(lost, 10*ms, 40*ms)
	sendAll(t, over(nemesis.Connections{}, restart), 1, at(99*ms/2)).expect(t, "under way at the restart", "lost@51.5ms", "")
	sendAll(t, over(pipelined, restart), 1, at(99*ms/2)).expect(t, "under way at the restart, in line", "lost@51ms", "")
	sendAll(t, over(pipelined, restart), 1, at(20*ms), at(10*ms), at(30*ms)).expect(t, "in line", "lost@51ms lost@51ms yes@62ms", "c@61ms")
	sendAll(t, slowDisk(nemesis.Connections{}, restart), 1, request{}, at(ms)).expect(t, "in its socket", "lost@51ms lost@51ms", "a@1ms")
	for _, connections := range []nemesis.Connections{{}, pipelined} {
		sendAll(t, slowDisk(connections, nemesis.Fault{Action: lost, Start: nemesis.At(10 * ms)}), 1,
			request{giveUp: 60 * ms}, request{after: ms, giveUp: 60 * ms}, request{after: 20 * ms, giveUp: 60 * ms}).
			expect(t, "for good", "lost@60ms lost@61ms lost@81ms", "a@1ms")
	}
	sendAll(t, over(nemesis.Connections{}, nemesis.Fault{Action: &nemesis.PowerLoss{Node: 1, RestartDelay: 40 * ms}, Start: nemesis.At(10 * ms)}), 1, at(20*ms)).
		expect(t, "by its own clock", "lost@51ms", "")
}

// Under aof-always a change is answered when it is on the disk, and what comes
// behind it waits; what changes nothing waits for no disk.
func TestAnswersWaitForTheDisk(t *testing.T) {
	took := func(persistence nemesis.Persistence, commands ...env.Command) time.Duration {
		s := setting(1, 1)
		s.Persistence, s.Sync = persistence, &nemesis.Distribution{Range: nemesis.Range{Min: 7 * ms, Max: 7 * ms}}
		var end env.Instant
		play(t, s, func(w *World) {
			var rounds []env.Round
			for _, c := range commands {
				rounds = append(rounds, w.Nodes(1).Send(1, c, env.Never))
			}
			for _, r := range rounds {
				_, _ = r.Next(t.Context(), env.Never)
			}
			end = w.Runtime(1).Now(env.Monotonic)
		})
		return time.Duration(end)
	}
	other := set
	other.Key = "s"
	missing := set
	missing.Op = env.OpDelete
	for _, c := range []struct {
		what string
		got  time.Duration
		want time.Duration
	}{
		{"a change", took(nemesis.Always, set), 9 * ms},
		{"two changes", took(nemesis.Always, set, other), 16 * ms},
		{"a change and what is refused", took(nemesis.Always, set, set), 9 * ms},
		{"no change", took(nemesis.Always, missing), 2 * ms},
		{"synced each second", took(nemesis.EverySecond, set, other), 2 * ms},
		{"not synced", took(nemesis.Nothing, set, other), 2 * ms},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

package jepsen

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// traffic makes a history that is legal by construction: ten clients whose
// operations take effect one after another on what they are about.
type traffic struct {
	random  *rand.Rand
	infos   float64 // the share of operations whose outcome nobody learns
	thing   thing
	lines   []line
	process [10]int
	open    [10]*doings
}

// doings is an operation of a client in progress.
type doings struct {
	line
	took bool // effect
	kind string
}

// thing is what the clients deal with.
type thing interface {
	// ask returns what a client asks for.
	ask(client int, random *rand.Rand) (f, value string)
	// do lets it take effect and returns its outcome and its answer.
	do(client int, f, value string) (kind, answer string)
	// vain reports whether an operation without an answer had better have no
	// effect, or else nobody could go on.
	vain(f string) bool
}

func (h *traffic) make(operations int) []line {
	for i := range h.process {
		h.process[i] = i
	}
	for invoked, busy := 0, 0; invoked < operations || busy > 0; {
		c := h.random.IntN(len(h.open))
		switch o := h.open[c]; {
		case o == nil && invoked < operations:
			f, value := h.thing.ask(c, h.random)
			h.open[c] = &doings{line: line{"invoke", f, value, h.process[c]}}
			h.lines = append(h.lines, h.open[c].line)
			invoked++
			busy++
		case o == nil:
		case !o.took:
			h.effect(c, o)
		default:
			o.line.kind = o.kind
			h.lines = append(h.lines, o.line)
			h.open[c] = nil
			busy--
		}
	}
	return h.lines
}

func (h *traffic) effect(c int, o *doings) {
	o.took = true
	if h.random.Float64() >= h.infos {
		o.kind, o.value = h.thing.do(c, o.f, o.value)
		return
	}
	if !h.thing.vain(o.f) {
		h.thing.do(c, o.f, o.value)
	}
	o.kind = "info"
	h.process[c] += len(h.process)
}

// aLock is held by one client at a time.
type aLock struct{ holder int }

func (l *aLock) ask(client int, _ *rand.Rand) (f, value string) {
	if l.holder == client {
		return "release", "nil"
	}
	return "acquire", "nil"
}

func (l *aLock) do(client int, f, _ string) (kind, answer string) {
	switch {
	case f == "release":
		l.holder = -1
	case l.holder >= 0:
		return "fail", "nil"
	default:
		l.holder = client
	}
	return "ok", "nil"
}

func (l *aLock) vain(f string) bool { return f == "acquire" }

// aRegister holds one of some values.
type aRegister struct {
	values int
	value  string
	coin   *rand.Rand
}

func (r *aRegister) ask(_ int, random *rand.Rand) (f, value string) {
	v := func() string { return strconv.Itoa(random.IntN(r.values)) }
	switch random.IntN(3) {
	case 0:
		return "read", "nil"
	case 1:
		return "write", v()
	}
	return "cas", "[" + v() + " " + v() + "]"
}

func (r *aRegister) do(_ int, f, value string) (kind, answer string) {
	switch f {
	case "read":
		return "ok", r.value
	case "write":
		r.value = value
		return "ok", value
	}
	from, to, _ := strings.Cut(strings.Trim(value, "[]"), " ")
	if from != r.value {
		return "fail", value
	}
	r.value = to
	return "ok", value
}

func (r *aRegister) vain(string) bool { return r.coin.IntN(2) == 0 }

func trafficOf(t thing, operations int, infos float64) []line {
	h := traffic{random: rand.New(rand.NewPCG(1, 2)), infos: infos, thing: t}
	return h.make(operations)
}

func lockTraffic(operations int, infos float64) []line {
	return trafficOf(&aLock{holder: -1}, operations, infos)
}

func registerTraffic(values, operations int, infos float64) []line {
	return trafficOf(&aRegister{values: values, value: "nil", coin: rand.New(rand.NewPCG(3, 4))}, operations, infos)
}

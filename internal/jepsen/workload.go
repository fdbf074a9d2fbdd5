package jepsen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// step is an operation as a model takes it.
type step struct {
	input   any
	unknown bool // it may have taken effect at any time after its call, or never
	call    int
	ret     int
	needs   string // in which state it must find things; "" means any
	gives   string // in which it leaves them; "" means the same
	of      *operation
}

// looks reports whether the step changes nothing wherever it is legal. A write
// of the value that is there changes nothing either, but somewhere else it does.
func (s *step) looks() bool { return s.gives == "" || s.gives == s.needs }

// specification is a model that a workload is judged by.
type specification struct {
	name  string
	model func(Options) porcupine.Model
	// steps turns what was done to one key into steps, in the order of their
	// calls. What cannot make a difference is left out.
	steps func([]operation) ([]step, error)
	// about reports whether there is anything to judge; nil means always.
	about func([]operation) bool
}

// workload is what the clients of a history do.
type workload struct {
	name           string
	words          []string
	specifications []specification
}

// workloads lists those that can be judged. The first that knows all words of a
// history counts.
var workloads = []workload{
	{"lock", []string{"acquire", "release", "lock", "unlock"}, []specification{ownerless, owned, fenced}},
	{"register", []string{"read", "write"}, []specification{register}},
	{"cas-register", []string{"read", "write", "cas"}, []specification{register}},
}

// Model returns the whole name of a model: "owner-aware mutex" for itself, and for
// "owner-aware". That there is none is an error, which says which there are.
func Model(name string) (string, error) {
	var short []string
	for _, w := range workloads {
		for _, spec := range w.specifications {
			first, _, _ := strings.Cut(spec.name, " ")
			if name == spec.name || name == first {
				return spec.name, nil
			}
			if !slices.Contains(short, first) {
				short = append(short, first)
			}
		}
	}
	return "", fmt.Errorf("unknown model %q: want %s", name, strings.Join(short, ", "))
}

// by returns the specifications of the models that count.
func (w workload) by(models []string) ([]specification, error) {
	if len(models) == 0 {
		return w.specifications, nil
	}
	var list []specification
	for _, spec := range w.specifications {
		if slices.Contains(models, spec.name) {
			list = append(list, spec)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("a history of the workload %s is not judged as %s", w.name, strings.Join(models, " or "))
	}
	return list, nil
}

// recognise finds the workload by the words of its operations.
func recognise(words []saying) (workload, error) {
	for _, w := range workloads {
		if !slices.ContainsFunc(words, func(s saying) bool { return !slices.Contains(w.words, s.f) }) {
			return w, nil
		}
	}
	var supported []string
	for _, s := range words {
		if !slices.ContainsFunc(workloads, func(w workload) bool { return slices.Contains(w.words, s.f) }) {
			for _, w := range workloads {
				supported = append(supported, fmt.Sprintf("%s (:%s)", w.name, strings.Join(w.words, ", :")))
			}
			return workload{}, wrong(s.line, "operations with :f :%.64s cannot be judged; supported are %s", s.f, strings.Join(supported, ", "))
		}
	}
	return workload{}, mixed(words)
}

// mixed is the error of a history of several workloads.
func mixed(words []saying) error {
	home := func(f string) string {
		i := slices.IndexFunc(workloads, func(w workload) bool { return slices.Contains(w.words, f) })
		return workloads[i].name
	}
	first := words[0]
	for _, s := range words[1:] {
		if (home(s.f) == "lock") != (home(first.f) == "lock") {
			return wrong(s.line, ":%s does not go with the :%s of line %d: a history must be of one workload", s.f, first.f, first.line)
		}
	}
	panic("jepsen: the words are of one workload")
}

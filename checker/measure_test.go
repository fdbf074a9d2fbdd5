package checker

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Law: every topic of Measurements has one meter, and every meter fills one whole topic.
func TestEveryTopicHasItsMeter(t *testing.T) {
	topics := reflect.TypeFor[Measurements]()
	enters := map[string]int{}
	h := history.Header{Nodes: 5, Clients: 1, LongestTTL: 1, Keys: true}
	for _, newMeter := range meters {
		m := newMeter(timeline.New(h), &demand{shared: &shared{}})
		all, was := unmeasured(), unmeasured()
		m.measure(&all, 0)
		var entered []string
		for i := range topics.NumField() {
			is, before := reflect.ValueOf(all).Field(i), reflect.ValueOf(was).Field(i)
			if is.Equal(before) {
				continue
			}
			entered = append(entered, topics.Field(i).Name)
			enters[topics.Field(i).Name]++
			for j := range is.NumField() {
				if is.Field(j).Equal(before.Field(j)) {
					t.Errorf("%T leaves %s.%s as it finds it", m, topics.Field(i).Name, is.Type().Field(j).Name)
				}
			}
		}
		if len(entered) != 1 {
			t.Errorf("%T enters %v, want one topic", m, entered)
		}
	}
	for i := range topics.NumField() {
		if name := topics.Field(i).Name; enters[name] != 1 {
			t.Errorf("%d meters enter %s, want 1: is it in the list of meters?", enters[name], name)
		}
	}
}

// unmeasured is measurements whose figures are what no meter that has seen nothing enters.
func unmeasured() Measurements {
	var m Measurements
	m.each(func(topic any) {
		v := reflect.ValueOf(topic).Elem()
		for i := range v.NumField() {
			v.Field(i).Set(reflect.ValueOf(-1).Convert(v.Field(i).Type()))
		}
	})
	return m
}

// Law: every figure is stored by a name of its own, and is known for many runs: by what its
// tag says (storm reads it, and refuses to start with one that cannot be), or because its
// topic works it out.
func TestEveryFigureIsStoredAndSummedUp(t *testing.T) {
	names := map[string]bool{}
	var all Measurements
	all.each(func(of any) {
		if _, is := of.(topic); !is {
			t.Errorf("%T does not tell its figures", of)
		}
		_, derives := of.(derived)
		v := reflect.TypeOf(of).Elem()
		for i := range v.NumField() {
			f := v.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || names[name] {
				t.Errorf("%s.%s has the name %q in files: want one that no other figure has", v.Name(), f.Name, name)
			}
			names[name] = true
			if f.Tag.Get("runs") == "" && !derives {
				t.Errorf("%s.%s has no tag runs, and its topic derives nothing: what is it of many runs?", v.Name(), f.Name)
			}
		}
	})
}

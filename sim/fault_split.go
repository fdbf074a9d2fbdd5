package sim

import "github.com/lockstorm/lockstorm/nemesis"

var splitting = nemesis.Carry(
	func(w *World, number int, s *nemesis.Split) error {
		for _, links := range s.Cuts(w.setting) {
			w.cut(links, nemesis.Both, w.endless(number))
		}
		return nil
	},
	func(w *World, _ int, s *nemesis.Split) error {
		for _, links := range s.Cuts(w.setting) {
			w.join(links, nemesis.Both)
		}
		return nil
	},
)

package jepsen

import "slices"

// maxDetours bounds the search for further ways, once there is one.
const maxDetours = 32

// way is kinds, the last first, of which one operation each leads from state to
// state.
type way struct {
	kinds     []int
	unwritten bool // it must not begin with a write
}

// ways returns the configs in which a state has come about from c by operations
// of unknown outcome alone, the shortest ways first, and whether it leaves some
// out: it returns most, or a few more.
//
// Nothing else needs what they give on the way, so that no state comes twice.
// And a way is not gone if another leaves all that could be done with what it
// saves: one operation that leads from here to a state is better than all other
// ways to it, since who has saved that one can use it from here to there alone,
// and there the others lead as well; so is a write better than all ways to its
// state that begin with a write.
func (st *stock) ways(c config, to string, most int) (list []config, cut bool) {
	queue := st.back(c, way{}, to)
	var detours []way // by states that others have led through
	seen := []string{to}
	for tries := maxDetours * most; len(queue)+len(detours) > 0; tries-- {
		if len(list) > most || len(list) > 0 && tries < 0 {
			return list, true
		}
		if len(queue) == 0 {
			queue, detours = append(queue, detours[0]), detours[1:]
		}
		w := queue[0]
		queue = queue[1:]
		if d, can := st.follow(c, w); can {
			list = append(list, d)
			continue
		}
		from := st.kinds[w.kinds[len(w.kinds)-1]].needs
		if st.through(w, from) {
			continue
		}
		if further := st.back(c, w, from); slices.Contains(seen, from) {
			detours = append(detours, further...)
		} else {
			seen = append(seen, from)
			queue = append(queue, further...)
		}
	}
	return list, false
}

// follow returns what c becomes on a way, if that begins where c is.
func (st *stock) follow(c config, w way) (config, bool) {
	for _, k := range slices.Backward(w.kinds) {
		var can bool
		if c, can = st.use(c, k); !can {
			return c, false
		}
	}
	return c, true
}

// through reports whether a way leads through a state, or to it.
func (st *stock) through(w way, state string) bool {
	return slices.ContainsFunc(w.kinds, func(k int) bool { return st.kinds[k].gives == state })
}

// back returns a way with all that can go before it and give a state.
func (st *stock) back(c config, w way, to string) []way {
	var list []way
	written := false
	for _, k := range st.giving[to] {
		free := st.kinds[k].needs == ""
		if !st.left(c, k) || free && w.unwritten {
			continue
		}
		written = written || free
		longer := way{append(slices.Clip(w.kinds), k), false}
		if _, legal := st.step(c.state, st.kinds[k].input); legal && !free {
			return []way{longer}
		}
		list = append(list, longer)
	}
	for i := range list {
		list[i].unwritten = w.unwritten || written
	}
	return list
}

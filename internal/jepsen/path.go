package jepsen

import "slices"

// maxDetours bounds the search for further paths after the first.
const maxDetours = 32

// path is a path from state to state by one operation of each kind; kinds are listed in reverse.
type path struct {
	kinds     []int
	unwritten bool // it must not begin with a write
}

// paths returns the configs in which a state results from c by operations of unknown outcome alone,
// shortest paths first, and whether it omits some: it returns about most.
//
// No other operation needs the states on the way, so no state is visited twice. A path can be
// omitted if another path allows everything that it allows, with the operations that it saves. One
// operation that leads directly to the state is better than all other paths: a config that has
// saved that operation could use it only from here to there, and the other paths also lead there.
// For the same reason a single write is better than all paths to its state that begin with a write.
func (st *pendingOps) paths(c config, to string, most int) (list []config, cut bool) {
	queue := st.back(c, path{}, to)
	var detours []path // by states that others have led through
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

// follow returns the config that c becomes on a path, if the path begins at the state of c.
func (st *pendingOps) follow(c config, w path) (config, bool) {
	for _, k := range slices.Backward(w.kinds) {
		var can bool
		if c, can = st.use(c, k); !can {
			return c, false
		}
	}
	return c, true
}

// through reports whether a path visits a state or ends there.
func (st *pendingOps) through(w path, state string) bool {
	return slices.ContainsFunc(w.kinds, func(k int) bool { return st.kinds[k].gives == state })
}

// back returns a path extended at its beginning by each kind that can produce a state.
func (st *pendingOps) back(c config, w path, to string) []path {
	var list []path
	written := false
	for _, k := range st.giving[to] {
		free := st.kinds[k].needs == ""
		if !st.left(c, k) || free && w.unwritten {
			continue
		}
		written = written || free
		longer := path{append(slices.Clip(w.kinds), k), false}
		if _, legal := st.step(c.state, st.kinds[k].input); legal && !free {
			return []path{longer}
		}
		list = append(list, longer)
	}
	for i := range list {
		list[i].unwritten = w.unwritten || written
	}
	return list
}

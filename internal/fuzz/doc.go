// Package hunt searches for runs in which a lock breaks what it promises, without
// being told how: it draws clients, times, worlds and plans, runs them side by side,
// keeps what came close and changes that.
//
// What came close is told by several measures at once (closeness.go), each on a scale of
// its own: votes that another lacked while somebody held the lock, or that a holder was
// left with; what was left of a bound. They guide, and prove nothing: what is found is
// what the judges find.
//
// A hunt follows from its seed: the same hunt makes the same runs in the same order,
// however many go side by side.
package fuzz

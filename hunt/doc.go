// Package hunt searches for runs in which a lock breaks what it promises, without
// being told how: it draws clients, times, worlds and plans, runs them side by side,
// keeps what came close and changes that.
//
// A hunt follows from its seed: the same hunt makes the same runs in the same order,
// however many go side by side.
package hunt

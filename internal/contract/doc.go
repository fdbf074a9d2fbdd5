// Package contract tests that the simulated node behaves like a real Redis: it sends the
// same commands to both and compares the replies. It also checks which packages may import
// which.
package contract

// Package arrows guards the structure of the project: its test knows which
// package may import which, and what a package must not do, with the reason
// for each ban.
package arrows

// Package reaper takes back what a program has made when the program ends, however it
// ends: a small shell process waits for that moment. Nothing reaches it that is meant
// for the program: no signal from the terminal, and no SIGKILL.
package child

// Package child starts processes that the kernel kills when we die, however we die, and
// makes processes stand still. It runs on Linux only.
// Package reaper takes back what a program has made when the program ends, however it
// ends: a small shell process waits for that moment. Nothing reaches it that is meant
// for the program: no signal from the terminal, and no SIGKILL.
package child

// Package child starts processes that the kernel kills when this program dies, however it
// dies ([Forker]), stops processes ([Stop]), and starts a process that cleans up after this
// one ([Reaper]). It runs on Linux only.
package child

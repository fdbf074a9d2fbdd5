// Package child starts processes that the kernel kills when this program dies, however it
// dies ([Forker]), stops processes ([Stop]), and starts a process that cleans up after this
// one ([Reaper]). A [Group] of servers uses all of them: each [Daemon] is a server with a
// directory and ports of its own, over all its restarts.
//
// Cleaning up after a group is safe in three ways:
//
//   - Close kills the servers and removes their files.
//   - When the program dies, even by SIGKILL, the kernel kills the servers, and the reaper,
//     a small shell process that was waiting for this, kills what still works in the
//     directory, ends the mounts below it and removes it.
//   - Signals from the terminal reach neither the servers nor the shell. The program
//     decides what to do about them.
//
// It runs on Linux only. Elsewhere every start fails.
package child

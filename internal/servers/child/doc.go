// Package child starts processes that the kernel kills when we die, however we die, and
// makes processes stand still. It runs on Linux only.
package child

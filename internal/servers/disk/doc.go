// Package disk is a disk that forgets what was not synced when the power goes. A killed process
// loses nothing: what it wrote is in the kernel's pages. So a server that shall lose its unsynced
// writes keeps its data on a [Disk]: a directory that is a FUSE mount, served by this program.
//
// The mount passes everything through to a directory beside it. For each file it keeps an undo log:
// the size of the file at its last sync, and the old content of what was changed since.
// [Disk.Cut] takes all these changes back, and mounts the directory again, so that no page of the
// kernel survives.
//
// What a power cut loses:
//
//   - Each file is as at its last sync: the last fsync or fdatasync of it, or write to it with O_SYNC or
//     O_DSYNC, by whatever process and file descriptor. That includes its size. A file that was
//     created and never synced is there, and empty.
//   - A file that was written through a mapping is as at the last msync with MS_SYNC, or other sync
//     of it.
//
// What it does not lose, because the disk stores it at once: the names of files and directories
// (create, rename, link, unlink, mkdir, rmdir), modes and owners. A sync of a directory has nothing to do. A file
// that is written, not synced, and renamed over another one is therefore empty after a cut, and
// the other one is gone, as on most file systems without special care.
//
// What it does not model: writes that reach the disk in another order, or in part, or without being
// asked to. A real kernel writes old pages by itself, after half a minute or so, so real losses can be smaller,
// and can have holes. What servers have written before a run begins should therefore count as synced
// ([Disk.SyncAll]). sync and syncfs do not reach a FUSE file system and sync nothing. A sync is passed on, so
// it takes as long as on the disk below.
//
// The disk needs Linux, /dev/fuse and the right to mount: see [Available].
package disk

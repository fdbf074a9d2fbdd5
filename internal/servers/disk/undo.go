package disk

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// blockSize is the unit in which an undo log keeps old content.
const blockSize = 4096

// budget bounds how many bytes of old content the undo logs of a disk keep.
type budget struct{ left atomic.Int64 }

// errFull is the error of a change whose old content does not fit into memory.
var errFull = errors.New("too much was overwritten since the last sync")

func (b *budget) take(bytes int) error {
	if b.left.Add(-int64(bytes)) < 0 {
		b.left.Add(int64(bytes))
		return errFull
	}
	return nil
}

func (b *budget) give(bytes int) { b.left.Add(int64(bytes)) }

// undo says what a file was at its last sync, as far as it has changed since.
type undo struct {
	file   *os.File // open for itself: the file may be renamed, removed or closed
	size   int64    // at the last sync
	blocks map[int64][]byte
	budget *budget
}

// newUndo begins the log of a file that is as at its last sync. It owns the open file, for reading
// and writing.
func newUndo(f *os.File, b *budget) (*undo, error) {
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &undo{file: f, size: info.Size(), blocks: map[int64][]byte{}, budget: b}, nil
}

// before has to be called before the bytes from one offset to another change, or go away.
func (u *undo) before(from, to int64) error {
	to = min(to, u.size)
	for n := from / blockSize; n*blockSize < to; n++ {
		if u.blocks[n] != nil {
			continue
		}
		old := make([]byte, min(blockSize, u.size-n*blockSize))
		if err := u.budget.take(len(old)); err != nil {
			return err
		}
		if _, err := u.file.ReadAt(old, n*blockSize); err != nil {
			u.budget.give(len(old))
			return fmt.Errorf("read what is to be overwritten: %w", err)
		}
		u.blocks[n] = old
	}
	return nil
}

// apply makes the file what it was at its last sync.
func (u *undo) apply() error {
	if err := u.file.Truncate(u.size); err != nil {
		return err
	}
	for n, old := range u.blocks {
		if _, err := u.file.WriteAt(old, n*blockSize); err != nil {
			return err
		}
	}
	return nil
}

// drop ends the log.
func (u *undo) drop() {
	for _, old := range u.blocks {
		u.budget.give(len(old))
	}
	_ = u.file.Close() // it was not written, or apply has returned the error
}

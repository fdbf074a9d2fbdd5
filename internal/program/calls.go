package program

import (
	"errors"
	"fmt"
	"sync"
)

// calls matches the lines of a program with what it was asked.
type calls struct {
	greeted bool // it is ready; used by the reader only

	mu       sync.Mutex
	open     *ToProgram // the call that is not answered yet; nil: none
	answered chan FromProgram
	last     int64
	holds    map[int64]chan struct{} // closed when the hold is lost; by number
	told     map[int64]bool          // the holds whose loss was reported
	belated  int                     // losses that were reported after the release and the next call of acquire
}

// begin adds a hold and returns what is closed when it is lost.
func (c *calls) begin(id int64) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds == nil {
		c.holds, c.told = map[int64]chan struct{}{}, map[int64]bool{}
	}
	lost := make(chan struct{})
	c.last, c.holds[id] = id, lost
	return lost
}

// add adds a call, and returns the channel of its answer.
func (c *calls) add(m ToProgram) <-chan FromProgram {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open, c.answered = &m, make(chan FromProgram, 1)
	return c.answered
}

// answer delivers the answer to the open call.
func (c *calls) answer(m FromProgram) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.open == nil:
		return fmt.Errorf("nothing was asked that %s answers", m.Type)
	case !m.answersTo(*c.open):
		return fmt.Errorf("the open call is %s %d: want one of %q with its id", c.open.Type, c.open.ID, answers[c.open.Type])
	}
	if c.open.Type == Release || m.Type == Refused {
		delete(c.holds, m.ID)
		delete(c.told, m.ID)
	}
	c.open = nil
	c.answered <- m
	return nil
}

// lost delivers the notice that a hold is lost. One that crosses its release is of no use and no
// error.
func (c *calls) lost(m FromProgram) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch lost, is := c.holds[m.ID]; {
	case m.ID < 1 || m.ID > c.last:
		return errors.New("there is no hold of this id")
	case c.told[m.ID]:
		return errors.New("the loss of this hold was reported before")
	case is && c.open != nil && c.open.Type == Acquire:
		return errors.New("this hold is not granted")
	case is:
		c.told[m.ID] = true
		close(lost)
	case m.ID < c.last:
		c.belated++
	}
	return nil
}

// belatedLosses returns how many losses were reported after the release and the next call of acquire.
func (c *calls) belatedLosses() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.belated
}

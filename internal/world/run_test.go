package world

import (
	"context"
	"testing"
)

// A fault cancels a call of client 2, so that client 1's cannot be.
func TestCallsCanBeCancelledWhileTheyAreUnderWay(t *testing.T) {
	c := NewCalls(2)
	c.Expect(2)
	callers := context.Background()

	first, returned := c.Begin(callers, 1)
	if first != callers || c.UnderWay(1) != nil {
		t.Error("a call that nobody cancels has a context of its own")
	}
	returned()

	second, returned := c.Begin(callers, 2)
	if second.Err() != nil || c.UnderWay(1) != nil {
		t.Error("cancelled too soon, or another's")
	}
	c.UnderWay(2)()
	if second.Err() == nil || callers.Err() != nil {
		t.Errorf("the call: %v, its caller: %v", second.Err(), callers.Err())
	}
	returned()
	if c.UnderWay(2) != nil {
		t.Error("the call has returned and is still under way")
	}
	third, returned := c.Begin(callers, 2)
	if third.Err() != nil {
		t.Error("the next call is cancelled as well")
	}
	returned()
	if third.Err() == nil {
		t.Error("the context outlives its call")
	}
}

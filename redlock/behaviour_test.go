package redlock_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/mutextest"
)

// The lock keeps its promises on goroutines and in real time. Four nodes, of
// which three are a quorum, are as strict as any number can be.
func TestBehaviour(t *testing.T) { mutextest.Run(t, newShelves(4)) }

func (s shelves) Connect(*testing.T) env.Nodes { return s }

func (s shelves) Look(_ *testing.T, node int, key string) (string, time.Duration) {
	return s[node-1].look(key)
}

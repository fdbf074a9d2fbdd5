package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/gotool"
)

// Explored is what the explorer of a lock has found in its worlds.
type Explored struct {
	Worlds  int            `json:"worlds"`
	Runs    int            `json:"runs"`
	Seconds float64        `json:"seconds"`
	Finds   []ExploredFind `json:"finds"`
}

// ExploredFind is a violated property of a world.
type ExploredFind struct {
	World    string           `json:"world"`
	Property checker.Property `json:"property"`
	Events   int              `json:"events"` // of the shortest run
	Faults   int              `json:"faults"`
	Runs     int              `json:"runs"` // that were made up to the end of this world
}

// Beyond returns the finds that the lock without the defect does not have.
func (e Explored) Beyond(control Explored) (finds []ExploredFind) {
	type violation struct {
		world    string
		property checker.Property
	}
	known := map[violation]bool{}
	for _, f := range control.Finds {
		known[violation{f.World, f.Property}] = true
	}
	for _, f := range e.Finds {
		if !known[violation{f.World, f.Property}] {
			finds = append(finds, f)
		}
	}
	return finds
}

// Explore builds the lock with a mutant, and explores its worlds. lock is its kind. The zero mutant is
// the lock without a defect.
func (c Checkout) Explore(ctx context.Context, m Mutant, lock string) (_ Explored, err error) {
	h, err := c.build(ctx, m, "./internal/mutants/explorer")
	if err != nil {
		return Explored{}, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	cmd := exec.CommandContext(ctx, h.program, lock)
	cmd.Dir = h.dir.path
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := gotool.Run(cmd); err != nil {
		return Explored{}, errors.Join(ctx.Err(), fmt.Errorf("the explorer: %w: %s", err, strings.TrimSpace(stderr.String())))
	}
	var e Explored
	if err := json.Unmarshal(out.Bytes(), &e); err != nil {
		return Explored{}, fmt.Errorf("the explorer's report: %w", err)
	}
	return e, nil
}

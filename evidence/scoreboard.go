package main

import (
	"context"

	"github.com/lockstorm/lockstorm/evidence/languages"
	"github.com/lockstorm/lockstorm/evidence/locks"
)

// board is a scoreboard of Go locks.
type board struct {
	locks.Page
	args []string // of the test that measures it
}

var (
	redisBoard = board{locks.RedisPage, nil}
	storeBoard = board{locks.StorePage, []string{"-stores", "-runs", "2", "-again", "1"}}
)

// measureScoreboard runs all locks of a board in all storms, and stores what was seen.
func measureScoreboard(b board) func(context.Context, *checkout) error {
	return func(ctx context.Context, c *checkout) error {
		_, err := c.run(ctx, "go", append([]string{"-C", "evidence", "test", "./locks", "-count=1", "-timeout", "2h", "-run", "^TestScoreboard$", "-args", "-write"}, b.args...)...)
		return err
	}
}

func writeScoreboard(b board) func(*checkout) (string, error) {
	return func(c *checkout) (string, error) {
		stored, err := locks.Load(c.path("evidence", "locks", b.File))
		if err != nil {
			return "", err
		}
		return b.Text(stored), nil
	}
}

// measureLanguages runs the locks of other languages, and stores what was seen.
func measureLanguages(ctx context.Context, c *checkout) error {
	_, err := c.run(ctx, "go", "-C", "evidence", "test", "./languages", "-count=1", "-timeout", "2h", "-run", "^TestScoreboard$", "-args", "-write")
	return err
}

func writeLanguages(c *checkout) (string, error) {
	board, err := languages.Load(c.path("evidence", "languages", languages.Stored))
	if err != nil {
		return "", err
	}
	return board.Text()
}

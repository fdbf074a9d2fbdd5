package address

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/servers/preflight"
)

// scan is the command for one page of the keys with a prefix, which has no characters
// that a pattern would understand.
func scan(cursor, prefix string) []string {
	return []string{"SCAN", cursor, "MATCH", prefix + "*", "COUNT", "1000"}
}

// sweep deletes all keys with a prefix. It looks until it has found nothing twice, with a
// pause in between: what was on its way to the server when nobody sent anything any more
// may be done behind the first look, also where that has found nothing.
func sweep(ctx context.Context, c *preflight.Conn, prefix string, pause func()) error {
	for empty := 0; empty < 2; {
		found, err := look(ctx, c, prefix)
		if err != nil {
			return err
		}
		if empty++; found {
			empty = 0
		}
		if empty == 1 {
			pause()
		}
	}
	return nil
}

// look deletes what keys with a prefix it comes upon, and reports whether there were any.
func look(ctx context.Context, c *preflight.Conn, prefix string) (found bool, err error) {
	for cursor := ""; cursor != "0"; {
		keys, next, err := page(ctx, c, cursor, prefix)
		if err != nil {
			return found, err
		}
		if len(keys) > 0 {
			found = true
			if _, err := c.Ask(ctx, append([]string{"UNLINK"}, keys...)...); err != nil {
				return found, err
			}
		}
		cursor = next
	}
	return found, nil
}

// page returns some keys, and where the next page begins: "0" is the end, and "" the
// beginning.
func page(ctx context.Context, c *preflight.Conn, cursor, prefix string) (keys []string, next string, err error) {
	if cursor == "" {
		cursor = "0"
	}
	said, err := c.Ask(ctx, scan(cursor, prefix)...)
	if err != nil {
		return nil, "", err
	}
	parts, _ := said.([]any)
	if len(parts) != 2 {
		return nil, "", fmt.Errorf("%d parts of an answer to SCAN, which has two", len(parts))
	}
	next, _ = parts[0].(string)
	list, ok := parts[1].([]any)
	if next == "" || !ok {
		return nil, "", fmt.Errorf("SCAN is answered with %v", said)
	}
	for _, k := range list {
		key, _ := k.(string)
		keys = append(keys, key)
	}
	return keys, next, nil
}

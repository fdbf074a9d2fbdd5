package redisnode

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// maxPoolSize is as many connections as one host can have to one address.
const maxPoolSize = 1<<16 - 1

// check refuses options out of range, each by its name.
func (o Options) check(nodes int) error {
	return cmp.Or(o.checkLogin(), o.checkWay(nodes), o.checkLimits())
}

func (o Options) checkLogin() error {
	switch {
	case o.Username != "" && o.Password == "":
		return fmt.Errorf("redisnode: Username %q without a Password", o.Username)
	case o.DB < 0:
		return fmt.Errorf("redisnode: DB %d: want 0 or more", o.DB)
	}
	return nil
}

func (o Options) checkWay(nodes int) error {
	switch {
	case o.ServerNames != nil && len(o.ServerNames) != nodes:
		return fmt.Errorf("redisnode: ServerNames: %d names for %d nodes", len(o.ServerNames), nodes)
	case o.Dial != nil && (o.TLS != nil || o.Certificates != nil):
		return errors.New("redisnode: Dial and TLS: want one of them")
	}
	return nil
}

func (o Options) checkLimits() error {
	switch {
	case o.DefaultTTL < 0 || o.DefaultTTL%time.Millisecond != 0:
		return fmt.Errorf("redisnode: DefaultTTL %v: %w", o.DefaultTTL, ErrTTL)
	case o.PoolSize < 0 || o.PoolSize > maxPoolSize:
		return fmt.Errorf("redisnode: PoolSize %d: want 0 (for %d) to %d", o.PoolSize, defaultPoolSize, maxPoolSize)
	case o.Abreast < 0:
		return fmt.Errorf("redisnode: Abreast %d: want 0 (for 1) or more", o.Abreast)
	case o.DialTimeout < 0:
		return fmt.Errorf("redisnode: DialTimeout %v: want 0 (for %v) or more", o.DialTimeout, defaultDialTimeout)
	}
	return nil
}

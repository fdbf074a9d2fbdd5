//go:build linux

package zookeepertest_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/stores/zookeepertest"
)

func TestRealStoreKeepsACorrectLock(t *testing.T) { externaltest.Correct(t, zookeepertest.Store, open) }

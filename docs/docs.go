// Package docs holds those of the pages beside it that the command prints.
package docs

import _ "embed"

// ScenarioSchema is the JSON schema of scenario files. internal/schema makes it.
//
//go:embed scenario.schema.json
var ScenarioSchema []byte

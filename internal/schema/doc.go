// Package schema generates the documentation of scenario files from their Go types: a JSON schema,
// docs/scenario.schema.json, and the tables of docs/scenario-format.md. Names, types, limits and
// defaults come from types and tags, descriptions from comments. The tests of this package fail
// when a page is out of date. To renew it:
//
//	make bless
//
// Package form reads the tables and checks values. A test holds the schema and the reader to accepting the same
// files.
package schema

// Package schema makes the documentation of scenario files out of the types that
// they are read into: a JSON schema, docs/scenario.schema.json, and the tables of
// docs/scenario-format.md. What a field is called, what it may be and whether it
// may be left out stands in its type and tags; what it means, in its comment. The
// tests of this package fail when either page is not what the types are. This
// renews both:
//
//	make bless
//
// It knows nothing of how a value is checked: that the schema and the reader agree
// is a law that the tests hold them to.
package schema

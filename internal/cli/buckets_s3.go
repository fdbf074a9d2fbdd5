//go:build s3 && !simulated

package cli

// Buckets of S3, and of what speaks its protocol, make the program 9 MB larger, so they are linked only
// by go build -tags s3.
import _ "gocloud.dev/blob/s3blob"

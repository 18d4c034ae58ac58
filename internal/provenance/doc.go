// Package provenance reads and writes signed statements about what a build was made from.
//
// A statement is an in-toto Statement v1 with the predicate SLSA provenance v1:
//
//	_type                             https://in-toto.io/Statement/v1
//	subject                           name and digest.sha256 of each file that was written
//	predicateType                     https://slsa.dev/provenance/v1
//	predicate.buildDefinition
//	    buildType                     what the keys of externalParameters are: [Instrument] or [Release]
//	    externalParameters            [Instrumentation] or [Building]
//	    resolvedDependencies          name and digest.sha256 of each file that was read
//	predicate.runDetails
//	    builder.id                    [BuilderID]
//	    builder.version.tracegen      the version of tracegen; of a release, also the version of Go
//	    builder.builderDependencies   name and digest.sha256 of the executable
//	    byproducts                    name and digest.sha256 of files that describe the run
//
// Its only text is what encoding/json makes of it, without escapes for HTML and without blanks. A reader encodes what
// it has read and compares: a key that it does not know, a key that is there twice, or one in another letter case would
// be read in one way here and in another way by another program. So a statement holds nothing that was not read.
//
// The text is the payload of a DSSE envelope, an object with three keys in any order:
//
//	payloadType   application/vnd.in-toto+json
//	payload       the statement in base64
//	signatures    one object: keyid and sig
//
// sig is the base64 of an ECDSA signature on P-256 over the SHA-256 of
//
//	DSSEv1 LEN(payloadType) payloadType LEN(payload) payload
//
// with one blank between the parts, LEN in decimal, and the payload as it is before base64. The signature is in ASN.1,
// as openssl and Java's SHA256withECDSA have it. keyid is the SHA-256 of the public key in its X.509 form
// (SubjectPublicKeyInfo, DER), in hexadecimal. A key signs a statement in the same way each time (RFC 6979).
//
// Names are paths with slashes that cannot leave the directory in which they are looked up. A name of a directory ends
// in a slash; directories have no digest, the files in them do.
package provenance

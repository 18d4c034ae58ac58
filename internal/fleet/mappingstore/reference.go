package mappingstore

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable with the location of the archive that "archive:" stands for.
const Variable = "TRACEGEN_ARCHIVE"

const (
	schemeS3      = "s3://"
	schemeArchive = "archive:"
)

// Reference names an archive and selects releases in it. Its text is
//
//	LOCATION[?KEY=VALUE[&KEY=VALUE]...]
//
// where LOCATION is s3://BUCKET[/PREFIX], archive:DIRECTORY, or archive: for the location in the variable
// TRACEGEN_ARCHIVE. The keys of a selection are those of [Selector]: digest, version, variant, label, latest and
// optional. Bytes that have a meaning in a URL are written %XX. The keys endpoint and region belong to the location.
type Reference struct {
	// Location is a directory, or s3://BUCKET[/PREFIX] with the keys endpoint and region, if they were given.
	Location string
	Selector Selector
	// Selects is set if the text has a selection, or the word latest.
	Selects bool
	// Optional is set if it is no error that no release is selected.
	Optional bool
}

// IsReference reports whether a text names an archive and not a file.
func IsReference(text string) bool {
	return strings.HasPrefix(text, schemeS3) || strings.HasPrefix(text, schemeArchive)
}

// IsRemote reports whether a location is in a bucket, so that using it needs the network.
func IsRemote(location string) bool { return strings.HasPrefix(location, schemeS3) }

// ParseReference parses the text of a reference.
func ParseReference(text string) (Reference, error) {
	fail := func(format string, args ...any) (Reference, error) {
		return Reference{}, fmt.Errorf("%s: %w", redacted(text), fmt.Errorf(format, args...))
	}
	if !IsReference(text) {
		return fail("does not begin with %s or %s", schemeS3, schemeArchive)
	}
	location, query, _ := strings.Cut(text, "?")
	if rest, ok := strings.CutPrefix(location, schemeArchive); ok {
		location = rest
		if rest == "" {
			if location = os.Getenv(Variable); location == "" {
				return fail("no archive is named; write %sDIRECTORY or s3://BUCKET/PREFIX, or set %s", schemeArchive, Variable)
			}
			location = strings.TrimPrefix(location, schemeArchive)
			if whole, own, both := strings.Cut(location, "?"); both && IsRemote(location) {
				location, query = whole, strings.Trim(own+"&"+query, "&")
			}
		}
	}
	keys, err := url.ParseQuery(query)
	if err != nil {
		return fail("%w", err)
	}
	r := Reference{Location: location}
	server := url.Values{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		values := keys[key]
		if len(values) > 1 && key != "label" {
			return fail("%s is given %d times", key, len(values))
		}
		value := values[0]
		switch key {
		case "digest":
			r.Selector.Digest, r.Selects = value, true
		case "version":
			r.Selector.Version, r.Selects = value, true
		case "variant":
			r.Selector.Variant, r.Selects = value, true
		case "label":
			if r.Selector.Labels, err = ParseLabels(values); err != nil {
				return fail("%w", err)
			}
			r.Selects = true
		case "latest":
			r.Selects = true
		case "optional":
			r.Selects, r.Optional = true, true
		case "endpoint", "region":
			if !IsRemote(location) {
				return fail("%s is for s3:// alone", key)
			}
			server.Set(key, value)
		default:
			return fail("unknown key %q; the keys are digest, version, variant, label, latest, optional, endpoint and region",
				key)
		}
	}
	if len(server) > 0 {
		r.Location += "?" + server.Encode()
	}
	if err := r.Selector.check(); err != nil {
		return fail("%w", err)
	}
	return r, nil
}

// redacted returns a location for messages: without a password that stands in an endpoint.
func redacted(location string) string {
	if i := strings.LastIndexByte(location, '@'); i >= 0 && strings.Contains(location, "endpoint=") {
		from := strings.Index(location, "endpoint=") + len("endpoint=")
		if from < i {
			return location[:from] + "…" + location[i:]
		}
	}
	return location
}

// bucketLocation is what a location in S3 consists of.
type bucketLocation struct{ bucket, prefix, endpoint, region string }

// parseBucket parses s3://BUCKET[/PREFIX][?endpoint=URL&region=REGION].
func parseBucket(location string) (bucketLocation, error) {
	rest, query, _ := strings.Cut(strings.TrimPrefix(location, schemeS3), "?")
	var b bucketLocation
	b.bucket, b.prefix, _ = strings.Cut(rest, "/")
	if b.bucket == "" || strings.ContainsAny(b.bucket, "@:") {
		return b, errors.New("the location of a bucket is s3://BUCKET/PREFIX; credentials and endpoint are set by the " +
			"variables AWS_*")
	}
	if b.prefix = strings.Trim(b.prefix, "/"); b.prefix != "" {
		b.prefix += "/"
	}
	keys, err := url.ParseQuery(query)
	if err != nil {
		return b, err
	}
	b.endpoint, b.region = keys.Get("endpoint"), keys.Get("region")
	if b.endpoint == "" {
		return b, nil
	}
	u, err := url.Parse(b.endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return b, errors.New("the endpoint must have the form https://HOST, without credentials; set these by the " +
			"variables AWS_*")
	}
	return b, nil
}

// ParseLabels parses labels of the form KEY=VALUE.
func ParseLabels(list []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, text := range list {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("label %q: must have the form KEY=VALUE", text)
		}
		if _, again := labels[key]; again {
			return nil, fmt.Errorf("label %q is given twice", key)
		}
		labels[key] = value
	}
	return labels, nil
}

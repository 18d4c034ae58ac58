package mappingstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
)

// bucket is a store in a bucket, below a prefix.
type bucket struct {
	client *s3.Client
	name   string
	prefix string // "" or ends in a slash
}

const (
	connectTimeout  = 10 * time.Second
	responseTimeout = time.Minute // until an answer begins
)

// openBucket opens a bucket. Endpoint and region may be empty: the library takes them, and the credentials, from the
// variables AWS_* and the files of profiles.
func openBucket(ctx context.Context, name, prefix, endpoint, region string) (*bucket, error) {
	client := awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = connectTimeout }).
		WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = responseTimeout })
	options := []func(*config.LoadOptions) error{config.WithHTTPClient(client), config.WithLogger(logging.Nop{})}
	if region != "" {
		options = append(options, config.WithRegion(region))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, explained(err)
	}
	b := &bucket{name: name, prefix: prefix}
	b.client = s3.NewFromConfig(c, func(o *s3.Options) {
		if endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
		if o.BaseEndpoint != nil {
			// MinIO, Ceph and others have no host name for each bucket. They ignore the region, but it is part of the
			// signature.
			o.UsePathStyle = true
			if o.Region == "" {
				o.Region = "us-east-1"
			}
		}
		// The archive has checksums of its own, and not every server has those of newer libraries.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
	if b.client.Options().Region == "" {
		return nil, errors.New("no region is known; set AWS_REGION or the region of the profile, or add ?region= to the " +
			"location")
	}
	return b, nil
}

func (b *bucket) local() bool { return false }

func (b *bucket) key(name string) *string { return aws.String(b.prefix + name) }

// list sends one request for each 1,000 names.
func (b *bucket) list(ctx context.Context, prefix string) ([]string, error) {
	var names []string
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: b.key(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explained(err)
		}
		for _, o := range page.Contents {
			if name, ok := strings.CutPrefix(aws.ToString(o.Key), b.prefix); ok {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

func (b *bucket) get(ctx context.Context, name string) ([]byte, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.key(name)})
	if err != nil {
		return nil, explained(err)
	}
	defer out.Body.Close()
	data, err := io.ReadAll(io.LimitReader(out.Body, maxFile+1))
	switch {
	case err != nil:
		return nil, explained(err)
	case len(data) > maxFile:
		return nil, errors.New("it is larger than 1 GiB")
	case out.ContentLength != nil && *out.ContentLength != int64(len(data)):
		return nil, fmt.Errorf("%d of %d bytes arrived; try again", len(data), *out.ContentLength)
	}
	return data, nil
}

func (b *bucket) put(ctx context.Context, name string, data []byte) error {
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: b.key(name),
		Body: bytes.NewReader(data), ContentType: aws.String("application/octet-stream")})
	return explained(err)
}

func (b *bucket) remove(ctx context.Context, name string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: b.key(name)})
	return explained(err)
}

// explained adds the way out to an error of the library, without what it says of requests. A missing object becomes
// fs.ErrNotExist.
func explained(err error) error {
	var api smithy.APIError
	var dns *net.DNSError
	var network *net.OpError
	var status *awshttp.ResponseError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &dns):
		return fmt.Errorf("the host %s is not known: %v; check the network and AWS_ENDPOINT_URL", dns.Name, dns.Err)
	case errors.As(err, &network):
		return fmt.Errorf("no connection: %w; check the network and AWS_ENDPOINT_URL, or have the mapping written to a "+
			"file by `tracegen mappings pull` where the archive can be reached", network)
	case errors.As(err, &api):
		code := 0
		if errors.As(err, &status) {
			code = status.HTTPStatusCode()
		}
		return apiError(api, code)
	case errors.As(err, &status):
		return fmt.Errorf("the server answered with status %d: %w", status.HTTPStatusCode(), status.Err)
	case strings.Contains(err.Error(), "failed to refresh cached credentials"),
		strings.Contains(err.Error(), "failed to retrieve credentials"):
		return errors.New("no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
	}
	return err
}

// apiError returns an error for an answer of the server with the HTTP status.
func apiError(api smithy.APIError, status int) error {
	what := api.ErrorCode()
	if m := api.ErrorMessage(); m != "" {
		what += ": " + m
	}
	switch api.ErrorCode() {
	case "NoSuchKey", "NotFound":
		return fmt.Errorf("%s: %w", what, fs.ErrNotExist)
	case "NoSuchBucket":
		return fmt.Errorf("%s; create the bucket, or correct its name", what)
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
		return fmt.Errorf("%s; set AWS_REGION to the region of the bucket", what)
	}
	if status == http.StatusForbidden || status == http.StatusUnauthorized || strings.Contains(api.ErrorCode(), "Token") ||
		strings.Contains(api.ErrorMessage(), "access key") {
		return fmt.Errorf("%s; check the credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE), and "+
			"that they permit to list, to read, and for a push to write", what)
	}
	return errors.New(what)
}

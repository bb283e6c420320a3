// Command protogen compiles proto files and runs the Go code generators on
// them, so that generating needs no protoc on the machine.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	dir := flag.String("I", ".", "folder of the proto files and of what is generated")
	flag.Parse()
	if err := run(context.Background(), *dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, files []string) error {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		SourceInfoMode: protocompile.SourceInfoStandard, // comments go into the generated code
	}
	compiled, err := compiler.Compile(ctx, files...)
	if err != nil {
		return err
	}
	var descriptors []*descriptorpb.FileDescriptorProto
	for _, file := range compiled {
		descriptors = append(descriptors, protoutil.ProtoFromFileDescriptor(file))
	}
	for _, generator := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{
			FileToGenerate: files,
			Parameter:      proto.String("paths=source_relative"),
			ProtoFile:      descriptors,
		})
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "go", "tool", generator)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(request), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w", generator, err)
		}
		var response pluginpb.CodeGeneratorResponse
		if err := proto.Unmarshal(out, &response); err != nil {
			return fmt.Errorf("%s: %w", generator, err)
		}
		if response.Error != nil {
			return fmt.Errorf("%s: %s", generator, response.GetError())
		}
		for _, file := range response.File {
			if err := os.WriteFile(filepath.Join(dir, file.GetName()), []byte(file.GetContent()), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

#!/bin/sh
# Compiles src into the classes beside this script. JAVAC is a javac of release 17, JAVAC25 one of release 25;
# the committed classes were made with 17.0.15 and 25.0.3. Those of bin/jcov contain the time of compiling.
set -eu
cd "$(dirname "$0")"
javac=${JAVAC:-javac}
modern=${JAVAC25:?set JAVAC25 to a javac of release 25}
rm -rf bin
"$javac" --release 17 -Xlint:none -encoding UTF-8 -g -d bin/g src/Constants.java src/Flow.java src/Wide.java \
    src/Annotated.java src/Frames.java src/Names.java
"$javac" --release 8 -Xlint:none -encoding UTF-8 -g:none -d bin/none src/Constants.java src/Names.java
"$javac" --release 17 -Xlint:none -encoding UTF-8 -g -parameters -Xjcov -d bin/jcov src/Flow.java
"$modern" --release 25 -Xlint:none -encoding UTF-8 -g -d bin/modern src/Modern.java
"$javac" --release 17 -Xlint:none -d bin/module $(find src/module -name '*.java')

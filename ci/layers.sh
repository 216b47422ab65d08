#!/usr/bin/env bash
# Judges every #include of the sources below a root (this repository, unless another is given) by
# the root's ci/layers.txt. Prints each breach as file:line and exits 1 where there is one.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

find . \( -path './.*' -o -path ./build \) -prune -o -type f \
  \( -name '*.h' -o -name '*.cpp' -o -name '*.def' -o -name '*.inc' \) -print |
  sed 's|^\./||' | LC_ALL=C sort |
  awk '
    function folder_of(path) { return sub(/\/[^\/]*$/, "", path) ? path : "." }
    function breach(what) { print file ":" line ": " what; failed = 1 }

    # Whether `user` may include headers of `used`: a walk over what each allows.
    function may_include(user, used,    todo, seen, last, i, n, parts, now) {
      todo[last = 1] = user
      for (i = 1; i <= last; i++) {
        now = todo[i]
        if (now == used) return 1
        if (now in seen) continue
        seen[now] = 1
        n = split(allowed[now], parts, " ")
        while (n > 0) todo[++last] = parts[n--]
      }
      return 0
    }

    # Whether `user` has no list of what it includes from elsewhere, or this header is on it.
    function is_listed(user, included,    parts, n) {
      if (!(user in only)) return 1
      n = split(only[user], parts, " ")
      while (n > 0 && parts[n] != included && parts[n] != folder_of(included)) n--
      return n > 0
    }

    function judge(included, quote,    used, user) {
      user = owner[folder_of(file)]
      used = owner[folder_of(included)]
      if (quote == "<") {
        if (used != "") breach("<" included "> is ours and wants quotes")
      } else if (included ~ /(^|\/)\.\.?\//) {
        breach("\"" included "\" is relative; write the path from the root")
      } else if ((getline unused < included) < 0) {
        breach("\"" included "\" does not exist")
      } else {
        close(included)
        if (used == "") breach("\"" included "\" lies in a folder that ci/layers.txt does not list")
        else if (!may_include(user, used)) breach(user " may not include " used ": \"" included "\"")
        else if (user != used && !is_listed(user, included))
          breach(user " may not include \"" included "\"")
      }
    }

    function read_layers(path,    text, n, i, words) {
      file = path
      for (line = 1; (getline text < path) > 0; line++) {
        sub(/#.*/, "", text)
        n = split(text, words, " ")
        if (n == 0) continue
        if (n == 3 && words[2] == "=") {
          owner[words[1]] = words[3]
        } else if (n > 2 && words[2] == "only:") {
          if (owner[words[1]] != words[1]) breach(words[1] " is not listed above")
          for (i = 3; i <= n; i++) only[words[1]] = only[words[1]] " " words[i]
          continue
        } else if (words[1] ~ /:$/) {
          sub(/:$/, "", words[1])
          owner[words[1]] = words[1]
          for (i = 2; i <= n; i++) allowed[words[1]] = allowed[words[1]] " " words[i]
        } else {
          breach("neither \"folder: folders\" nor \"folder = folder\"")
        }
        for (i = 2; i <= n; i++) {
          if (words[i] != "=" && owner[words[i]] != words[i]) breach(words[i] " is not listed above")
        }
      }
      if (line == 1) breach("lists nothing")
    }

    BEGIN { read_layers("ci/layers.txt") }

    {
      file = $0
      sources++
      line = 1
      if (!(folder_of(file) in owner)) {
        breach("its folder is not in ci/layers.txt")
        next
      }
      for (line = 1; (getline text < file) > 0; line++) {
        if (text !~ /^[ \t]*#[ \t]*include[ \t]*[<"]/) continue
        match(text, /[<"]/)
        quote = substr(text, RSTART, 1)
        included = substr(text, RSTART + 1)
        sub(/[>"].*/, "", included)
        judge(included, quote)
      }
      close(file)
    }

    END {
      if (sources == 0) { print "ci/layers.sh: no sources found"; failed = 1 }
      exit failed
    }'

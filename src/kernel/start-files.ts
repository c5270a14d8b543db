// Decides which files a program runs, or obeys, without anybody naming them: whoever writes one decides what runs next.

/** Names, in lower case, that build tools, package managers and language systems look for. */
const NAMES: ReadonlySet<string> = new Set(
  `makefile gnumakefile justfile rakefile gemfile guardfile vagrantfile procfile brewfile dockerfile containerfile
  jenkinsfile snakefile taskfile.yml taskfile.yaml package.json binding.gyp deno.json deno.jsonc cmakelists.txt
  meson.build configure build.rs cargo.toml build.xml pom.xml build.gradle build.gradle.kts settings.gradle build.sbt
  mix.exs rebar.config setup.py setup.cfg pyproject.toml conftest.py noxfile.py tox.ini sitecustomize.py
  usercustomize.py default.nix shell.nix flake.nix guix.scm manifest.scm compose.yml compose.yaml docker-compose.yml
  docker-compose.yaml qlfile init.lisp claude.md agents.md gemini.md`.split(/\s+/),
);

/** Ends of names, in lower case: system definitions, parts of makefiles, workspaces of editors, settings of tools. */
const ENDS =
  /\.(?:asd|mk|mak|ros|pth|code-workspace|sublime-project|service|desktop|(?:config|setup)\.[cm]?[jt]s)$/;

/** Returns whether something runs, or obeys, the file at PLACE by itself. Hidden files and folders are where shells,
 *  editors, git and agents keep what they run. */
export function runsAtStart(place: string): boolean {
  const parts = place.toLowerCase().split('/');
  const name = parts.at(-1) ?? '';
  return parts.some((part) => /^\.(?!\.?$)/.test(part)) || NAMES.has(name) || ENDS.test(name);
}

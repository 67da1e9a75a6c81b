/** Completion scripts for bash, zsh and fish. They know commands, flags and the words some flags take; files and folders are the shell's own affair. */
import type { CompletionWords, FlagWords } from "./words.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell, commands: readonly CompletionWords[]): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
  }
}

function bash(commands: readonly CompletionWords[]): string {
  const cases = commands.map(({ name, flags, follow }) => {
    const words = [...follow, ...flags.map(({ long }) => long), "--help"].join(" ");
    return `    ${name}) words="${words}" ;;`;
  });
  const chosen = new Map<string, string>();
  for (const { flags } of commands)
    for (const { long, takes } of flags) {
      if (Array.isArray(takes)) chosen.set(long, `COMPREPLY=($(compgen -W "${takes.join(" ")}" -- "$cur"))`);
      if (takes === "file") chosen.set(long, 'COMPREPLY=($(compgen -f -- "$cur"))');
      if (takes === "folder") chosen.set(long, 'COMPREPLY=($(compgen -d -- "$cur"))');
    }
  return `# keelson completion for bash: eval "$(keelson completion bash)"
_keelson() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) command="$word"; break ;; esac
  done
  case "$prev" in
${[...chosen].map(([flag, reply]) => `    ${flag}) ${reply}; return ;;`).join("\n")}
  esac
  case "$command" in
    "") words="${commands.map(({ name }) => name).join(" ")} --help --version --debug" ;;
${cases.join("\n")}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _keelson keelson
`;
}

function zsh(commands: readonly CompletionWords[]): string {
  const described = commands.map(({ name, about }) => `    ${single(`${name}:${about}`)}`);
  const cases = commands.map(({ name, flags, follow }) => {
    const lines = flags.map(({ long, about, takes }) =>
      single(`${long}[${about.replaceAll(/[[\]]/g, "")}]${zshTakes(takes)}`),
    );
    if (follow.length > 0) lines.push(single(`1: :(${follow.join(" ")})`));
    return `    ${name}) _arguments ${[...lines, single("*: :_files")].join(" ")} ;;`;
  });
  return `#compdef keelson
# keelson completion for zsh: eval "$(keelson completion zsh)"
_keelson() {
  local -a commands
  commands=(
${described.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join("\n")}
  esac
}
compdef _keelson keelson
`;
}

function zshTakes(takes: FlagWords["takes"]): string {
  if (takes === "nothing") return "";
  if (takes === "file") return ":file:_files";
  if (takes === "folder") return ":folder:_files -/";
  return takes === "text" ? ":value: " : `:value:(${takes.join(" ")})`;
}

function fish(commands: readonly CompletionWords[]): string {
  const lines = ["# keelson completion for fish: keelson completion fish | source", "complete -c keelson -f"];
  for (const { name, about } of commands)
    lines.push(`complete -c keelson -n __fish_use_subcommand -a ${name} -d ${single(about)}`);
  for (const { name, flags, follow } of commands) {
    const when = `complete -c keelson -n ${single(`__fish_seen_subcommand_from ${name}`)}`;
    if (follow.length > 0) lines.push(`${when} -a ${single(follow.join(" "))}`);
    for (const { long, about, takes } of flags)
      lines.push(`${when} -l ${long.slice(2)}${fishTakes(takes)} -d ${single(about)}`);
  }
  return `${lines.join("\n")}\n`;
}

function fishTakes(takes: FlagWords["takes"]): string {
  if (takes === "nothing") return "";
  if (takes === "file" || takes === "folder") return " -r -F";
  return takes === "text" ? " -x" : ` -x -a ${single(takes.join(" "))}`;
}

/** In single quotes, as all three shells read them. */
function single(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

import type { Command } from 'commander';
import { localCommand } from '../command.ts';
import { argument } from '../options.ts';

/** What can follow the words of a command line. */
interface Completion {
  /** Names of commands: `branch fork`; empty: none yet. */
  readonly path: string;
  /** Whether a command is still to be named. */
  readonly isGroup: boolean;
  readonly words: string;
  readonly options: string;
}

function completionsOf(command: Command, path: string): Completion[] {
  const { commands, options, registeredArguments } = command;
  const names = commands.map((each) => each.name());
  const accepted = registeredArguments.flatMap((each) =>
    each.name() === 'conversation' ? 'last' : (each.argChoices ?? []),
  );
  const own: Completion = {
    path,
    isGroup: names.length > 0,
    words: [...names, ...accepted].join(' '),
    options: ['--help', ...options.flatMap(({ long }) => long ?? [])].join(' '),
  };
  const below = commands.flatMap((each) => completionsOf(each, `${path} ${each.name()}`.trim()));
  return [own, ...below];
}

function posixCase({ path, isGroup, words, options }: Completion): string {
  return `    "${path} "${isGroup ? '' : '*'}) list="${words}" options="${options}" ;;`;
}

function fishCase({ path, isGroup, words, options }: Completion): string {
  return `    case "${path} ${isGroup ? '' : '*'}"; set list ${words}; set options ${options}`;
}

/** Each is also asked for `npx`, and answers only behind `npx holdfast`. */
const SCRIPTS = {
  bash: (all: readonly Completion[]): string => `_holdfast() {
  local current="\${COMP_WORDS[COMP_CWORD]}" list="" options=""
  local -a before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  if [ "\${COMP_WORDS[0]}" = npx ]; then
    [ "\${before[0]}" = holdfast ] || return
    before=("\${before[@]:1}")
  fi
  case "\${before[*]} " in
${all.map(posixCase).join('\n')}
  esac
  case "$current" in -*) list="$options" ;; esac
  COMPREPLY=($(compgen -W "$list" -- "$current"))
}
complete -o default -F _holdfast holdfast npx`,
  zsh: (all: readonly Completion[]): string => `#compdef holdfast npx
_holdfast() {
  local list="" options=""
  if [[ "$words[1]" = npx ]]; then
    if [[ "$words[2]" != holdfast ]]; then _files; return; fi
    shift words
    (( CURRENT -= 1 ))
  fi
  case "\${words[2,CURRENT-1]} " in
${all.map(posixCase).join('\n')}
  esac
  if [[ "$PREFIX" = -* ]]; then list="$options"; fi
  compadd -- \${=list} || _files
}
compdef _holdfast holdfast npx`,
  fish: (all: readonly Completion[]): string => `function __holdfast
  set -l words (commandline -opc)
  if test "$words[1]" = npx
    test "$words[2]" = holdfast; or return
    set -e words[1]
  end
  set -e words[1]
  set -l list
  set -l options
  switch "$words "
${all.map(fishCase).join('\n')}
  end
  string match -q -- '-*' (commandline -ct); and set list $options
  if test (count $list) -gt 0
    printf '%s\\n' $list
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c holdfast -f -a '(__holdfast)'
complete -c npx -f -n 'string match -q "npx holdfast *" (commandline -p)' -a '(__holdfast)'`,
} as const;

const completion = localCommand({
  description:
    'Prints a script that lets a shell complete commands and their options, behind `holdfast` and behind `npx holdfast`.',
  examples: [
    'eval "$(npx holdfast completion bash)"',
    'npx holdfast completion fish > ~/.config/fish/completions/holdfast.fish',
  ],
  arguments: [argument('<shell>', 'which shell', ['bash', 'zsh', 'fish'])],
  async run(_call, _flags, shell) {
    // Loaded here: it is the program that has this command.
    const { createProgram } = await import('../main.ts');
    const script = SCRIPTS[shell](completionsOf(await createProgram('all'), ''));
    return { json: { shell, script }, lines: script.split('\n') };
  },
});

export const commands = { completion };

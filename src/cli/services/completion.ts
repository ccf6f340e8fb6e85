import { argument, localCommand } from '../command.ts';
import { COMMANDS } from '../command-list.ts';
import type { JsonOption } from '../holdfast-command.ts';

/** Names of commands; `branch` is followed by those of its group. */
function completionWords(): ReadonlyMap<string, readonly string[]> {
  const all = COMMANDS.flatMap(([, commands]) => commands);
  return new Map(
    all.map((listed) => [listed.name, 'commands' in listed ? listed.commands.map(({ name }) => name) : []]),
  );
}

const SCRIPTS = {
  bash: (words: ReadonlyMap<string, readonly string[]>): string => `_holdfast() {
  local current="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]}" in
${groupCases(words, (group, names) => `    ${group}) [ "$COMP_CWORD" = 2 ] && COMPREPLY=($(compgen -W "${names}" -- "$current")) && return ;;`)}
  esac
  [ "$COMP_CWORD" = 1 ] && COMPREPLY=($(compgen -W "${[...words.keys()].join(' ')}" -- "$current"))
}
complete -o default -F _holdfast holdfast`,
  zsh: (words: ReadonlyMap<string, readonly string[]>): string => `#compdef holdfast
_holdfast() {
  if (( CURRENT == 2 )); then compadd -- ${[...words.keys()].join(' ')}; return; fi
  case "$words[2]" in
${groupCases(words, (group, names) => `    ${group}) (( CURRENT == 3 )) && compadd -- ${names} && return ;;`)}
  esac
  _files
}
compdef _holdfast holdfast`,
  fish: (words: ReadonlyMap<string, readonly string[]>): string =>
    [
      `complete -c holdfast -n __fish_use_subcommand -f -a "${[...words.keys()].join(' ')}"`,
      ...groupsOf(words).map(
        ([group, names]) => `complete -c holdfast -n "__fish_seen_subcommand_from ${group}" -f -a "${names}"`,
      ),
    ].join('\n'),
} as const;

function groupsOf(words: ReadonlyMap<string, readonly string[]>): [string, string][] {
  return [...words].filter(([, names]) => names.length > 0).map(([group, names]) => [group, names.join(' ')]);
}

function groupCases(
  words: ReadonlyMap<string, readonly string[]>,
  line: (group: string, names: string) => string,
): string {
  return groupsOf(words)
    .map(([group, names]) => line(group, names))
    .join('\n');
}

const completion = localCommand<JsonOption, [shell: keyof typeof SCRIPTS]>({
  description: 'Prints a script that lets a shell complete the names of commands.',
  examples: [
    'eval "$(npx holdfast completion bash)"',
    'npx holdfast completion fish > ~/.config/fish/completions/holdfast.fish',
  ],
  arguments: [argument('<shell>', 'which shell').choices(Object.keys(SCRIPTS))],
  async run(_call, _flags, shell) {
    const script = SCRIPTS[shell](completionWords());
    return { json: { shell, script }, lines: script.split('\n') };
  },
});

export const commands = { completion };

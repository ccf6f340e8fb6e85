/** Names of all commands, as package.json gives them. */
export const COMMAND_NAMES: readonly string[];
/** @returns exit code */
export function runCommand(name: string, commandArguments: readonly string[]): Promise<number>;

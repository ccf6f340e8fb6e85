import { Argument, InvalidArgumentError, Option } from 'commander';

// Options and arguments of commands: each is written once, and its type follows from what is written.

declare const VALUE: unique symbol;

/** An option whose value a command gets under this name. */
export interface TypedOption<Name extends string, Value> extends Option {
  readonly [VALUE]?: readonly [Name, Value];
}

export interface TypedArgument<Value> extends Argument {
  readonly [VALUE]?: Value;
}

/** The values of options, by name. */
export type FlagsOf<Options extends readonly Option[]> = {
  readonly [Each in Options[number] as NameIn<Each>]: Each extends { readonly [VALUE]?: readonly [string, infer Value] }
    ? Value
    : never;
};

type NameIn<Each> = Each extends { readonly [VALUE]?: readonly [infer Name extends string, unknown] } ? Name : never;

/** The values of arguments, in their order. */
export type WordsOf<Arguments extends readonly Argument[]> = {
  [Place in keyof Arguments]: Arguments[Place] extends { readonly [VALUE]?: infer Value } ? Value : never;
};

/** As commander has it: the option `-n, --tool-calls <number>` is `toolCalls`, and `--no-check` is `check`. */
type NameOf<Flags extends string> = Flags extends `${string}--no-${infer Name}`
  ? CamelCase<Name>
  : Flags extends `${string}--${infer Name} ${string}`
    ? CamelCase<Name>
    : Flags extends `${string}--${infer Name}`
      ? CamelCase<Name>
      : never;

type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;

/** Of an option that nothing reads: `--yes` is true or absent, `--no-check` true or false. */
type Written<Flags extends string> = Flags extends `${string}--no-${string}`
  ? boolean
  : Flags extends `${string}<${string}`
    ? string | undefined
    : Flags extends `${string}[${string}`
      ? string | true | undefined
      : true | undefined;

type Read<Value> = (text: string, earlier: Value) => Value;

/** @param read reads the value from the text, or says which texts are accepted */
export function option<Flags extends string>(
  flags: Flags,
  description: string,
): TypedOption<NameOf<Flags>, Written<Flags>>;
export function option<Flags extends string, const Value>(
  flags: Flags,
  description: string,
  read: Read<Value> | readonly Value[] | undefined,
  otherwise: Value,
): TypedOption<NameOf<Flags>, Value>;
export function option<Flags extends string, const Value>(
  flags: Flags,
  description: string,
  read: Read<Value> | readonly Value[],
): TypedOption<NameOf<Flags>, Value | undefined>;
export function option(
  flags: string,
  description: string,
  read?: Read<unknown> | readonly unknown[],
  otherwise?: unknown,
): Option {
  const made = new Option(flags, description);
  if (typeof read === 'function') made.argParser(read);
  else if (read !== undefined) made.choices(read.map(String));
  return otherwise === undefined ? made : made.default(otherwise);
}

/** An option without which the command does nothing. */
export function requiredOption<Flags extends string, Value = string>(
  flags: Flags,
  description: string,
  read?: Read<Value>,
): TypedOption<NameOf<Flags>, Value> {
  const made = new Option(flags, description).makeOptionMandatory();
  return read === undefined ? made : made.argParser(read);
}

type Absent<Flags extends string> = Flags extends `[${string}` ? undefined : never;

export function argument<Flags extends string>(
  flags: Flags,
  description: string,
): TypedArgument<(Flags extends `${string}...${string}` ? readonly string[] : string) | Absent<Flags>>;
export function argument<Flags extends string, const Value>(
  flags: Flags,
  description: string,
  read: Read<Value> | readonly Value[],
): TypedArgument<Value | Absent<Flags>>;
export function argument(flags: string, description: string, read?: Read<unknown> | readonly unknown[]): Argument {
  const made = new Argument(flags, description);
  if (read === undefined) return made;
  return typeof read === 'function' ? made.argParser(read) : made.choices(read.map(String));
}

/** Reads a whole number of at least `least` from an option. @throws InvalidArgumentError naming what is accepted */
export function count(least: number, most: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`It takes a whole number ${range}.`);
  };
}

/** Reads a number of 0 or more, also as `+2`. @throws InvalidArgumentError */
export function amount(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('It takes a number of 0 or more.');
}

/** Reads `streaming,usage`. @throws InvalidArgumentError naming what is accepted */
export function someOf<Name extends string>(known: readonly Name[]): (text: string) => readonly Name[] {
  return (text) =>
    text.split(',').map((part) => {
      const name = known.find((each) => each === part.trim());
      if (name !== undefined) return name;
      throw new InvalidArgumentError(
        `"${part.trim()}" is not known. Accepted, separated by commas: ${known.join(', ')}.`,
      );
    });
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Reads a day, which begins at 0:00 UTC, a time, or how long ago. @returns an ISO time @throws InvalidArgumentError */
export function time(text: string): string {
  const [, length, unit = ''] = /^(\d{1,5})([mhdw])$/u.exec(text) ?? [];
  if (length !== undefined) return new Date(Date.now() - Number(length) * (UNITS[unit] ?? 0)).toISOString();
  const [day = ''] = /^\d{4}-\d{2}-\d{2}/u.exec(text) ?? [];
  const [at, midnight] = [new Date(text), new Date(day)];
  const isKnown = !Number.isNaN(at.getTime()) && !Number.isNaN(midnight.getTime());
  // A day that the month does not have would count into the next one.
  if (isKnown && midnight.toISOString().startsWith(day)) return at.toISOString();
  throw new InvalidArgumentError('It takes a day like 2026-11-01, a time like 2026-11-01T08:00Z, or 30m, 12h, 7d, 4w.');
}

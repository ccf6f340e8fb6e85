/** Seconds after which a question to a person counts as denied or not answered: a day. */
export const DECISION_EXPIRES_AFTER_SECONDS = 86_400;

/** Which tool calls a person must allow first. `*` stands for any characters. */
export interface ApprovalRule {
  /** Name of a tool, or a pattern of names. */
  readonly tool: string;
  /** Patterns of arguments by name; all must fit. Absent: every call of the tool. */
  readonly when?: Readonly<Record<string, string>>;
}

/** What an agent asks a person for, frozen with the turn. */
export interface ApprovalSettings {
  readonly rules: readonly ApprovalRule[];
  readonly expiresAfterSeconds: number;
}

/** Whether some call of the tool could fall under a rule. */
export function mayFallUnder(rules: readonly ApprovalRule[], tool: string): boolean {
  return rules.some((rule) => fitsPattern(rule.tool, tool));
}

/** The first rule that a call falls under; `null`: none. Arguments that are no text are compared as JSON; a missing one fits no pattern. */
export function ruleFor(
  rules: readonly ApprovalRule[],
  call: { readonly tool: string; readonly input: unknown },
): ApprovalRule | null {
  const found = rules.find(
    (rule) =>
      fitsPattern(rule.tool, call.tool) &&
      Object.entries(rule.when ?? {}).every(([name, pattern]) => {
        const text = argumentText(call.input, name);
        return text !== null && fitsPattern(pattern, text);
      }),
  );
  return found ?? null;
}

/** Names a rule where a decision stands for all calls that fall under it. */
export function ruleName(rule: ApprovalRule): string {
  const conditions = Object.entries(rule.when ?? {}).map(([name, pattern]) => `${name}: ${pattern}`);
  return conditions.length === 0 ? rule.tool : `${rule.tool}(${conditions.join(', ')})`;
}

function argumentText(input: unknown, name: string): string | null {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, name)) return null;
  const value: unknown = Reflect.get(input, name);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `*` stands for any characters, line ends included. Takes the leftmost place of each piece, so it is linear: no pattern can stall a worker. */
export function fitsPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const piece of rest) {
    const place = text.indexOf(piece, from);
    if (place < 0 || place + piece.length > end) return false;
    from = place + piece.length;
  }
  return true;
}

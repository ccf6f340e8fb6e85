/** The part of a zod type that checks an answer. */
interface Form<Output> {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: Output }
    | {
        readonly success: false;
        readonly error: {
          readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
        };
      };
}

/**
 * The checked value of a final answer, or why it does not fit. An answer may consist of several texts, each of which continues a cut one.
 */
export function outputIn<Output>(
  texts: readonly string[],
  form: Form<Output>,
): { readonly value: Output; readonly problem?: undefined } | { readonly problem: string } {
  const value = jsonIn(texts.at(-1) ?? '') ?? jsonIn(texts.join(''));
  if (value === undefined) return { problem: 'it is no JSON' };
  const checked = form.safeParse(value);
  if (checked.success) return { value: checked.data };
  const [first] = checked.error.issues;
  return { problem: `${first?.path.join('.') || 'the whole'}: ${first?.message ?? 'invalid'}` };
}

/** JSON, also inside a fence, which models like to write. */
function jsonIn(text: string): unknown {
  const [, fenced] = /^\s*```(?:json)?\s*\n([^]*?)\n\s*```\s*$/.exec(text) ?? [];
  try {
    return JSON.parse(fenced ?? text);
  } catch {
    return undefined;
  }
}

/** What checks an answer: a zod type. */
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
 * The value of a final answer that has to fit a form, or why it does not. An answer may be several texts, of which each
 * goes on where the one before was cut.
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

/** JSON, also in a fence as models like to write it. */
function jsonIn(text: string): unknown {
  const [, fenced] = /^\s*```(?:json)?\s*\n([^]*?)\n\s*```\s*$/.exec(text) ?? [];
  try {
    return JSON.parse(fenced ?? text);
  } catch {
    return undefined;
  }
}

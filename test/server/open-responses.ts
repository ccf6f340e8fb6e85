/** Holds answers against the published document of Open Responses (vendor/open-responses). */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const DOCUMENT = new URL('../../vendor/open-responses/answers.schema.json', import.meta.url);

type Schema = z.core.JSONSchema.JSONSchema;

const { $defs }: { readonly $defs: Record<string, Schema> } = JSON.parse(readFileSync(DOCUMENT, 'utf8'));

/** Schemas of the document by the `type` of an event, or the `object` of a response. */
const schemas = new Map(
  Object.entries($defs).flatMap(([name, { properties = {} }]) => {
    const marker = markerOf(properties['object'] ?? (name.endsWith('StreamingEvent') ? properties['type'] : undefined));
    return marker === null ? [] : [[marker, z.fromJSONSchema({ $ref: `#/$defs/${name}`, $defs })] as const];
  }),
);

function markerOf(property: Schema | boolean | undefined): string | null {
  const name = typeof property === 'object' ? property.$ref?.replace('#/$defs/', '') : undefined;
  return name === undefined ? null : String($defs[name]?.enum?.[0]);
}

/** What the document asks of items that it does not know. */
const ownItem = z.looseObject({
  type: z.templateLiteral(['holdfast:', z.string()]),
  id: z.string().min(1),
  status: z.enum(['in_progress', 'completed', 'incomplete']),
});

/** Where responses or events of a stream are not what the document says. */
export function deviationsIn(...answers: readonly object[]): string[] {
  return answers.flatMap((answer) => {
    const known: Record<string, unknown> = JSON.parse(JSON.stringify(answer), withoutOwnItems);
    const marker = String(known['object'] ?? known['type']);
    const schema = schemas.get(marker);
    if (schema === undefined) return [`the document has no ${marker}`];
    const { error } = schema.safeParse(known);
    return error === undefined ? [] : [`${marker}: ${z.prettifyError(error)}`];
  });
}

function withoutOwnItems(key: string, value: unknown): unknown {
  if (key === 'output' && Array.isArray(value)) return value.filter((item) => !ownItem.safeParse(item).success);
  return key === 'item' && ownItem.safeParse(value).success ? null : value;
}
